"""fit, predict and evaluate agree with the library they stand on."""

import json

import numpy as np
import pytest

import manylabel as ml
from manylabel.cli import inputs


def test_fit_saves_the_model_that_python_would_fit(model, dataset):
    train, test = dataset
    fitted = ml.OneVsRest(n_jobs=-1).fit(train.X, train.Y)
    loaded = ml.load(model)
    assert loaded.learner_.get_params() == fitted.get_params()
    expected = fitted.decision_function(test.X)
    np.testing.assert_array_equal(loaded.learner_.decision_function(test.X), expected)
    assert tuple(loaded.label_names_) == train.label_names
    assert loaded.vectorizer_ == "passthrough"
    np.testing.assert_array_equal(loaded.label_counts_, train.Y.toarray().sum(axis=0))
    assert loaded.n_rows_ == len(train)


@pytest.mark.parametrize(
    "learner", ["one-vs-rest", "popularity", "label-powerset", "fastxml"]
)
def test_fit_tells_what_was_fitted(cli, files, tmp_path, learner):
    out = tmp_path / "model"
    outcome = cli(
        "fit", files / "train.txt", "--model", out, "--learner", learner, "--json"
    )
    assert (outcome.status, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert found["rows"] == 300
    assert found["features"] == 40
    assert found["labels"] == 12
    size = sum(file.stat().st_size for file in out.iterdir())
    assert found["megabytes"] == round(size / 1e6, 3)
    assert cli("fit", files / "train.txt", "--model", out).status == 0  # replaced


def test_settings_have_the_types_of_the_parameters(cli, files, tmp_path):
    settings = ["C=2", "fit_intercept=no", "max_iter=500", "n_jobs=2"]
    arguments = [word for setting in settings for word in ("--set", setting)]
    out = tmp_path / "model"
    outcome = cli("fit", files / "train.txt", "--model", out, *arguments, "--seed", 7)
    assert outcome.status == 0
    found = ml.load(out).learner_.get_params()
    assert found["C"] == 2.0
    assert isinstance(found["C"], float)
    assert found["fit_intercept"] is False
    assert (found["max_iter"], found["n_jobs"], found["random_state"]) == (500, 2, 7)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--learner", "tree"], "--learner must be one of one-vs-rest, popularity"),
        (["--set", "c=1"], "a parameter of one-vs-rest: C, tol, max_iter"),
        (["--set", "C"], "--set must look like NAME=VALUE. Got 'C'."),
        (["--set", "C=x"], "C must be a number. Got 'x'."),
        (["--set", "C=nan"], "C must be finite. Got 'nan'."),
        (["--set", "C=-1"], "C == -1.0, must be > 0."),
        (["--set", "max_iter=0.5"], "max_iter must be an integer. Got '0.5'."),
        (["--set", "normalize=2"], "normalize must be true or false. Got '2'."),
        (["--jobs", "0"], "It must not be 0"),
    ],
)
def test_wrong_settings_are_refused(cli, files, tmp_path, arguments, reason):
    out = tmp_path / "model"
    outcome = cli("fit", files / "train.txt", "--model", out, *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert reason in outcome.err
    assert not out.exists()


def test_fit_leaves_other_folders_alone(cli, files, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    outcome = cli("fit", files / "train.txt", "--model", tmp_path)
    assert outcome.status == 2
    assert "this folder holds other files than a model's." in outcome.err
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("n_rows", [7, 10_000])
def test_predict_prints_the_best_labels_in_order(
    cli, model, files, dataset, monkeypatch, n_rows
):
    monkeypatch.setattr(inputs, "N_ROWS", n_rows)
    _, test = dataset
    outcome = cli("predict", model, files / "test.txt", "-k", 3)
    assert (outcome.status, outcome.err) == (0, "")
    header, *lines = outcome.out.splitlines()
    assert header == "row\tlabel\tscore"
    scores = ml.load(model).predict_topk(test.X, k=3)
    names = test.labels.decode(scores)
    cells = [line.split("\t") for line in lines]
    assert [int(row) for row, _, _ in cells] == [i for i in range(100) for _ in "123"]
    assert [label for _, label, _ in cells] == [name for row in names for name in row]
    values = np.array([float(score) for _, _, score in cells]).reshape(100, 3)
    np.testing.assert_allclose(
        values, np.sort(scores.data.reshape(100, 3))[:, ::-1], rtol=1e-5
    )


def test_predict_writes_the_same_labels_in_every_format(cli, model, files, tmp_path):
    found = {}
    for format in ("tsv", "jsonl", "xc"):
        out = tmp_path / f"out.{format}"
        options = ("--format", format, "-o", out, "-k", 2)
        outcome = cli("predict", model, files / "test.txt", *options)
        assert (outcome.status, outcome.out) == (0, "")
        found[format] = out.read_text().splitlines()
    names = ml.load(model).label_names_
    header, *rows = found["xc"]
    assert header == "100 12"
    for number, (line, row) in enumerate(zip(found["jsonl"], rows, strict=True)):
        record = json.loads(line)
        pairs = dict(zip(record["labels"], record["scores"], strict=True))
        assert record["row"] == number
        entries = [entry.split(":") for entry in row.split()]
        assert {names[int(label)]: float(score) for label, score in entries} == pairs
        best = [line.split("\t")[1] for line in found["tsv"][1 + 2 * number :][:2]]
        assert best == record["labels"]


def test_threads_change_nothing_but_the_time(cli, model, files):
    test = files / "test.txt"
    for verb in (("predict", model, test), ("evaluate", model, "--data", test)):
        assert cli(*verb, "--jobs", 2).out == cli(*verb).out
    assert ml.Tagger.load(model, n_jobs=2).learner_.n_jobs == 2


def test_describe_shows_the_card_of_a_model(cli, model, files):
    shown = cli("describe", model)
    assert (shown.status, shown.err) == (0, "")
    for words in ("OneVsRest", "rows of features", "train.arff", "positive score"):
        assert words in shown.out
    card = json.loads(cli("describe", model, "--json").out)
    assert (card["rows"], card["labels"], card["features"]) == (300, 12, 40)
    assert card["source"].endswith("train.arff")
    assert card["date"]


def test_figures_on_a_validation_set_are_kept_in_the_card(cli, files, tmp_path):
    out = ("--model", tmp_path / "model", "--valid", "0.2", "--json")
    found = json.loads(cli("fit", files / "train.arff", *out).out)
    card = json.loads(cli("describe", tmp_path / "model", "--json").out)
    assert round(100 * card["figures"]["P@1"], 2) == found["P@1"]
    assert card["judged_by"] == found["judged by"] == 60


def test_predict_reads_standard_input(cli, standard_input, model, files):
    expected = cli("predict", model, files / "test.txt").out
    standard_input((files / "test.txt").read_bytes())
    assert cli("predict", model, "-").out == expected


def test_predict_tells_where_svmlight_is_ambiguous(cli, model, files):
    given = cli("predict", model, files / "test.svm", "--one-based")
    told = cli("predict", model, files / "test.svm")
    assert given.out == cli("predict", model, files / "test.txt").out
    assert told.out == given.out
    assert given.err == ""
    assert "--zero-based or --one-based says which." in told.err


def test_names_of_labels_cannot_break_the_lines(cli, files, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("\n".join(["a\tb", "back\\slash", *map(str, range(10))]))
    out = tmp_path / "model"
    fitting = ("fit", files / "train.txt", "--model", out, "--label-names", names)
    assert cli(*fitting).status == 0
    lines = cli("predict", out, files / "test.txt", "-k", 12).out.splitlines()
    assert all(line.count("\t") == 2 for line in lines)
    assert {"a\\tb", "back\\\\slash"} < {line.split("\t")[1] for line in lines}


def figures(outcome):
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


@pytest.mark.parametrize("n_rows", [7, 10_000])
def test_evaluate_agrees_with_the_library(
    cli, model, files, dataset, monkeypatch, n_rows
):
    monkeypatch.setattr(inputs, "N_ROWS", n_rows)
    train, test = dataset
    fitted = ml.load(model).learner_
    expected = ml.evaluate(
        test.Y,
        fitted.predict_topk(test.X, k=4),
        k=(1, 4),
        propensity=ml.Propensity().fit(train.Y),
        predictions=fitted.predict(test.X),
    )
    arguments = ("evaluate", model, "--data", files / "test.txt", "-k", "1,4")
    found = figures(cli(*arguments, "--json"))
    assert found["figures"] == pytest.approx(expected.to_dict())
    assert found["rows"] == 100
    assert found["propensity"]["counted_in"] == "the rows that the model was fitted on"


def test_propensities_come_from_where_they_should(cli, files, dataset, tmp_path):
    train, test = dataset
    fitted = ml.OneVsRest().fit(train.X, train.Y)
    fitted.save(tmp_path / "model")  # knows nothing of how often labels occurred
    scores = fitted.predict_topk(test.X, k=1)
    arguments = ("evaluate", tmp_path / "model", "--data", files / "test.txt", "--json")
    law = ("--propensity", "amazon-3m")

    own = cli(*arguments, *law)
    expected = ml.Propensity.preset("Amazon-3M").fit(test.Y)
    psp = ml.metrics.psp_at_k(test.Y, scores, 1, propensity=expected)
    assert figures(own)["figures"]["PSP@1"] == pytest.approx(psp)
    assert "--train FILE follows the usual convention" in own.err

    given = cli(*arguments, *law, "--train", files / "train.txt")
    expected = ml.Propensity.preset("Amazon-3M").fit(train.Y)
    psp = ml.metrics.psp_at_k(test.Y, scores, 1, propensity=expected)
    assert figures(given)["figures"]["PSP@1"] == pytest.approx(psp)
    assert given.err == ""

    none = figures(cli(*arguments, "--propensity", "none"))
    assert none["propensity"] is None
    assert not any(name.startswith("PS") for name in none["figures"])


@pytest.mark.parametrize("law", ["nosuch", "2", "1,2,3", "-1,2", "1,0", "nan,1"])
def test_an_unknown_propensity_is_refused(cli, model, files, law):
    data = files / "test.txt"
    outcome = cli("evaluate", model, "--data", data, f"--propensity={law}")
    assert outcome.status == 2
    assert "--propensity must be none, A,B with" in outcome.err


def test_evaluate_explains_every_figure(cli, model, files):
    outcome = cli("evaluate", model, "--data", files / "test.txt", "-k", "1,3,5")
    text = " ".join(outcome.out.split())
    assert "among the k best-ranked" in text
    assert "normalised by the best attainable" in text
    for name in ("P", "nDCG", "recall", "coverage", "PSP", "PSnDCG", "hamming", "rank"):
        assert f" {name} " in text


def test_other_label_names_are_refused(cli, model, files, tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("\n".join("abcdefghijkl"))
    data = ("--data", files / "test.txt", "--label-names", names)
    outcome = cli("evaluate", model, *data)
    assert outcome.status == 2
    assert "expected labels that the model was fitted on" in outcome.err


def test_bibtex_is_learnt_as_others_learn_it(cli, data_folder, tmp_path):
    folder, out = data_folder / "xmc" / "bibtex", tmp_path / "model"
    made = ("--model", out, "--learner", "one-vs-rest")
    assert cli("fit", folder / "train.txt.gz", *made).status == 0
    arguments = ("evaluate", out, "--data", folder / "test.txt.gz", "--json")
    found = figures(cli(*arguments))["figures"]
    # One-vs-rest of LibMultiLabel on the same split: 63.6, 28.1; PSP@5 57.3.
    assert found["P@1"] == pytest.approx(0.636, abs=0.01)
    assert found["P@5"] == pytest.approx(0.281, abs=0.01)
    assert found["PSP@5"] == pytest.approx(0.573, abs=0.01)

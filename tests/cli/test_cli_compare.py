"""Models side by side on the command line."""

import json

import pytest

import manylabel as ml


@pytest.fixture(scope="session")
def popular(files, process):
    """Return the folder of a model that knows nothing but how frequent labels are."""
    out = files / "popular"
    done = process(
        "fit", files / "train.arff", "--model", out, "--learner", "popularity"
    )
    assert done.status == 0, done.err
    return out


@pytest.mark.slow
def test_models_are_compared_as_the_library_does(
    process, model, popular, files, dataset
):
    train, test = dataset
    paths = [popular, model]
    fitted = {str(path): ml.load(path).learner_ for path in paths}
    expected = ml.compare(
        test.Y,
        {name: each.predict_topk(test.X, 3) for name, each in fitted.items()},
        predictions={name: each.predict(test.X) for name, each in fitted.items()},
        propensity=ml.Propensity().fit(train.Y),
        k=(1, 3),
        random_state=7,
    )
    arguments = ("--data", files / "test.txt", "-k", "1,3", "--seed", 7, "--json")
    outcome = process("evaluate", *paths, *arguments)
    assert (outcome.status, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert (found["rows"], found["resamples"], found["seed"]) == (100, 1000, 7)
    for name, report in expected.reports.items():
        figures = found["models"][name]
        assert figures["figures"] == pytest.approx(report.to_dict())
        for key, difference in expected.differences.get(name, {}).items():
            assert figures["differences"][key] == pytest.approx(difference._asdict())
    assert found["models"][str(popular)]["differences"] == {}


@pytest.mark.slow
def test_a_table_has_a_column_for_each_model_and_says_what_it_means(
    process, model, popular, files
):
    # Short names, so that the table is not folded.
    arguments = (model.name, popular.name, "--data", "test.txt", "-k", "1")
    outcome = process("evaluate", *arguments, cwd=files)
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    heads = next(line.split() for line in lines if "percent" in line)
    assert heads == ["percent", "model", "popular", "popular", "-", "model"]
    row = next(line for line in lines if line.startswith("  P@1 "))
    assert row.count("(") == row.count(" to ") == 1
    for name in ("P@k", "PSP@k", "hamming", "macro-F1", "... - model"):
        assert sum(line.startswith(f"{name}: ") for line in lines) == 1


@pytest.mark.slow
def test_each_label_has_a_line_the_worst_first(
    process, model, popular, files, dataset, tmp_path
):
    out = tmp_path / "worst.tsv"
    data = ("--data", files / "test.txt", "--labels", out)
    assert process("evaluate", model, *data).status == 0
    head, *lines = (line.split("\t") for line in out.read_text().splitlines())
    wanted = ["label", "rows", "predicted", "precision", "recall", "F1", "found@5"]
    assert head == wanted
    scores = [float(line[5]) for line in lines]
    assert scores == sorted(scores)
    _, test = dataset
    counts = dict(zip(test.label_names, test.Y.sum(axis=0), strict=True))
    assert {line[0]: int(line[1]) for line in lines}.items() <= counts.items()
    assert process("evaluate", model, popular, *data).status == 0
    head, *lines = (line.split("\t") for line in out.read_text().splitlines())
    assert head == ["model", *wanted]
    assert {line[0] for line in lines} == {str(model), str(popular)}


def test_a_file_that_cannot_be_written_is_one_sentence(cli, model, files, tmp_path):
    out = tmp_path / "nosuch" / "worst.tsv"
    outcome = cli("evaluate", model, "--data", files / "test.txt", "--labels", out)
    assert outcome.status == 2
    assert f"there is no folder {out.parent}." in outcome.err
    assert outcome.err.count("\n") == 1


def test_models_that_cannot_be_compared_are_refused(cli, model, files, tmp_path):
    test = files / "test.txt"
    outcome = cli("evaluate", model, model, "--data", test)
    assert (outcome.status, outcome.out) == (2, "")
    assert f"MODEL must be different folders. Got {model} twice." in outcome.err
    other = tmp_path / "other"
    (tmp_path / "two.txt").write_text("2 40 2\n0 0:1\n1 1:1\n")
    assert cli("fit", tmp_path / "two.txt", "--model", other).status == 0
    outcome = cli("evaluate", model, other, "--data", test)
    assert outcome.status == 2
    assert (
        f"{other}: expected the same labels as {model} has; fit both on" in outcome.err
    )
    outcome = cli("evaluate", "--data", test)
    assert outcome.err == (
        "error: Missing argument 'MODEL... FILE'. See 'manylabel evaluate --help'.\n"
    )
    outcome = cli("evaluate", model, tmp_path / "nosuch", "--data", test)
    assert "no such model folder" in outcome.err


def test_the_rows_to_judge_by_may_be_the_last_argument(cli, model, files, tmp_path):
    test = files / "test.txt"
    named = cli("evaluate", model, "--data", test, "-k", "1")
    last = cli("evaluate", model, test, "-k", "1")
    assert (last.status, last.out) == (0, named.out)
    for given in ([model], [test], [model, model]):
        outcome = cli("evaluate", *given)
        assert (outcome.status, outcome.out) == (2, "")
        found = " ".join(map(str, given))
        assert f"rows to judge by, must follow MODEL. Got {found} only." in outcome.err

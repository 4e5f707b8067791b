"""``manylabel audit``: tables, files, the way from a sample to a model, refusals."""

import json
import os

import pytest

from manylabel import Dataset, make_corpus, write

N_ROWS = 300


@pytest.fixture(scope="module")
def corpus():
    """Return rows of which all labels are known."""
    return make_corpus(
        n_rows=N_ROWS, n_features=80, n_labels=8, n_words=15, random_state=0
    )


@pytest.fixture(scope="module")
def items(corpus, tmp_path_factory):
    """Return a file of texts, words being numbers of features, as recorded."""
    path = tmp_path_factory.mktemp("audit") / "items.jsonl"
    rows = [" ".join(f"word{w}" for w in corpus.X[[i]].indices) for i in range(N_ROWS)]
    names = [f"label{i}" for i in range(8)]
    ids = [f"id{i}" for i in range(N_ROWS)]
    write(Dataset(None, corpus.Y, None, names, ids, rows), path)
    return path


@pytest.fixture
def answers(cli, corpus, items, tmp_path):
    """Return a work sheet that was filled in."""
    sheet, path = tmp_path / "sheet.jsonl", tmp_path / "answers.jsonl"
    done = cli("audit", items, "--sample", "80", "--output", sheet)
    assert done.status == 0
    lines = []
    for line in sheet.read_text().splitlines():
        record = json.loads(line)
        assert record["complete"] is None
        true = corpus.complete[[record["row"]]].indices
        lines.append(json.dumps(record | {"complete": [f"label{i}" for i in true]}))
    path.write_text("\n".join(lines))
    return path


def test_rows_and_labels_are_shown_worst_first(cli, items):
    done = cli("audit", items, "-n", "3")
    assert done.status == 0
    assert "labels missing, " in done.out
    assert "probably missing, %" in done.out
    assert "Labels of which most is amiss" in done.out
    assert "expected to correct" in done.out
    assert "How much is missing is a guess" in done.out
    assert "an estimate by the propensity p of the label" in " ".join(done.out.split())
    assert "--propensity gives another p" in " ".join(done.out.split())


def test_other_programs_get_json(cli, corpus, items):
    done = cli("audit", items, "-n", "5", "--json")
    figures = json.loads(done.out)
    assert figures["rows"] == N_ROWS
    assert figures["recorded"] == corpus.Y.nnz
    assert len(figures["worst_rows"]) == len(figures["worst_labels"]) == 5
    first = figures["worst_rows"][0]
    label, chance = first["missing"][0]
    assert corpus.complete[first["row"], int(label.removeprefix("label"))]
    assert 0 < chance <= 1


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "html"])
def test_files_for_annotators_are_told_by_their_suffixes(cli, items, tmp_path, suffix):
    path = tmp_path / f"look.{suffix}"
    done = cli("audit", items, "-n", "4", "--output", path)
    assert done.status == 0
    assert f"note: wrote {path}." in done.err
    assert "label" in path.read_text()


def test_a_sample_without_a_file_is_printed(cli, items):
    done = cli("audit", items, "--sample", "7")
    records = [json.loads(line) for line in done.out.splitlines()]
    assert len(records) == 7
    assert {"row", "id", "text", "labels", "suggestions", "weight"} <= records[0].keys()


def test_answers_become_propensities_that_other_verbs_take(
    cli, items, answers, tmp_path
):
    model, file = tmp_path / "model", tmp_path / "propensities.json"
    done = cli("audit", items, "--learn", answers, "--output", file)
    assert done.status == 0
    assert "recorded labels: recall" in done.out
    assert "Labels of which most are missing" in done.out
    fitted = cli("fit", items, "--model", model, "--propensity", file)
    assert fitted.status == 0, fitted.err
    judged = cli(
        "evaluate", model, "--data", items, "--propensity", file, "--json", "-k", "1,3"
    )
    about = json.loads(judged.out)
    assert about["propensity"]["file"] == str(file)
    told = cli("evaluate", model, items, "--propensity", file)
    assert f"Propensities: those of {file}. PSP" in told.out.replace("\n", " ")
    assert cli("audit", items, "--propensity", file).status == 0


def test_a_model_is_judged_by_complete_labels_with_intervals(
    cli, corpus, items, answers, tmp_path
):
    model = tmp_path / "model"
    assert cli("fit", items, "--model", model).status == 0
    done = cli("audit", items, "--learn", answers, "--model", model, "--json")
    assert "its figures are flattered" in done.err
    figures = json.loads(done.out)
    assert figures["rows"] == 80
    precision = figures["model"]["P@1"]
    assert 0 < precision["low"] < precision["value"] < precision["high"] <= 1
    recall = corpus.Y.nnz / corpus.complete.nnz
    assert figures["recorded"]["recall"]["low"] < recall
    assert recall < figures["recorded"]["recall"]["high"]
    assert len(figures["propensities"]["label0"]) == 3
    told = cli("audit", items, "--learn", answers, "--model", model)
    assert "model: P@1" in told.out


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes")
def test_a_pipe_gets_no_progress_and_no_folded_lines(process, items):
    done = process("audit", items, "-n", "2", changes={"COLUMNS": "20"})
    assert done.status == 0
    assert done.err == ""
    assert "\x1b" not in done.out
    assert "probably missing, %" in done.out


def test_the_same_seed_draws_the_same_rows(cli, items):
    one, again, other = (
        cli("audit", items, "--sample", "9", "--seed", seed).out
        for seed in ("1", "1", "2")
    )
    assert one == again != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--sample", "301"],
            "n_rows must be at most the 300 rows of the data. Got 301",
        ),
        (
            ["--sample", "5", "--learn", "a.jsonl"],
            "--sample and --learn must be two runs",
        ),
        (["--model", "m"], "--model must come with --learn"),
        (["--output", "look.txt"], "--output must end with one of .jsonl, .csv, .html"),
        (
            ["--sample", "5", "--output", "s.txt"],
            "--output must end with .csv or .jsonl here",
        ),
        (["--learn", "a", "--output", "p.csv"], "--output must end with .json here"),
        (["--propensity", "1.5"], "--propensity must be none, A,B with A >= 0"),
        (["--propensity", "gone.json"], "gone.json: no such file"),
        (["--learner", "nobody"], "--learner must be one of"),
        (["--learn", "gone.jsonl"], "gone.jsonl: no such file"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(cli, items, options, message):
    done = cli("audit", items, *options)
    assert done.status == 2
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"row": 300, "complete": []}', "expected a row of the data, from 0 to 299"),
        ('{"id": "nobody", "complete": []}', "expected the id of a row of the data"),
        ('{"row": 0, "complete": ["new"]}', "expected labels of the data, found 'new'"),
        ("", "expected answers in 'complete', found none"),
    ],
)
def test_wrong_answers_are_refused_in_a_sentence(cli, items, tmp_path, line, message):
    path = tmp_path / "answers.jsonl"
    path.write_text(line)
    done = cli("audit", items, "--learn", path)
    assert done.status == 2
    assert f"{path}" in done.err
    assert message in done.err


def test_answers_that_overlook_a_recorded_label_are_refused(
    cli, corpus, items, tmp_path
):
    row = int((corpus.Y.sum(axis=1) > 0).argmax())
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"row": row, "complete": []}))
    done = cli("audit", items, "--learn", path)
    assert "either in 'complete' or in 'wrong', found it in neither" in done.err


def test_propensities_that_contradict_the_data_are_refused(cli, items, tmp_path):
    path = tmp_path / "p.json"
    labels = {f"label{i}": [0.01, 0.01, 0.01] for i in range(8)}
    content = {"format": "manylabel-propensities-1", "other": 0.5, "labels": labels}
    path.write_text(json.dumps(content))
    model = tmp_path / "model"
    for verb in (["audit", items], ["fit", items, "--model", model]):
        done = cli(*verb, "--propensity", path)
        assert done.status == 2
        assert "propensity must allow what is recorded: label 0 is recorded" in done.err
    assert cli("fit", items, "--model", model).status == 0
    judged = cli("evaluate", model, "--data", items, "--propensity", path)
    assert "propensity must allow what is recorded" in judged.err


def test_a_learner_without_propensities_is_not_told_them(cli, items, tmp_path):
    done = cli(
        *("fit", items, "--model", tmp_path / "m", "--learner", "popularity"),
        *("--propensity", "0.55,1.5"),
    )
    assert done.status == 2
    assert "popularity has no such parameter" in done.err


@pytest.mark.parametrize("law", ["0.55,1.5", "0.8", "bibtex"])
def test_a_law_or_a_number_may_be_told_to_a_learner(cli, items, tmp_path, law):
    model = tmp_path / "m"
    done = cli("fit", items, "--model", model, "--propensity", law)
    assert done.status == 0, done.err
    judged = cli("evaluate", model, "--data", items, "--propensity", law, "--json")
    assert judged.status == 0, judged.err
    told = cli("evaluate", model, items, "--propensity", law)
    expected = "0.8 for all labels." if law == "0.8" else "a = 0.55, b = 1.5, labels"
    assert f"Propensities: {expected}" in told.out
    assert cli("audit", items, "--propensity", law).status == 0

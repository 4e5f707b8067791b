"""``manylabel explain``."""

import json

import pytest

import manylabel as ml
from manylabel.cli import inputs


@pytest.fixture(scope="module")
def forest(files, dataset, tmp_path_factory):
    train, _ = dataset
    folder = tmp_path_factory.mktemp("explain") / "forest"
    ml.FastXML(n_trees=4, C=10.0).fit(train.X, train.Y).save(folder)
    return folder


@pytest.mark.parametrize("n_rows", [3, 10_000])
def test_explain_prints_what_python_would(
    cli, forest, files, dataset, monkeypatch, n_rows
):
    monkeypatch.setattr(inputs, "N_ROWS", n_rows)
    _, test = dataset
    outcome = cli("explain", forest, files / "test.txt", "--row", 7, "--trees", 2)
    expected = ml.load(forest).explain(test.X[7:8]).text(n_trees=2)
    assert (outcome.status, outcome.out, outcome.err) == (0, expected + "\n", "")


def test_explain_for_programs_has_the_whole_way(cli, forest, files):
    outcome = cli("explain", forest, files / "test.txt", "--json", "-k", 2)
    found = json.loads(outcome.out)
    assert len(found["labels"]) == 2
    assert len(found["paths"]) == 3
    assert found["paths"][0]["decisions"][0]["node"] == 0


@pytest.mark.parametrize("learner", ["annotation-tree", "powerset-tree"])
def test_trees_over_labels_are_learnt_and_explained(cli, files, learner, tmp_path):
    train, test = files / "train.txt", files / "test.txt"
    outcome = cli("fit", train, "--model", tmp_path / "m", "--learner", learner)
    assert outcome.status == 0, outcome.err
    outcome = cli("explain", tmp_path / "m", test)
    assert outcome.status == 0, outcome.err
    assert "rows in the leaf" in outcome.out
    found = json.loads(cli("explain", tmp_path / "m", test, "--json").out)
    assert found["paths"][0]["decisions"][0]["node"] == 0


def test_explain_refuses_rows_and_models_that_it_cannot_explain(
    cli, forest, model, files
):
    outcome = cli("explain", forest, files / "test.txt", "--row", 10**6)
    assert outcome.status == 2
    assert "expected more than 1000000 rows, found" in outcome.err
    outcome = cli("explain", model, files / "test.txt")
    assert outcome.status == 2
    assert "expected a forest to explain, found a OneVsRest" in outcome.err

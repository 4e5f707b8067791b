"""evaluate: scores and losses apart, intervals, a page, a card."""

import json
import shutil

import pytest

import manylabel as ml
from manylabel.cli import evaluate


@pytest.fixture
def judged(files):
    """Return the options that name the rows to judge by."""
    return ("--data", files / "test.txt", "-k", "1,3")


@pytest.fixture(scope="module")
def calibrated(dataset, tmp_path_factory):
    """Return the folder of a model that has probabilities, with thresholds around."""
    folder = tmp_path_factory.mktemp("calibrated") / "model"
    train, test = dataset
    tagger = ml.Tagger(ml.Calibrated(ml.OneVsRest())).fit(train)
    tagger.choose_thresholds(test).save(folder)
    return folder


def test_scores_stand_apart_from_losses(cli, model, judged):
    done = cli("evaluate", model, *judged)
    scores, losses = done.out.split("Losses, less is better")
    assert "more is better" in scores
    for name in ("P", "micro-F1", "macro-F1"):
        assert f"\n  {name} " in scores
    for name in ("hamming", "f1", "subset"):
        assert f"\n  {name} " in losses
        assert f"\n  {name} " not in scores


def test_figures_have_intervals_where_they_are_cheap(cli, model, judged, monkeypatch):
    found = json.loads(cli("evaluate", model, *judged, "--json").out)
    low, high = found["intervals"]["P@1"]
    assert low < found["figures"]["P@1"] < high
    assert found["better"]["P@1"] == "more"
    assert found["better"]["hamming"] == "less"
    assert "±" in cli("evaluate", model, *judged).out
    assert "±" not in cli("evaluate", model, *judged, "--no-intervals").out
    monkeypatch.setattr(evaluate, "CHEAP", 50)
    assert "±" not in cli("evaluate", model, *judged).out
    again = json.loads(cli("evaluate", model, *judged, "--json", "--intervals").out)
    assert again["intervals"] == found["intervals"]


def test_a_model_with_probabilities_is_judged_by_them(
    cli, calibrated, model, dataset, judged
):
    found = json.loads(cli("evaluate", calibrated, *judged, "--json").out)
    _, test = dataset
    learner = ml.load(calibrated).learner_.estimator_
    proba = learner.predict_topk(test.X, 3, proba=True)
    scores = learner.predict_topk(test.X, 3)
    error = ml.metrics.calibration_error_at_k(test.Y, scores, 3, proba=proba)
    assert found["figures"]["ECE@3"] == pytest.approx(error)
    assert found["better"]["ECE@3"] == "less"
    bins = found["reliability"]["ECE@3"]
    assert sum(each["n_pairs"] for each in bins) == 3 * len(test)
    without = json.loads(cli("evaluate", model, *judged, "--json").out)
    assert without["reliability"] == {}
    assert "ECE@3" not in without["figures"]


def test_a_page_is_written_and_links_the_table(cli, calibrated, judged, tmp_path):
    page, table = tmp_path / "report.html", tmp_path / "all" / "labels.tsv"
    table.parent.mkdir()
    options = ("--html", page, "--labels", table)
    done = cli("evaluate", calibrated, *judged, *options)
    assert (done.status, done.err) == (0, f"note: wrote {page}.\n")
    text = page.read_text()
    assert 'href="all/labels.tsv"' in text
    for words in ("label 3", "Are the probabilities right?", "<dt><bdi>learner</bdi>"):
        assert words in text


def test_the_figures_are_kept_in_the_card(cli, model, judged, files, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(model, copy)
    found = json.loads(cli("evaluate", copy, *judged, "--json", "--annotate").out)
    card = json.loads(cli("describe", copy, "--json").out)
    assert card["figures"] | card["losses"] == pytest.approx(found["figures"])
    assert set(card["losses"]) == {"hamming", "f1", "accuracy", "rank", "subset"}
    assert card["judged_by"] == 100
    assert card["judged_on"] == str(files / "test.txt")
    assert "losses         hamming" in cli("describe", copy).out


@pytest.mark.parametrize("option", [("--html", "a.html"), ("--annotate",)])
def test_pages_and_cards_are_of_one_model(cli, model, calibrated, judged, option):
    done = cli("evaluate", model, calibrated, *judged, *option)
    assert done.status == 2
    assert f"{option[0]} must be of one model. Got 2." in done.err

"""Probabilities, and labels that are allowed or denied, on the command line."""

import json

import pytest

import manylabel as ml


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return a folder with texts, a calibrated model, and one that is not."""
    folder = tmp_path_factory.mktemp("decisions")
    rows = [("wine", "drink"), ("bread", "food"), ("stone", "thing")] * 20
    lines = (json.dumps({"text": t, "labels": [label]}) for t, label in rows)
    (folder / "train.jsonl").write_text("\n".join(lines))
    texts, tags = [t for t, _ in rows], [[label] for _, label in rows]
    ml.Tagger(calibrate="auto").fit(texts, tags).save(folder / "model")
    ml.Tagger().fit(texts, tags).save(folder / "plain")
    (folder / "new").write_text("wine\n")
    (folder / "some").write_text("food\nthing\n")
    return folder


def answer(done):
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_fit_calibrates_and_predict_prints_probabilities(cli, model, tmp_path):
    made = ("--model", tmp_path / "made", "--calibrate", "auto")
    assert cli("fit", model / "train.jsonl", *made).status == 0
    for folder in (tmp_path / "made", model / "model"):
        ask = (folder, model / "new", "--proba", "--format", "jsonl", "-k", "2")
        found = answer(cli("predict", *ask))
        assert found["labels"][0] == "drink"
        assert 0.5 < found["scores"][0] <= 1
        assert 0 <= found["scores"][1] < 0.5


def test_the_best_of_the_allowed_are_printed(cli, model):
    ask = (model / "model", model / "new", "--format", "jsonl")
    allowed = answer(cli("predict", *ask, "--allow", model / "some"))
    assert sorted(allowed["labels"]) == ["food", "thing"]
    denied = answer(cli("predict", *ask, "--deny", model / "some"))
    assert denied["labels"] == ["drink"]
    assert answer(cli("predict", *ask, "--sets"))["labels"] == ["drink"]


def test_a_precision_that_cannot_be_promised_is_said(cli, model, tmp_path):
    ml.load(model / "plain").save(tmp_path / "cut")
    ask = (tmp_path / "cut", "--data", model / "train.jsonl", "--for", "precision=1")
    done = cli("thresholds", *ask, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["promised"] is False
    assert "min_precision=1 cannot be promised by 60 rows" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--allow", "odd"], "allow must name labels of the model. Got 'nosuch'."),
        (["--deny", "empty"], "--deny must name at least one label."),
    ],
)
def test_bad_names_are_refused(cli, model, options, message):
    (model / "odd").write_text("nosuch\n")
    (model / "empty").write_text("\n")
    done = cli(
        "predict", model / "model", model / "new", options[0], model / options[1]
    )
    assert done.status == 2
    assert message in done.err


def test_a_model_without_probabilities_says_how_to_get_them(cli, model, tmp_path):
    done = cli("predict", model / "plain", model / "new", "--proba")
    assert done.status == 2
    assert "manylabel fit --calibrate auto" in done.err
    made = ("--model", tmp_path / "made", "--calibrate", "beta")
    done = cli("fit", model / "train.jsonl", *made)
    assert done.status == 2
    assert "--calibrate must be one of auto, sigmoid, isotonic. Got 'beta'." in done.err

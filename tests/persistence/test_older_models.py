"""Models that earlier versions saved: they load, and say what they said."""

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import manylabel as ml

ROOT = Path(__file__).parents[2]
KEPT = {
    path.name.removesuffix(".tar.gz"): path
    for path in ROOT.glob("tests/persistence/models/*")
}
KINDS = [
    "AnnotationTree",
    "Blend",
    "CSDPP",
    "Calibrated",
    "Corrected",
    "LabelTree",
    "OnlineLabelTree",
    "PLST",
    "PfastreXML",
    "Popularity",
    "Propensity",
    "Tagger",
    "TextVectorizer",
    "Thresholds",
]


@pytest.fixture(scope="module", params=sorted(KEPT))
def kept(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    shutil.unpack_archive(KEPT[request.param], folder, filter="data")
    return folder


@pytest.fixture(scope="module")
def answer():
    return runpy.run_path(str(ROOT / "scripts" / "keep_models.py"))["answer"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_of_an_earlier_version_says_what_it_said(kind, kept, answer):
    record = json.loads((kept / "answers.json").read_text())
    found = answer(ml.load(kept / kind), np.array(record["X"]), record["texts"])
    expected = record["answers"][kind]
    if kind in ("Tagger", "Corrected"):
        assert pick(found, 0) == pick(expected, 0)
        found, expected = pick(found, 1), pick(expected, 1)
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def pick(rows, part):
    return [[pair[part] for pair in row] for row in rows]


def test_models_of_the_first_version_are_kept():
    assert "0.1.0" in KEPT

"""Corrections that somebody made to deceive: refused in a sentence, never followed."""

import numpy as np
import pytest

import manylabel as ml
from manylabel.exceptions import ArchiveError
from manylabel.persistence import folder, save, tensors

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"]
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]]


@pytest.fixture(scope="module")
def model():
    corrected = ml.Corrected(ml.Tagger().fit(TEXTS, TAGS))
    return corrected.correct(["apple pie", "beer"], [["fruit"], ["drink"]])


@pytest.fixture
def refusal(model, tmp_path):
    """Return what is said of the model with some arrays and values changed."""

    def load_changed(arrays=(), state=(), params=()):
        path = tmp_path / "model"
        save(model, path)
        manifest, found = folder.read(path, mmap=False)
        manifest["state"].update(state)
        manifest["params"].update(params)
        found |= {f"state/{name}": array for name, array in dict(arrays).items()}
        manifest["arrays"] = tensors.describe(found)
        folder.replace(path, manifest, found)
        with pytest.raises(ArchiveError) as error:
            ml.load(path)
        return str(error.value)

    return load_changed


@pytest.mark.parametrize("part", ["learnt_", "recent_"])
def test_tables_without_a_free_slot_are_refused(part, model, refusal):
    """A search for a key that is not there would never end."""
    keys = np.arange(1, len(getattr(model, part).keys) + 1, dtype=np.uint64)
    assert "free" in refusal({f"{part}.keys": keys})


@pytest.mark.parametrize("part", ["learnt_", "recent_"])
@pytest.mark.parametrize("n_slots", [0, 1, 512, 1500])
def test_tables_of_other_sizes_are_refused(part, n_slots, refusal):
    keys, blocks = np.zeros(n_slots, np.uint64), np.zeros((n_slots, 2), np.float32)
    arrays = {f"{part}.keys": keys, f"{part}.blocks": blocks}
    assert "power of two" in refusal(arrays)


@pytest.mark.parametrize("label", [3, 2**31 - 1, -2])
def test_rings_of_labels_that_are_not_there_are_refused(label, model, refusal):
    rings = model.recent_.rings.copy()
    rings[7, 2] = label
    assert "recent_.rings must hold" in refusal({"recent_.rings": rings})


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_weights_out_of_range_are_refused(value, model, refusal):
    blocks = model.recent_.blocks.copy()
    blocks[np.flatnonzero(model.recent_.keys)[0], 0] = value
    assert "recent_.blocks must" in refusal({"recent_.blocks": blocks})


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("counters", np.array([1, 0])),
        ("counters", np.array([-1, 0])),
        ("losses", np.full(4, np.nan)),
        ("losses", np.zeros(3)),
        ("scales", np.full((4, 4), np.inf)),
        ("mentions", np.zeros(2)),
        ("filter", np.zeros(8, np.uint8)),
        ("rings", np.full((8, 4), -1, np.int32)),
    ],
)
def test_other_arrays_are_checked(name, array, refusal):
    assert "recent_" in refusal({f"recent_.{name}": array})


@pytest.mark.parametrize("names", [["drink"], ["fruit", "fruit"], [], [1]])
def test_names_that_are_not_new_are_refused(names, refusal):
    refusal(state={"new_names_.strings": names})


@pytest.mark.parametrize(
    "params", [{"n_bits": 99}, {"n_bits": "many"}, {"tagger.class": "OneVsRest"}]
)
def test_parameters_are_checked(params, refusal):
    refusal(params=params)


def test_a_tagger_that_is_not_fitted_is_refused(model, tmp_path):
    save(model, tmp_path / "model")
    manifest, arrays = folder.read(tmp_path / "model", mmap=False)
    kept = "tagger.class", "tagger.params", "n_bits"
    params = manifest["params"]
    manifest["params"] = {k: v for k, v in params.items() if k.startswith(kept)}
    arrays = {k: v for k, v in arrays.items() if not k.startswith("params/tagger")}
    manifest["arrays"] = tensors.describe(arrays)
    folder.replace(tmp_path / "model", manifest, arrays)
    with pytest.raises(ArchiveError, match="not fitted"):
        ml.load(tmp_path / "model")

"""Label trees that somebody made to deceive: refused in a sentence, never followed."""

import numpy as np
import pytest

from manylabel import LabelTree, load
from manylabel.exceptions import ArchiveError
from manylabel.persistence import folder, save, tensors

NODES = "state/nodes_."


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.random((80, 6)) * (rng.random((80, 6)) < 0.7)
    Y = (X @ rng.random((6, 9)) > 1.2).astype(int)
    Y[np.arange(9), np.arange(9)] = 1
    how = {"n_clusters": 3, "leaf_labels": 3, "min_weight": 0.0, "n_estimators": 2}
    return LabelTree(**how).fit(X, Y)


@pytest.fixture
def refusal(model, tmp_path):
    """Return what is said of the model with some arrays and parameters changed."""

    def load_changed(arrays=(), params=()):
        path = tmp_path / "model"
        save(model, path)
        manifest, found = folder.read(path, mmap=False)
        manifest["params"].update(params)
        found |= {name: np.ascontiguousarray(a) for name, a in dict(arrays).items()}
        manifest["arrays"] = tensors.describe(found)
        folder.replace(path, manifest, found)
        with pytest.raises(ArchiveError) as error:
            load(path)
        return str(error.value)

    return load_changed


def changed(array, place, value):
    copy = array.copy()
    copy[place] = value
    return copy


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, 0), (0, 2), (-1, 2), (-1, 2**40), (1, 1), (2, 1), (3, 2**62), (3, -1)],
)
def test_children_that_are_not_there_are_refused(place, value, model, refusal):
    starts = changed(model.nodes_.child_starts, place, value)
    assert "child_starts must" in refusal({NODES + "child_starts": starts})


def test_nodes_that_lead_to_themselves_are_refused(model, refusal):
    """The first leaf takes the place before it: it would be its own child."""
    starts, nodes = model.nodes_.child_starts.copy(), model.nodes_
    leaf = int(np.flatnonzero(nodes.labels >= 0)[0])
    last = np.flatnonzero(starts <= leaf)[-1]
    starts[last + 1 : leaf + 1] = leaf
    labels = np.where(np.diff(starts) > 0, -1, nodes.labels).astype(np.int32)
    said = refusal({NODES + "child_starts": starts, NODES + "labels": labels})
    assert "must have children after parents" in said


def test_no_tree_at_all_is_refused(model, refusal):
    starts = changed(model.nodes_.child_starts, slice(0, 3), 1)
    said = refusal({NODES + "child_starts": starts})
    assert "must have children after parents" in said or "at least one tree" in said


@pytest.mark.parametrize("n_levels", [1_002, 50_000])
def test_a_chain_of_thousands_of_levels_is_refused(n_levels, model, refusal):
    starts = np.append(np.arange(1, n_levels + 1), n_levels)
    arrays = {
        "child_starts": starts,
        "labels": changed(np.full(n_levels, -1, np.int32), -1, 0),
        "intercept": np.zeros(n_levels, np.float32),
        "block_starts": np.zeros(n_levels + 1, np.int64),
        "features": np.empty(0, np.int32),
        "entry_starts": np.zeros(1, np.int32),
        "entry_children": np.empty(0, np.uint16),
        "entry_bits": np.empty(0, np.uint16),
    }
    arrays = {NODES + name: array for name, array in arrays.items()}
    arrays["state/gain_"] = np.zeros(n_levels, np.float32)
    assert "must have at most 1000 levels" in refusal(arrays)


def test_a_node_of_more_children_than_bits_can_number_is_refused(refusal):
    n_nodes = 2 + (1 << 16) + 1
    arrays = {
        "child_starts": np.append([1, 2], np.full(n_nodes - 1, n_nodes)),
        "labels": np.full(n_nodes, -1, np.int32),
        "intercept": np.zeros(n_nodes, np.float32),
        "block_starts": np.zeros(n_nodes + 1, np.int64),
        "features": np.empty(0, np.int32),
        "entry_starts": np.zeros(1, np.int32),
        "entry_children": np.empty(0, np.uint16),
        "entry_bits": np.empty(0, np.uint16),
    }
    said = refusal({NODES + name: array for name, array in arrays.items()})
    assert "must have at most 65536 children each" in said


@pytest.mark.parametrize("value", [3, 2**15, 2**16 - 1])
def test_weights_of_children_that_a_node_has_not_are_refused(value, model, refusal):
    entries = changed(model.nodes_.entry_children, -1, value)
    said = refusal({NODES + "entry_children": entries})
    assert "entry_children must be children of the node" in said


def test_a_label_that_stands_in_a_tree_twice_is_refused(model, refusal):
    nodes = model.nodes_
    root = nodes.roots[0]
    leaves = np.flatnonzero((nodes.labels >= 0) & (nodes.find_trees() == root))
    labels = changed(nodes.labels, leaves[1], nodes.labels[leaves[0]])
    said = refusal({NODES + "labels": labels})
    assert "labels must be distinct within a tree" in said


@pytest.mark.parametrize("label", [9, -2, 2**31 - 1])
def test_labels_out_of_range_are_refused(label, model, refusal):
    leaf = np.flatnonzero(model.nodes_.labels >= 0)[0]
    said = refusal({NODES + "labels": changed(model.nodes_.labels, leaf, label)})
    assert "labels must hold numbers from -1 to below 9" in said


def test_a_label_of_an_inner_node_is_refused(model, refusal):
    for node, words in ((0, "at least one tree"), (1, "must be those of leaves")):
        labels = changed(model.nodes_.labels, node, 0)
        assert words in refusal({NODES + "labels": labels})


@pytest.mark.parametrize("feature", [6, -1, 2**31 - 1])
def test_features_out_of_range_are_refused(feature, model, refusal):
    features = changed(model.nodes_.features, 0, feature)
    said = refusal({NODES + "features": features})
    assert "features must hold numbers from 0 to below 6" in said


def test_features_out_of_order_are_refused(model, refusal):
    features = model.nodes_.features.copy()
    features[:2] = features[1::-1]
    assert "features must ascend" in refusal({NODES + "features": features})
    features[0] = features[1]
    assert "features must ascend" in refusal({NODES + "features": features})


@pytest.mark.parametrize("bits", [0x7F80, 0x7FC0, 0xFF80, 0xFFFF])
def test_weights_that_are_no_numbers_are_refused(bits, model, refusal):
    bits = changed(model.nodes_.entry_bits, 3, bits)
    said = refusal({NODES + "entry_bits": bits})
    assert "entry_bits must hold finite numbers" in said


@pytest.mark.parametrize("name", ["nodes_.intercept", "gain_"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(name, value, model, refusal):
    array = model.gain_ if name == "gain_" else model.nodes_.intercept
    said = refusal({f"state/{name}": changed(array, 2, value)})
    assert f"{name} must hold finite numbers" in said


@pytest.mark.parametrize("extra", [-1, 1])
def test_gains_of_other_nodes_are_refused(extra, model, refusal):
    gain = np.zeros(len(model.gain_) + extra, np.float32)
    said = refusal({"state/gain_": gain})
    assert "gain_ must have a number for each node" in said


def test_counts_of_labels_that_no_row_has_are_refused(model, refusal):
    counts = changed(model.counts_, 3, 0)
    assert "counts_ must be above 0 for the labels" in refusal(
        {"state/counts_": counts}
    )
    counts[3] = -1
    assert "counts_ must hold finite numbers of 0" in refusal({"state/counts_": counts})


@pytest.mark.parametrize("name", ["block_starts", "entry_starts"])
def test_starts_that_fall_are_refused(name, model, refusal):
    starts = getattr(model.nodes_, name)
    for place, value in ((0, 1), (2, -1), (2, 2**30), (-1, 0)):
        said = refusal({NODES + name: changed(starts, place, value)})
        assert f"{name} must rise from 0 to the length of" in said


@pytest.mark.parametrize(
    "params",
    [
        {"beam": -1},
        {"beam": 2**40},
        {"background": -1},
        {"loss": "hinge"},
        {"tilt": "much"},
    ],
)
def test_parameters_are_checked_by_the_code_of_fit(params, refusal):
    assert next(iter(params)) in refusal(params=params)

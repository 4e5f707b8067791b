"""Growth of a tree: what its nodes must be, whatever the data."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels.forest import router
from manylabel._kernels.forest.quantization import STEPS
from manylabel.persistence import records
from manylabel.trees import _grower
from manylabel.trees._grower import Plan, grow_tree
from manylabel.trees._nodes import Forest
from manylabel.trees._weighting import ideal_weights


@st.composite
def plans(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(1, 60)), draw(st.integers(1, 8))
    n_labels = draw(st.integers(1, 9))
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    Y = sp.csr_array((rng.random((n_rows, n_labels)) < 0.3).astype(np.float32))
    gain = rng.random(n_labels) + 0.5
    return Plan(
        X=sp.csr_array(X.astype(np.float32)),
        Y=Y,
        gain=gain,
        weight=ideal_weights(Y, gain),
        mass=rng.integers(1, 4, n_rows).astype(float),
        cost=draw(st.sampled_from([1.0, 30.0])),
        bias=draw(st.sampled_from([0.0, 1.0, 2.5])),
        leaf_size=draw(st.integers(1, 10)),
        labels_per_leaf=draw(st.integers(1, 9)),
    )


def reached(forest, X):
    out = np.empty((X.shape[0], len(forest.roots) - 1), np.int32)
    rows = router.Rows(X.indptr, X.indices, X.data)
    w = router.Rows(forest.weight_starts, forest.weight_features, forest.weight_bits)
    nodes = (forest.roots, forest.children, forest.intercept, w)
    router.descend(rows, *nodes, router.make_journey(*X.shape), out)
    return out


def check(forest, n_features, n_labels):
    sizes = {"n_features": n_features, "n_labels": n_labels}
    records.check(forest, "forest_", sizes)


@pytest.fixture(params=[(99, 99), (99, 7), (20, 7)], ids=["few", "some", "many"])
def most_rows(request, monkeypatch):
    """Let some rows have branches, and the splits of many be learnt from a sample."""
    monkeypatch.setattr(_grower, "MOST_ROWS", request.param[0])
    monkeypatch.setattr(_grower, "BRANCH_ROWS", request.param[1])


@pytest.mark.usefixtures("most_rows")
@given(plans())
def test_a_leaf_keeps_the_best_mean_gains_of_the_rows_that_reach_it(plan):
    forest = grow_tree(plan, np.uint64(3))
    check(forest, plan.X.shape[1], plan.Y.shape[1])
    leaves, shares = reached(forest, plan.X)[:, 0], forest.leaves(plan.Y.shape[1])
    for leaf in np.flatnonzero(forest.children == 0):
        here = leaves == leaf
        assert here.any(), "no row reaches a leaf"
        mean = np.average(plan.Y.toarray()[here], axis=0, weights=plan.mass[here])
        best = np.argsort(-mean * plan.gain, kind="stable")[: plan.labels_per_leaf]
        expected = np.zeros_like(mean)
        expected[best] = mean[best]
        assert_allclose(shares.toarray()[leaf], expected, atol=1 / STEPS)
    assert shares[forest.children > 0].nnz == 0


@pytest.mark.usefixtures("most_rows")
@given(plans())
def test_small_nodes_are_not_split(plan):
    forest = grow_tree(plan, np.uint64(3))
    leaves = reached(forest, plan.X)[:, 0]
    size = np.bincount(leaves, minlength=len(forest.children))
    for node in range(len(size) - 1, -1, -1):
        if child := forest.children[node]:
            size[node] = size[child] + size[child + 1]
            assert size[node] > plan.leaf_size
    assert size[0] == plan.X.shape[0]
    assert_array_equal(forest.node_rows, size)


@given(plans())
@settings(max_examples=30)
def test_room_that_runs_out_changes_no_bit(plan):
    expected = grow_tree(plan, np.uint64(3))
    seedling = _grower._seedling

    def tight(plan):
        tree = seedling(plan)
        return tree._replace(w_indices=tree.w_indices[:0], w_data=tree.w_data[:0])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_grower, "_seedling", tight)
        assert_same_forest(grow_tree(plan, np.uint64(3)), expected)


@pytest.mark.usefixtures("most_rows")
@given(plans())
def test_joining_then_taking_the_head_gives_the_parts_back(plan):
    trees = [grow_tree(plan, np.uint64(seed)) for seed in range(3)]
    forest = Forest.joined(trees)
    check(forest, plan.X.shape[1], plan.Y.shape[1])
    assert_same_forest(forest.head(3), forest)
    assert_same_forest(forest.head(2), Forest.joined(trees[:2]))
    assert_same_forest(Forest.joined([forest.head(1), *trees[1:]]), forest)
    alone = [reached(tree, plan.X)[:, 0] for tree in trees]
    assert_array_equal(reached(forest, plan.X) - forest.roots[:-1], np.transpose(alone))


@given(plans())
@settings(max_examples=30)
def test_a_large_node_is_split_on_what_a_sample_tells(plan):
    n_rows = plan.X.shape[0]
    expected = grow_tree(plan, np.uint64(3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_grower, "MOST_ROWS", n_rows)
        patch.setattr(_grower, "BRANCH_ROWS", n_rows)
        assert_same_forest(grow_tree(plan, np.uint64(3)), expected)
        patch.setattr(_grower, "MOST_ROWS", 1)  # of a single row nothing is learnt
        assert len(grow_tree(plan, np.uint64(3)).children) == 1


def assert_same_forest(one, other):
    for name, mine, theirs in zip(Forest._fields, one, other, strict=True):
        assert_array_equal(mine, theirs, err_msg=name)


@pytest.mark.parametrize("seed", range(5))
def test_features_and_constant_may_be_scaled_together(seed):
    """With a loss that counts as much more, the separator says the same."""
    rng = np.random.default_rng(seed)
    X = sp.csr_array(rng.random((40, 3), np.float32))
    Y = sp.csr_array((X.toarray() > 0.6).astype(np.float32))
    plan = Plan(X, Y, np.ones(3), np.ones(40), np.ones(40), 5.0, 1.5, 30, 3)
    larger = replace(plan, X=2 * X, bias=3.0, cost=2.5)
    one, other = (grow_tree(each, np.uint64(seed)) for each in (plan, larger))
    assert one.children[0] == other.children[0] == 1
    assert_allclose(one.intercept[0], other.intercept[0], rtol=0.01)
    assert one.intercept[0] != 0


def test_the_loss_of_rows_that_are_drawn_counts_for_all(monkeypatch):
    """The feature is the label, so any rows tell the same: the weight is the same."""
    label = np.arange(64) % 2
    X = sp.csr_array(np.float32(2 * label - 1)[:, None])
    Y = sp.csr_array(np.eye(2, dtype=np.float32)[label])
    plan = Plan(X, Y, np.ones(2), np.ones(64), np.ones(64), 1.0, 0.0, 10, 10)
    whole = grow_tree(plan, np.uint64(3)).weights(1)[:1].toarray()
    monkeypatch.setattr(_grower, "MOST_ROWS", 16)
    drawn = grow_tree(plan, np.uint64(3)).weights(1)[:1].toarray()
    assert_allclose(np.abs(drawn), np.abs(whole), rtol=0.02)
    assert np.abs(whole) > 3


def test_ideal_weights_make_the_objective_ndcg():
    Y = sp.csr_array([[1, 1, 0], [0, 0, 0], [0, 0, 1]])
    weights = ideal_weights(Y, np.array([1.0, 3.0, 2.0]))
    assert_allclose(weights, [1 / (3 + 1 / np.log2(3)), 0, 1 / 2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"children": np.array([1, 0, 9], np.int32)}, "children must follow"),
        ({"children": np.array([0, 1, 0], np.int32)}, "children must follow"),
        ({"children": np.array([2, 0, 0], np.int32)}, "children must follow"),
        ({"roots": np.array([1, 3])}, "children must belong to trees that start"),
        ({"roots": np.array([0, 0, 3])}, "roots must ascend"),
        (
            {"leaf_steps": np.uint16([7, 0])},
            "leaf_steps must hold finite numbers of 1 or",
        ),
        ({"leaf_steps": np.uint16([7])}, r"leaf_steps must have shape \(n_shares\)"),
        ({"leaf_labels": np.uint16([0, 1])}, "leaf_labels must .* to below 1"),
        ({"leaf_labels": np.int32([0, -1])}, "leaf_labels must .* to below 1"),
        ({"leaf_starts": np.int32([0, 1, 0, 2])}, "leaf_starts must rise"),
        ({"leaf_starts": np.int32([0, 0, 1, 3])}, "leaf_starts must rise"),
        ({"leaf_starts": np.int32([0, 2, 2, 2])}, "leaf_labels must ascend between"),
        ({"weight_features": np.uint16([2])}, "weight_features must .* to below 2"),
        ({"weight_bits": np.uint16([0x7FC0])}, "weight_bits must hold finite"),
    ],
)
def test_nodes_that_lead_astray_are_refused(change, message):
    forest = Forest(
        roots=np.array([0, 3]),
        children=np.array([1, 0, 0], np.int32),
        intercept=np.zeros(3, np.float32),
        node_rows=np.int32([2, 1, 1]),
        weight_starts=np.int32([0, 1, 1, 1]),
        weight_features=np.uint16([1]),
        weight_bits=np.uint16([0x3F80]),
        leaf_starts=np.int32([0, 0, 1, 2]),
        leaf_labels=np.uint16([0, 0]),
        leaf_steps=np.uint16([STEPS, STEPS]),
    )
    check(forest, n_features=2, n_labels=1)
    assert_array_equal(forest.weights(2).toarray(), [[0, 1], [0, 0], [0, 0]])
    assert_array_equal(forest.leaves(1).toarray(), [[0], [1], [1]])
    with pytest.raises(ValueError, match=message):
        check(forest._replace(**change), n_features=2, n_labels=1)

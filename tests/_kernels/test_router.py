"""The router: a hand-made forest, and the merging of leaves against dense sums."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels.forest import router


def descend(X, roots, children, intercept, weights):
    X, weights = sp.csr_array(X), sp.csr_array(np.float32(weights))
    bits = (weights.data.view(np.uint32) >> 16).astype(np.uint16)
    out = np.empty((X.shape[0], len(roots) - 1), np.int32)
    rows = router.Rows(X.indptr, X.indices, X.data)
    w = router.Rows(weights.indptr, weights.indices, bits)
    journey = router.make_journey(*X.shape)
    router.descend(rows, roots, children, intercept, w, journey, out)
    return out


def test_rows_follow_a_hand_made_forest():
    """Tree 0 asks x0 >= 1, then x1 >= x2 of the others; tree 1 is a leaf."""
    roots = np.array([0, 5, 6])
    children = np.array([1, 0, 3, 0, 0, 0], np.int32)
    intercept = np.array([-1, 0, 0, 0, 0, 0], np.float32)
    weights = np.zeros((6, 3), np.float32)
    weights[0], weights[2] = [1, 0, 0], [0, 1, -1]
    X = np.float32([[2, 0, 9], [1, 0, 0], [0, 5, 4], [0, 4, 5], [0, 0, 0]])
    reached = descend(X, roots, children, intercept, weights)
    assert_array_equal(reached, [[1, 5], [1, 5], [3, 5], [4, 5], [3, 5]])


@st.composite
def merges(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_estimators = draw(st.integers(0, 6)), draw(st.integers(1, 5))
    n_nodes, n_labels = draw(st.integers(1, 8)), draw(st.integers(1, 12))
    shares = rng.integers(1, 4, (n_nodes, n_labels)) / 4  # coarse, so scores tie
    shares *= rng.random(shares.shape) < 0.4
    leaves = rng.integers(0, n_nodes, (n_rows, n_estimators)).astype(np.int32)
    gain = rng.choice([1.0, 2.0, 1e-12], n_labels)  # the last is lost in rounding
    return leaves, sp.csr_array(shares), gain


def listed(leaves, shares, gain, most):
    """Return the labels of the leaves of each row and their means, less a quarter."""
    shape = (len(leaves), shares.shape[1])
    out = router.Rows(
        *(np.empty(shape[0] + 1, np.int64), np.empty(shape[0] * most, np.int32)),
        np.empty(shape[0] * most, np.float32),
    )
    lists = router.Rows(shares.indptr, shares.indices, shares.data)
    votes, unit = router.make_votes(shape[1]), 1 / leaves.shape[1]
    router.list_rows(leaves, lists, gain, unit, -0.25, most, votes, out)
    end = out.indptr[-1]
    return sp.csr_array((out.data[:end], out.indices[:end], out.indptr), shape=shape)


@given(merges())
def test_leaves_are_averaged(case):
    leaves, S, gain = case
    found, held = listed(*case, S.shape[1]), S.toarray()[leaves]
    mean = held.mean(axis=1) * gain - 0.25
    for row in range(len(leaves)):
        columns = np.flatnonzero(held[row].any(axis=0))
        assert_array_equal(found[[row]].indices, columns)
        assert_allclose(found[[row]].data, mean[row, columns], atol=1e-6)


@given(merges(), st.integers(1, 12))
def test_the_best_labels_are_the_head_of_the_mean(case, k):
    k = min(k, case[1].shape[1])
    few, whole = listed(*case, k), listed(*case, case[1].shape[1])
    for row in range(len(case[0])):
        order = np.argsort(-whole[[row]].data, kind="stable")[:k]
        assert_array_equal(few[[row]].indices, np.sort(whole[[row]].indices[order]))
        assert_array_equal(few[[row]].data, whole[[row]].data[np.sort(order)])


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.sampled_from([0.5, 1.0]))
def test_rows_meet_the_same_leaf_alone_as_in_company(seed, n_rows, full):
    rng = np.random.default_rng(seed)
    children = np.array([1, 3, 5, 0, 0, 0, 0], np.int32)  # a full tree of depth 2
    weights = rng.integers(-99, 99, (7, 4)) * (rng.random((7, 4)) < 0.5) / 16
    forest = (np.array([0, 7]), children, rng.normal(size=7).astype(np.float32))
    X = (rng.normal(size=(n_rows, 4)) * (rng.random((n_rows, 4)) < full)).astype("f")
    together = descend(X, *forest, weights)
    for row, leaf in zip(X, together, strict=True):
        assert_array_equal(descend(row[None], *forest, weights)[0], leaf)
        at = 0
        while children[at]:
            score = row.astype(float) @ weights[at] + forest[2][at]
            at = children[at] + int(score < 0)
        assert leaf[0] == at

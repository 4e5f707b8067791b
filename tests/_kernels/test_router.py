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
    router.descend(
        *(X.indptr, X.indices, X.data, X.shape[1], roots, children, intercept),
        *(weights.indptr, weights.indices, bits, out),
    )
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
    seen = (shares > 0).any(axis=0) | (rng.random(n_labels) < 0.7)
    scale = router.Scale(gain, seen, 1 / n_estimators, -0.25)
    return leaves, sp.csr_array(shares), scale


def merged(leaves, shares, scale):
    """Return the mean over the trees, times the gains; a label not seen is 1 lower."""
    mean = shares.toarray()[leaves].mean(axis=1) * scale.gain
    return mean + scale.shift - ~scale.seen


@given(merges())
def test_leaves_are_averaged(case):
    leaves, S, scale = case
    out = np.empty((len(leaves), S.shape[1]), np.float32)
    router.mean_rows(leaves, S.indptr, S.indices, S.data, *scale, out)
    assert_allclose(out, merged(*case), atol=1e-6)


@given(merges(), st.integers(1, 12))
def test_the_best_labels_are_the_head_of_the_mean(case, k):
    leaves, S, scale = case
    k = min(k, S.shape[1])
    columns = np.empty((len(leaves), k), np.int32)
    scores = np.empty((len(leaves), k), np.float32)
    lists = (leaves, S.indptr, S.indices, S.data, *scale)
    router.best_of_rows(*lists, columns, scores)
    whole = np.empty((len(leaves), S.shape[1]), np.float32)
    router.mean_rows(*lists, whole)
    expected = np.argsort(-whole, axis=1, kind="stable")[:, :k]
    assert_array_equal(columns, expected)
    assert_array_equal(scores, np.take_along_axis(whole, expected, axis=1))


@given(st.integers(0, 2**32 - 1), st.integers(0, 30))
def test_rows_meet_the_same_leaf_alone_as_in_company(seed, n_rows):
    rng = np.random.default_rng(seed)
    children = np.array([1, 3, 5, 0, 0, 0, 0], np.int32)  # a full tree of depth 2
    weights = rng.integers(-99, 99, (7, 4)) * (rng.random((7, 4)) < 0.5) / 16
    forest = (np.array([0, 7]), children, rng.normal(size=7).astype(np.float32))
    X = (rng.normal(size=(n_rows, 4)) * (rng.random((n_rows, 4)) < 0.5)).astype("f")
    together = descend(X, *forest, weights)
    for row, leaf in zip(X, together, strict=True):
        assert_array_equal(descend(row[None], *forest, weights)[0], leaf)
        at = 0
        while children[at]:
            score = row.astype(float) @ weights[at] + forest[2][at]
            at = children[at] + int(score < 0)
        assert leaf[0] == at

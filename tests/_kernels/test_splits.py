"""Axis-parallel splits of sparse columns, against all thresholds of dense ones."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels.binary import splits


def drawn(seed, n_rows=20, n_features=4, n_nodes=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n_rows, n_features)).astype(np.float32)
    node = rng.integers(-1, n_nodes, n_rows)
    node[:n_nodes] = np.arange(n_nodes)
    return X, node, rng.normal(size=n_rows), rng.random(n_features) < 0.5


def found(X, node, target, is_used):
    n_nodes = node.max() + 1
    own = node >= 0
    total = np.column_stack(
        [
            np.bincount(node[own], minlength=n_nodes).astype(float),
            np.bincount(node[own], target[own], n_nodes),
        ]
    )
    best, halves = splits.make_best(n_nodes), np.empty((2, n_nodes, 3))
    columns, every = splits.sort_columns(sp.csr_array(X)), np.arange(X.shape[1])
    splits.search(columns, every, is_used, (node, target), total, halves, best)
    return best


def fall(target, is_above):
    """Return what the sum of squared errors falls by."""
    parts = target[is_above], target[~is_above]
    if not all(map(len, parts)):
        return 0.0
    return target.var() * len(target) - sum(p.var() * len(p) for p in parts)


@given(st.integers(0, 2**32 - 1))
def test_no_threshold_is_better_than_the_one_found(seed):
    X, node, target, is_used = drawn(seed)
    best = found(X, node, target, is_used)
    for at in range(node.max() + 1):
        rows = node == at
        for own in (0, 1):
            gains = [
                fall(target[rows], X[rows, f] > threshold)
                for f in np.flatnonzero(is_used == own)
                for threshold in np.arange(-2.5, 3)
            ]
            assert_allclose(best.gain[own, at], max(gains, default=0), atol=1e-9)
            if best.gain[own, at] > 1e-9:
                feature, threshold = best.feature[own, at], best.threshold[own, at]
                reached = fall(target[rows], X[rows, feature] > threshold)
                assert_allclose(reached, best.gain[own, at], atol=1e-9)


@given(st.integers(0, 2**32 - 1))
def test_rows_are_sent_by_their_values(seed):
    X, node, _, _ = drawn(seed)
    rng = np.random.default_rng(seed)
    features, thresholds = rng.integers(0, 4, 2), rng.choice(np.arange(-2.5, 3), 2)
    parts = np.array([0, 1]), features, thresholds, np.array([2, 4])
    moved = np.empty_like(node)
    splits.send(splits.sort_columns(sp.csr_array(X)), parts, node, moved)
    expected = node.copy()
    for at in (0, 1):
        rows = node == at
        is_second = X[rows, features[at]] > thresholds[at]
        expected[rows] = parts[3][at] + is_second
    assert_array_equal(moved, expected)

"""Chains of nodes: where they stand, and rows that go down them together."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel import AnnotationTree, PowersetTree
from manylabel._kernels.coding_tree import chains
from manylabel.budget import _nodes


def grow(rng, n_inner):
    """Return the children and the intercepts of a tree, which may be one long chain."""
    children, leaves, favoured = np.zeros(2 * n_inner + 1, np.int32), [0], rng.random()
    for n in range(n_inner):
        at = leaves.pop(-1 if rng.random() < favoured else rng.integers(len(leaves)))
        children[at] = 2 * n + 1
        leaves += [2 * n + 1, 2 * n + 2]
    sign = np.where(rng.random(len(children)) < favoured, -1, 1)
    return children, sign.astype(np.float32)


@given(st.integers(0, 2**32 - 1), st.integers(0, 80))
def test_columns_that_are_looked_up_together_are_of_one_block(seed, n_inner):
    children, intercept = grow(np.random.default_rng(seed), n_inner)
    n_nodes = len(children)
    place, end, other = np.zeros((3, n_nodes), np.int32)
    column, fixed = np.zeros(n_nodes + 1, np.int64), np.zeros(n_nodes, np.int64)
    chains.lay_out(children, intercept, fixed, place, end, other, column)
    assert_array_equal(np.sort(place), np.arange(n_nodes))
    used, head = [], 0
    while head < n_nodes:
        own = column[head] + np.arange(end[head] - head)
        assert (own[:: chains.AT_ONCE] % chains.BLOCK <= 12).all()
        used, head = [*used, *own], end[head] + 1
    assert len(set(used)) == len(used) == n_inner
    assert max(used, default=-1) < column[-1]


@pytest.mark.parametrize("kind", [AnnotationTree, PowersetTree])
@pytest.mark.parametrize("table", [0, 1 << 22])
def test_rows_go_down_together_as_each_does_alone(kind, table, monkeypatch):
    monkeypatch.setattr(_nodes, "TABLE", table)
    rng = np.random.default_rng(0)
    X = np.float32(rng.normal(size=(300, 12)) * (rng.random((300, 12)) < 0.4))
    Y = rng.random((300, 9)) < 0.15 + 0.3 * (X[:, :9] > 1)
    model = kind(budget=5, C=1.0).fit(X, Y.astype(int))
    rows = sp.csr_array(X)
    together = model._annotator.annotate(rows)
    alone = [model._annotator.annotate(rows[i : i + 1])[1] for i in range(300)]
    assert_array_equal(np.diff(together[0]), [len(labels) for labels in alone])
    assert_array_equal(together[1], np.concatenate(alone))
    assert all((np.diff(labels) > 0).all() for labels in alone)
    nothing = model._annotator.annotate(rows[:0])
    assert [len(part) for part in nothing] == [1, 0]

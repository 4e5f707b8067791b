"""The partition: each half-step against all possibilities, and no step back."""

from itertools import permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels import rng
from manylabel._kernels.forest import partition

DISCOUNT = 1 / np.log2(np.arange(50) + 2)


@st.composite
def nodes(draw, most_rows=6, most_labels=4):
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_labels = (
        draw(st.integers(1, most_rows)),
        draw(st.integers(1, most_labels)),
    )
    Y = random.random((n_rows, n_labels)) < 0.5
    gain = random.random(n_labels) + 0.5 if draw(st.booleans()) else np.ones(n_labels)
    weight = random.random(n_rows) + 0.1
    side = np.where(random.random(n_rows) < 0.5, 1, -1)
    return Y.astype(int), weight, gain, side


def prepared(Y, weight, gain, side):
    rows = sp.csr_array(Y)
    labels = partition.Labels(*Y.shape, rows.indptr, rows.indices, weight, gain)
    space = partition.workspace(*Y.shape)
    space.side[:], space.order[:] = side, np.arange(Y.shape[1])
    return labels, space


def objective(Y, weight, gain, side, positive, negative):
    """Return the mean of the module's formula; the rankings give each label's rank."""
    ranks = np.where(side[:, None] > 0, positive, negative)
    return (weight[:, None] * Y * gain * DISCOUNT[ranks]).sum() / len(Y)


@given(nodes())
def test_the_rankings_are_the_best_for_the_sides(node):
    Y, weight, gain, side = node
    labels, space = prepared(*node)
    found = partition.rank_labels(labels, DISCOUNT, space)
    ranks = [np.array(ranks) for ranks in permutations(range(Y.shape[1]))]
    best = [
        max(objective(Y, weight * (side == s), gain, side, r, r) for r in ranks)
        for s in (1, -1)
    ]
    assert_allclose(found, sum(best), rtol=1e-6)


@given(nodes())
def test_the_sides_are_the_best_for_the_rankings(node):
    Y, weight, gain, _ = node
    labels, space = prepared(*node)
    partition.rank_labels(labels, DISCOUNT, space)
    n_labels = Y.shape[1]
    order = np.argsort(-space.mass.astype(np.float32), axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(n_labels)[None], axis=1)
    n_positive = partition.choose_sides(labels, space)
    found = objective(Y, weight, gain, space.side, *ranks)
    best = max(
        objective(Y, weight, gain, np.array(sides), *ranks)
        for sides in product((1, -1), repeat=len(Y))
    )
    assert_allclose(found, best)
    assert n_positive == (space.side > 0).sum()


@given(nodes(most_rows=40, most_labels=15))
def test_the_objective_never_decreases(node):
    labels, space = prepared(*node)
    values = []
    for _ in range(10):
        values.append(partition.rank_labels(labels, DISCOUNT, space))
        partition.choose_sides(labels, space)
    assert (np.diff(values) >= -1e-6).all()


@given(nodes(most_rows=40, most_labels=15), st.integers(0, 2**32))
def test_a_split_alternates_until_nothing_is_gained(node, seed):
    labels, space = prepared(*node)
    n_positive = partition.split(labels, DISCOUNT, np.array([seed], np.uint64), space)
    found = space.side.copy()
    state, last = np.array([seed], np.uint64), -np.inf
    odd = [int(rng.next_uint64(state)) >> 63 for _ in found]
    space.side[:], space.order[:] = np.where(odd, 1, -1), np.arange(labels.n_labels)
    while True:
        value = partition.rank_labels(labels, DISCOUNT, space)
        partition.choose_sides(labels, space)
        if value - last < partition.LEAST_GAIN:
            break
        last = value
    assert_array_equal(found, space.side)
    assert n_positive == (found > 0).sum()


def test_rows_without_labels_keep_their_side():
    node = np.array([[1, 0], [0, 0], [0, 1]]), np.ones(3), np.ones(2), [1, -1, -1]
    labels, space = prepared(*node)
    partition.rank_labels(labels, DISCOUNT, space)
    partition.choose_sides(labels, space)
    assert_array_equal(space.side, [1, -1, -1])


@pytest.mark.parametrize("n_swaps", [0, 3, 1000])
def test_labels_sort_from_any_order_by_mass_then_number(n_swaps):
    random = np.random.default_rng(n_swaps)
    space = partition.workspace(1, 200)
    space.mass[:] = random.integers(0, 50, 200)
    expected = np.argsort(-space.mass[0], kind="stable")
    space.order[1] = expected
    for one, other in random.integers(0, 200, (n_swaps, 2)):
        space.order[1, [one, other]] = space.order[1, [other, one]]
    partition._sort_labels(200, 1, space)
    assert_array_equal(space.order[1], expected)


def test_it_ends_when_gains_overflow():
    Y = np.ones((4, 3), int)
    labels, space = prepared(Y, np.ones(4), np.full(3, 1e308), np.ones(4))
    partition.split(labels, DISCOUNT, np.array([1], np.uint64), space)

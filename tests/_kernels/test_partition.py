"""The partition: each half-step against all possibilities, and no step back."""

from itertools import permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels import rng
from manylabel._kernels._jit import kernel
from manylabel._kernels.forest import partition


@kernel
def rank_labels(labels, discount, sides):
    return partition.rank_labels(labels, discount, sides)


@kernel
def choose_sides(labels, sides):
    return partition.choose_sides(labels, sides)


@kernel
def split(labels, discount, state, sides):
    return partition.split(labels, discount, state, sides)


@kernel
def sort_labels(n_labels, s, sides):
    partition.sort_labels(n_labels, s, sides)


@kernel
def next_bit(state):
    return rng.next_uint64(state) >> np.uint64(63)


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
    sides = partition.make_sides(*Y.shape)
    sides.side[:], sides.order[:] = side, np.arange(Y.shape[1])
    return labels, sides


def objective(Y, weight, gain, side, positive, negative):
    """Return the mean of the module's formula; the rankings give each label's rank."""
    ranks = np.where(side[:, None] > 0, positive, negative)
    return (weight[:, None] * Y * gain * DISCOUNT[ranks]).sum() / len(Y)


@given(nodes())
def test_the_rankings_are_the_best_for_the_sides(node):
    Y, weight, gain, side = node
    labels, sides = prepared(*node)
    found = rank_labels(labels, DISCOUNT, sides)
    ranks = [np.array(ranks) for ranks in permutations(range(Y.shape[1]))]
    best = [
        max(objective(Y, weight * (side == s), gain, side, r, r) for r in ranks)
        for s in (1, -1)
    ]
    assert_allclose(found, sum(best), rtol=1e-6)


@given(nodes())
def test_the_sides_are_the_best_for_the_rankings(node):
    Y, weight, gain, _ = node
    labels, sides = prepared(*node)
    rank_labels(labels, DISCOUNT, sides)
    n_labels = Y.shape[1]
    order = np.argsort(-sides.mass.astype(np.float32), axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(n_labels)[None], axis=1)
    n_positive = choose_sides(labels, sides)
    found = objective(Y, weight, gain, sides.side, *ranks)
    best = max(
        objective(Y, weight, gain, np.array(sides), *ranks)
        for sides in product((1, -1), repeat=len(Y))
    )
    assert_allclose(found, best)
    assert n_positive == (sides.side > 0).sum()


@given(nodes(most_rows=40, most_labels=15))
def test_the_objective_never_decreases(node):
    labels, sides = prepared(*node)
    values = []
    for _ in range(10):
        values.append(rank_labels(labels, DISCOUNT, sides))
        choose_sides(labels, sides)
    assert (np.diff(values) >= -1e-6).all()


@given(nodes(most_rows=40, most_labels=15), st.integers(0, 2**32))
def test_a_split_alternates_until_nothing_is_gained(node, seed):
    labels, sides = prepared(*node)
    n_positive = split(labels, DISCOUNT, np.array([seed], np.uint64), sides)
    found = sides.side.copy()
    state, last = np.array([seed], np.uint64), -np.inf
    odd = [next_bit(state) for _ in found]
    sides.side[:], sides.order[:] = np.where(odd, 1, -1), np.arange(labels.n_labels)
    while True:
        value = rank_labels(labels, DISCOUNT, sides)
        choose_sides(labels, sides)
        if value - last < partition.LEAST_GAIN:
            break
        last = value
    assert_array_equal(found, sides.side)
    assert n_positive == (found > 0).sum()


def test_rows_without_labels_keep_their_side():
    node = np.array([[1, 0], [0, 0], [0, 1]]), np.ones(3), np.ones(2), [1, -1, -1]
    labels, sides = prepared(*node)
    rank_labels(labels, DISCOUNT, sides)
    choose_sides(labels, sides)
    assert_array_equal(sides.side, [1, -1, -1])


@pytest.mark.parametrize("n_swaps", [0, 3, 1000])
def test_labels_sort_from_any_order_by_mass_then_number(n_swaps):
    random = np.random.default_rng(n_swaps)
    sides = partition.make_sides(1, 200)
    sides.mass[:] = random.integers(0, 50, 200)
    expected = np.argsort(-sides.mass[0], kind="stable")
    sides.order[1] = expected
    for one, other in random.integers(0, 200, (n_swaps, 2)):
        sides.order[1, [one, other]] = sides.order[1, [other, one]]
    sort_labels(200, 1, sides)
    assert_array_equal(sides.order[1], expected)


def test_a_tied_row_keeps_the_positive_side_too():
    """Both sides rank the label of the first two rows alike, so they stay."""
    Y, start = np.array([[1], [1], [0]]), np.array([1, -1, 1])
    labels, sides = prepared(Y, np.ones(3), np.ones(1), start)
    rank_labels(labels, DISCOUNT, sides)
    assert choose_sides(labels, sides) == 2
    assert_array_equal(sides.side, start)


def test_a_row_of_no_weight_keeps_its_side():
    Y, start = np.array([[1, 0], [0, 1], [0, 1]]), np.array([1, -1, 1])
    labels, sides = prepared(Y, np.array([1.0, 1.0, 0.0]), np.ones(2), start)
    rank_labels(labels, DISCOUNT, sides)
    choose_sides(labels, sides)
    assert_array_equal(sides.side, start)


def test_it_ends_when_gains_overflow():
    Y = np.ones((4, 3), int)
    labels, sides = prepared(Y, np.ones(4), np.full(3, 1e308), np.ones(4))
    n_positive = split(labels, DISCOUNT, np.array([1], np.uint64), sides)
    assert set(sides.side) <= {1, -1}
    assert n_positive == (sides.side > 0).sum()

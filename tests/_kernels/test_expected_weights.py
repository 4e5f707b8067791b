"""Weights by the labels expected where some are missing, against mean counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import CSDPP
from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import learning as cs_dpp
from manylabel._kernels.cs_dpp.label_weights import expected_weights
from manylabel.losses import as_cost, label_weights


@st.composite
def problems(draw):
    n = draw(st.integers(0, 9))
    bits = arrays(np.int64, n, elements=st.integers(0, 1))
    return draw(bits), draw(bits), np.array(draw(st.permutations(range(n))), np.int64)


def expect(name, chance, y_hat, order):
    """Return the weights of each label, were it true, and were it false."""
    out = np.zeros((2, len(chance)))
    expected_weights(as_cost(name).code, chance, y_hat, order, *out)
    return out


def slow_expect(cost, chance, y_hat, order):
    """Return the same, each label's turn by itself, from the mean counts of others."""
    out, n = np.zeros((2, len(chance))), len(chance)
    for turn, k in enumerate(order):
        guess = y_hat.astype(float)
        guess[order[:turn]] = chance[order[:turn]]
        is_before = np.isin(np.arange(n), order[:turn])
        hits = np.where(is_before, chance, chance * y_hat)
        others = np.arange(n) != k
        h, t, s = (part[others].sum() for part in (hits, chance, guess))
        for row, true in enumerate((1, 0)):
            right = cost.from_counts(h + true, t + true, s + true, n)
            wrong = cost.from_counts(h, t + true, s + 1 - true, n)
            out[row, k] = abs(wrong - right)
    return out


@pytest.mark.parametrize("name", ["hamming", "f1", "accuracy", "rank"])
@given(problems(), st.integers(0, 2**32 - 1))
def test_expected_weights_are_those_of_mean_counts(name, problem, seed):
    _, y_hat, order = problem
    chance = np.random.default_rng(seed).uniform(0.01, 0.99, len(y_hat))
    found = expect(name, chance, y_hat, order)
    expected = slow_expect(as_cost(name), chance, y_hat, order)
    assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["hamming", "f1", "accuracy", "rank"])
@given(problems())
def test_expected_weights_of_sure_labels_are_the_label_weights(name, problem):
    y, y_hat, order = problem
    if_true, if_false = expect(name, y.astype(float), y_hat, order)
    found = np.where(y, if_true, if_false)
    assert_array_equal(found, label_weights(y, y_hat, name, order))


@given(problems(), st.integers(0, 2**32 - 1))
def test_the_chance_of_a_label_has_no_part_in_its_own_weights(problem, seed):
    _, y_hat, order = problem
    chance = np.random.default_rng(seed).uniform(0.01, 0.99, len(y_hat))
    before = expect("f1", chance, y_hat, order)
    for k in range(len(chance)):
        other = chance.copy()
        other[k] = 1 - chance[k]
        found = expect("f1", other, y_hat, order)
        assert_allclose(found[:, k], before[:, k], atol=1e-12)


@kernel
def set_target(*arguments):
    return cs_dpp._set_target(*arguments)


@kernel
def weigh_labels(*arguments):
    cs_dpp._weigh_labels(*arguments)


@pytest.mark.parametrize("cost", ["hamming", "f1", "accuracy", "rank"])
def test_targets_by_expected_weights_are_unbiased_for_each_label(cost):
    """Hide one true label by its propensity; chances of the others are by the book."""
    p, y_hat, full = 0.3, np.array([1, 0, 1, 0]), np.array([1, 1, 0, 1])
    learner = CSDPP(
        cost=cost, order="given", propensity=[p] * 4, label_weights="expected"
    )
    learner.fit(np.eye(4), [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    share = np.minimum([2 / 4 / p, 1 / 4 / p, 0, 1 / 4 / p], 1)
    chance = share * (1 - p) / (1 - share * p)
    sides = {}
    for recorded in (0, 1):
        y = full * [1, recorded, 0, 0]
        rule, state = learner._settings(as_cost(cost).code), learner.state_
        room = cs_dpp.make_scratch(rule, state)
        room.y[:], room.y_hat[:] = y, y_hat
        weigh_labels(rule, state, room)
        assert_allclose(room.chance, np.where(y, 1, chance), atol=1e-12)
        relevant = np.flatnonzero(y)
        room.relevant[: len(relevant)] = relevant
        set_target(len(relevant), rule, state, room)
        noise = room.noise[: len(relevant)][relevant == 1].sum()
        sides[recorded] = room.target[1], room.target[1] ** 2 - noise
    others, out = np.where(y, 1, chance), np.zeros((2, 4))
    expected_weights(rule.cost, others, y_hat, np.arange(4), *out)
    true = np.sqrt(out[0, 1])
    mean, square = p * np.array(sides[1]) + (1 - p) * np.array(sides[0])
    assert_allclose([mean, square], [true, true**2], atol=1e-12)

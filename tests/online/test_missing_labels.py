"""Missing labels in CSDPP: the penalty, and weights by the labels expected."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel import CSDPP
from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import learning as cs_dpp
from manylabel._kernels.cs_dpp.label_weights import expected_weights
from manylabel.losses import as_cost


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, [0.25, 0.75]]))
def test_a_penalty_grows_with_the_noise_of_the_targets(seed, propensity):
    rng = np.random.default_rng(seed)
    X = np.float64(rng.normal(size=(9, 3)).astype(np.float32))
    Y = rng.integers(0, 2, (9, 2))
    learner = CSDPP(
        n_components=1, l2_regularization=0.7, propensity=propensity, basis="correct"
    )
    rows = np.hstack([X, np.ones((len(X), 1))])
    A = 0.7 / np.mean(propensity) * np.eye(rows.shape[1]) + rows.T @ rows
    inverse = learner.fit(X, Y).state_.inverse
    assert_allclose(inverse @ A, np.eye(len(A)), atol=1e-7)
    target = 2 * Y / np.broadcast_to(propensity, Y.shape) - 1  # of Hamming loss
    ridge = np.linalg.solve(A, rows.T @ target / np.sqrt(Y.shape[1]))
    assert_allclose(learner.coef_, ridge, atol=1e-7)


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

"""CSDPP: bad input, failures in mid-stream, states and what they leave behind."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import CSDPP


class OwnF1:
    """F1 loss, as a user would write it from counts."""

    def from_counts(self, hits, n_true, n_predicted, n_labels):
        """Return the cost of each row."""
        return 1 - 2 * hits / np.maximum(n_true + n_predicted, 1)


def own_f1(y, y_hat):
    return 1 - 2 * (y * y_hat).sum() / max(y.sum() + y_hat.sum(), 1)


BAD = {
    "wrong width": ([[1.0, 2.0, 3.0]], [[1, 0, 0]], "3 features"),
    "not a number": ([[1.0, np.nan]], [[1, 0, 0]], "Got NaN"),
    "other labels": ([[1.0, 2.0]], [[1, 0]], "must have 3 columns"),
    "no labels": ([[1.0, 2.0]], [[2, 0, 0]], "only 0 and 1"),
    "too many rows": ([[1.0, 2.0]], [[1, 0, 0], [1, 0, 0]], "must have 1 rows"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_leaves_the_learner_as_it_was(name):
    X, Y, message = BAD[name]
    learner = CSDPP(n_components=2).fit(np.eye(2), [[1, 0, 1], [0, 1, 0]])
    before = {key: np.copy(value) for key, value in learner.get_state().items()}
    with pytest.raises(ValueError, match=message):
        learner.partial_fit(X, Y)
    for bad_x, bad_y in (({2: 1.0}, {0}), ({0: 1.0}, {3}), ({-1: 1.0}, {0})):
        with pytest.raises(ValueError, match="must have columns from 0 to"):
            learner.learn_one(bad_x, bad_y)
    for key, value in learner.get_state().items():
        assert_array_equal(value, before[key], err_msg=key)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cost": "loss"}, "cost must be one of"),
        ({"basis": "turn"}, "basis must be one of transform, correct, none"),
        ({"selection": "best"}, "selection must be one of greedy, sampled"),
        ({"regressor": "svm"}, "regressor must be one of ridge, gradient"),
        ({"order": "alphabet"}, "order must be one of frequent, given, random"),
        ({"n_components": 0}, "n_components == 0"),
        ({"n_components": 1.5}, r"n_components == 1\.5"),
        ({"learning_rate": "slow"}, "learning_rate must be one of invscaling, adagrad"),
        ({"reference": "one"}, "reference must be one of zero, mean"),
        ({"grow": "no"}, "grow must be True or False"),
        ({"label_weights": "guessed"}, "label_weights must be"),
        (
            {"label_weights": "expected", "cost": own_f1},
            "label_weights=.expected. needs",
        ),
        ({"propensity": "walking"}, "propensity must be a fitted Propensity"),
        ({"l2_regularization": 0}, "l2_regularization == 0"),
        ({"max_inverse_propensity": 0.5}, r"max_inverse_propensity == 0\.5"),
        ({"propensity": [0.5]}, "propensity must have 3 values"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        CSDPP(**parameters).fit(np.eye(2), [[1, 0, 1], [0, 1, 0]])


def test_ridge_refuses_many_features_and_names_the_way_out():
    X = sp.csr_array((2, 20_001))
    with pytest.raises(ValueError, match="Got 20001: use regressor"):
        CSDPP().fit(X, [[1, 0], [0, 1]])
    CSDPP(regressor="gradient").fit(X, [[1, 0], [0, 1]])


def learnt(n_rows=60, **parameters):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n_rows, 5)), rng.integers(0, 2, size=(n_rows, 6))
    return CSDPP(**parameters).fit(X, Y), X, Y


def test_an_own_cost_that_fails_keeps_the_rows_before_and_nothing_of_its_own():
    calls = []

    def failing(y, y_hat):
        calls.append(1)
        if len(calls) == 200:
            raise RuntimeError("no price")
        return own_f1(y, y_hat)

    learner, X, Y = learnt(cost=own_f1)
    with pytest.raises(RuntimeError):
        learner.set_params(cost=failing).partial_fit(X, Y)
    n_learnt = learner.n_seen_ - len(X)
    assert 0 < n_learnt < len(X)
    expected, _, _ = learnt(cost=own_f1)
    expected.partial_fit(X[:n_learnt], Y[:n_learnt])
    assert_array_equal(learner.coef_, expected.coef_)


def test_a_fit_that_fails_leaves_what_was_learnt_before():
    def failing(y, y_hat):
        raise RuntimeError("no price")

    learner, X, Y = learnt()
    before = learner.decision_function(X)
    with pytest.raises(RuntimeError):
        learner.set_params(cost=failing).fit(X[:10, :3], Y[:10])
    assert_array_equal(learner.decision_function(X), before)
    fresh = CSDPP(cost=failing)
    with pytest.raises(RuntimeError):
        fresh.fit(X, Y)
    assert not hasattr(fresh, "n_seen_")


def test_a_state_is_a_checkpoint_that_later_rows_do_not_touch():
    learner, X, Y = learnt()
    state, before = learner.get_state(), learner.decision_function(X)
    twins = [CSDPP().set_state(state) for _ in range(2)]
    learner.partial_fit(X, Y)
    twins[0].partial_fit(X, Y)
    for other in (twins[1], CSDPP().set_state(state)):
        assert_array_equal(other.decision_function(X), before)
    assert_array_equal(twins[0].coef_, learner.coef_)


@pytest.mark.parametrize("order", ["frequent", "given", "random"])
def test_orders_may_change_in_mid_stream_and_be_saved(order):
    learner, X, Y = learnt(order=order)
    copy = CSDPP(order=order).set_state(learner.get_state())
    for each in (learner, copy):
        each.set_params(order="frequent").partial_fit(X, Y)
    assert_array_equal(copy.coef_, learner.coef_)
    assert_array_equal(np.sort(learner.state_.order), np.arange(6))
    assert (np.diff(learner.state_.counts[learner.state_.order]) <= 0).all()


def test_own_costs_learn_what_named_ones_do_while_labels_appear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 5)) > 0.5).astype(int)
    Y[:, 0] = 1
    scores = [
        CSDPP(cost=cost, n_components=3, grow=True).fit(X, Y).decision_function(X)
        for cost in ("f1", own_f1)
    ]
    # A function does not see the label that stands for those not met yet.
    assert_allclose(scores[1], scores[0], atol=1e-2)


@pytest.mark.parametrize("size", [1e8, 1e15, 1e30])
def test_huge_values_do_not_break_ridge_regression(size):
    X = np.ones((40, 5), np.float32)
    X[:, 0] = size * (1 + np.arange(40) / 100)
    learner = CSDPP().fit(X, np.tile([[1, 0], [0, 1]], (20, 1)))
    assert np.isfinite(learner.state_.inverse).all()
    assert np.isfinite(learner.coef_).all()


def test_propensities_may_change_in_mid_stream():
    learner, X, Y = learnt()
    plain, _, _ = learnt()
    learner.set_params(propensity=0.2).partial_fit(X, Y)
    assert (learner.coef_ != plain.partial_fit(X, Y).coef_).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("state_.regressor.raw", np.zeros((6, 16), np.float32)),
        ("state_.order", np.arange(6.0)),
        ("state_.counters", np.array([-5, 1])),
    ],
)
def test_states_of_other_kinds_are_refused(name, value):
    learner, _, _ = learnt()
    with pytest.raises(ValueError, match="must"):
        CSDPP().set_state(learner.get_state() | {name: value})


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"a": 1.0, 1: 1.0}, {0}, "x must have columns from 0 to 4. Got 'a'"),
        ({0: "a"}, {0}, "x must have finite float32 numbers. Got 'a' for 0"),
        ({0: [1, 2]}, {0}, "x must have finite float32 numbers"),
        ({0: 1.0}, {"a", 1}, "y must have columns from 0 to 5. Got 'a'"),
    ],
)
def test_odd_single_rows_are_refused_in_words(x, y, message):
    learner, _, _ = learnt()
    with pytest.raises(ValueError, match=message):
        learner.learn_one(x, y)


def test_a_fraction_of_many_labels_says_what_it_takes():
    X, Y = np.ones((1, 2)), np.zeros((1, 3001))
    with pytest.warns(UserWarning, match=r"of 3,001 labels is 301.* n_components=100"):
        CSDPP(regressor="gradient").fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CSDPP(regressor="gradient", n_components=301).fit(X, Y)

"""Regret on a stream: equations 8 to 10 by their definitions, and Theorem 3."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from manylabel import CSDPP, OnlineBinaryRelevance
from manylabel.evaluation import regret


def stream(seed, n_rows=40, n_features=3, n_labels=5):
    """Return rows of length 1 with their constant feature, and their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    noise = 0.3 * rng.normal(size=(n_rows, n_labels))
    Y = (X @ rng.normal(size=(n_features, n_labels)) + noise > 0).astype(int)
    return np.float64(np.float32(X)), Y  # as features are held


def short(X):
    """Return rows of which none is longer than 1."""
    return np.float64(np.float32(X / np.linalg.norm(X, axis=1).max()))


def slow_losses(learner, X, Y, penalty):
    """Return the expected error of each row with H by batch ridge regression."""
    rows = np.hstack([X, np.ones((len(X), 1))])
    codes, losses, differences = (2 * Y - 1) / np.sqrt(Y.shape[1]), [], []
    M = len(learner.fit(X, Y).state_.picked)
    best = np.linalg.svd(codes)[2][:M]
    for t in range(1, len(X)):
        A = penalty * np.eye(rows.shape[1]) + rows[:t].T @ rows[:t]
        H = np.linalg.solve(A, rows[:t].T @ codes[:t])
        learner.fit(X[:t], Y[:t])
        Q, sigma = learner.basis_, learner.state_.pca.sigma
        draws = [(1.0, Q[:M])]
        if learner.selection == "sampled" and len(Q) > M:  # Lemma 2
            draws = [(1 - sigma[i], np.delete(Q, i, axis=0)) for i in range(len(Q))]
        loss, expected = 0.0, 0.0
        for chance, P in draws:
            left = codes[t] - P.T @ P @ codes[t]
            loss += chance * (
                ((P @ H.T @ rows[t] - P @ codes[t]) ** 2).sum() + (left**2).sum()
            )
            expected = expected + chance * P.T @ P
        losses.append(loss)
        differences.append(np.linalg.norm(expected - best.T @ best, 2))
    return losses, differences


@pytest.mark.parametrize("selection", ["greedy", "sampled"])
def test_errors_follow_the_definitions(selection):
    X, Y = stream(0)
    given = {"n_components": 2, "basis": "correct", "l2_regularization": 0.7}
    learner = CSDPP(**given, selection=selection)
    found = regret(learner, X, Y)
    losses, differences = slow_losses(CSDPP(**given, selection=selection), X, Y, 0.7)
    assert_allclose(found.loss[1:], losses, atol=1e-9)
    assert_allclose(found.difference[1:], differences, atol=1e-9)
    assert_allclose([found.loss[0], found.difference[0]], [1.0, 1.0])
    assert not hasattr(learner, "state_"), "it was a clone that learnt"


def test_the_best_fixed_pair_is_least_squares_to_the_principal_directions():
    X, Y = stream(1)
    rows, codes = np.hstack([X, np.ones((40, 1))]), (2 * Y - 1) / np.sqrt(5)
    P = np.linalg.svd(codes)[2][:2]
    W = np.linalg.lstsq(rows, codes @ P.T, rcond=None)[0]
    left = codes - codes @ P.T @ P
    expected = ((rows @ W - codes @ P.T) ** 2).sum(axis=1) + (left**2).sum(axis=1)
    assert_allclose(regret(CSDPP(n_components=2), X, Y).best, expected, atol=1e-9)


def test_a_transformed_basis_errs_by_what_it_scores():
    X, Y = stream(2)
    learner = CSDPP(n_components=2)
    found = regret(learner, X, Y)
    scores = learner.fit(X[:-1], Y[:-1]).decision_function(X[-1:])
    expected = ((scores - (2 * Y[-1] - 1) / np.sqrt(5)) ** 2).sum()
    assert_allclose(found.loss[-1], expected, atol=1e-9)
    assert found.bound == np.inf


@pytest.mark.parametrize("seed", range(3))
def test_theorem_3_holds_and_regret_falls(seed):
    X, Y = stream(seed, n_rows=400)
    learner = CSDPP(n_components=2, basis="correct", fit_intercept=False)
    found = regret(learner, short(X), Y)
    assert 0 < (found.loss - found.best).sum() <= found.bound < np.inf
    assert found.average[-1] < found.average[20] / 2
    assert regret(learner, 3 * short(X), Y).bound == np.inf, "rows are too long"


def test_the_bound_is_of_the_features_that_there_are():
    X, Y = stream(0)
    X, codes = short(X), (2 * Y - 1) / np.sqrt(5)
    found = regret(CSDPP(n_components=2, basis="correct", fit_intercept=False), X, Y)
    errors = []
    for t in range(40):
        H = np.linalg.solve(np.eye(3) + X[:t].T @ X[:t], X[:t].T @ codes[:t])
        errors.append(((X[t] @ H - codes[t]) ** 2).sum())
    e, best = max(errors), np.linalg.lstsq(X, codes, rcond=None)[0]
    growth = 2 * e * 2 * 3 * np.log(1 + 40 / 3)  # M = 2 and d = 3
    expected = (1 + e) * found.difference.sum() + (best**2).sum() + growth
    assert_allclose(found.bound, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (OnlineBinaryRelevance(), "learner must be a CSDPP"),
        (CSDPP(cost="f1"), 'Theorem 3 is about cost="hamming"'),
        (CSDPP(propensity=0.5), "neither propensity nor grow"),
        (CSDPP(reference="mean"), 'reference="zero"'),
    ],
)
def test_learners_that_the_theorem_does_not_know_are_refused(learner, message):
    with pytest.raises((TypeError, ValueError), match=message):
        regret(learner, *stream(0))

"""SVMs of rare labels: their optimum, and that lanes do not meet."""

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.preprocessing import normalize

from manylabel import OneVsRest, make_corpus
from manylabel.solvers import linear, rare


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, n_labels = draw(
        st.tuples(st.integers(1, 40), st.integers(1, 8), st.integers(1, 6))
    )
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    Y = rng.random((n, n_labels)) < 0.5 * rng.random(n_labels)
    Y[rng.integers(n, size=n_labels), np.arange(n_labels)] = True
    C = draw(st.sampled_from([0.1, 1.0, 5.0]))
    return X.astype(np.float32), Y.astype(int), C


def solve(X, Y, C, *, tol, labels=None, max_iter=20_000, capacity=2048, weights=()):
    """Return weights, the intercept last, and signed passes of the labels."""
    settings = linear.Settings(C=C, tol=tol, max_iter=max_iter)
    rows, seed = (sp.csr_array(X), sp.csc_array(Y)), np.uint64(7)
    shared = linear.share(*rows, settings, seed, *weights)
    labels = np.arange(Y.shape[1]) if labels is None else np.asarray(labels)
    with patch.object(rare, "CAPACITY", capacity):
        (fitted,) = rare.fit_rare(shared, labels, 0.0)
    order = np.argsort(fitted.labels, kind="stable")
    weights = np.vstack([fitted.weights.toarray(), fitted.intercept])
    return weights[:, order], fitted.n_iter[order]


def objective(w, X, y, C):
    """Return the primal objective and its gradient; the last weight is of 1.

    C is one number, or one of each row.
    """
    rows, target = np.hstack([X, np.ones((len(X), 1))]).astype(float), 2 * y - 1
    slack = np.maximum(0, 1 - target * (rows @ w))
    gradient = w - 2 * rows.T @ (C * target * slack)
    return w @ w / 2 + (C * slack) @ slack, gradient


def optimum(X, y, C):
    start, settings = np.zeros(X.shape[1] + 1), {"gtol": 1e-8, "ftol": 1e-15}
    return minimize(
        objective, start, (X, y, C), "L-BFGS-B", jac=True, options=settings
    ).fun


@pytest.mark.slow
@given(problems(), st.sampled_from([1, 3, 2048]))
def test_reaches_the_optimum_however_few_rows_a_search_finds(problem, capacity):
    X, Y, C = problem
    weights, n_iter = solve(X, Y, C, tol=1e-4, capacity=capacity)
    assert (n_iter < 0).all()  # converged
    for label, y in enumerate(Y.T):
        ours, _ = objective(weights[:, label].astype(float), X, y, C)
        assert_allclose(ours, optimum(X, y, C), rtol=1e-4, atol=1e-6)


@given(problems(), st.integers(0, 2**32 - 1))
def test_reaches_the_optimum_of_weighted_rows(problem, seed):
    X, Y, C = problem
    rng = np.random.default_rng(seed)
    rows, positives = rng.uniform(0.1, 5, len(X)), rng.uniform(0.2, 20, Y.shape[1])
    found, _ = solve(X, Y, C, tol=1e-4, capacity=3, weights=(rows, positives))
    for label, y in enumerate(Y.T):
        each = C * rows * np.where(y, positives[label], 1)
        ours, _ = objective(found[:, label].astype(float), X, y, each)
        assert ours <= (1 + 1e-4) * optimum(X, y, each) + 1e-6


def test_weights_of_1_change_no_bit():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 5)).astype(np.float32), rng.random((50, 3)) < 0.2
    plain, _ = solve(X, Y.astype(int), 1.0, tol=0.01)
    ones, _ = solve(X, Y.astype(int), 1.0, tol=0.01, weights=(np.ones(50), np.ones(3)))
    assert_array_equal(plain, ones)


@pytest.mark.parametrize("seed", range(5))
def test_a_loose_tolerance_forgets_no_row(seed):
    """The active rows are soon solved; the others must have been looked at."""
    rng = np.random.default_rng(seed)
    X = (rng.random((300, 200)) < 0.03).astype(np.float32)
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    y = (np.arange(300) < 3).astype(int)
    weights, _ = solve(X, y[:, None], 1.0, tol=0.1, capacity=2)
    ours, _ = objective(weights[:, 0].astype(float), X, y, 1.0)
    assert ours <= 1.01 * optimum(X, y, 1.0)


@given(problems(), st.sampled_from([1e-2, 1e-3]))
def test_no_row_may_wish_to_move_by_more_than_the_tolerance(problem, tol):
    """At the end the dual variables that the weights imply give the weights.

    A projected gradient within the tolerance moves a dual variable by 2 C of it.
    """
    X, Y, C = problem
    weights, _ = solve(X, Y, C, tol=tol, capacity=3)
    target = 2 * Y - 1
    slack = np.maximum(0, 1 - target * (X @ weights[:-1] + weights[-1]))
    columns = np.vstack([X.T, np.ones(len(X))])
    implied = columns @ (2 * C * slack * target)
    bound = 2 * C * tol * np.abs(columns).sum(axis=1, keepdims=True)
    assert (np.abs(implied - weights) <= bound + 1e-4).all()


@given(problems())
def test_a_label_has_the_same_bits_in_any_company(problem):
    X, Y, C = problem
    together, n_together = solve(X, Y, C, tol=0.01, capacity=3)
    many, _ = solve(X, np.tile(Y, 9), C, tol=0.01, capacity=3)
    assert_array_equal(many, np.tile(together, 9))
    for label in range(Y.shape[1]):
        alone, n_alone = solve(X, Y, C, tol=0.01, labels=[label], capacity=3)
        assert_array_equal(alone[:, 0], together[:, label])
        assert n_alone[0] == n_together[label]


def test_passes_are_counted_and_capped():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 5)), rng.random((50, 3)) < 0.5
    _, n_iter = solve(X.astype(np.float32), Y.astype(int), 5.0, tol=1e-7, max_iter=7)
    assert_array_equal(n_iter, 7)


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(n_rows=9000, n_features=500, n_labels=300, random_state=0)


def sum_of_objectives(model, X, Y):
    weights = np.vstack([model.coef_.toarray(), model.intercept_]).astype(float)
    scores = normalize(X) @ weights[:-1] + weights[-1]
    slack = np.maximum(0, 1 - (2 * Y - 1) * scores)
    return (weights**2).sum() / 2 + (slack**2).sum()


def test_rare_labels_are_solved_as_well_as_others_are(corpus, monkeypatch):
    X, Y = sp.csr_array(corpus.X, dtype=np.float32), corpus.Y.toarray()
    counts = Y.sum(axis=0)
    Y = Y[:, (counts > 0) & linear.is_rare(counts, len(Y))]
    assert Y.shape[1] > 10
    alone = sum_of_objectives(OneVsRest(min_weight=0).fit(X, Y), X, Y)
    monkeypatch.setattr(linear, "SMALL_SHARE", len(Y))
    common = sum_of_objectives(OneVsRest(min_weight=0).fit(X, Y), X, Y)
    assert alone <= common * (1 + 1e-4)


def test_jobs_and_the_order_of_labels_do_not_matter(corpus):
    order = np.random.default_rng(0).permutation(corpus.Y.shape[1])
    one = OneVsRest().fit(corpus.X, corpus.Y)
    two = OneVsRest(n_jobs=2).fit(corpus.X, corpus.Y[:, order])
    assert_array_equal(one.coef_.toarray()[:, order], two.coef_.toarray())
    assert_array_equal(one.intercept_[order], two.intercept_)


@pytest.mark.slow
def test_the_order_of_rows_hardly_matters(corpus):
    order = np.random.default_rng(0).permutation(corpus.Y.shape[0])
    model = OneVsRest(tol=1e-3).fit(corpus.X, corpus.Y)
    mixed = OneVsRest(tol=1e-3).fit(corpus.X[order], corpus.Y[order])
    assert_allclose(
        model.decision_function(corpus.X), mixed.decision_function(corpus.X), atol=0.02
    )

"""The linear solver: its optimum, its stopping rule, and that lanes do not meet."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from manylabel._kernels.linear import svm


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, n_labels = draw(
        st.tuples(st.integers(1, 30), st.integers(1, 8), st.integers(1, 6))
    )
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    Y = rng.random((n, n_labels)) < rng.random(n_labels)
    C = draw(st.sampled_from([0.1, 1.0, 5.0]))
    return X.astype(np.float32), Y.astype(int), C


@st.composite
def weights(draw, X, Y):
    """Draw how much rows weigh, and positive rows of each label."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return {
        "row_weight": rng.uniform(0.1, 5, len(X)),
        "positive_weight": rng.uniform(0.2, 20, Y.shape[1]),
    }


def solve(
    X,
    Y,
    C,
    *,
    tol,
    labels=None,
    bias=1.0,
    stops=(20_000,),
    row_weight=1.0,
    positive_weight=1.0,
    is_logistic=False,
):
    """Solve to the end of each stop in turn; return weights and signed passes."""
    X, Y = sp.csr_array(X), sp.csc_array(Y)
    labels = np.arange(Y.shape[1]) if labels is None else np.asarray(labels)
    (n_rows, n_features), n_lanes = X.shape, len(labels)
    norms = np.empty(n_rows)
    svm.squared_norms(X.indptr, X.data, norms)
    problem = svm.Problem(
        *(X.indptr, X.indices, X.data, Y.indptr, Y.indices, np.float32(bias)),
        length=(norms + bias**2).astype(np.float32),
        diagonal=np.full(n_rows, 0.5 / C / row_weight, np.float32),
        positive_weight=np.full(Y.shape[1], positive_weight, np.float32),
        tolerance=tol,
        is_logistic=is_logistic,
    )
    lanes = svm.make_lanes(problem, labels, n_features, n_lanes, 7)
    for until in stops:
        svm.solve(problem, lanes, until)
    return lanes.weights, lanes.n_iter


def objective(X, y, C, weights, *, is_logistic):
    """Return the primal objective of the module's docstring; C of each row."""
    margins = (2 * y - 1) * (X @ weights[:-1] + weights[-1]).astype(float)
    hinge = np.maximum(0, 1 - margins) ** 2
    loss = np.logaddexp(0, -margins) if is_logistic else hinge
    return (weights.astype(float) ** 2).sum() / 2 + (C * loss).sum()


def optimum(X, y, C, *, is_logistic):
    """Return the weights that scikit-learn finds; its constant feature is a column."""
    rows = np.hstack([X, np.ones((len(X), 1))])
    if is_logistic:
        theirs = LogisticRegression(tol=1e-8, max_iter=10_000, fit_intercept=False)
    else:
        theirs = LinearSVC(tol=1e-8, dual=False, max_iter=100_000, fit_intercept=False)
    return theirs.fit(rows, y, sample_weight=C).coef_[0]


@pytest.mark.parametrize("is_logistic", [False, True])
@given(st.data())
def test_reaches_the_optimum_of_scikit_learn(is_logistic, data):
    X, Y, C = data.draw(problems())
    given = data.draw(weights(X, Y))
    found, _ = solve(X, Y, C, tol=1e-4, is_logistic=is_logistic, **given)
    for label, y in enumerate(Y.T):
        if 0 < y.sum() < len(X):
            heavier = np.where(y, given["positive_weight"][label], 1)
            each = X, y, C * given["row_weight"] * heavier
            best = optimum(*each, is_logistic=is_logistic)
            ours = objective(*each, found[:, label], is_logistic=is_logistic)
            least = objective(*each, best, is_logistic=is_logistic)
            assert_allclose(ours, least, rtol=1e-4)


@given(
    x=st.floats(0, 1000, width=32),
    C=st.floats(-6, 6).map(lambda power: 10**power),
    is_positive=st.booleans(),
)
def test_one_logistic_step_solves_one_row(x, C, is_positive):
    """Whatever the length of the row: w = a x, where C / (1 + exp(a x.x)) = a."""
    Y = np.array([[int(is_positive)]])
    found, _ = solve([[np.float32(x)]], Y, C, tol=0.1, stops=(1,), is_logistic=True)
    share = brentq(lambda s: expit(-s * C * (x * x + 1)) - s, 0, 1, xtol=1e-14)
    expected = share * C * np.array([x, 1]) * (1 if is_positive else -1)
    assert_allclose(found[:, 0], expected, rtol=1e-4)


def test_logistic_steps_lead_to_the_optimum_of_long_rows():
    rng = np.random.default_rng(0)
    X = 10 * rng.normal(size=(60, 8)).astype(np.float32)
    y = (X @ rng.normal(size=8) > 10 * rng.normal(size=60)).astype(int)
    for C in (1e-6, 1e-3, 1.0):
        found, (n_iter,) = solve(X, y[:, None], C, tol=1e-3, is_logistic=True)
        assert n_iter < 0  # converged
        best = optimum(X, y, np.full(60, C), is_logistic=True)
        least = objective(X, y, C, best, is_logistic=True)
        ours = objective(X, y, C, found[:, 0], is_logistic=True)
        assert_allclose(ours, least, rtol=1e-4)


@given(st.data())
def test_a_row_of_weight_2_counts_as_two(data):
    X, Y, C = data.draw(problems())
    double = np.random.default_rng(0).random(len(X)) < 0.5
    once, _ = solve(X, Y, C, tol=1e-5, row_weight=1.0 + double)
    twice = np.vstack([X, X[double]]), np.vstack([Y, Y[double]])
    assert_allclose(once, solve(*twice, C, tol=1e-5)[0], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("is_logistic", [False, True])
@given(st.data())
def test_a_lane_has_the_same_bits_in_any_company(is_logistic, data):
    X, Y, C = data.draw(problems())
    how = {"tol": 0.01, "is_logistic": is_logistic, **data.draw(weights(X, Y))}
    together, n_together = solve(X, Y, C, **how)
    order = np.random.default_rng(0).permutation(Y.shape[1])
    mixed, n_mixed = solve(X, Y, C, labels=np.r_[order, order], **how)
    assert_array_equal(mixed, together[:, np.r_[order, order]])
    assert_array_equal(n_mixed, n_together[np.r_[order, order]])
    for label in range(Y.shape[1]):
        alone, _ = solve(X, Y, C, labels=[label], **how)
        assert_array_equal(alone[:, 0], together[:, label])


@pytest.mark.parametrize("is_logistic", [False, True])
@given(problem=problems())
def test_stopping_and_going_on_changes_no_bit(is_logistic, problem):
    how = {"tol": 0.001, "is_logistic": is_logistic}
    whole, n_whole = solve(*problem, **how)
    parts, n_parts = solve(*problem, stops=(1, 2, 7, 20_000), **how)
    assert_array_equal(parts, whole)
    assert_array_equal(n_parts, n_whole)


@given(problems())
def test_projected_gradients_are_within_the_tolerance(problem):
    """At the end no row may wish to move by more than the rule allows."""
    X, Y, C = problem
    tol = 1e-3
    weights, n_iter = solve(X, Y, C, tol=tol)
    assert (n_iter < 0).all()  # converged
    margins = (2 * Y - 1) * (X @ weights[:-1] + weights[-1])
    alpha = 2 * C * np.maximum(0, 1 - margins)  # the dual variables at the optimum
    columns = np.vstack([X.T, np.ones(len(X))])
    assert_allclose(
        columns @ (alpha * (2 * Y - 1)), weights, atol=20 * tol * C * len(X)
    )


def test_passes_are_counted_and_capped():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, 5)).astype(np.float32), rng.random((50, 3)) < 0.5
    _, n_iter = solve(X, Y.astype(int), 5.0, tol=1e-7, stops=(3,))
    assert_array_equal(n_iter, 3)


def test_without_a_constant_feature_the_intercept_is_zero():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 5)).astype(np.float32), rng.random((40, 3)) < 0.5
    weights, _ = solve(X, Y.astype(int), 1.0, tol=0.01, bias=0.0)
    assert_array_equal(weights[-1], 0)


@given(problems())
def test_scores_are_the_matrix_product(problem):
    X, Y, _ = problem
    rng = np.random.default_rng(0)
    W = rng.normal(size=(X.shape[1], Y.shape[1])).astype(np.float32)
    W *= rng.random(W.shape) < rng.choice([0.5, 1.0], (len(W), 1))  # some rows whole
    intercept = rng.normal(size=Y.shape[1]).astype(np.float32)
    out = np.empty(Y.shape, np.float32)
    rows, by_feature = sp.csr_array(X), sp.csr_array(W)
    svm.scores(
        *(rows.indptr, rows.indices, rows.data),
        *(by_feature.indptr, by_feature.indices, by_feature.data, intercept, out),
    )
    assert_allclose(out, X @ W + intercept, rtol=1e-4, atol=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(1, 20))
def test_dense_scores_have_the_bits_of_sparse_ones(seed, n_rows, n_features):
    rng = np.random.default_rng(seed)
    X, W, intercept = (
        rng.normal(size=shape).astype(np.float32)
        for shape in ((n_rows, n_features), (n_features, 7), 7)
    )
    dense, sparse = np.empty((2, n_rows, 7), np.float32)
    svm.dense_scores(X, W, intercept, dense)
    x, w = sp.csr_array(X), sp.csr_array(W)
    parts = (x.indptr, x.indices, x.data, w.indptr, w.indices, w.data)
    svm.scores(*parts, intercept, sparse)
    assert_array_equal(dense, sparse)


@given(problems())
def test_unit_rows(problem):
    X = sp.csr_array(problem[0])
    out = np.empty_like(X.data)
    svm.unit_rows(X.indptr, X.data, out)
    length = np.linalg.norm(problem[0].astype(float), axis=1)
    expected = problem[0] / np.where(length > 0, length, 1)[:, None]
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    assert_allclose(out, expected[rows, X.indices], rtol=1e-6)


def test_rows_of_tiny_values_reach_length_1():
    out = np.empty(2, np.float32)
    svm.unit_rows(np.array([0, 2]), np.array([3e-40, 4e-40], np.float32), out)
    assert_allclose(out, [0.6, 0.8], rtol=1e-4)

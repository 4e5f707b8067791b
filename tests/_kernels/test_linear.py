"""The SVM kernel: its optimum, its stopping rule, and that lanes do not meet."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
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


def solve(X, Y, C, *, tol, labels=None, bias=1.0, stops=(20_000,)):
    """Solve to the end of each stop in turn; return weights and signed passes."""
    X, Y = sp.csr_array(X), sp.csc_array(Y)
    labels = np.arange(Y.shape[1]) if labels is None else np.asarray(labels)
    (n_rows, n_features), n_lanes = X.shape, len(labels)
    norms = np.empty(n_rows)
    svm.squared_norms(X.indptr, X.data, norms)
    problem = svm.Problem(
        *(X.indptr, X.indices, X.data, Y.indptr, Y.indices, np.float32(bias)),
        curvature=(norms + bias**2 + 0.5 / C).astype(np.float32),
        diagonal=np.float32(0.5 / C),
        tolerance=tol,
    )
    lanes = svm.make_lanes(labels, n_rows, n_features, n_lanes, 7)
    for until in stops:
        svm.solve(problem, lanes, until)
    return lanes.weights, lanes.n_iter


def objective(X, Y, C, weights):
    """Return the primal objective of the module's docstring."""
    margins = (2 * Y - 1) * (X @ weights[:-1] + weights[-1])
    loss = np.maximum(0, 1 - margins.astype(float)) ** 2
    return (weights.astype(float) ** 2).sum(axis=0) / 2 + C * loss.sum(axis=0)


@given(problems())
def test_reaches_the_optimum_of_scikit_learn(problem):
    X, Y, C = problem
    weights, _ = solve(X, Y, C, tol=1e-4)
    for label in range(Y.shape[1]):
        if 0 < Y[:, label].sum() < len(X):
            theirs = LinearSVC(C=C, tol=1e-8, dual=False, max_iter=100_000)
            theirs.fit(X, Y[:, label])
            best = np.vstack([theirs.coef_.T, theirs.intercept_])
            ours = objective(X, Y, C, weights)[label]
            least = objective(X, Y[:, [label]], C, best)[0]
            assert_allclose(ours, least, rtol=1e-4)


@given(problems())
def test_a_lane_has_the_same_bits_in_any_company(problem):
    X, Y, C = problem
    together, n_together = solve(X, Y, C, tol=0.01)
    order = np.random.default_rng(0).permutation(Y.shape[1])
    mixed, n_mixed = solve(X, Y, C, tol=0.01, labels=np.r_[order, order])
    assert_array_equal(mixed, together[:, np.r_[order, order]])
    assert_array_equal(n_mixed, n_together[np.r_[order, order]])
    for label in range(Y.shape[1]):
        alone, _ = solve(X, Y, C, tol=0.01, labels=[label])
        assert_array_equal(alone[:, 0], together[:, label])


@given(problems())
def test_stopping_and_going_on_changes_no_bit(problem):
    X, Y, C = problem
    whole, n_whole = solve(X, Y, C, tol=0.001)
    parts, n_parts = solve(X, Y, C, tol=0.001, stops=(1, 2, 7, 20_000))
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

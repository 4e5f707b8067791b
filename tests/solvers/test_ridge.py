"""Ridge regression: the normal equations, by each of the ways to solve them."""

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from manylabel.solvers import conjugate, ridge


def draw(seed, n_rows, n_features, n_targets=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.5)
    return sp.csr_array(X), rng.normal(size=(n_rows, n_targets))


def by_normal_equations(X, targets, reg):
    X = X.toarray()
    return np.linalg.solve(X.T @ X + reg * np.eye(X.shape[1]), X.T @ targets)


@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 30),
    n_features=st.integers(1, 30),
    reg=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_either_side_solves_the_normal_equations(seed, n_rows, n_features, reg):
    X, targets = draw(seed, n_rows, n_features)
    expected = by_normal_equations(X, targets, reg)
    assert_allclose(ridge.solve(X, targets, reg), expected, atol=1e-9)
    found = ridge.solve(X, sp.csr_array(targets), reg)
    assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("n_features", [20, 60])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_steps_solve_the_normal_equations(n_features, n_jobs, monkeypatch):
    monkeypatch.setattr(ridge, "MAX_SQUARE", 5)
    monkeypatch.setattr(ridge, "TARGETS_AT_ONCE", 2)
    X, targets = draw(0, 40, n_features)
    X = sp.csr_array(X @ np.diag(np.logspace(-2, 2, n_features)))  # of unequal scale
    expected = by_normal_equations(X, targets, 0.3)
    found = ridge.solve(X, targets, 0.3, n_jobs)
    assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())
    assert_array_equal(found, ridge.solve(X, sp.csr_array(targets), 0.3))


def test_too_few_steps_are_told(monkeypatch):
    monkeypatch.setattr(ridge, "MAX_SQUARE", 5)
    monkeypatch.setattr(ridge, "MAX_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="did not converge in 2 steps"):
        ridge.solve(*draw(0, 40, 20), 0.3)


def test_the_constant_feature_comes_last():
    X, _ = draw(0, 4, 3)
    padded = ridge.pad(X.astype(np.float32), 1.0)
    assert padded.dtype == np.float64
    assert_array_equal(padded.toarray()[:, -1], np.ones(4))


@pytest.mark.parametrize("n_jobs", [None, 2, 50])
def test_threads_do_not_change_a_product(n_jobs):
    X, targets = draw(0, 40, 20)
    products = ridge.Products(X, n_jobs)
    assert_array_equal(products.turned(targets), X.T.tocsr() @ targets)
    weights = np.ones((20, 2))
    assert_array_equal(products.times(weights), X @ weights)


def test_as_many_steps_as_unknowns_are_enough():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 12))
    square, scale = A @ A.T + np.eye(12), rng.random((6, 2)) + 0.5
    wanted = rng.normal(size=(6, 2))

    def apply(W):
        return (square @ W.ravel()).reshape(6, 2)

    found, _ = conjugate.descend(apply, apply(wanted), wanted * 0, scale, max_iter=12)
    assert_allclose(found, wanted, atol=1e-4)  # 2e-3 after 11; rounding differs


def test_nothing_to_do_takes_no_step():
    zeros = np.zeros((3, 2))
    found, converged = conjugate.descend(
        lambda W: 2 * W, zeros, zeros, np.ones((3, 1)), max_iter=5
    )
    assert converged
    assert_array_equal(found, zeros)


@pytest.mark.slow
def test_no_matrix_goes_through_dask(dask_client, sent):
    X, weights = sp.csr_array(np.ones((500, 200))), np.ones((200, 2))  # 1.2 MB
    before = sum(sent)
    with joblib.parallel_config(backend="dask", n_jobs=2):
        products = ridge.Products(X)
        for _ in range(3):
            assert_array_equal(products.turned(products.times(weights)), 1e5)
    assert sum(sent) - before < X.data.nbytes

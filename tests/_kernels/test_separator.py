"""The separator: its optimum, its balance, and rows that would overflow."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from manylabel._kernels._jit import kernel
from manylabel._kernels.linear import separator


@kernel
def separate(columns, side, mass, cost, tolerance, max_newton, state, newton):
    separator.solve(columns, side, mass, cost, tolerance, max_newton, state, newton)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 10))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    side = np.where(rng.random(n) < draw(st.floats(0.2, 0.8)), 1, -1)
    side[:2] = 1, -1
    return X.astype(np.float32), side.astype(np.int8), draw(st.floats(0.1, 10))


def solve(X, side, cost, *, mass=None, tolerance=1e-5, max_newton=1000, seed=7):
    X = sp.csc_array(X)
    columns = separator.Columns(*X.shape, X.indptr, X.indices, X.data)
    newton = separator.make_newton(*X.shape)
    state = np.array([seed], np.uint64)
    mass = np.ones(len(side)) if mass is None else mass
    separate(columns, side, mass, cost, tolerance, max_newton, state, newton)
    return newton.weights


def objective(X, side, cost, weights):
    """Return the objective of the module's docstring, both sides of equal weight."""
    costs = np.where(side > 0, cost / np.mean(side > 0), cost / np.mean(side < 0))
    return np.abs(weights).sum() + costs @ np.logaddexp(0, -side * (X @ weights))


@given(problems())
def test_reaches_the_optimum_of_scikit_learn(problem):
    X, side, cost = problem
    theirs = LogisticRegression(
        l1_ratio=1.0,
        solver="liblinear",
        C=2 * cost,  # "balanced" divides by twice the share of a side
        tol=1e-8,
        fit_intercept=False,
        class_weight="balanced",
        max_iter=10_000,
    ).fit(X.astype(float), side)
    best = objective(X, side, cost, theirs.coef_[0])
    assert_allclose(objective(X, side, cost, solve(X, side, cost)), best, rtol=1e-3)


@given(problems())
def test_the_settings_of_fastxml_never_end_above_the_start(problem):
    X, side, cost = problem
    rough = solve(
        *problem, tolerance=separator.TOLERANCE, max_newton=separator.MAX_NEWTON
    )
    start = objective(X, side, cost, np.zeros(X.shape[1]))
    assert objective(X, side, cost, rough) <= start * (1 + 1e-12)


@given(problems())
def test_the_smaller_side_counts_as_much_as_the_larger(problem):
    X, side, cost = problem
    doubled = np.vstack([X, X[side > 0]])
    sides = np.concatenate([side, side[side > 0]])
    more = cost * len(side) / len(sides)  # costs are shares of all rows
    expected = objective(X, side, cost, solve(X, side, cost))
    again = objective(X, side, cost, solve(doubled, sides, more))
    assert_allclose(again, expected, rtol=1e-3)


@given(problems(), st.integers(0, 2**32 - 1))
def test_a_row_of_mass_two_counts_as_two_rows(problem, seed):
    X, side, cost = problem
    mass = np.random.default_rng(seed).integers(1, 4, len(side))
    repeated = (np.repeat(X, mass, axis=0), np.repeat(side, mass), cost)
    expected = objective(*repeated, solve(*repeated))
    weighed = solve(X, side, cost, mass=mass.astype(float))
    assert_allclose(objective(*repeated, weighed), expected, rtol=1e-3)


def test_useless_features_get_no_weight():
    X = np.ones((10, 1), np.float32)
    side = np.repeat(np.int8([1, -1]), 5)
    assert_array_equal(solve(X, side, 1.0), 0)


def test_huge_values_do_not_overflow():
    X = np.float32([[1e6, 1], [2e6, 1], [-1e6, 1], [-3e6, 1]])
    side = np.int8([1, 1, -1, -1])
    weights = solve(X, side, 1.0)
    assert np.isfinite(weights).all()
    assert_array_equal(np.sign(X @ weights), side)

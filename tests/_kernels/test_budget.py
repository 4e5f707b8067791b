"""Cutting planes: the optimum, the budget, and what a bound is worth."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from manylabel._kernels._jit import kernel
from manylabel._kernels.coding_tree import budget, margins, master
from manylabel._kernels.linear import separator

LOSSES = (margins.SQUARED_HINGE, margins.LOGISTIC, margins.HINGE)


@kernel
def pick_largest(*arguments):
    return budget.pick_largest(*arguments)


@kernel
def shrink(*arguments):
    return master.shrink(*arguments)


@st.composite
def problems(draw, losses=LOSSES):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(2, 12)), draw(st.integers(1, 5))
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7)
    side = np.where(rng.random(n) < draw(st.floats(0.2, 0.8)), 1, -1)
    side[:2] = 1, -1
    loss = draw(st.sampled_from(losses))
    cost = rng.uniform(0.2, 2, n)
    if loss == margins.HINGE:  # room for a sum of 1/2 on each side, but not in one row
        least = 0.5 / min(np.sum(side == s) for s in (-1, 1))
        cost[:] = draw(st.floats(least, 0.95))
    return (
        X.astype(np.float32),
        side.astype(np.int8),
        cost,
        loss,
        draw(st.booleans()),
        draw(st.integers(1, m)),
    )


def solve(X, side, cost, loss, with_intercept, size, *, tolerance=1e-5, planes=200):
    X, cost = sp.csc_array(X), np.atleast_2d(cost)
    starts = X.indptr.astype(np.int64)
    columns = separator.Columns(*X.shape, starts, X.indices, X.data)
    solver = budget.make_solver(*X.shape, len(cost), size, planes)
    settings_ = budget.PlaneSettings(
        loss, with_intercept, size, planes, tolerance, 100_000
    )
    return budget.solve(columns, side, cost, settings_, solver), solver


def coefficients(result, solver, n_features):
    """Return the weights of every feature, in each fold."""
    weights = np.zeros((len(solver.total), n_features))
    found = solver.planes.features[: result.n_features]
    weights[:, found] = solver.total[:, : result.n_features]
    return weights


def reference(X, side, cost, loss, with_intercept, size):
    """Return the optimum of the dual problem over all planes at once, by SciPy."""
    n, m = X.shape
    planes = [list(h) for h in combinations(range(m), size)]
    K = [side[:, None] * X.astype(float)[:, h] for h in planes]

    def conjugate(a):
        if loss == margins.HINGE:
            return 0.0
        if loss == margins.SQUARED_HINGE:
            return np.sum(a * a / (2 * cost) - a)
        p = np.clip(a / cost, 1e-15, 1 - 1e-15)
        return cost @ (p * np.log(p) + (1 - p) * np.log1p(-p))

    def slack(v):
        return [v[n] - np.sum((k.T @ v[:n]) ** 2) / 2 for k in K]

    rules = [{"type": "ineq", "fun": slack}]
    if with_intercept:
        rules.append({"type": "eq", "fun": lambda v: side @ v[:n]})
    if loss == margins.HINGE:
        rules.append({"type": "ineq", "fun": lambda v: v[:n].sum() - 1})
    top = [None if loss == margins.SQUARED_HINGE else c for c in cost]
    share = [cost[side == s].sum() for s in (1, -1)]
    a = cost / np.where(side > 0, *share) * min(*share, 1) / 2
    theta = max(np.sum((k.T @ a) ** 2) for k in K)
    found = minimize(
        lambda v: v[n] + conjugate(v[:n]),
        np.append(a, theta),
        bounds=[*zip([0.0] * n, top, strict=True), (0, None)],
        constraints=rules,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return -found.fun


@pytest.mark.slow
@settings(max_examples=60)
@given(problems())
def test_reaches_the_optimum_over_all_planes(problem):
    result, _ = solve(*problem)
    assert_allclose(result.objective, reference(*problem), rtol=1e-4, atol=1e-4)


@given(problems())
def test_the_gap_holds_the_optimum(problem):
    exact, _ = solve(*problem)
    rough, _ = solve(*problem, tolerance=0.1, planes=2)
    slack = 1e-4 * abs(exact.objective) + 1e-9
    assert rough.objective >= exact.objective - slack
    assert rough.objective - rough.gap <= exact.objective + slack


@given(problems())
def test_no_plane_exceeds_the_budget(problem):
    result, solver = solve(*problem)
    sizes = np.diff(solver.planes.starts[: result.n_planes + 1])
    assert (sizes <= problem[-1]).all()
    assert (sizes > 0).all()


@given(problems(losses=LOSSES[:2]))
def test_the_objective_is_that_of_the_weights_in_their_planes(problem):
    X, side, cost, loss, _, _ = problem
    result, solver = solve(*problem)
    starts = solver.planes.starts[: result.n_planes + 1]
    parts = np.split(solver.weights[0, : starts[-1]], starts[1:-1])
    weights = coefficients(result, solver, X.shape[1])[0]
    margin = side * (X @ weights + solver.free[0, 0])
    losses = np.maximum(0, 1 - margin) ** 2 / 2, np.logaddexp(0, -margin)
    length = sum(np.linalg.norm(part) for part in parts)
    assert_allclose(result.objective, length**2 / 2 + cost @ losses[loss], rtol=1e-9)


@given(problems(losses=LOSSES[:2]))
def test_a_row_of_cost_two_counts_as_two_rows(problem):
    X, side, cost, *rest = problem
    again, _ = solve(np.vstack([X, X]), np.tile(side, 2), np.tile(cost, 2), *rest)
    doubled, _ = solve(X, side, 2 * cost, *rest)
    assert_allclose(doubled.objective, again.objective, rtol=1e-4)


@given(problems(losses=LOSSES[:2]))
def test_a_row_of_cost_zero_is_not_there(problem):
    X, side, cost, *rest = problem
    more = np.vstack([X, X[::-1]]), np.concatenate([side, side])
    silent, _ = solve(*more, np.concatenate([cost, 0 * cost]), *rest)
    assert_allclose(silent.objective, solve(*problem)[0].objective, rtol=1e-4)


@given(problems(losses=LOSSES[:2]))
def test_equal_folds_learn_the_same(problem):
    X, side, cost, *rest = problem
    one, _ = solve(*problem)
    two, both = solve(X, side, np.vstack([cost, cost]), *rest)
    assert_allclose(two.objective, 2 * one.objective, rtol=1e-4)
    assert_array_equal(both.total[0, : two.n_features], both.total[1, : two.n_features])


@given(problems(losses=LOSSES[:2]))
def test_memory_may_be_larger_and_used_before(problem):
    X, side, cost, loss, with_intercept, size = problem
    X = sp.csc_array(X)
    starts = X.indptr.astype(np.int64)
    columns = separator.Columns(*X.shape, starts, X.indices, X.data)
    solver = budget.make_solver(X.shape[0] + 3, X.shape[1] + 2, 2, size + 1, 201)
    settings_ = budget.PlaneSettings(loss, with_intercept, size, 200, 1e-5, 100_000)
    for _ in range(2):
        result = budget.solve(columns, side, cost[None], settings_, solver)
        assert result == solve(*problem)[0]


def test_empty_columns_are_never_picked():
    X = np.float32([[0, 1], [0, -1]])
    result, solver = solve(X, np.int8([1, -1]), np.ones(2), margins.LOGISTIC, True, 2)
    assert_array_equal(solver.planes.features[: result.n_features], [1])


def test_without_a_useful_feature_there_is_only_the_intercept():
    X, side = np.ones((3, 1), np.float32), np.int8([1, 1, -1])
    result, solver = solve(X, side, np.ones(3), margins.SQUARED_HINGE, True, 1)
    assert result.gap <= 1e-9
    assert_allclose(solver.free[0, 0], 1 / 3)


@given(st.lists(st.integers(0, 5), min_size=1), st.integers(1, 60))
def test_the_largest_values_are_picked_and_of_equal_ones_the_first(values, size):
    strength, picked = np.array(values, float), np.empty(len(values), np.int64)
    n_picked, total = pick_largest(strength, size, picked)
    best = np.argsort(-strength, kind="stable")[:size]
    best = np.sort(best[strength[best] > 0])
    assert_array_equal(picked[:n_picked], best)
    assert total == strength[best].sum()


@given(
    st.lists(
        st.lists(st.floats(-3, 3), min_size=1, max_size=3), min_size=1, max_size=4
    ),
    st.floats(0.1, 5),
)
def test_the_proximal_step_agrees_with_brute_force(parts, step):
    starts = np.cumsum([0, *map(len, parts)])
    planes = master.Planes(starts, np.arange(starts[-1]), np.arange(starts[-1]))
    before = np.concatenate(parts)

    def objective(weights):
        lengths = [np.linalg.norm(w) for w in np.split(weights, starts[1:-1])]
        return sum(lengths) ** 2 / 2 + np.sum((weights - before) ** 2) / (2 * step)

    after = before.copy()
    steps = master.make_steps(1, len(parts), len(before))
    shrink(planes, len(parts), step, after, steps)
    # The minimum keeps the directions, so that lengths alone are to be found.
    lengths = np.array([np.linalg.norm(part) for part in parts])

    def by_length(found):
        return sum(found) ** 2 / 2 + np.sum((found - lengths) ** 2) / (2 * step)

    best = minimize(by_length, lengths, bounds=[(0, None)] * len(parts), tol=1e-12)
    assert_allclose(objective(after), best.fun, rtol=1e-5, atol=1e-8)

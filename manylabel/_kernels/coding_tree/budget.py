"""The budget-aware classifier: cutting planes of a few features each.

A plane is a set of at most B features. In turn, the plane that the dual variables
violate most is added, and the weights of all planes are learnt again (Liu & Tsang 2017,
Algorithm 1; there is nothing in it that is not the feature generating machine of Tan,
Tsang & Wang 2014). The rows may be weighed in several ways at once, one per fold: then
the planes are those of all folds together, and every fold has its own weights (equation
11).

All features of the rows are looked at once per plane, and once for the gap.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.coding_tree import margins, master
from manylabel._kernels.sorting import sort
from manylabel._kernels.topk import best_positions

# Smoothing by s widens the gap of the hinge by s at most, and the steps may leave as
# much. So s is half of the tolerance times the gap of no planes, half the violation.
SMOOTH = 0.25
ROUGH = (
    1e-2  # tolerance of the first smoothing: the steps of a rough problem are longer
)
LESS = 0.1  # share of the smoothing that is left when no plane is missing


class PlaneSettings(NamedTuple):
    """What is to be learnt, and how exactly."""

    loss: object  # a name of ``margins``
    with_intercept: object
    budget: object  # features of a plane, at most
    max_planes: object
    tolerance: object  # of the duality gap, relative to the objective
    max_iter: object  # of the master problem, for each plane
    with_gap: object = True  # else the gap lacks the last plane, and takes no pass


class Result(NamedTuple):
    """How it went; the sums are over the folds."""

    n_features: object  # those of ``Solver.planes.features`` that count
    n_planes: object
    objective: object
    gap: object  # to the optimum over all planes, at most


class Solver(NamedTuple):
    """What is learnt and on the way; every problem uses it again, or a part of it."""

    planes: object  # of ``master``; its ``features`` are the first result
    total: object  # (n_folds, max_places) weights of these features: the second result
    free: object  # (n_folds, 2) the intercept of each fold, and its level
    weights: object  # (n_folds, max_places) of the places in planes
    score: object  # (n_folds, n_rows)
    alpha: object  # (n_folds, n_rows)
    state: object  # (n_folds, 3)
    strength: object  # (n_columns,) of the features
    number: object  # (n_columns,) within the features of planes; -1 between problems
    picked: object  # (budget,) columns of a new plane
    steps: object  # of ``master``


def make_solver(n_rows, n_columns, n_folds, budget, max_planes):
    """Return memory for problems of up to this size."""
    n_picked = min(budget, n_columns)
    max_places = max_planes * n_picked
    planes = master.Planes(
        np.zeros(max_planes + 1, np.int64), *np.empty((2, max_places), np.int64)
    )
    return Solver(
        *(planes, np.empty((n_folds, max_places)), np.empty((n_folds, 2))),
        *(np.empty((n_folds, max_places)), *np.empty((2, n_folds, n_rows))),
        *(np.empty((n_folds, 3)), np.empty(n_columns)),
        *(np.full(n_columns, -1, np.int32), np.empty(n_picked, np.int64)),
        master.make_steps(n_rows, max_planes, max_places),
    )


@kernel
def solve(columns, side, cost, settings, solver):
    """Learn weights, leave them in ``solver``, and return a ``Result``.

    ``columns`` are a ``separator.Columns``: all of X, or the rows of a node as
    ``node.gather_columns`` lists them. ``cost`` (n_folds, n_rows) is what the loss of a
    row counts in a fold; a row of cost 0 is as if it were not there. The features found
    are numbers of columns, in the order in which they were found; their weights are
    ``solver.total``, the intercepts ``solver.free[:, 0]``.

    The search ends at the gap that is asked for, or when the worst plane is known and
    the problem is solved as well as the steps allow. What a plane gains says nothing:
    planes of which each alone has the optimum 0 may have a lower one together.
    """
    n_folds, limits = cost.shape[0], (settings.tolerance / 2, settings.max_iter)
    side, is_hinge = side[: columns.n_rows], settings.loss == margins.HINGE
    smooth, least = 1.0 if is_hinge else 0.0, 0.0
    for fold in range(n_folds):
        problem = _problem(columns, side, cost[fold], settings, smooth)
        _start(problem, _solution(solver, fold))
    n_planes, n_features, is_exact = np.int64(0), np.int64(0), True
    bound = -np.inf
    while settings.with_gap or n_planes < settings.max_planes:
        n_picked, violation = worst_plane(
            columns, side, n_folds, settings.budget, solver
        )
        objective, dual = _objective(n_folds, solver)
        bound = max(bound, dual - violation / 2)
        if n_planes == 0 and is_hinge:
            smooth = SMOOTH * max(settings.tolerance, ROUGH) * violation
            least = SMOOTH * settings.tolerance * violation
        if objective - bound <= 2 * master.enough(least, limits[0], objective):
            break  # half of it is left to the steps
        is_new = 0 < n_picked and n_planes < settings.max_planes
        if is_new and not _is_known(n_picked, n_planes, solver):
            n_features = _add_plane(n_picked, n_planes, n_features, solver)
            n_planes += 1
            is_exact = n_planes == settings.max_planes
        elif not is_exact:
            is_exact = True
        elif smooth > least:
            smooth = max(LESS * smooth, least)
        else:
            break
        size = (n_planes, n_features)
        for fold in range(n_folds):
            problem = _problem(columns, side, cost[fold], settings, smooth)
            now = _solution(solver, fold)
            master.minimise(
                problem, solver.planes, size, limits, is_exact, now, solver.steps
            )
    _finish(n_folds, n_planes, n_features, solver)
    objective, _ = _objective(n_folds, solver)
    return Result(n_features, n_planes, objective, objective - bound)


@inner
def worst_plane(columns, side, n_folds, budget, solver):
    """Write the plane that alpha violates most; return its features and violation.

    These are the columns of the largest squared entries of X' (y alpha), summed over
    the folds (equation 9), of equal ones the first. Columns of 0 are never among them.
    """
    strength, n_columns = solver.strength, columns.n_columns
    for j in range(n_columns):
        strength[j] = 0.0
        for fold in range(n_folds):
            pull = master.dot(columns, j, side, solver.alpha[fold])
            strength[j] += pull * pull
    return pick_largest(strength[:n_columns], budget, solver.picked)


@inner
def pick_largest(strength, budget, picked):
    """Write the positions of the largest positive values; return how many, their sum.

    They ascend; of equal values the first are taken.
    """
    n_best = best_positions(strength, budget, picked)
    sort(picked, np.int64(0), n_best)
    n_picked, total = 0, 0.0
    for n in range(n_best):
        if strength[picked[n]] > 0.0:
            total += strength[picked[n]]
            picked[n_picked] = picked[n]
            n_picked += 1
    return n_picked, total


@inner
def _problem(columns, side, cost, settings, smooth):
    return master.Problem(
        columns, side, cost, settings.loss, smooth, settings.with_intercept
    )


@inner
def _solution(solver, fold):
    return master.Solution(
        solver.weights[fold],
        solver.score[fold],
        solver.alpha[fold],
        solver.free[fold],
        solver.state[fold],
    )


@inner
def _start(problem, now):
    """Set the solution of no planes."""
    now.free[0] = now.free[1] = 0.0
    for i in range(problem.columns.n_rows):
        now.score[i] = 0.0
    loss = margins.settle(problem, now.score, now.free, now.alpha)
    if problem.loss == margins.HINGE:
        now.free[0] = now.free[1] = loss = 0.0  # without smoothing
    now.state[master.OBJECTIVE] = now.state[master.DUAL] = loss
    now.state[master.CURVATURE] = 1.0


@inner
def _objective(n_folds, solver):
    """Return the objective, and the dual one but for the violation."""
    objective, dual = 0.0, 0.0
    for fold in range(n_folds):
        objective += solver.state[fold, master.OBJECTIVE]
        dual += solver.state[fold, master.DUAL]
    return objective, dual


@inner
def _is_known(n_picked, n_planes, solver):
    """Return whether the picked features are those of a plane."""
    starts = solver.planes.starts
    for h in range(n_planes):
        n_same = 0
        if starts[h + 1] - starts[h] == n_picked:
            for p in range(n_picked):
                number = solver.number[solver.picked[p]]
                n_same += number == solver.planes.chosen[starts[h] + p]
        if n_same == n_picked:
            return True
    return False


@inner
def _add_plane(n_picked, n_planes, n_features, solver):
    """Make the picked features a plane of weight 0; return how many there are now."""
    planes, number = solver.planes, solver.number
    start = planes.starts[n_planes]
    for p in range(n_picked):
        column = solver.picked[p]
        if number[column] < 0:
            number[column] = n_features
            planes.features[n_features] = column
            n_features += 1
        planes.chosen[start + p] = number[column]
        for fold in range(solver.weights.shape[0]):
            solver.weights[fold, start + p] = 0.0
    planes.starts[n_planes + 1] = start + n_picked
    return n_features


@inner
def _finish(n_folds, n_planes, n_features, solver):
    """Sum the weights by feature, and forget the numbers of the features."""
    planes = solver.planes
    for fold in range(n_folds):
        for d in range(n_features):
            solver.total[fold, d] = 0.0
        for p in range(planes.starts[n_planes]):
            solver.total[fold, planes.chosen[p]] += solver.weights[fold, p]
    for d in range(n_features):
        solver.number[planes.features[d]] = -1

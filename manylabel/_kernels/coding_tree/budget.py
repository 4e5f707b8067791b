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

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.coding_tree import margins, master

GAIN = 0.01  # of a plane, relative to the tolerance, for another to be worth its while


class Rules(NamedTuple):
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

    n_features: object  # those of ``Workspace.planes.features`` that count
    n_planes: object
    objective: object
    gap: object  # to the optimum over all planes, at most


class Workspace(NamedTuple):
    """Memory that every problem uses again; what is larger stays unused."""

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


@allocating_kernel
def workspace(n_rows, n_columns, n_folds, budget, max_planes):
    """Return memory for problems of up to this size."""
    max_places = max_planes * min(budget, n_columns)
    planes = master.Planes(
        np.zeros(max_planes + 1, np.int64),
        np.empty(max_places, np.int64),
        np.empty(max_places, np.int64),
    )
    return Workspace(
        planes,
        np.empty((n_folds, max_places)),
        np.empty((n_folds, 2)),
        np.empty((n_folds, max_places)),
        np.empty((n_folds, n_rows)),
        np.empty((n_folds, n_rows)),
        np.empty((n_folds, 3)),
        np.empty(n_columns),
        np.full(n_columns, -1, np.int32),
        np.empty(min(budget, n_columns), np.int64),
        master.workspace(n_rows, max_planes, max_places),
    )


@allocating_kernel
def solve(columns, side, cost, rules, space):
    """Learn weights, leave them in ``space``, and return a ``Result``.

    ``columns`` are a ``separator.Columns``: all of X, or the rows of a node as
    ``node.gather_columns`` lists them. ``cost`` (n_folds, n_rows) is what the loss of a
    row counts in a fold; a row of cost 0 is as if it were not there. The features found
    are numbers of columns, in the order in which they were found; their weights are
    ``space.total``, the intercepts ``space.free[:, 0]``.
    """
    n_folds, limits = cost.shape[0], (rules.tolerance / 2, rules.max_iter)
    smooth = 1.0 if rules.loss == margins.HINGE else 0.0
    problem = _problem(columns, side, rules, smooth)
    for fold in range(n_folds):
        master.start(problem, cost[fold], _solution(space, fold))
    n_planes, n_features, is_exact = 0, 0, True
    bound, objective = -np.inf, np.inf
    while rules.with_gap or n_planes < rules.max_planes:
        n_picked, violation = worst_plane(columns, side, n_folds, rules.budget, space)
        last, (objective, dual) = objective, _objective(n_folds, space)
        bound = max(bound, dual - violation / 2)
        if n_planes == 0 and rules.loss == margins.HINGE:
            problem = _problem(columns, side, rules, rules.tolerance * violation)
        enough = master.enough(problem, rules.tolerance, objective)
        if objective - bound <= enough:
            break
        is_new = 0 < n_picked and n_planes < rules.max_planes
        is_new = is_new and last - objective > GAIN * enough
        if is_new and not _is_known(n_picked, n_planes, space):
            n_features = _add_plane(n_picked, n_planes, n_features, space)
            n_planes += 1
            is_exact = n_planes == rules.max_planes
        elif is_exact:
            break
        else:
            is_exact = True
        for fold in range(n_folds):
            master.minimise(
                *(problem, cost[fold], space.planes, n_planes, n_features, limits),
                *(is_exact, _solution(space, fold), space.steps),
            )
    _finish(n_folds, n_planes, n_features, space)
    objective, _ = _objective(n_folds, space)
    return Result(n_features, n_planes, objective, objective - bound)


@allocating_kernel
def worst_plane(columns, side, n_folds, budget, space):
    """Write the plane that alpha violates most; return its features and violation.

    These are the columns of the largest squared entries of X' (y alpha), summed over
    the folds (equation 9), of equal ones the first. Columns of 0 are never among them.
    """
    strength, n_columns = space.strength, columns.n_columns
    for j in range(n_columns):
        strength[j] = 0.0
        for fold in range(n_folds):
            pull = master.dot(columns, j, side, space.alpha[fold])
            strength[j] += pull * pull
    return pick_largest(strength[:n_columns], budget, space.picked)


@allocating_kernel
def pick_largest(strength, budget, picked):
    """Write the positions of the largest positive values; return how many, their sum.

    A selection, not a sort: O(n) for n values.
    """
    n_values, level, n_level = strength.shape[0], 0.0, 0
    if budget < n_values:
        level = np.partition(strength, n_values - budget)[n_values - budget]
        n_level = budget - np.sum(strength > level)  # equal values that have room
    n_picked, total = 0, 0.0
    for j in range(n_values):
        if strength[j] > level or (strength[j] == level and level > 0.0 < n_level):
            n_level -= strength[j] == level
            picked[n_picked] = j
            n_picked += 1
            total += strength[j]
    return n_picked, total


@allocating_kernel
def _problem(columns, side, rules, smooth):
    return master.Problem(columns, side, rules.loss, smooth, rules.with_intercept)


@allocating_kernel
def _solution(space, fold):
    return master.Solution(
        space.weights[fold],
        space.score[fold],
        space.alpha[fold],
        space.free[fold],
        space.state[fold],
    )


@allocating_kernel
def _objective(n_folds, space):
    """Return the objective, and the dual one but for the violation."""
    objective, dual = 0.0, 0.0
    for fold in range(n_folds):
        objective += space.state[fold, master.OBJECTIVE]
        dual += space.state[fold, master.DUAL]
    return objective, dual


@allocating_kernel
def _is_known(n_picked, n_planes, space):
    """Return whether the picked features are those of a plane."""
    starts = space.planes.starts
    for h in range(n_planes):
        n_same = 0
        if starts[h + 1] - starts[h] == n_picked:
            for p in range(n_picked):
                number = space.number[space.picked[p]]
                n_same += number == space.planes.chosen[starts[h] + p]
        if n_same == n_picked:
            return True
    return False


@allocating_kernel
def _add_plane(n_picked, n_planes, n_features, space):
    """Make the picked features a plane of weight 0; return how many there are now."""
    planes, number = space.planes, space.number
    start = planes.starts[n_planes]
    for p in range(n_picked):
        column = space.picked[p]
        if number[column] < 0:
            number[column] = n_features
            planes.features[n_features] = column
            n_features += 1
        planes.chosen[start + p] = number[column]
        for fold in range(space.weights.shape[0]):
            space.weights[fold, start + p] = 0.0
    planes.starts[n_planes + 1] = start + n_picked
    return n_features


@allocating_kernel
def _finish(n_folds, n_planes, n_features, space):
    """Sum the weights by feature, and forget the numbers of the features."""
    planes = space.planes
    for fold in range(n_folds):
        for d in range(n_features):
            space.total[fold, d] = 0.0
        for p in range(planes.starts[n_planes]):
            space.total[fold, planes.chosen[p]] += space.weights[fold, p]
    for d in range(n_features):
        space.number[planes.features[d]] = -1

"""The master problem of budgeted learning, by accelerated proximal gradient.

Each plane h is a group of features with weights w_h of its own, zero outside it. The
problem (Tan, Tsang & Wang 2014) is

    min over w of  (sum_h ||w_h||)^2 / 2 + loss(X sum_h w_h),

whose dual is to maximise -loss*(-y alpha) - max_h ||u_h||^2 / 2, where u = X' (y alpha)
and u_h is its part in plane h. A gradient step has alpha at hand, so it also gives a
lower bound, and the two meet at the optimum.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner
from manylabel._kernels.coding_tree import margins
from manylabel._kernels.csr import stretch
from manylabel._kernels.sorting import sort

EASE, STIFFEN = 0.95, 1.5  # factors of the curvature at and within a step
MAX_TRIALS = 200  # of a step; the curvature then is beyond that of any loss
SHARE = 0.1  # of what a new plane gains that may be missing while more planes follow
ROUNDING = 1e-12  # relative, of objectives


class Problem(NamedTuple):
    """Rows, their sides and costs, and the loss."""

    columns: object  # separator.Columns
    side: object  # (n_rows,) of -1 and +1
    cost: object  # (n_rows,) what the loss of a row counts
    loss: object  # a name of ``margins``
    smooth: object
    with_intercept: object


class Planes(NamedTuple):
    """Groups of features; a place in a group is one weight."""

    starts: object  # (max_planes + 1,) the stretch of places of each plane
    chosen: object  # (max_places,) the feature of a place, as a number in ``features``
    features: object  # (max_places,) the columns of all planes, each once


class Solution(NamedTuple):
    """What is learnt, written in place; once per fold of the rows."""

    weights: object  # (max_places,)
    score: object  # (n_rows,)
    alpha: object  # (n_rows,)
    free: object  # (2,) the intercept, and the level of the hinge
    state: object  # (3,) objective, dual objective but for the violation, curvature


OBJECTIVE, DUAL, CURVATURE = 0, 1, 2


class Steps(NamedTuple):
    """Vectors of a step; every problem uses them again."""

    last: object  # (max_places,) weights before the last step
    point: object  # (max_places,) where the gradient is taken
    trial: object  # (max_places,)
    pull: object  # (max_places,) u, per feature
    total: object  # (max_places,) weights, per feature
    last_score: object  # (n_rows,)
    point_score: object  # (n_rows,)
    trial_score: object  # (n_rows,)
    alpha: object  # (n_rows,) of the best lower bound
    length: object  # (max_planes,) of the part of a vector in each plane
    order: object  # (max_planes,) the same, sorted


def make_steps(n_rows, max_planes, max_places):
    """Return memory for problems of up to this size."""
    return Steps(
        *np.empty((5, max_places)), *np.empty((4, n_rows)), *np.empty((2, max_planes))
    )


@inner
def enough(smooth, tolerance, objective):
    """Return a gap that is small: the hinge may end at 0, but for its smoothing."""
    return max(tolerance * abs(objective), smooth)


@inner
def minimise(problem, planes, size, limits, is_exact, now, steps):
    """Improve the solution until it is known to be near the optimum.

    ``size`` are the planes and their features; ``limits`` the tolerance, relative to
    the objective, and the steps. If it need not be exact, what is missing may be a
    share of what was gained here.
    """
    tolerance, max_iter = limits
    n_places, n_rows, score = planes.starts[size[0]], problem.columns.n_rows, now.score
    length = _lengths(planes, size[0], now.weights, steps.length)
    first = length * length / 2 + margins.settle(problem, score, now.free, now.alpha)
    bound, speed, now.state[OBJECTIVE] = -np.inf, 0.0, first
    for _ in range(max_iter):
        if speed == 0.0:  # start, or start again, without push
            speed = 1.0
            for p in range(n_places):
                steps.last[p] = now.weights[p]
            for i in range(n_rows):
                steps.last_score[i] = score[i]
        next_speed = (1.0 + np.sqrt(1.0 + 4.0 * speed * speed)) / 2
        push = (speed - 1.0) / next_speed
        for p in range(n_places):
            move = now.weights[p] - steps.last[p]
            steps.point[p] = now.weights[p] + push * move
        for i in range(n_rows):
            steps.point_score[i] = score[i] + push * (score[i] - steps.last_score[i])
        loss = margins.settle(problem, steps.point_score, now.free, now.alpha)
        found = loss + _pull(problem, planes, size, now.alpha, steps)
        if found > bound:
            bound = found
            for i in range(n_rows):
                steps.alpha[i] = now.alpha[i]
        objective = now.state[OBJECTIVE]
        most = 0.0 if is_exact else SHARE * (first - objective)
        small = enough(problem.smooth, tolerance, objective)
        if objective - bound <= max(most, small):
            break
        objective = _step(problem, planes, size, loss, now, steps)
        if objective < now.state[OBJECTIVE] - ROUNDING * abs(objective):
            for p in range(n_places):
                steps.last[p], now.weights[p] = now.weights[p], steps.trial[p]
            for i in range(n_rows):
                steps.last_score[i], score[i] = score[i], steps.trial_score[i]
            now.state[OBJECTIVE], speed = objective, next_speed
        elif speed > 1.0:
            speed = 0.0
        else:
            break
    _finish(problem, planes, size[0], now, steps)


@inner
def _finish(problem, planes, n_planes, now, steps):
    """Set alpha of the solution, its objective without smoothing, and its dual.

    The dual objective is the loss plus alpha . (X w), less half the violation. Of the
    hinge the first two are 0 together, for any alpha, so it takes the best one met.
    """
    dual = margins.settle(problem, now.score, now.free, now.alpha)
    for i in range(problem.columns.n_rows):
        dual += now.alpha[i] * problem.side[i] * now.score[i]
    if problem.loss == margins.HINGE:
        dual = 0.0
        for i in range(problem.columns.n_rows):
            now.alpha[i] = steps.alpha[i]
    length = _lengths(planes, n_planes, now.weights, steps.length)
    exact, _, _, _ = margins.evaluate(
        *(problem.loss, 0.0, problem.side, problem.cost, now.score, now.free),
        steps.trial_score,
    )
    now.state[OBJECTIVE], now.state[DUAL] = length * length / 2 + exact, dual


@inner
def _lengths(planes, n_planes, weights, out):
    """Write the length of each plane's weights; return their sum."""
    total = 0.0
    for h in range(n_planes):
        square = 0.0
        for p in range(planes.starts[h], planes.starts[h + 1]):
            square += weights[p] * weights[p]
        out[h] = np.sqrt(square)
        total += out[h]
    return total


@inner
def _pull(problem, planes, size, alpha, steps):
    """Write u; return what it adds to the loss to make the lower bound."""
    n_planes, n_features = size
    for d in range(n_features):
        steps.pull[d] = dot(problem.columns, planes.features[d], problem.side, alpha)
    agreement, largest = 0.0, 0.0
    for h in range(n_planes):
        square = 0.0
        for p in range(planes.starts[h], planes.starts[h + 1]):
            pull = steps.pull[planes.chosen[p]]
            square += pull * pull
            agreement += pull * steps.point[p]
        largest = max(largest, square)
    return agreement - largest / 2


@inner
def dot(columns, column, side, alpha):
    """Return one entry of X' (y alpha)."""
    total = 0.0
    for p in stretch(columns.indptr, column):
        i = np.uintp(columns.indices[p])
        total += columns.data[p] * side[i] * alpha[i]
    return total


@inner
def _step(problem, planes, size, loss, now, steps):
    """Write a trial whose model is not below its loss; return its objective."""
    columns, (n_planes, n_features) = problem.columns, size
    n_places, total, score = planes.starts[n_planes], steps.total, steps.trial_score
    now.state[CURVATURE] *= EASE
    objective = np.inf
    for _ in range(MAX_TRIALS):
        curvature = now.state[CURVATURE]
        for p in range(n_places):
            pull = steps.pull[planes.chosen[p]]
            steps.trial[p] = steps.point[p] + pull / curvature
        length = shrink(planes, n_planes, 1.0 / curvature, steps.trial, steps)
        model, square = loss, 0.0
        for d in range(n_features):
            total[d] = 0.0
        for p in range(n_places):
            move = steps.trial[p] - steps.point[p]
            model -= steps.pull[planes.chosen[p]] * move
            square += move * move
            total[planes.chosen[p]] += steps.trial[p]
        for i in range(columns.n_rows):
            score[i] = 0.0
        for d in range(n_features):
            weight = total[d]
            if weight != 0.0:
                for p in stretch(columns.indptr, planes.features[d]):
                    score[np.uintp(columns.indices[p])] += weight * columns.data[p]
        found = margins.settle(problem, score, now.free, now.alpha)
        slack = ROUNDING * abs(loss)
        objective = length * length / 2 + found
        if found <= model + curvature * square / 2 + slack:
            break
        now.state[CURVATURE] *= STIFFEN
    return objective


@inner
def shrink(planes, n_planes, step, weights, steps):
    """Take the proximal step of (sum of lengths)^2 / 2 in place; return the new sum.

    With lengths o_1 >= o_2 >= ..., all of them shrink by c = step / (1 + r step) *
    (o_1 + ... + o_r), to no less than 0, where r is the last with o_r above its own c.
    """
    length, order = steps.length, steps.order
    _lengths(planes, n_planes, weights, length)
    for h in range(n_planes):
        order[h] = length[h]
    sort(order, np.int64(0), n_planes)
    total, cut = 0.0, 0.0
    for r in range(n_planes):
        largest = order[n_planes - 1 - r]
        total += largest
        own = step / (1.0 + (r + 1) * step) * total
        if largest <= own:
            break
        cut = own
    total = 0.0
    for h in range(n_planes):
        share = max(0.0, 1.0 - cut / length[h]) if length[h] > 0.0 else 0.0
        total += share * length[h]
        for p in range(planes.starts[h], planes.starts[h + 1]):
            weights[p] *= share
    return total

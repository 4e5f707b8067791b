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

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.coding_tree import margins
from manylabel._kernels.csr import stretch

EASE, STIFFEN = 0.95, 1.5  # factors of the curvature at and within a step
MAX_TRIALS = 200  # of a step; the curvature then is beyond that of any loss
SHARE = 0.1  # of what a new plane gains that may be missing while more planes follow
ROUNDING = 1e-12  # relative, of objectives


class Problem(NamedTuple):
    """Rows, their sides and costs, and the loss."""

    columns: object  # separator.Columns
    side: object  # (n_rows,) of -1 and +1
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


class Workspace(NamedTuple):
    """Memory that every problem uses again."""

    last: object  # (max_places,) weights before the last step
    point: object  # (max_places,) where the gradient is taken
    trial: object  # (max_places,)
    pull: object  # (max_places,) u, per feature
    total: object  # (max_places,) weights, per feature
    last_score: object  # (n_rows,)
    point_score: object  # (n_rows,)
    trial_score: object  # (n_rows,)
    length: object  # (max_planes,) of the part of a vector in each plane


@allocating_kernel
def workspace(n_rows, max_planes, max_places):
    """Return memory for problems of up to this size."""
    return Workspace(
        np.empty(max_places),
        np.empty(max_places),
        np.empty(max_places),
        np.empty(max_places),
        np.empty(max_places),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(max_planes),
    )


@allocating_kernel
def start(problem, cost, now):
    """Set the solution of no planes."""
    now.free[:] = 0.0
    now.score[: problem.columns.n_rows] = 0.0
    loss = _loss(problem, cost, now.score, now)
    now.state[OBJECTIVE], now.state[DUAL], now.state[CURVATURE] = loss, loss, 1.0


@allocating_kernel
def enough(problem, tolerance, objective):
    """Return a gap that is small: the hinge may end at 0, but for its smoothing."""
    return tolerance * max(abs(objective), problem.smooth)


@allocating_kernel
def minimise(problem, cost, planes, n_planes, n_features, limits, is_exact, now, space):
    """Improve the solution until it is known to be near the optimum.

    ``limits`` are the tolerance, relative to the objective, and the steps. If it need
    not be exact, what is missing may be a share of what was gained here.
    """
    tolerance, max_iter = limits
    n_places, n_rows = planes.starts[n_planes], problem.columns.n_rows
    size = (planes, n_planes, n_features)
    now.state[OBJECTIVE] = _objective(
        problem, cost, size, now.weights, now.score, now, space
    )
    bound, speed, first = -np.inf, 1.0, now.state[OBJECTIVE]
    space.last[:n_places] = now.weights[:n_places]
    space.last_score[:n_rows] = now.score[:n_rows]
    for _ in range(max_iter):
        next_speed = (1.0 + np.sqrt(1.0 + 4.0 * speed * speed)) / 2
        push = (speed - 1.0) / next_speed
        _extrapolate(now.weights, space.last, push, n_places, space.point)
        _extrapolate(now.score, space.last_score, push, n_rows, space.point_score)
        loss = _loss(problem, cost, space.point_score, now)
        bound = max(bound, loss + _pull(problem, size, now, space))
        objective = now.state[OBJECTIVE]
        most = 0.0 if is_exact else SHARE * (first - objective)
        if objective - bound <= max(most, enough(problem, tolerance, objective)):
            break
        objective = _step(problem, cost, size, loss, now, space)
        if objective < now.state[OBJECTIVE] - ROUNDING * abs(objective):
            _accept(now, space, n_places, n_rows, objective)
            speed = next_speed
        elif speed > 1.0:  # start again without push
            space.last[:n_places] = now.weights[:n_places]
            space.last_score[:n_rows] = now.score[:n_rows]
            speed = 1.0
        else:
            break
    _finish(problem, cost, size, now, space)


@allocating_kernel
def _finish(problem, cost, size, now, space):
    """Set alpha of the solution, its objective without smoothing, and its dual.

    The dual objective is the loss plus alpha . (X w), less half the violation.
    """
    planes, n_planes, _ = size
    n_rows = problem.columns.n_rows
    now.state[DUAL] = _loss(problem, cost, now.score, now)
    for i in range(n_rows):
        now.state[DUAL] += now.alpha[i] * problem.side[i] * now.score[i]
    length = _lengths(planes, n_planes, now.weights, space.length)
    exact, _, _, _ = margins.evaluate(
        *(problem.loss, 0.0, problem.side[:n_rows], cost, now.score, now.free),
        space.trial_score,
    )
    now.state[OBJECTIVE] = length * length / 2 + exact


@allocating_kernel
def _loss(problem, cost, score, now):
    n_rows = problem.columns.n_rows
    return margins.settle(
        *(problem.loss, problem.smooth, problem.with_intercept),
        *(problem.side[:n_rows], cost, score, now.free, now.alpha),
    )


@allocating_kernel
def _objective(problem, cost, size, weights, score, now, space):
    planes, n_planes, _ = size
    length = _lengths(planes, n_planes, weights, space.length)
    return length * length / 2 + _loss(problem, cost, score, now)


@allocating_kernel
def _extrapolate(now, last, push, n, out):
    for p in range(n):
        out[p] = now[p] + push * (now[p] - last[p])


@allocating_kernel
def _accept(now, space, n_places, n_rows, objective):
    for p in range(n_places):
        space.last[p], now.weights[p] = now.weights[p], space.trial[p]
    for i in range(n_rows):
        space.last_score[i], now.score[i] = now.score[i], space.trial_score[i]
    now.state[OBJECTIVE] = objective


@allocating_kernel
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


@allocating_kernel
def _pull(problem, size, now, space):
    """Write u; return what it adds to the loss to make the lower bound."""
    planes, n_planes, n_features = size
    for d in range(n_features):
        space.pull[d] = dot(
            problem.columns, planes.features[d], problem.side, now.alpha
        )
    agreement, largest = 0.0, 0.0
    for h in range(n_planes):
        square = 0.0
        for p in range(planes.starts[h], planes.starts[h + 1]):
            pull = space.pull[planes.chosen[p]]
            square += pull * pull
            agreement += pull * space.point[p]
        largest = max(largest, square)
    return agreement - largest / 2


@allocating_kernel
def dot(columns, column, side, alpha):
    """Return one entry of X' (y alpha)."""
    total = 0.0
    for p in stretch(columns.indptr, column):
        i = np.uintp(columns.indices[p])
        total += columns.data[p] * side[i] * alpha[i]
    return total


@allocating_kernel
def _step(problem, cost, size, loss, now, space):
    """Write a trial whose model is not below its loss; return its objective."""
    planes, n_planes, n_features = size
    n_places = planes.starts[n_planes]
    now.state[CURVATURE] *= EASE
    objective = np.inf
    for _ in range(MAX_TRIALS):
        curvature = now.state[CURVATURE]
        for p in range(n_places):
            pull = space.pull[planes.chosen[p]]
            space.trial[p] = space.point[p] + pull / curvature
        length = shrink(planes, n_planes, 1.0 / curvature, space.trial, space.length)
        model, square = loss, 0.0
        for p in range(n_places):
            move = space.trial[p] - space.point[p]
            model -= space.pull[planes.chosen[p]] * move
            square += move * move
        add_columns(
            *(problem.columns, planes, n_places, n_features, space.trial),
            *(space.total, space.trial_score),
        )
        found = _loss(problem, cost, space.trial_score, now)
        slack = ROUNDING * abs(loss)
        objective = length * length / 2 + found
        if found <= model + curvature * square / 2 + slack:
            break
        now.state[CURVATURE] *= STIFFEN
    return objective


@allocating_kernel
def shrink(planes, n_planes, step, weights, length):
    """Take the proximal step of (sum of lengths)^2 / 2 in place; return the new sum.

    With lengths o_1 >= o_2 >= ..., all of them shrink by c = step / (1 + r step) *
    (o_1 + ... + o_r), to no less than 0, where r is the last with o_r above its own c.
    """
    _lengths(planes, n_planes, weights, length)
    order = np.argsort(-length[:n_planes])
    total, cut = 0.0, 0.0
    for r in range(n_planes):
        total += length[order[r]]
        own = step / (1.0 + (r + 1) * step) * total
        if length[order[r]] <= own:
            break
        cut = own
    total = 0.0
    for h in range(n_planes):
        share = max(0.0, 1.0 - cut / length[h]) if length[h] > 0.0 else 0.0
        total += share * length[h]
        for p in range(planes.starts[h], planes.starts[h + 1]):
            weights[p] *= share
    return total


@allocating_kernel
def add_columns(columns, planes, n_places, n_features, weights, total, score):
    """Write the weights summed by feature, and the rows' scores by them."""
    total[:n_features] = 0.0
    for p in range(n_places):
        total[planes.chosen[p]] += weights[p]
    score[: columns.n_rows] = 0.0
    for d in range(n_features):
        weight = total[d]
        if weight != 0.0:
            for p in stretch(columns.indptr, planes.features[d]):
                score[np.uintp(columns.indices[p])] += weight * columns.data[p]

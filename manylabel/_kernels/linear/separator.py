"""L1-regularised logistic regression of two sides, by newGLMNET coordinate descent.

For sides d in {-1, +1} the problem is

    min over w of  |w|_1 + sum_i c_i log(1 + exp(-d_i w.x_i)),

solved as LIBLINEAR does (Yuan, Ho & Lin 2012, "An improved GLMNET for L1-regularized
logistic regression", Algorithm 3): Newton steps, whose quadratic models are minimised
by a few passes of coordinate descent and followed by a line search. The limits are
those of the FastXML program, far below LIBLINEAR's: a separator need not be exact.

Margins are kept in place of their exponentials, so that no row overflows.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner
from manylabel._kernels.csr import stretch

TOLERANCE = 0.01  # of the sum of violations, against the first
MAX_NEWTON, MAX_PASSES, MAX_HALVINGS = 10, 10, 20
DECREASE = 0.01  # share of the predicted decrease that a step must reach: sigma
RIDGE = 1e-12  # keeps every curvature positive: nu
LONGEST_STEP, SHORTEST_STEP = 10.0, 1e-12


class Columns(NamedTuple):
    """A matrix by columns (CSC); only the first ``n_columns`` count."""

    n_rows: object
    n_columns: object
    indptr: object
    indices: object
    data: object


class Newton(NamedTuple):
    """Where Newton's method is; serves every problem that is no larger."""

    weights: object  # (n_columns,) w: the result
    target: object  # (n_columns,) w + d, where the quadratic model leads
    gradient: object  # (n_columns,) of the loss at w
    curvature: object  # (n_columns,) diagonal of the Hessian
    order: object  # (n_columns,) columns as they are visited, live ones first
    cost: object  # (n_rows,) c
    margin: object  # (n_rows,) w.x
    loss: object  # (n_rows,) log(1 + exp(margin))
    slope: object  # (n_rows,) first derivative of the row's loss by its margin
    bend: object  # (n_rows,) second derivative
    move: object  # (n_rows,) d.x
    force: object  # (n_rows,) bend * move
    next_loss: object  # (n_rows,) loss after the step that is tried
    small: object  # (n_rows,) exp(-|margin|) after that step


def make_newton(n_rows, n_columns):
    """Return arrays for problems of up to this size."""
    order = np.empty(n_columns, np.int64)
    return Newton(*np.empty((4, n_columns)), order, *np.empty((9, n_rows)))


@inner
def solve(columns, side, mass, cost, tolerance, max_newton, state, newton):
    """Write the weights that separate the sides into ``newton.weights``.

    Rows cost ``cost`` times their ``mass``, but for a factor that makes both sides, +1
    and -1 in ``side``, weigh as much as all rows would.
    """
    _start(columns, side, mass, cost, newton)
    inner_tolerance, largest, first = 1.0, np.inf, 0.0
    for step in range(max_newton):
        n_live, total, next_largest = _gradients(columns, largest, newton)
        if step == 0:
            first = total
        if total <= tolerance * first:
            break
        bound = inner_tolerance * first
        if _minimise_model(columns, n_live, bound, state, newton) == 1:
            inner_tolerance *= 0.25
        _line_search(columns, side, newton)
        largest = next_largest


@inner
def _start(columns, side, mass, cost, newton):
    """Set the state of w = 0."""
    n_rows, positive, negative = columns.n_rows, 0.0, 0.0
    for i in range(n_rows):
        if side[i] > 0:
            positive += mass[i]
        else:
            negative += mass[i]
    total = cost * (positive + negative)
    for i in range(n_rows):
        c = mass[i] * total / (positive if side[i] > 0 else negative)
        newton.cost[i], newton.margin[i], newton.loss[i] = c, 0.0, np.log(2.0)
        newton.slope[i], newton.bend[i] = -side[i] * c / 2, c / 4
    for j in range(columns.n_columns):
        newton.weights[j], newton.target[j] = 0.0, 0.0


@inner
def _gradients(columns, largest, newton):
    """Set gradient and curvature of the live columns, and list these in ``order``.

    Return how many live, and the sum and the largest of their violations. A zero
    weight that is far from moving, by the ``largest`` violation before, is left out.
    """
    indptr, indices, data = columns.indptr, columns.indices, columns.data
    slope, bend, order, weights = (
        newton.slope,
        newton.bend,
        newton.order,
        newton.weights,
    )
    n_live, total, next_largest = 0, 0.0, 0.0
    slack = largest / columns.n_rows
    for j in range(columns.n_columns):
        gradient, curvature = 0.0, RIDGE
        for p in stretch(indptr, j):
            gradient += data[p] * slope[np.uintp(indices[p])]
        if weights[j] == 0.0 and abs(gradient) < 1.0 - slack:
            continue
        for p in stretch(indptr, j):
            x = np.float64(data[p])
            curvature += x * x * bend[np.uintp(indices[p])]
        newton.gradient[j], newton.curvature[j] = gradient, curvature
        wrong = _violation(gradient, weights[j])
        total += wrong
        next_largest = max(next_largest, wrong)
        order[n_live] = j
        n_live += 1
    return n_live, total, next_largest


@inner
def _violation(gradient, weight):
    """Return how far 0 is from the subgradient of ``|w| + loss`` in one weight."""
    if weight > 0.0:
        return abs(gradient + 1.0)
    if weight < 0.0:
        return abs(gradient - 1.0)
    return max(0.0, abs(gradient) - 1.0)


@inner
def _minimise_model(columns, n_columns, bound, state, newton):
    """Move ``target`` towards the minimum of the quadratic model; return the passes.

    In a pass each live column takes the clipped step to the minimum of the model in its
    weight. That no column violates more than ``bound`` is believed only when none is
    left out.
    """
    indptr, indices, data = columns.indptr, columns.indices, columns.data
    order, target, force = newton.order, newton.target, newton.force
    move, bend = newton.move, newton.bend
    for i in range(columns.n_rows):
        move[i], force[i] = 0.0, 0.0
    n_live, largest = n_columns, np.inf
    for n_passes in range(1, MAX_PASSES + 1):
        rng.shuffle(state, order, n_live)
        total, next_largest, s, slack = 0.0, 0.0, 0, largest / columns.n_rows
        while s < n_live:
            j = np.uintp(order[s])
            weight, curvature = target[j], newton.curvature[j]
            gradient = newton.gradient[j] + (weight - newton.weights[j]) * RIDGE
            for p in stretch(indptr, j):
                gradient += data[p] * force[np.uintp(indices[p])]
            if weight == 0.0 and abs(gradient) < 1.0 - slack:
                n_live -= 1
                order[s], order[n_live] = order[n_live], order[s]
                continue
            s += 1
            wrong = _violation(gradient, weight)
            total += wrong
            next_largest = max(next_largest, wrong)
            step = -weight
            if gradient + 1.0 < curvature * weight:
                step = -(gradient + 1.0) / curvature
            elif gradient - 1.0 > curvature * weight:
                step = -(gradient - 1.0) / curvature
            step = min(max(step, -LONGEST_STEP), LONGEST_STEP)
            if abs(step) < SHORTEST_STEP:
                continue
            target[j] += step
            for p in stretch(indptr, j):
                i, change = np.uintp(indices[p]), data[p] * step
                move[i] += change
                force[i] += bend[i] * change
        largest = next_largest
        if total > bound:
            continue
        if n_live == n_columns:
            return n_passes
        n_live, largest = n_columns, np.inf
    return MAX_PASSES


@inner
def _line_search(columns, side, newton):
    """Halve the step until it decreases the objective enough, then take it, or none."""
    weights, target, n_rows = newton.weights, newton.target, columns.n_rows
    slope, growth, scale, n_halved = 0.0, 0.0, 1.0, 0
    for j in range(columns.n_columns):
        step = target[j] - weights[j]
        if step != 0.0:
            slope += newton.gradient[j] * step
            growth += abs(target[j]) - abs(weights[j])
    slope += growth
    while not growth + _loss_change(n_rows, side, scale, newton) <= DECREASE * slope:
        scale, slope, growth, n_halved = scale / 2, slope / 2, 0.0, n_halved + 1
        for j in range(columns.n_columns):
            if n_halved == MAX_HALVINGS:
                target[j] = weights[j]
            elif target[j] != weights[j]:
                target[j] = (target[j] + weights[j]) / 2
                growth += abs(target[j]) - abs(weights[j])
        if n_halved == MAX_HALVINGS:
            return
    for j in range(columns.n_columns):
        weights[j] = target[j]
    for i in range(n_rows):
        newton.margin[i] += scale * newton.move[i]
        margin, small = newton.margin[i], newton.small[i]
        newton.loss[i] = newton.next_loss[i]
        share = (1.0 if margin > 0.0 else small) / (1.0 + small)  # sigmoid of margin
        newton.slope[i] = newton.cost[i] * (share - (1.0 if side[i] > 0 else 0.0))
        newton.bend[i] = newton.cost[i] * share * (1.0 - share)


@inner
def _loss_change(n_rows, side, scale, newton):
    """Return by how much the loss grows when the margins move by ``scale * move``."""
    change = 0.0
    for i in range(n_rows):
        move = scale * newton.move[i]
        margin = newton.margin[i] + move
        small = np.exp(-abs(margin))
        loss = max(margin, 0.0) + np.log(1.0 + small)
        newton.small[i], newton.next_loss[i] = small, loss
        # log(1 + exp(-m)) is log(1 + exp(m)) - m.
        own = loss - newton.loss[i] - (move if side[i] > 0 else 0.0)
        change += newton.cost[i] * own
    return change

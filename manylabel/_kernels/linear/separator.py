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
from manylabel._kernels._jit import allocating_kernel
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


class Workspace(NamedTuple):
    """Memory that is used again for every problem; what is larger stays unused."""

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


@allocating_kernel
def workspace(n_rows, n_columns):
    """Return memory for problems of up to this size."""
    return Workspace(
        np.empty(n_columns),
        np.empty(n_columns),
        np.empty(n_columns),
        np.empty(n_columns),
        np.empty(n_columns, np.int64),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
    )


@allocating_kernel
def solve(columns, side, mass, cost, tolerance, max_newton, state, space):
    """Write the weights that separate the sides into ``space.weights``.

    Rows cost ``cost`` times their ``mass``, but for a factor that makes both sides, +1
    and -1 in ``side``, weigh as much as all rows would.
    """
    _start(columns, side, mass, cost, space)
    inner_tolerance, largest, first = 1.0, np.inf, 0.0
    for step in range(max_newton):
        n_live, total, next_largest = _gradients(columns, largest, space)
        if step == 0:
            first = total
        if total <= tolerance * first:
            break
        bound = inner_tolerance * first
        if _minimise_model(columns, n_live, bound, state, space) == 1:
            inner_tolerance *= 0.25
        _line_search(columns, side, space)
        largest = next_largest


@allocating_kernel
def _start(columns, side, mass, cost, space):
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
        space.cost[i], space.margin[i], space.loss[i] = c, 0.0, np.log(2.0)
        space.slope[i], space.bend[i] = -side[i] * c / 2, c / 4
    for j in range(columns.n_columns):
        space.weights[j], space.target[j] = 0.0, 0.0


@allocating_kernel
def _gradients(columns, largest, space):
    """Set gradient and curvature of the live columns, and list these in ``order``.

    Return how many live, and the sum and the largest of their violations. A zero
    weight that is far from moving, by the ``largest`` violation before, is left out.
    """
    indptr, indices, data = columns.indptr, columns.indices, columns.data
    slope, bend, order, weights = space.slope, space.bend, space.order, space.weights
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
        space.gradient[j], space.curvature[j] = gradient, curvature
        wrong = violation(gradient, weights[j])
        total += wrong
        next_largest = max(next_largest, wrong)
        order[n_live] = j
        n_live += 1
    return n_live, total, next_largest


@allocating_kernel
def violation(gradient, weight):
    """Return how far 0 is from the subgradient of ``|w| + loss`` in one weight."""
    if weight > 0.0:
        return abs(gradient + 1.0)
    if weight < 0.0:
        return abs(gradient - 1.0)
    return max(0.0, abs(gradient) - 1.0)


@allocating_kernel
def _minimise_model(columns, n_columns, bound, state, space):
    """Move ``target`` towards the minimum of the quadratic model; return the passes."""
    for i in range(columns.n_rows):
        space.move[i], space.force[i] = 0.0, 0.0
    n_live, largest = n_columns, np.inf
    for n_passes in range(1, MAX_PASSES + 1):
        rng.shuffle(state, space.order, n_live)
        n_live, total, next_largest = _pass(columns, n_live, largest, space)
        if total > bound:
            largest = next_largest
        elif n_live == n_columns:
            return n_passes
        else:  # believe it only when no column is left out
            n_live, largest = n_columns, np.inf
    return MAX_PASSES


@allocating_kernel
def _pass(columns, n_live, largest, space):
    """Visit the live columns once; return as ``_gradients`` does."""
    indptr, indices, data = columns.indptr, columns.indices, columns.data
    order, target, force = space.order, space.target, space.force
    move, bend = space.move, space.bend
    total, next_largest, s = 0.0, 0.0, 0
    slack = largest / columns.n_rows
    while s < n_live:
        j = np.uintp(order[s])
        gradient = space.gradient[j] + (target[j] - space.weights[j]) * RIDGE
        for p in stretch(indptr, j):
            gradient += data[p] * force[np.uintp(indices[p])]
        if target[j] == 0.0 and abs(gradient) < 1.0 - slack:
            n_live -= 1
            order[s], order[n_live] = order[n_live], order[s]
            continue
        wrong = violation(gradient, target[j])
        total += wrong
        next_largest = max(next_largest, wrong)
        step = newton_step(gradient, space.curvature[j], target[j])
        s += 1
        if abs(step) < SHORTEST_STEP:
            continue
        target[j] += step
        for p in stretch(indptr, j):
            i, change = np.uintp(indices[p]), data[p] * step
            move[i] += change
            force[i] += bend[i] * change
    return n_live, total, next_largest


@allocating_kernel
def newton_step(gradient, curvature, weight):
    """Return the clipped step to the minimum of the model in one weight."""
    if gradient + 1.0 < curvature * weight:
        step = -(gradient + 1.0) / curvature
    elif gradient - 1.0 > curvature * weight:
        step = -(gradient - 1.0) / curvature
    else:
        step = -weight
    return min(max(step, -LONGEST_STEP), LONGEST_STEP)


@allocating_kernel
def _line_search(columns, side, space):
    """Halve the step until it decreases the objective enough, then take it, or none."""
    weights, target, n_rows = space.weights, space.target, columns.n_rows
    slope, growth = 0.0, 0.0
    for j in range(columns.n_columns):
        step = target[j] - weights[j]
        if step != 0.0:
            slope += space.gradient[j] * step
            growth += abs(target[j]) - abs(weights[j])
    slope, scale = slope + growth, 1.0
    for _ in range(MAX_HALVINGS):
        if growth + _loss_change(n_rows, side, scale, space) <= DECREASE * slope:
            _take_step(columns, side, scale, space)
            return
        scale, slope, growth = scale / 2, slope / 2, 0.0
        for j in range(columns.n_columns):
            if target[j] != weights[j]:
                target[j] = (target[j] + weights[j]) / 2
                growth += abs(target[j]) - abs(weights[j])
    for j in range(columns.n_columns):
        target[j] = weights[j]


@allocating_kernel
def _loss_change(n_rows, side, scale, space):
    """Return by how much the loss grows when the margins move by ``scale * move``."""
    change = 0.0
    for i in range(n_rows):
        move = scale * space.move[i]
        margin = space.margin[i] + move
        small = np.exp(-abs(margin))
        loss = max(margin, 0.0) + np.log(1.0 + small)
        space.small[i], space.next_loss[i] = small, loss
        # log(1 + exp(-m)) is log(1 + exp(m)) - m.
        own = loss - space.loss[i] - (move if side[i] > 0 else 0.0)
        change += space.cost[i] * own
    return change


@allocating_kernel
def _take_step(columns, side, scale, space):
    for j in range(columns.n_columns):
        space.weights[j] = space.target[j]
    for i in range(columns.n_rows):
        space.margin[i] += scale * space.move[i]
        margin, small = space.margin[i], space.small[i]
        space.loss[i] = space.next_loss[i]
        share = (1.0 if margin > 0.0 else small) / (1.0 + small)  # sigmoid of margin
        space.slope[i] = space.cost[i] * (share - (1.0 if side[i] > 0 else 0.0))
        space.bend[i] = space.cost[i] * share * (1.0 - share)

"""Linear SVMs of rare labels: dual coordinate descent on the few rows that matter.

The problem is that of :mod:`manylabel._kernels.linear`. A row whose dual variable is 0
leaves no trace in the solution, and for a rare label nearly all other rows are such:
they score below -1. So each label has its own active rows: those that have the label,
and those without it that turned out to score above -1. A turn has two parts:

- a search scores all rows for all lanes side by side, and keeps for each lane the rows
  that score highest among those that are not active;
- a descent makes these active, and takes a few passes over the active rows alone. A row
  without the label that stays at zero is left out; the next search may find it again.

A label is solved when its active rows are, and the search finds no row that matters.
Its lane then takes the next label of the queue, so no lane waits for others. A lane
sees nothing of the others, so a label's weights have the same bits in any company.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.linear.svm import INFINITY, ONE, ZERO, Problem, add_scores

NEAREST = 128  # rows found by a search, at least; most labels end with 100 to 300
PASSES = 5  # between searches; more would polish the solution for too few rows
OUT, ACTIVE, POSITIVE = np.int8(0), np.int8(1), np.int8(2)


class Slots(NamedTuple):
    """Labels that are solved side by side, one lane each."""

    labels: object  # (n_lanes,) -1 in a lane that is free
    weights: object  # (n_features + 1, n_lanes), the intercept last
    n_iter: object  # (n_lanes,) passes taken, negative once converged
    role: object  # (n_lanes, n_rows) OUT, ACTIVE or POSITIVE
    active: object  # (n_lanes, n_rows) the rows that are not OUT, n_active of them
    alpha: object  # (n_lanes, n_rows) their dual variables
    n_active: object  # (n_lanes,)
    top: object  # (n_lanes,) largest projected gradient of the last pass
    low: object  # (n_lanes,) smallest projected gradient of the last pass
    state: object  # (n_lanes, 1) of the random numbers
    found: object  # (n_lanes, capacity) a heap of rows that a search found
    found_score: object  # (n_lanes, capacity) their scores, the lowest first
    n_found: object  # (n_lanes,)
    limit: object  # (n_lanes,) most rows to find
    cut: object  # (n_lanes,) what a row must score to be of interest


class Local(NamedTuple):
    """The active rows of a lane, in CSR with only the features that they have."""

    indptr: object
    indices: object
    data: object
    bias: object
    target: object  # (n_rows,) 1 or -1
    scale: object  # (n_rows,) 1 / curvature
    alpha: object  # (n_rows,)
    features: object  # (n_features,) what they are called outside
    weights: object  # (n_features + 1,), the intercept last


@allocating_kernel
def turn(
    x_indptr,
    x_indices,
    x_data,
    y_indptr,
    y_indices,
    bias,
    curvature,
    diagonal,
    tolerance,
    until,
    mean,
    seed,
    queue,
    n_taken,
    labels,
    weights,
    n_iter,
    role,
    active,
    alpha,
    n_active,
    top,
    low,
    state,
    found,
    found_score,
    n_found,
    limit,
    cut,
):
    """Fill free lanes from ``queue``, then search and descend once, in place.

    For the arguments see :class:`Problem` and :class:`Slots`; ``mean`` is the mean row,
    ``n_taken`` (shape (1,)) counts the labels that have left the queue. The weights and
    roles of a free lane must be zeros.
    """
    problem = Problem(
        *(x_indptr, x_indices, x_data, y_indptr, y_indices),
        *(bias, curvature, diagonal, tolerance, until),
    )
    slots = Slots(
        *(labels, weights, n_iter, role, active, alpha, n_active, top, low, state),
        *(found, found_score, n_found, limit, cut),
    )
    place = np.full(weights.shape[0], -1, np.int32)
    for lane in range(labels.shape[0]):
        cut[lane] = INFINITY if labels[lane] < 0 else -ONE
        if labels[lane] < 0 and n_taken[0] < queue.shape[0]:
            labels[lane], state[lane, 0] = queue[n_taken[0]], seed
            n_taken[0] += 1
            _begin(problem, slots, lane, mean)
        n_found[lane] = 0
    _search(problem, slots)
    for lane in range(labels.shape[0]):
        if labels[lane] < 0:
            continue
        if n_iter[lane] == 0:
            _clear(problem, slots, lane)
        elif _is_solved(problem, slots, lane):
            n_iter[lane] = -n_iter[lane]
            continue
        _descend(problem, slots, lane, place)


@allocating_kernel
def release(lanes, labels, weights, n_iter, role):
    """Make lanes free."""
    for j in range(weights.shape[0]):
        for lane in lanes:
            weights[j, lane] = ZERO
    for lane in lanes:
        labels[lane], n_iter[lane] = -1, 0
        role[lane, :] = OUT


@allocating_kernel
def _begin(problem, slots, lane, mean):
    """Make the positive rows active, and let the first search find rows like them.

    The weights are for now the sum of the positive rows, less the mean row on their
    features.
    """
    label, n = slots.labels[lane], 0
    first, last = problem.y_indptr[label], problem.y_indptr[label + 1]
    for p in range(first, last):
        i = problem.y_indices[p]
        slots.role[lane, i], slots.active[lane, n] = POSITIVE, i
        slots.alpha[lane, n] = ZERO
        n += 1
        for q in range(problem.x_indptr[i], problem.x_indptr[i + 1]):
            j = problem.x_indices[q]
            if slots.weights[j, lane] == ZERO:
                slots.weights[j, lane] = -mean[j] * np.float32(last - first)
            slots.weights[j, lane] += problem.x_data[q]
    slots.n_active[lane], slots.cut[lane] = n, -INFINITY
    slots.limit[lane] = min(NEAREST + 2 * n, slots.found.shape[1])


@allocating_kernel
def _clear(problem, slots, lane):
    """Forget the weights of the first search."""
    for n in range(slots.n_active[lane]):
        i = slots.active[lane, n]
        for q in range(problem.x_indptr[i], problem.x_indptr[i + 1]):
            slots.weights[problem.x_indices[q], lane] = ZERO


@allocating_kernel
def _search(problem, slots):
    """Find for each lane the rows, of those that are out, that score highest."""
    x_indptr, x_indices, x_data = problem.x_indptr, problem.x_indices, problem.x_data
    weights, cut, role = slots.weights, slots.cut, slots.role
    bias, last, n_lanes = problem.bias, weights.shape[0] - 1, weights.shape[1]
    score = np.empty(n_lanes, np.float32)
    for i in range(x_indptr.shape[0] - 1):
        for lane in range(n_lanes):
            score[lane] = bias * weights[last, lane]
        add_scores(x_indptr[i], x_indptr[i + 1], x_indices, x_data, weights, score)
        n_high = 0
        for lane in range(n_lanes):
            n_high += score[lane] > cut[lane]
        if n_high == 0:
            continue
        for lane in range(n_lanes):
            if score[lane] > cut[lane] and role[lane, i] == OUT:
                _keep(slots, lane, i, score[lane])


@allocating_kernel
def _keep(slots, lane, i, score):
    """Put a row on the heap, in place of the lowest if the heap is full."""
    found, value, n = slots.found, slots.found_score, slots.n_found[lane]
    if n < slots.limit[lane]:
        slots.n_found[lane] = n + 1
        while n > 0 and value[lane, (n - 1) // 2] > score:
            above = (n - 1) // 2
            found[lane, n], value[lane, n] = found[lane, above], value[lane, above]
            n = above
        found[lane, n], value[lane, n] = i, score
    else:
        end, n, below = slots.n_found[lane], 0, 1
        while below < end:
            if below + 1 < end and value[lane, below + 1] < value[lane, below]:
                below += 1
            if value[lane, below] >= score:
                break
            found[lane, n], value[lane, n] = found[lane, below], value[lane, below]
            n, below = below, 2 * below + 1
        found[lane, n], value[lane, n] = i, score
    if slots.n_found[lane] == slots.limit[lane]:
        slots.cut[lane] = value[lane, 0]


@allocating_kernel
def _is_solved(problem, slots, lane):
    """Tell whether no row, active or not, may wish to move far.

    Rows that a search found count as active rows of the last pass would.
    """
    low = slots.low[lane]
    for n in range(slots.n_found[lane]):
        low = min(low, -ONE - slots.found_score[lane, n])
    return max(slots.top[lane], ZERO) - low <= problem.tolerance


@allocating_kernel
def _descend(problem, slots, lane, place):
    """Make the rows that were found active, and take passes over the active rows."""
    for n in range(slots.n_found[lane]):
        i, slot = slots.found[lane, n], slots.n_active[lane]
        slots.active[lane, slot], slots.alpha[lane, slot] = i, ZERO
        slots.role[lane, i] = ACTIVE
        slots.n_active[lane] += 1
    local = _gather(problem, slots, lane, place)
    order, n_order = np.arange(slots.n_active[lane]), slots.n_active[lane]
    bound, state = INFINITY, slots.state[lane]
    for _ in range(min(PASSES, problem.until - slots.n_iter[lane])):
        rng.shuffle(state, order, n_order)
        n_order, top, low = _sweep(local, problem.diagonal, bound, order, n_order)
        slots.n_iter[lane] += 1
        if top - low <= problem.tolerance:
            break
        bound = top if top > ZERO else INFINITY
    slots.top[lane], slots.low[lane] = top, low
    _scatter(slots, lane, local, order, n_order)
    slots.limit[lane] = min(NEAREST + n_order // 2, slots.found.shape[1])


@allocating_kernel
def _gather(problem, slots, lane, place):
    """Return the active rows of a lane side by side, with only the features they have.

    ``place`` holds -1 for every feature, and does so again at the end.
    """
    x_indptr, x_indices, x_data = problem.x_indptr, problem.x_indices, problem.x_data
    n_rows, n_features = slots.n_active[lane], 0
    indptr = np.zeros(n_rows + 1, np.int64)
    for n in range(n_rows):
        i = slots.active[lane, n]
        indptr[n + 1] = indptr[n] + x_indptr[i + 1] - x_indptr[i]
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    features = np.empty(min(indptr[-1], place.shape[0]), np.int32)
    target, scale = np.empty(n_rows, np.float32), np.empty(n_rows, np.float32)
    for n in range(n_rows):
        i = slots.active[lane, n]
        target[n] = ONE if slots.role[lane, i] == POSITIVE else -ONE
        scale[n] = ONE / problem.curvature[i]
        q = indptr[n]
        for p in range(x_indptr[i], x_indptr[i + 1]):
            j = x_indices[p]
            if place[j] < 0:
                features[n_features], place[j] = j, n_features
                n_features += 1
            indices[q], data[q] = place[j], x_data[p]
            q += 1
    weights = np.empty(n_features + 1, np.float32)
    for j in range(n_features):
        weights[j] = slots.weights[features[j], lane]
        place[features[j]] = -1
    weights[n_features] = slots.weights[slots.weights.shape[0] - 1, lane]
    alpha = slots.alpha[lane, :n_rows].copy()
    return Local(
        indptr, indices, data, problem.bias, target, scale, alpha, features, weights
    )


@allocating_kernel
def _sweep(local, diagonal, bound, order, n_order):
    """Visit rows in ``order``; return how many remain, and the extreme gradients."""
    indptr, indices, data, bias = local.indptr, local.indices, local.data, local.bias
    weights, alpha, target = local.weights, local.alpha, local.target
    last, top, low, k = weights.shape[0] - 1, -INFINITY, INFINITY, 0
    while k < n_order:
        n = order[k]
        score = bias * weights[last]
        for p in range(indptr[n], indptr[n + 1]):
            score += data[p] * weights[np.uintp(indices[p])]
        old = alpha[n]
        gradient = target[n] * score - ONE + old * diagonal
        if old == ZERO and gradient > bound and target[n] < ZERO:
            n_order -= 1
            order[k] = order[n_order]
            continue
        projected = min(gradient, ZERO) if old == ZERO else gradient
        top, low = max(top, projected), min(low, projected)
        if projected != ZERO:
            alpha[n] = max(old - gradient * local.scale[n], ZERO)
            step = (alpha[n] - old) * target[n]
            weights[last] += bias * step
            for p in range(indptr[n], indptr[n + 1]):
                weights[np.uintp(indices[p])] += data[p] * step
        k += 1
    return n_order, top, low


@allocating_kernel
def _scatter(slots, lane, local, order, n_order):
    """Write back what a descent learnt; rows that are not in ``order`` are out."""
    n_features = local.weights.shape[0] - 1
    for j in range(n_features):
        slots.weights[local.features[j], lane] = local.weights[j]
    slots.weights[slots.weights.shape[0] - 1, lane] = local.weights[n_features]
    rows = slots.active[lane, : slots.n_active[lane]].copy()
    for i in rows:
        slots.role[lane, i] = -slots.role[lane, i]
    for k in range(n_order):
        i = rows[order[k]]
        slots.active[lane, k], slots.alpha[lane, k] = i, local.alpha[order[k]]
        slots.role[lane, i] = -slots.role[lane, i]
    for i in rows:
        slots.role[lane, i] = max(slots.role[lane, i], OUT)
    slots.n_active[lane] = n_order

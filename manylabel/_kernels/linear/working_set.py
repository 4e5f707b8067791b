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

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.linear.svm import INFINITY, ONE, ZERO, add_scores

NEAREST = 128  # rows found by a search, at least; most labels end with 100 to 300
PASSES = 5  # between searches; more would polish the solution for too few rows
OUT, ACTIVE, POSITIVE = np.int8(0), np.int8(1), np.int8(2)


class RareLanes(NamedTuple):
    """Rare labels that are solved side by side, one lane each."""

    labels: Any  # (n_lanes,) -1 in a lane that is free
    weights: Any  # (n_features + 1, n_lanes), the intercept last
    n_iter: Any  # (n_lanes,) passes taken, negative once converged
    role: Any  # (n_lanes, n_rows) OUT, ACTIVE or POSITIVE
    active: Any  # (n_lanes, n_rows) the rows that are not OUT, n_active of them
    alpha: Any  # (n_lanes, n_rows) their dual variables
    n_active: Any  # (n_lanes,)
    top: Any  # (n_lanes,) largest projected gradient of the last pass
    low: Any  # (n_lanes,) smallest projected gradient of the last pass
    state: Any  # (n_lanes, 1) of the random numbers
    found: Any  # (n_lanes, capacity) a heap of rows that a search found
    found_score: Any  # (n_lanes, capacity) their scores, the lowest first
    n_found: Any  # (n_lanes,)
    limit: Any  # (n_lanes,) most rows to find
    cut: Any  # (n_lanes,) what a row must score to be of interest
    score: Any  # (n_lanes,) of the row at hand


class Active(NamedTuple):
    """The active rows of a lane, in CSR with only the features that they have."""

    rows: Any  # (n_rows,) what they are called outside
    indptr: Any
    indices: Any
    data: Any
    target: Any  # (n_rows,) 1 or -1
    diagonal: Any  # (n_rows,) 1 / (2 C_i)
    scale: Any  # (n_rows,) 1 / (length + diagonal)
    alpha: Any  # (n_rows,)
    order: Any  # (n_rows,) as they are visited
    features: Any  # (n_features,) what they are called outside
    weights: Any  # (n_features + 1,), the intercept last
    place: Any  # (n_features,) number of a feature; -1 between lanes


def make_lanes(n_rows, n_features, n_lanes, capacity):
    """Return lanes without labels, of which a search finds so many rows at most."""

    def zeros(*shape, kind=np.int64):
        return np.zeros(shape, kind)

    return RareLanes(
        labels=np.full(n_lanes, -1),
        weights=zeros(n_features + 1, n_lanes, kind=np.float32),
        n_iter=zeros(n_lanes),
        role=zeros(n_lanes, n_rows, kind=np.int8),
        active=zeros(n_lanes, n_rows, kind=np.int32),
        alpha=zeros(n_lanes, n_rows, kind=np.float32),
        n_active=zeros(n_lanes),
        top=zeros(n_lanes, kind=np.float32),
        low=zeros(n_lanes, kind=np.float32),
        state=zeros(n_lanes, 1, kind=np.uint64),
        found=zeros(n_lanes, capacity, kind=np.int32),
        found_score=zeros(n_lanes, capacity, kind=np.float32),
        n_found=zeros(n_lanes),
        limit=zeros(n_lanes),
        cut=zeros(n_lanes, kind=np.float32),
        score=zeros(n_lanes, kind=np.float32),
    )


def make_active(n_rows, n_features, n_values):
    """Return room for the active rows of any lane; what is not used takes no memory."""
    return Active(
        rows=np.empty(n_rows, np.int32),
        indptr=np.empty(n_rows + 1, np.int64),
        indices=np.empty(n_values, np.int32),
        data=np.empty(n_values, np.float32),
        target=np.empty(n_rows, np.float32),
        diagonal=np.empty(n_rows, np.float32),
        scale=np.empty(n_rows, np.float32),
        alpha=np.empty(n_rows, np.float32),
        order=np.empty(n_rows, np.int64),
        features=np.empty(n_features, np.int32),
        weights=np.empty(n_features + 1, np.float32),
        place=np.full(n_features, -1, np.int32),
    )


@kernel
def turn(problem, mean, seed, queue, n_taken, lanes, local, until):
    """Fill free lanes from ``queue``, then search and descend once, in place.

    ``mean`` is the mean row, ``n_taken`` labels have left the queue. The weights and
    roles of a free lane must be zeros. Return how many have left the queue now.
    """
    labels, n_iter = lanes.labels, lanes.n_iter
    for lane in range(labels.shape[0]):
        lanes.cut[lane] = INFINITY if labels[lane] < 0 else -ONE
        if labels[lane] < 0 and n_taken < queue.shape[0]:
            labels[lane], lanes.state[lane, 0] = queue[n_taken], seed
            n_taken += 1
            _begin(problem, lanes, lane, mean)
        lanes.n_found[lane] = 0
    _search(problem, lanes)
    for lane in range(labels.shape[0]):
        if labels[lane] < 0:
            continue
        if n_iter[lane] > 0 and _is_solved(problem, lanes, lane):
            n_iter[lane] = -n_iter[lane]
        else:
            _descend(problem, lanes, lane, local, until)
    return n_taken


def release(lanes, done):
    """Make lanes free."""
    lanes.weights[:, done], lanes.role[done] = ZERO, OUT
    lanes.labels[done], lanes.n_iter[done] = -1, 0


@inner
def _begin(problem, lanes, lane, mean):
    """Make the positive rows active, and let the first search find rows like them.

    The weights are for now the sum of the positive rows, less the mean row on their
    features.
    """
    label, n = lanes.labels[lane], 0
    first, last = problem.y_indptr[label], problem.y_indptr[label + 1]
    for p in range(first, last):
        i = problem.y_indices[p]
        lanes.role[lane, i], lanes.active[lane, n] = POSITIVE, i
        lanes.alpha[lane, n] = ZERO
        n += 1
        for q in range(problem.x_indptr[i], problem.x_indptr[i + 1]):
            j = problem.x_indices[q]
            if lanes.weights[j, lane] == ZERO:
                lanes.weights[j, lane] = -mean[j] * np.float32(last - first)
            lanes.weights[j, lane] += problem.x_data[q]
    lanes.n_active[lane], lanes.cut[lane] = n, -INFINITY
    lanes.limit[lane] = min(NEAREST + 2 * n, lanes.found.shape[1])


@inner
def _search(problem, lanes):
    """Find for each lane the rows, of those that are out, that score highest."""
    x_indptr, x_indices, x_data = problem.x_indptr, problem.x_indices, problem.x_data
    weights, cut, role = lanes.weights, lanes.cut, lanes.role
    bias, last, n_lanes = problem.bias, weights.shape[0] - 1, weights.shape[1]
    score = lanes.score
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
                _keep(lanes, lane, i, score[lane])


@inner
def _keep(lanes, lane, i, score):
    """Put a row on the heap, in place of the lowest if the heap is full."""
    found, value, n = lanes.found, lanes.found_score, lanes.n_found[lane]
    if n < lanes.limit[lane]:
        lanes.n_found[lane] = n + 1
        while n > 0 and value[lane, (n - 1) // 2] > score:
            above = (n - 1) // 2
            found[lane, n], value[lane, n] = found[lane, above], value[lane, above]
            n = above
        found[lane, n], value[lane, n] = i, score
    else:
        end, n, below = lanes.n_found[lane], 0, 1
        while below < end:
            if below + 1 < end and value[lane, below + 1] < value[lane, below]:
                below += 1
            if value[lane, below] >= score:
                break
            found[lane, n], value[lane, n] = found[lane, below], value[lane, below]
            n, below = below, 2 * below + 1
        found[lane, n], value[lane, n] = i, score
    if lanes.n_found[lane] == lanes.limit[lane]:
        lanes.cut[lane] = value[lane, 0]


@inner
def _is_solved(problem, lanes, lane):
    """Tell whether no row, active or not, may wish to move far.

    Rows that a search found count as active rows of the last pass would.
    """
    low = lanes.low[lane]
    for n in range(lanes.n_found[lane]):
        low = min(low, -ONE - lanes.found_score[lane, n])
    return max(lanes.top[lane], ZERO) - low <= problem.tolerance


@inner
def _descend(problem, lanes, lane, local, until):
    """Make the rows that were found active, and take passes over the active rows."""
    active, n_rows = lanes.active, lanes.n_active[lane]
    if lanes.n_iter[lane] == 0:  # forget the weights of the first search
        for n in range(n_rows):
            for q in stretch(problem.x_indptr, active[lane, n]):
                lanes.weights[problem.x_indices[q], lane] = ZERO
    for n in range(lanes.n_found[lane]):
        active[lane, n_rows] = lanes.found[lane, n]
        lanes.alpha[lane, n_rows] = ZERO
        lanes.role[lane, active[lane, n_rows]] = ACTIVE
        n_rows += 1
    n_features = _gather(problem, lanes, lane, n_rows, local)
    for n in range(n_rows):
        local.order[n] = n
    n_order, top, low, bound = n_rows, ZERO, ZERO, INFINITY
    for _ in range(min(PASSES, until - lanes.n_iter[lane])):
        rng.shuffle(lanes.state[lane], local.order, n_order)
        n_order, top, low = _sweep(problem, local, n_features, bound, n_order)
        lanes.n_iter[lane] += 1
        if top - low <= problem.tolerance:
            break
        bound = top if top > ZERO else INFINITY
    lanes.top[lane], lanes.low[lane] = top, low
    _scatter(lanes, lane, local, n_rows, n_features, n_order)
    lanes.limit[lane] = min(NEAREST + n_order // 2, lanes.found.shape[1])


@inner
def _gather(problem, lanes, lane, n_rows, local):
    """Put the active rows of a lane side by side; return how many features they have.

    ``local.place`` holds -1 for every feature, and does so again at the end.
    """
    x_indptr, x_indices, x_data = problem.x_indptr, problem.x_indices, problem.x_data
    indices, data, place = local.indices, local.data, local.place
    features, weights, n_features, q = local.features, local.weights, 0, 0
    heavier = problem.positive_weight[lanes.labels[lane]]
    for n in range(n_rows):
        i = lanes.active[lane, n]
        local.rows[n], local.indptr[n], local.alpha[n] = i, q, lanes.alpha[lane, n]
        local.target[n], diagonal = -ONE, problem.diagonal[i]
        if lanes.role[lane, i] == POSITIVE:
            local.target[n], diagonal = ONE, diagonal / heavier
        local.diagonal[n] = diagonal
        local.scale[n] = ONE / (problem.length[i] + diagonal)
        for p in stretch(x_indptr, i):
            j = x_indices[p]
            if place[j] < 0:
                features[n_features], place[j] = j, n_features
                n_features += 1
            indices[q], data[q] = place[j], x_data[p]
            q += 1
    local.indptr[n_rows] = q
    for j in range(n_features):
        weights[j] = lanes.weights[features[j], lane]
        place[features[j]] = -1
    weights[n_features] = lanes.weights[lanes.weights.shape[0] - 1, lane]
    return n_features


@inner
def _sweep(problem, local, last, bound, n_order):
    """Visit rows in ``order``; return how many remain, and the extreme gradients."""
    indptr, indices, data, bias = local.indptr, local.indices, local.data, problem.bias
    weights, alpha, target = local.weights, local.alpha, local.target
    diagonal = local.diagonal
    order, top, low, k = local.order, -INFINITY, INFINITY, 0
    while k < n_order:
        n = order[k]
        score = bias * weights[last]
        for p in range(indptr[n], indptr[n + 1]):
            score += data[p] * weights[np.uintp(indices[p])]
        old = alpha[n]
        gradient = target[n] * score - ONE + old * diagonal[n]
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


@inner
def _scatter(lanes, lane, local, n_rows, n_features, n_order):
    """Write back what a descent learnt; rows that are not in ``order`` are out."""
    role, weights = lanes.role, lanes.weights
    for j in range(n_features):
        weights[local.features[j], lane] = local.weights[j]
    weights[weights.shape[0] - 1, lane] = local.weights[n_features]
    for n in range(n_rows):
        role[lane, local.rows[n]] = OUT
    for k in range(n_order):
        n = local.order[k]
        i = local.rows[n]
        lanes.active[lane, k], lanes.alpha[lane, k] = i, local.alpha[n]
        role[lane, i] = POSITIVE if local.target[n] > ZERO else ACTIVE
    lanes.n_active[lane] = n_order

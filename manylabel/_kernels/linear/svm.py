"""Linear SVMs of many labels at once: dual coordinate descent in lanes.

For each label the problem is, with targets y in {-1, +1} and a constant feature,

    min over w of  |w|^2 / 2 + C * sum_i max(0, 1 - y_i w.x_i)^2,

solved in its dual as LIBLINEAR does (Hsieh et al. 2008, "A dual coordinate descent
method for large-scale linear SVM", Algorithm 3): one pass visits every row in random
order, takes the exact step for its dual variable, and shrinks variables that stay at
zero. All labels share the rows, so a block of them is solved side by side: each row is
read once for all lanes, and the loops over lanes are the ones that vectorise.

A lane sees the same row orders whatever block it is in, and skips what it alone has
shrunk; so a label's weights have the same bits in any company.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner, kernel

ZERO, ONE, INFINITY = np.float32(0.0), np.float32(1.0), np.float32(np.inf)


class Problem(NamedTuple):
    """What all labels share; rows in CSR, the rows of each label in CSC."""

    x_indptr: Any
    x_indices: Any
    x_data: Any
    y_indptr: Any
    y_indices: Any
    bias: Any  # value of the constant feature
    curvature: Any  # (n_rows,) |x|^2 + bias^2 + diagonal
    diagonal: Any  # 1 / (2 C)
    tolerance: Any


class Lanes(NamedTuple):
    """Labels that are solved side by side, one lane each; further lanes stay idle."""

    labels: Any
    weights: Any  # (n_features + 1, n_lanes), the intercept last
    n_iter: Any  # (n_lanes,) passes taken, negative once converged
    alpha: Any  # (n_rows, n_lanes) dual variables
    role: Any  # (n_rows, n_lanes) target, or 0 where shrunk or done
    bound: Any  # (n_lanes,) a zero variable with a larger gradient is shrunk
    order: Any  # (n_rows,) rows as they are visited
    state: Any  # (1,) of the random numbers
    n_live: Any  # (n_rows,) lanes whose role is not 0
    top: Any  # (n_lanes,) largest projected gradient of a pass
    low: Any  # (n_lanes,) smallest projected gradient of a pass
    score: Any  # (n_lanes,) w.x of the row at hand
    step: Any  # (n_lanes,) change of alpha * y of the row at hand


def make_lanes(labels, n_rows, n_features, n_lanes, seed):
    """Return the lanes of ``labels`` before the first pass."""
    return Lanes(
        labels=labels,
        weights=np.zeros((n_features + 1, n_lanes), np.float32),
        n_iter=np.zeros(len(labels), np.int64),
        alpha=np.zeros((n_rows, n_lanes), np.float32),
        role=np.zeros((n_rows, n_lanes), np.int8),
        bound=np.full(n_lanes, INFINITY),
        order=np.arange(n_rows),
        state=np.array([seed], np.uint64),
        n_live=np.zeros(n_rows, np.int64),
        top=np.empty(n_lanes, np.float32),
        low=np.empty(n_lanes, np.float32),
        score=np.empty(n_lanes, np.float32),
        step=np.empty(n_lanes, np.float32),
    )


@kernel
def solve(problem, block, until):
    """Take passes, in place, until each lane has converged or taken ``until`` of them.

    Lanes that took equally many passes may be put together in other blocks.
    """
    n_iter, top, low = block.n_iter, block.top, block.low
    going = 0
    for lane in range(block.labels.shape[0]):
        is_new = n_iter[lane] == 0
        going += 0 <= n_iter[lane] < until
        if is_new:
            _set_roles(problem, block, lane, is_new)
    while going:
        rng.shuffle(block.state, block.order, block.order.shape[0])
        _sweep(problem, block)
        going = 0
        for lane in range(block.labels.shape[0]):
            if not 0 <= n_iter[lane] < until:
                continue
            n_iter[lane] += 1
            is_near = top[lane] - low[lane] <= problem.tolerance
            if not is_near:
                block.bound[lane] = top[lane] if top[lane] > ZERO else INFINITY
            elif _set_roles(problem, block, lane, is_near):  # believed on all rows only
                block.bound[lane] = INFINITY
            else:
                n_iter[lane] = -n_iter[lane]
                _set_roles(problem, block, lane, not is_near)
            going += 0 <= n_iter[lane] < until


@kernel
def scores(x_indptr, x_indices, x_data, w_indptr, w_indices, w_data, intercept, out):
    """Write ``X @ W + intercept`` into ``out``, for W by features in CSR.

    The columns of a feature that has all of them are not read: they are in order.
    """
    n_labels = np.uintp(out.shape[1])
    for i in range(out.shape[0]):
        for label in range(n_labels):
            out[i, label] = intercept[label]
        for p in range(x_indptr[i], x_indptr[i + 1]):
            j, value = x_indices[p], x_data[p]
            start, end = np.uintp(w_indptr[j]), np.uintp(w_indptr[j + 1])
            if end - start == n_labels:
                for label in range(n_labels):
                    out[i, label] += value * w_data[start + label]
            else:
                for q in range(start, end):
                    out[i, np.uintp(w_indices[q])] += value * w_data[q]


@kernel
def collect_large(weights, lanes, threshold, names, place, w_indices, w_data):
    """Write the weights, intercept apart, that exceed a threshold, as columns (CSC).

    ``place`` has where each lane starts, and moves up to its end. Without room in
    ``w_data`` they are only counted. ``names`` are the features'.
    """
    for feature in range(weights.shape[0] - 1):
        for n in range(lanes.shape[0]):
            weight = weights[feature, lanes[n]]
            if abs(weight) > threshold:
                if place[n] < w_data.shape[0]:
                    w_indices[place[n]], w_data[place[n]] = names[feature], weight
                place[n] += 1


@kernel
def unit_rows(x_indptr, x_data, out):
    """Write the values of rows scaled to length 1; rows of zeros stay."""
    for i in range(x_indptr.shape[0] - 1):
        square = _squared_norm(i, x_indptr, x_data)
        scale = 1.0 / np.sqrt(square) if square > 0.0 else 1.0
        for p in range(x_indptr[i], x_indptr[i + 1]):
            out[p] = x_data[p] * scale


@kernel
def squared_norms(x_indptr, x_data, out):
    """Write the squared length of each row into ``out``."""
    for i in range(out.shape[0]):
        out[i] = _squared_norm(i, x_indptr, x_data)


@inner
def _squared_norm(i, x_indptr, x_data):
    total = 0.0  # float64: the square of 1e-40 is not 0
    for p in range(x_indptr[i], x_indptr[i + 1]):
        total += np.float64(x_data[p]) * x_data[p]
    return total


@inner
def _sweep(problem, block):
    """Visit every row that has a live lane, in ``order``, and take each lane's step.

    Arrays are unpacked once and indexed, never sliced. One short loop for each thing
    done: a loop over too many arrays at once is not vectorised, because the compiler
    would have to check that none of them overlap.
    """
    x_indptr, x_indices, x_data = problem.x_indptr, problem.x_indices, problem.x_data
    bias, weights, score, step = problem.bias, block.weights, block.score, block.step
    role, alpha, bound, top, low = (
        *(block.role, block.alpha, block.bound),
        *(block.top, block.low),
    )
    n_live, last, n_lanes = block.n_live, weights.shape[0] - 1, weights.shape[1]
    for lane in range(n_lanes):
        top[lane], low[lane] = -INFINITY, INFINITY
    for k in range(block.order.shape[0]):
        i = block.order[k]
        if n_live[i] == 0:
            continue
        scale, start, end = ONE / problem.curvature[i], x_indptr[i], x_indptr[i + 1]
        for lane in range(n_lanes):
            score[lane] = bias * weights[last, lane]
        add_scores(start, end, x_indices, x_data, weights, score)
        for lane in range(n_lanes):  # from here on a score is a gradient
            target = np.float32(role[i, lane])
            change = alpha[i, lane] * problem.diagonal
            score[lane] = target * score[lane] - ONE + change
        for lane in range(n_lanes):
            shrink = (alpha[i, lane] == ZERO) & (score[lane] > bound[lane])
            role[i, lane] = np.int8(0) if shrink else role[i, lane]
        for lane in range(n_lanes):
            g, live = score[lane], role[i, lane] != 0
            projected = min(g, ZERO) if alpha[i, lane] == ZERO else g
            top[lane] = max(top[lane], projected) if live else top[lane]
            low[lane] = min(low[lane], projected) if live else low[lane]
        for lane in range(n_lanes):
            target, old = np.float32(role[i, lane]), alpha[i, lane]
            new = max(old - score[lane] * scale, ZERO) if target != ZERO else old
            step[lane] = (new - old) * target
            alpha[i, lane] = new
        n_moved, n_live[i] = 0, 0
        for lane in range(n_lanes):
            n_moved += step[lane] != ZERO
            n_live[i] += role[i, lane] != 0
        for p in range(start, end if n_moved else start):
            j, value = np.uintp(x_indices[p]), x_data[p]
            for lane in range(n_lanes):
                weights[j, lane] += value * step[lane]
        for lane in range(n_lanes if n_moved else 0):
            weights[last, lane] += bias * step[lane]


@inner
def add_scores(start, end, x_indices, x_data, weights, out):
    """Add ``w.x`` of one row to every lane of ``out``, four features at a time."""
    p = start
    while p + 3 < end:
        a, b = np.uintp(x_indices[p]), np.uintp(x_indices[p + 1])
        c, d = np.uintp(x_indices[p + 2]), np.uintp(x_indices[p + 3])
        s, t, u, v = x_data[p], x_data[p + 1], x_data[p + 2], x_data[p + 3]
        for lane in range(out.shape[0]):
            first = s * weights[a, lane] + t * weights[b, lane]
            out[lane] += first + (u * weights[c, lane] + v * weights[d, lane])
        p += 4
    while p < end:
        a, s = np.uintp(x_indices[p]), x_data[p]
        for lane in range(out.shape[0]):
            out[lane] += s * weights[a, lane]
        p += 1


@inner
def _set_roles(problem, block, lane, live):
    """Make all rows of a lane live, or none; return how many changed."""
    n_changed = 0
    for i in range(block.role.shape[0]):
        changed = (block.role[i, lane] != 0) != live
        n_changed += changed
        block.n_live[i] += changed * (1 if live else -1)
        block.role[i, lane] = -1 if live else 0
    if live:
        label = block.labels[lane]
        for p in range(problem.y_indptr[label], problem.y_indptr[label + 1]):
            block.role[problem.y_indices[p], lane] = 1
    return n_changed

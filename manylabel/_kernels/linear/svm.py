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

from typing import NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import allocating_kernel

ZERO, ONE, INFINITY = np.float32(0.0), np.float32(1.0), np.float32(np.inf)


class Problem(NamedTuple):
    """What all labels share; rows in CSR, the rows of each label in CSC."""

    x_indptr: object
    x_indices: object
    x_data: object
    y_indptr: object
    y_indices: object
    bias: object  # value of the constant feature
    curvature: object  # (n_rows,) |x|^2 + bias^2 + diagonal
    diagonal: object  # 1 / (2 C)
    tolerance: object
    until: object  # passes after which a lane stops


class Block(NamedTuple):
    """Labels that are solved side by side, one lane each; further lanes stay idle."""

    labels: object
    weights: object  # (n_features + 1, n_lanes), the intercept last
    n_iter: object  # (n_lanes,) passes taken, negative once converged
    alpha: object  # (n_rows, n_lanes) dual variables
    role: object  # (n_rows, n_lanes) target, or 0 where shrunk or done
    bound: object  # (n_lanes,) a zero variable with a larger gradient is shrunk
    order: object  # (n_rows,) rows as they are visited
    state: object  # (1,) of the random numbers
    n_live: object  # (n_rows,) lanes whose role is not 0
    top: object  # (n_lanes,) largest projected gradient of a pass
    low: object  # (n_lanes,) smallest projected gradient of a pass
    score: object  # (n_lanes,) w.x of the row at hand
    step: object  # (n_lanes,) change of alpha * y of the row at hand


@allocating_kernel
def solve(
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
    labels,
    weights,
    n_iter,
    alpha,
    role,
    bound,
    order,
    state,
):
    """Start or go on fitting the SVMs of ``labels`` side by side, in place.

    For the arguments see :class:`Problem` and :class:`Block`. To start, ``weights``,
    ``n_iter``, ``alpha`` and ``role`` hold zeros, ``bound`` infinity and ``order`` all
    rows. Lanes that took equally many passes may be put together in other blocks.
    """
    problem = Problem(
        *(x_indptr, x_indices, x_data, y_indptr, y_indices),
        *(bias, curvature, diagonal, tolerance, until),
    )
    n_live = (role != 0).sum(axis=1)
    top, low = np.empty_like(bound), np.empty_like(bound)
    score, step = np.empty_like(bound), np.empty_like(bound)
    block = Block(
        *(labels, weights, n_iter, alpha, role, bound, order, state),
        *(n_live, top, low, score, step),
    )
    going = 0
    for lane in range(labels.shape[0]):
        going += _is_open(problem, block, lane)
        if n_iter[lane] == 0:
            _set_roles(problem, block, lane, True)
    while going:
        rng.shuffle(state, order, order.shape[0])
        _sweep(problem, block)
        going = _judge_lanes(problem, block)


@allocating_kernel
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


@allocating_kernel
def count_large(weights, lanes, threshold, counts):
    """Count the weights of each lane, intercept apart, that exceed a threshold."""
    counts[:] = 0
    for feature in range(weights.shape[0] - 1):
        for n in range(lanes.shape[0]):
            counts[n] += abs(weights[feature, lanes[n]]) > threshold


@allocating_kernel
def collect_large(weights, lanes, threshold, names, w_indptr, w_indices, w_data):
    """Write those weights as CSC, one column a lane; ``names`` are the features'."""
    place = w_indptr[:-1].copy()
    for feature in range(weights.shape[0] - 1):
        for n in range(lanes.shape[0]):
            weight = weights[feature, lanes[n]]
            if abs(weight) > threshold:
                w_indices[place[n]], w_data[place[n]] = names[feature], weight
                place[n] += 1


@allocating_kernel
def unit_rows(x_indptr, x_data, out):
    """Write the values of rows scaled to length 1; rows of zeros stay."""
    for i in range(x_indptr.shape[0] - 1):
        square = _squared_norm(i, x_indptr, x_data)
        scale = 1.0 / np.sqrt(square) if square > 0.0 else 1.0
        for p in range(x_indptr[i], x_indptr[i + 1]):
            out[p] = x_data[p] * scale


@allocating_kernel
def squared_norms(x_indptr, x_data, out):
    """Write the squared length of each row into ``out``."""
    for i in range(out.shape[0]):
        out[i] = _squared_norm(i, x_indptr, x_data)


@allocating_kernel
def _squared_norm(i, x_indptr, x_data):
    total = 0.0  # float64: the square of 1e-40 is not 0
    for p in range(x_indptr[i], x_indptr[i + 1]):
        total += np.float64(x_data[p]) * x_data[p]
    return total


@allocating_kernel
def _is_open(problem, block, lane):
    return 0 <= block.n_iter[lane] < problem.until


@allocating_kernel
def _sweep(problem, block):
    """Visit every row that has a live lane, in ``order``.

    Arrays are unpacked once and indexed, never sliced: a slice counts a reference,
    which costs more than a lane and makes threads wait for each other.
    """
    x_indptr, x_indices, x_data = problem.x_indptr, problem.x_indices, problem.x_data
    bias, weights, score, step = problem.bias, block.weights, block.score, block.step
    n_live, last, n_lanes = block.n_live, weights.shape[0] - 1, weights.shape[1]
    block.top[:], block.low[:] = -INFINITY, INFINITY
    for i in block.order:
        if n_live[i] == 0:
            continue
        for lane in range(n_lanes):
            score[lane] = bias * weights[last, lane]
        start, end = x_indptr[i], x_indptr[i + 1]
        add_scores(start, end, x_indices, x_data, weights, score)
        n_moved, n_live[i] = _step_row(
            *(i, ONE / problem.curvature[i], problem.diagonal, score, block.bound),
            *(block.role, block.alpha, step, block.top, block.low),
        )
        if n_moved == 0:
            continue
        for lane in range(n_lanes):
            weights[last, lane] += bias * step[lane]
        for p in range(start, end):
            j, value = np.uintp(x_indices[p]), x_data[p]
            for lane in range(n_lanes):
                weights[j, lane] += value * step[lane]


@allocating_kernel
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


@allocating_kernel
def _step_row(i, scale, diagonal, score, bound, role, alpha, step, top, low):
    """Take each lane's step for row ``i``; return (lanes that moved, lanes live).

    One short loop for each thing done: a loop over too many arrays at once is not
    vectorised, because the compiler would have to check that none of them overlap.
    """
    n_lanes = score.shape[0]
    gradient = score  # in place
    for lane in range(n_lanes):
        target = np.float32(role[i, lane])
        gradient[lane] = target * score[lane] - ONE + alpha[i, lane] * diagonal
    for lane in range(n_lanes):
        shrink = (alpha[i, lane] == ZERO) & (gradient[lane] > bound[lane])
        role[i, lane] = np.int8(0) if shrink else role[i, lane]
    for lane in range(n_lanes):
        g, live = gradient[lane], role[i, lane] != 0
        projected = min(g, ZERO) if alpha[i, lane] == ZERO else g
        top[lane] = max(top[lane], projected) if live else top[lane]
        low[lane] = min(low[lane], projected) if live else low[lane]
    for lane in range(n_lanes):
        target, old = np.float32(role[i, lane]), alpha[i, lane]
        new = max(old - gradient[lane] * scale, ZERO) if target != ZERO else old
        step[lane] = (new - old) * target
        alpha[i, lane] = new
    n_moved, n_live = 0, 0
    for lane in range(n_lanes):
        n_moved += step[lane] != ZERO
        n_live += role[i, lane] != 0
    return n_moved, n_live


@allocating_kernel
def _judge_lanes(problem, block):
    """After a pass, finish, restore or go on with each lane; return how many go on.

    A lane whose projected gradients are within the tolerance is checked again on all
    its rows before it is believed.
    """
    n_going = 0
    for lane in range(block.labels.shape[0]):
        if not _is_open(problem, block, lane):
            continue
        block.n_iter[lane] += 1
        top, spread = block.top[lane], block.top[lane] - block.low[lane]
        if spread > problem.tolerance:
            block.bound[lane] = top if top > ZERO else INFINITY
        elif _set_roles(problem, block, lane, True):
            block.bound[lane] = INFINITY
        else:
            block.n_iter[lane] = -block.n_iter[lane]
            _set_roles(problem, block, lane, False)
        n_going += _is_open(problem, block, lane)
    return n_going


@allocating_kernel
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

"""Linear SVMs of many labels at once: dual coordinate descent in lanes.

For each label the problem is, with targets y in {-1, +1} and a constant feature,

    min over w of  |w|^2 / 2 + C * sum_i max(0, 1 - y_i w.x_i)^2,

solved in its dual as LIBLINEAR does (Hsieh et al. 2008, "A dual coordinate descent
method for large-scale linear SVM", Algorithm 3): one pass visits every row in random
order, takes the exact step for its dual variable, and shrinks variables that stay at
zero. All labels share the rows, so a block of them is solved side by side: the weights
of a block have shape (n_features + 1, n_lanes), each row is read once for all lanes,
and the loops over lanes are the ones that vectorise.

A lane sees the same sequence of row orders whatever block it is in, and skips what it
alone has shrunk; so a label's weights have the same bits in any company.

``role`` of a (row, lane) is the target +1 or -1 while the pair is live and 0 once it is
shrunk or its lane is done; ``n_live`` counts the live lanes of a row.
"""

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import kernel

# Below this share of live pairs among the visited ones a label is cheaper alone.
SPARSE = 0.15
ZERO, ONE, INFINITY = np.float32(0.0), np.float32(1.0), np.float32(np.inf)


@kernel
def squared_norms(x_indptr, x_data, out):
    """Write the squared length of each row into ``out``."""
    for i in range(out.shape[0]):
        total = 0.0
        for p in range(x_indptr[i], x_indptr[i + 1]):
            total += np.float64(x_data[p]) * x_data[p]
        out[i] = total


@kernel
def _row_scores(indices, data, bias, weights, out):
    """Write ``w.x`` of one row for every lane into ``out``."""
    last = weights[weights.shape[0] - 1]
    for lane in range(out.shape[0]):
        out[lane] = bias * last[lane]
    for p in range(indices.shape[0]):
        strip, value = weights[indices[p]], data[p]
        for lane in range(out.shape[0]):
            out[lane] += value * strip[lane]


@kernel
def _add_row(indices, data, bias, step, weights):
    """Add ``step * x`` of one row to the weights of every lane."""
    for p in range(indices.shape[0]):
        strip, value = weights[indices[p]], data[p]
        for lane in range(step.shape[0]):
            strip[lane] += value * step[lane]
    last = weights[weights.shape[0] - 1]
    for lane in range(step.shape[0]):
        last[lane] += bias * step[lane]


@kernel
def _update_row(scale, diagonal, score, bound, role, alpha, step, top, low):
    """Take each lane's step for one row; return (any moved, pairs shrunk).

    On entry ``score`` holds w.x; ``top`` and ``low`` gather the extremes of the
    projected gradients, by which a lane stops.
    """
    moved, n_shrunk = False, 0
    for lane in range(score.shape[0]):
        target, old = np.float32(role[lane]), alpha[lane]
        live = role[lane] != 0
        gradient = target * score[lane] - ONE + old * diagonal
        shrink = live and old == ZERO and gradient > bound[lane]
        new = max(old - gradient * scale, ZERO) if live else old
        step[lane] = (new - old) * target
        alpha[lane] = new
        moved |= new != old
        n_shrunk += shrink
        projected = min(gradient, ZERO) if old == ZERO else gradient
        seen = live and not shrink
        top[lane] = max(top[lane], projected if seen else -INFINITY)
        low[lane] = min(low[lane], projected if seen else INFINITY)
        role[lane] = 0 if shrink else role[lane]
    return moved, n_shrunk


@kernel
def _sweep(
    x_indptr,
    x_indices,
    x_data,
    bias,
    curvature,
    diagonal,
    order,
    bound,
    role,
    n_live,
    alpha,
    weights,
    top,
    low,
):
    """Visit every row with a live lane once, in ``order``."""
    score, step = np.empty_like(bound), np.empty_like(bound)
    top[:], low[:] = -INFINITY, INFINITY
    for i in order:
        if n_live[i] == 0:
            continue
        row = slice(x_indptr[i], x_indptr[i + 1])
        indices, data = x_indices[row], x_data[row]
        _row_scores(indices, data, bias, weights, score)
        moved, n_shrunk = _update_row(
            ONE / curvature[i],
            diagonal,
            score,
            bound,
            role[i],
            alpha[i],
            step,
            top,
            low,
        )
        n_live[i] -= n_shrunk
        if moved:
            _add_row(indices, data, bias, step, weights)


@kernel
def _set_roles(y_indptr, y_indices, label, lane, live, role, n_live):
    """Make all pairs of a lane live again, or none; return how many changed."""
    n_changed = 0
    for i in range(role.shape[0]):
        now = np.int8(-1) if live else np.int8(0)
        changed = (role[i, lane] != 0) != live
        n_changed += changed
        n_live[i] += changed * (1 if live else -1)
        role[i, lane] = now
    if live:
        for p in range(y_indptr[label], y_indptr[label + 1]):
            role[y_indices[p], lane] = 1
    return n_changed


@kernel
def _judge_lanes(
    y_indptr, y_indices, labels, tolerance, top, low, bound, role, n_live, n_iter
):
    """After a pass, finish, restore or go on with each lane; return how many go on.

    ``n_iter`` of a lane is negative once it is done. A lane whose gradients are within
    ``tolerance`` is checked again on all its rows before it is believed.
    """
    n_going = 0
    for lane in range(labels.shape[0]):
        if n_iter[lane] < 0:
            continue
        n_iter[lane] += 1
        if top[lane] - low[lane] > tolerance:
            bound[lane] = top[lane] if top[lane] > ZERO else INFINITY
        elif _set_roles(y_indptr, y_indices, labels[lane], lane, True, role, n_live):
            bound[lane] = INFINITY
        else:
            _set_roles(y_indptr, y_indices, labels[lane], lane, False, role, n_live)
            n_iter[lane] = -n_iter[lane]
            continue
        n_going += 1
    return n_going


@kernel
def _is_sparse(n_live, n_lanes):
    """Return whether few of the pairs that a pass visits are live."""
    n_rows = 0
    for count in n_live:
        n_rows += count > 0
    return n_live.sum() < SPARSE * n_rows * n_lanes


@kernel
def _descend(
    x_indptr,
    x_indices,
    x_data,
    y_indptr,
    y_indices,
    labels,
    bias,
    curvature,
    diagonal,
    tolerance,
    max_iter,
    state,
    order,
    bound,
    role,
    n_live,
    alpha,
    weights,
    n_iter,
):
    """Sweep until all lanes are done, time is up or a lane is cheaper alone."""
    top, low = np.empty_like(bound), np.empty_like(bound)
    going = n_iter.max() >= 0
    while going and n_iter.max() < max_iter:
        rng.shuffle(state, order, order.shape[0])
        _sweep(
            x_indptr,
            x_indices,
            x_data,
            bias,
            curvature,
            diagonal,
            order,
            bound,
            role,
            n_live,
            alpha,
            weights,
            top,
            low,
        )
        going = _judge_lanes(
            y_indptr,
            y_indices,
            labels,
            tolerance,
            top,
            low,
            bound,
            role,
            n_live,
            n_iter,
        )
        if labels.shape[0] > 1 and _is_sparse(n_live, labels.shape[0]):
            break


@kernel
def solve(
    x_indptr,
    x_indices,
    x_data,
    y_indptr,
    y_indices,
    labels,
    bias,
    curvature,
    diagonal,
    tolerance,
    max_iter,
    seed,
    weights,
    n_iter,
):
    """Fit the SVMs of ``labels`` side by side, in place in ``weights`` and ``n_iter``.

    Parameters
    ----------
    x_indptr, x_indices, x_data
        Rows, in CSR.
    y_indptr, y_indices
        The rows of each label, in CSC.
    labels : the labels to fit, one lane each.
    bias : the value of the constant feature; 0 for none.
    curvature : (n_rows,) float32, ``|x|^2 + bias^2 + diagonal``.
    diagonal : ``1 / (2 C)``.
    tolerance : a lane stops when its projected gradients differ by at most this.
    seed : uint64; the same for all blocks.
    weights : (n_features + 1, n_lanes) float32 of zeros, last row the intercept.
    n_iter : (n_lanes,) int64 of zeros; the passes taken, negative if converged.
    """
    n_rows, n_lanes = x_indptr.shape[0] - 1, labels.shape[0]
    role = np.zeros((n_rows, n_lanes), np.int8)
    n_live = np.zeros(n_rows, np.int64)
    for lane in range(n_lanes):
        _set_roles(y_indptr, y_indices, labels[lane], lane, True, role, n_live)
    alpha = np.zeros((n_rows, n_lanes), np.float32)
    bound = np.full(n_lanes, INFINITY)
    state, order = np.array([seed], np.uint64), np.arange(n_rows)
    _descend(
        *(x_indptr, x_indices, x_data, y_indptr, y_indices, labels),
        *(bias, curvature, diagonal, tolerance, max_iter, state, order),
        *(bound, role, n_live, alpha, weights, n_iter),
    )
    for lane in range(n_lanes):
        if n_iter[lane] < 0 or n_iter[lane] >= max_iter:
            continue
        one = slice(lane, lane + 1)
        own_role, own_alpha = role[:, one].copy(), alpha[:, one].copy()
        own_weights = weights[:, one].copy()
        own_live = (own_role[:, 0] != 0).astype(np.int64)
        _descend(
            *(x_indptr, x_indices, x_data, y_indptr, y_indices, labels[one]),
            *(bias, curvature, diagonal, tolerance, max_iter, state.copy()),
            *(order.copy(), bound[one], own_role, own_live, own_alpha),
            *(own_weights, n_iter[one]),
        )
        weights[:, one] = own_weights


@kernel
def scores(x_indptr, x_indices, x_data, w_indptr, w_indices, w_data, intercept, out):
    """Write ``X @ W + intercept`` into ``out``, for W by features in CSR."""
    for i in range(out.shape[0]):
        row = out[i]
        row[:] = intercept
        for p in range(x_indptr[i], x_indptr[i + 1]):
            value = x_data[p]
            for q in range(w_indptr[x_indices[p]], w_indptr[x_indices[p] + 1]):
                row[w_indices[q]] += value * w_data[q]

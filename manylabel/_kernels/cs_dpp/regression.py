"""Linear regression on a stream, many targets side by side.

``weights`` has a row for each feature and a last one for the constant feature, whose
value is ``bias``; a column for each target. Rows are taken in order, one at a time, so
that a stream may be cut anywhere.

A row moves the weights of each feature by a factor times its error. The factors do not
depend on the error, so those of all rows are made first: the moves, in CSR, with a row
for each row and a column for each row of ``weights``.
"""

import numpy as np

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.cs_dpp import gradient, ridge
from manylabel._kernels.linear import svm as linear

# So many weights stay in the cache; fewer targets at a time make loops too short, and
# fewer moves of each weight are not worth a copy.
WEIGHTS_AT_ONCE, MIN_TARGETS, MIN_MOVES = 1 << 16, 32, 8


@allocating_kernel
def learn_ridge(x_indptr, x_indices, x_data, codes, bias, inverse, weights):
    """Predict and learn rows in turn by ridge regression, in place.

    ``codes`` holds the targets of each row, and in the end what was predicted for it
    just before it was learnt. After t rows ``weights`` is the exact solution for those
    rows (Chu et al. 2019, equation 7). A row takes O(d^2 + d K) for d features and K
    targets.
    """
    n_rows, gain = codes.shape[0], np.empty(weights.shape[0])
    m_indptr = np.zeros(n_rows + 1, np.int64)
    m_indices, m_data = (
        np.empty(n_rows * gain.size, np.int64),
        np.empty(n_rows * gain.size),
    )
    for i in range(n_rows):
        start, end, at = x_indptr[i], x_indptr[i + 1], m_indptr[i]
        ridge.update(start, end, x_indices, x_data, bias, inverse, gain)
        for j in range(gain.size):
            if gain[j] != 0:
                m_indices[at], m_data[at] = j, gain[j]
                at += 1
        m_indptr[i + 1] = at
    _learn(
        *(x_indptr, x_indices, x_data, codes, bias),
        *(m_indptr, m_indices, m_data, weights),
    )


@allocating_kernel
def learn_gradient(
    x_indptr, x_indices, x_data, codes, bias, step, n_seen, spread, weights
):
    """Predict and learn rows in turn by gradient descent, in place.

    ``codes`` is as in :func:`learn_ridge`, ``n_seen`` and ``spread`` are as in
    :func:`manylabel._kernels.gradient.rates`. A row takes O(nnz K).
    """
    n_rows = codes.shape[0]
    n_moves = x_indptr[n_rows] - x_indptr[0] + n_rows
    m_indptr = np.zeros(n_rows + 1, np.int64)
    m_indices, m_data = np.empty(n_moves, np.int64), np.empty(n_moves)
    for i in range(n_rows):
        start, end, at = x_indptr[i], x_indptr[i + 1], m_indptr[i]
        gradient.rates(
            *(start, end, x_indices, x_data, bias),
            *(step, n_seen + i, spread, m_data, at),
        )
        for p in range(start, end):
            m_indices[at] = x_indices[p]
            at += 1
        m_indices[at] = weights.shape[0] - 1
        m_indptr[i + 1] = at + 1
    _learn(
        *(x_indptr, x_indices, x_data, codes, bias),
        *(m_indptr, m_indices, m_data, weights),
    )


@allocating_kernel
def _learn(
    x_indptr, x_indices, x_data, codes, bias, m_indptr, m_indices, m_data, weights
):
    """Predict each row into ``codes``, then move ``weights`` by its error.

    No target depends on another. So where rows come back to the same weights, a few
    targets take all rows before the next do, in a copy of their weights that is whole
    and stays in the cache: twice as fast for dense rows and thousands of targets.
    """
    n_weights, n_targets = weights.shape
    width = max(MIN_TARGETS, WEIGHTS_AT_ONCE // n_weights)
    if width >= n_targets or m_data.shape[0] < MIN_MOVES * n_weights:
        _learn_targets(
            *(x_indptr, x_indices, x_data, codes, bias),
            *(m_indptr, m_indices, m_data, 0, weights),
        )
        return
    for first in range(0, n_targets, width):
        some = weights[:, first : first + width].copy()
        _learn_targets(
            *(x_indptr, x_indices, x_data, codes, bias),
            *(m_indptr, m_indices, m_data, first, some),
        )
        weights[:, first : first + width] = some


@allocating_kernel
def _learn_targets(
    x_indptr,
    x_indices,
    x_data,
    codes,
    bias,
    m_indptr,
    m_indices,
    m_data,
    first,
    weights,
):
    """Do so for the targets from ``first`` on that ``weights`` has."""
    error = np.empty(weights.shape[1])
    for i in range(codes.shape[0]):
        _score(x_indptr[i], x_indptr[i + 1], x_indices, x_data, bias, weights, error)
        for k in range(error.shape[0]):
            at = np.uintp(first + k)
            target, codes[i, at] = codes[i, at], error[k]
            error[k] = target - error[k]
        for p in range(m_indptr[i], m_indptr[i + 1]):
            j, factor = np.uintp(m_indices[p]), m_data[p]
            for k in range(error.shape[0]):
                weights[j, k] += factor * error[k]


@allocating_kernel
def predict(x_indptr, x_indices, x_data, bias, weights, out):
    """Write the predicted targets of each row into ``out``."""
    score = np.empty(out.shape[1])
    for i in range(out.shape[0]):
        start, end = x_indptr[i], x_indptr[i + 1]
        _score(start, end, x_indices, x_data, bias, weights, score)
        for k in range(out.shape[1]):
            out[i, k] = score[k]


@allocating_kernel
def decode(codes, decoder, out):
    """Write ``codes @ decoder`` into ``out``, each row as if it were alone.

    A library's product may give a row other bits in other company.
    """
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = 0.0
        for m in range(codes.shape[1]):
            value = codes[i, m]
            for k in range(out.shape[1]):
                out[i, k] += value * decoder[m, k]


@allocating_kernel
def _score(start, end, x_indices, x_data, bias, weights, out):
    """Write what ``weights`` predict for one row."""
    last = weights.shape[0] - 1
    for k in range(out.shape[0]):
        out[k] = bias * weights[last, k]
    linear.add_scores(start, end, x_indices, x_data, weights, out)

"""Linear regression on a stream, many targets side by side.

``weights`` has a row for each feature and a last one for the constant feature, whose
value is ``bias``; a column for each target. Rows are taken in order, one at a time, so
that a stream may be cut anywhere.

A row moves the weights of each feature by a factor times its error. The factors do not
depend on the error, so those of all rows are made first: the moves, in CSR, with a row
for each row and a column for each row of ``weights``.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.cs_dpp import gradient, ridge
from manylabel._kernels.linear import svm as linear

# So many weights stay in the cache; fewer targets at a time make loops too short, and
# fewer moves of each weight are not worth a copy.
WEIGHTS_AT_ONCE, MIN_TARGETS, MIN_MOVES = 1 << 16, 32, 8


class Moves(NamedTuple):
    """Factors of the errors of some rows, by row; and the weights of a few targets."""

    indptr: object  # (n_rows + 1,) the first is 0
    indices: object  # rows of ``weights``
    data: object
    error: object  # (n_targets,)
    some: object  # (n_weights, n_some), of shape (0, 0) if targets are taken at once


def make_moves(n_rows, n_moves, weights):
    """Return memory for the moves of some rows.

    No target depends on another. So where rows come back to the same weights, a few
    targets take all rows before the next do, in a copy of their weights that is whole
    and stays in the cache: twice as fast for dense rows and thousands of targets.
    """
    n_weights, n_targets = weights.shape
    width = max(MIN_TARGETS, WEIGHTS_AT_ONCE // n_weights)
    is_one = width >= n_targets or n_moves < MIN_MOVES * n_weights
    return Moves(
        *(np.zeros(n_rows + 1, np.int64), np.empty(n_moves, np.int64)),
        *(np.empty(n_moves), np.empty(n_targets)),
        np.empty((0, 0) if is_one else (n_weights, width)),
    )


def learn_ridge(x_indptr, x_indices, x_data, codes, bias, inverse, weights):
    """Predict and learn rows in turn by ridge regression, in place.

    ``codes`` holds the targets of each row, and in the end what was predicted for it
    just before it was learnt. After t rows ``weights`` is the exact solution for those
    rows (Chu et al. 2019, equation 7). A row takes O(d^2 + d K) for d features and K
    targets.
    """
    moves = make_moves(len(codes), len(codes) * len(weights), weights)
    rows = (x_indptr, x_indices, x_data, bias)
    _make_ridge_moves(*rows, inverse, np.empty(len(weights)), moves)
    _learn(*rows, codes, moves, weights)


def learn_gradient(
    x_indptr, x_indices, x_data, codes, bias, step, clip, n_seen, spread, weights
):
    """Predict and learn rows in turn by gradient descent, in place.

    ``codes`` is as in :func:`learn_ridge`, ``clip``, ``n_seen`` and ``spread`` are as
    in :func:`manylabel._kernels.gradient.rates`. A row takes O(nnz K).
    """
    n_moves = x_indptr[len(codes)] - x_indptr[0] + len(codes)
    moves = make_moves(len(codes), n_moves, weights)
    rows = (x_indptr, x_indices, x_data, bias)
    _make_gradient_moves(*rows, step, clip, n_seen, spread, moves)
    _learn(*rows, codes, moves, weights)


@kernel
def _make_ridge_moves(x_indptr, x_indices, x_data, bias, inverse, gain, moves):
    for i in range(x_indptr.shape[0] - 1):
        start, end, at = x_indptr[i], x_indptr[i + 1], moves.indptr[i]
        ridge.update(start, end, x_indices, x_data, bias, inverse, gain)
        for j in range(gain.shape[0]):
            if gain[j] != 0:
                moves.indices[at], moves.data[at] = j, gain[j]
                at += 1
        moves.indptr[i + 1] = at


@kernel
def _make_gradient_moves(
    x_indptr, x_indices, x_data, bias, step, clip, n_seen, spread, moves
):
    for i in range(x_indptr.shape[0] - 1):
        start, end, at = x_indptr[i], x_indptr[i + 1], moves.indptr[i]
        gradient.rates(
            *(start, end, x_indices, x_data, bias),
            *(step, clip, n_seen + i, spread, moves.data, at),
        )
        for p in range(start, end):
            moves.indices[at] = x_indices[p]
            at += 1
        moves.indices[at] = -1  # the constant feature
        moves.indptr[i + 1] = at + 1


@kernel
def _learn(x_indptr, x_indices, x_data, bias, codes, moves, weights):
    """Predict each row into ``codes``, then move ``weights`` by its error."""
    width, n_targets = moves.some.shape[1], weights.shape[1]
    if width == 0:
        first = np.int64(0)
        _learn_targets(x_indptr, x_indices, x_data, bias, codes, moves, first, weights)
        return
    for first in range(0, n_targets, width):
        n_some, some = min(width, n_targets - first), moves.some
        for j in range(weights.shape[0]):
            for k in range(n_some):
                some[j, k] = weights[j, first + k]
        _learn_targets(x_indptr, x_indices, x_data, bias, codes, moves, first, some)
        for j in range(weights.shape[0]):
            for k in range(n_some):
                weights[j, first + k] = some[j, k]


@inner
def _learn_targets(x_indptr, x_indices, x_data, bias, codes, moves, first, weights):
    """Do so for the targets from ``first`` on that ``weights`` has."""
    n_targets = min(weights.shape[1], codes.shape[1] - first)
    # All columns are scored, of which the last may be none of a target.
    error, last = moves.error[: weights.shape[1]], weights.shape[0] - 1
    for i in range(codes.shape[0]):
        _score(x_indptr[i], x_indptr[i + 1], x_indices, x_data, bias, weights, error)
        for k in range(n_targets):
            at = np.uintp(first + k)
            target, codes[i, at] = codes[i, at], error[k]
            error[k] = target - error[k]
        for p in range(moves.indptr[i], moves.indptr[i + 1]):
            place, factor = moves.indices[p], moves.data[p]
            j = np.uintp(place if place >= 0 else last)
            for k in range(n_targets):
                weights[j, k] += factor * error[k]


@kernel
def predict(x_indptr, x_indices, x_data, bias, weights, out):
    """Write the predicted targets of each row into ``out``."""
    for i in range(out.shape[0]):
        start, end = x_indptr[i], x_indptr[i + 1]
        _score(start, end, x_indices, x_data, bias, weights, out[i])


@kernel
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


@inner
def _score(start, end, x_indices, x_data, bias, weights, out):
    """Write what ``weights`` predict for one row."""
    last = weights.shape[0] - 1
    for k in range(out.shape[0]):
        out[k] = bias * weights[last, k]
    linear.add_scores(start, end, x_indices, x_data, weights, out)

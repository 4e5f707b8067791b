"""Linear regression on a stream, many targets side by side.

``weights`` has a row for each feature and a last one for the constant feature, whose
value is ``bias``; a column for each target. Rows are taken in order, one at a time, so
that a stream may be cut anywhere.
"""

import numpy as np

from manylabel._kernels import linear, ridge
from manylabel._kernels._jit import kernel


@kernel
def learn_ridge(x_indptr, x_indices, x_data, targets, bias, inverse, weights):
    """Learn rows by ridge regression; ``inverse`` and ``weights`` change in place.

    After t rows ``weights`` is the exact solution for those rows (Chu et al. 2019,
    equation 7). A row takes O(d^2 + d K) for d features and K targets.
    """
    residual = np.empty(weights.shape[1])
    gain = np.empty(weights.shape[0])
    for i in range(targets.shape[0]):
        start, end = x_indptr[i], x_indptr[i + 1]
        _score(start, end, x_indices, x_data, bias, weights, residual)
        for k in range(residual.shape[0]):
            residual[k] = targets[i, k] - residual[k]
        ridge.update(start, end, x_indices, x_data, bias, inverse, gain)
        for j in range(gain.shape[0]):
            value = gain[j]
            if value != 0:
                for k in range(residual.shape[0]):
                    weights[j, k] += value * residual[k]


@kernel
def learn_gradient(x_indptr, x_indices, x_data, targets, bias, step, n_seen, weights):
    """Learn rows by gradient descent on half the squared error; ``weights`` in place.

    Row t, counted from 1, has the rate step / sqrt(t), but at most 1 / |x|^2: there the
    row is met exactly, and beyond 2 / |x|^2 its error would grow. A row takes O(nnz K).
    """
    residual, last = np.empty(weights.shape[1]), weights.shape[0] - 1
    for i in range(targets.shape[0]):
        start, end = x_indptr[i], x_indptr[i + 1]
        _score(start, end, x_indices, x_data, bias, weights, residual)
        for k in range(residual.shape[0]):
            residual[k] = targets[i, k] - residual[k]
        rate = step / np.sqrt(n_seen + i + 1.0)
        length = bias * bias
        for p in range(start, end):
            length += np.float64(x_data[p]) * x_data[p]
        if rate * length > 1:
            rate = 1 / length
        for k in range(residual.shape[0]):
            residual[k] *= rate
            weights[last, k] += bias * residual[k]
        for p in range(start, end):
            j, value = np.uintp(x_indices[p]), np.float64(x_data[p])
            for k in range(residual.shape[0]):
                weights[j, k] += value * residual[k]


@kernel
def predict(x_indptr, x_indices, x_data, bias, weights, out):
    """Write the predicted targets of each row into ``out``."""
    score = np.empty(out.shape[1])
    for i in range(out.shape[0]):
        start, end = x_indptr[i], x_indptr[i + 1]
        _score(start, end, x_indices, x_data, bias, weights, score)
        for k in range(out.shape[1]):
            out[i, k] = score[k]


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


@kernel
def _score(start, end, x_indices, x_data, bias, weights, out):
    """Write what ``weights`` predict for one row."""
    last = weights.shape[0] - 1
    for k in range(out.shape[0]):
        out[k] = bias * weights[last, k]
    linear.add_scores(start, end, x_indices, x_data, weights, out)

"""Joint embeddings of features and labels by the WARP loss.

A row x has the code z = sum of x_j times the vector of feature j, and a label l the
score z.v_l. For a label p that the row has, labels n are drawn until one that it lacks
comes within the margin, 1 + z.v_n > z.v_p. If that took t draws of the L - 1 others,
the rank of p is about r = (L - 1) / t, and the hinge weighs 1 + 1/2 + ... + 1/r (Weston
et al. 2011, Algorithm 1).
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import stretch

ZERO = np.float32(0.0)
TINY = np.float32(1e-12)


class Vectors(NamedTuple):
    """Vectors of features, the constant one last, and labels; sums of squares."""

    features: Any  # (n_features + 1, n_components)
    labels: Any  # (n_labels, n_components)
    feature_squares: Any  # (n_features + 1,) AdaGrad's, one for a vector
    label_squares: Any  # (n_labels,)


class Row(NamedTuple):
    """What is at hand for a row."""

    code: Any  # (n_components,)
    gradient: Any  # (n_components,) of the code
    has: Any  # (n_labels,) False but for the labels of the row


@kernel
def learn_pass(rows, labels, order, state, harmonic, settings, vectors, row):
    """Visit all rows in random order, and all labels of each; in place.

    ``settings`` are the learning rate and the longest that a vector may be. The vectors
    of labels move at once, those of features after the last label of the row.
    """
    rate, longest = settings
    rng.shuffle(state, order, order.shape[0])
    for at in range(order.shape[0]):
        i = order[at]
        _encode(rows, i, vectors.features, row.code)
        for m in range(row.gradient.shape[0]):
            row.gradient[m] = ZERO
        for p in stretch(labels.indptr, i):
            row.has[labels.indices[p]] = True
        n_moves = 0
        for p in stretch(labels.indptr, i):
            label = labels.indices[p]
            n_moves += _learn_pair(label, state, harmonic, rate, longest, vectors, row)
        for p in stretch(labels.indptr, i):
            row.has[labels.indices[p]] = False
        if n_moves:
            last = vectors.features.shape[0] - 1
            for p in stretch(rows.indptr, i):
                j, value = rows.indices[p], rows.data[p]
                squares = vectors.feature_squares
                _move(vectors.features, squares, j, value, row.gradient, rate, longest)
            one, squares = np.float32(1.0), vectors.feature_squares
            _move(vectors.features, squares, last, one, row.gradient, rate, longest)


@kernel
def encode(rows, features, out):
    """Write the code of each row."""
    for i in range(out.shape[0]):
        _encode(rows, i, features, out[i])


@inner
def _encode(rows, i, features, code):
    last = features.shape[0] - 1
    for m in range(code.shape[0]):
        code[m] = features[last, m]
    for p in stretch(rows.indptr, i):
        j, value = rows.indices[p], rows.data[p]
        for m in range(code.shape[0]):
            code[m] += value * features[j, m]


@inner
def _learn_pair(positive, state, harmonic, rate, longest, vectors, row):
    """Look for a label that is ranked too high, and move both; return if one was."""
    n_labels = vectors.labels.shape[0]
    top = _dot(vectors.labels, positive, row.code) - np.float32(1.0)
    for n_draws in range(1, n_labels):
        other = rng.next_below(state, n_labels)
        if row.has[other] or _dot(vectors.labels, other, row.code) <= top:
            continue
        weight = harmonic[(n_labels - 1) // n_draws]
        for m in range(row.code.shape[0]):
            change = vectors.labels[positive, m] - vectors.labels[other, m]
            row.gradient[m] += weight * change
        squares = vectors.label_squares
        _move(vectors.labels, squares, positive, weight, row.code, rate, longest)
        _move(vectors.labels, squares, other, -weight, row.code, rate, longest)
        return 1
    return 0


@inner
def _dot(vectors, which, code):
    total = ZERO
    for m in range(code.shape[0]):
        total += vectors[which, m] * code[m]
    return total


@inner
def _move(vectors, squares, which, factor, gradient, rate, longest):
    """Move a vector by its part of the gradient, at AdaGrad's rate, and shorten it."""
    size = gradient.shape[0]
    square = ZERO
    for m in range(size):
        square += gradient[m] * gradient[m]
    squares[which] += factor * factor * square / np.float32(size)
    step, length = rate * factor / np.sqrt(squares[which] + TINY), ZERO
    for m in range(size):
        vectors[which, m] += step * gradient[m]
        length += vectors[which, m] * vectors[which, m]
    if length > longest * longest:
        scale = longest / np.sqrt(length)
        for m in range(size):
            vectors[which, m] *= scale

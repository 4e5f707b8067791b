"""Local deep kernel learning: a tree of gated linear classifiers, by gradient descent.

Node k, from 0, has the children 2k + 1 and 2k + 2. The columns of the parameters are
the directions theta of the inner nodes, then the weights w and the gates v of all; the
last row has the intercepts. Of a row of features only projections on these columns are
needed, and all gradients are multiples of the row, so that a step costs its values
times the columns.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import stretch


class Parameters(NamedTuple):
    """Parameters, learnt in place: ``scale * columns``."""

    columns: np.ndarray  # (n_features + 1, n_columns)
    scale: np.ndarray  # (1,)


class Room(NamedTuple):
    """Of one row: its projections, the share of it in each node, and its gradient.

    ``share`` has two places for a node, as its gradient needs what is below it.
    """

    projection: np.ndarray
    share: np.ndarray
    gradient: np.ndarray


def make_room(n_columns):
    """Return room for one row."""
    n_nodes = 2 * ((n_columns - 2) // 5) + 1
    return Room(np.empty(n_columns), np.empty(2 * n_nodes), np.empty(n_columns))


@inner
def _project(rows, i, parameters, out):
    """Write what a row projects to on each column."""
    indptr, indices, data = rows
    columns, scale = parameters
    own = columns[columns.shape[0] - 1]
    for c in range(out.shape[0]):
        out[c] = own[c]
    for p in stretch(indptr, i):
        value, own = data[p], columns[indices[p]]
        for c in range(out.shape[0]):
            out[c] += value * own[c]
    for c in range(out.shape[0]):
        out[c] *= scale[0]


@inner
def _descend(projection, n_inner, sigma, steepness, share):
    """Fill in the share of the row in each node; return the score.

    An infinite steepness sends the whole row one way.
    """
    n_nodes, score = 2 * n_inner + 1, 0.0
    share[0] = 1.0
    for k in range(n_nodes):
        if k < n_inner:
            turn = projection[k]
            if steepness == np.inf:
                turn = 1.0 if turn > 0.0 else -1.0
            else:
                turn = np.tanh(steepness * turn)
            share[2 * k + 1] = share[k] * 0.5 * (1.0 + turn)
            share[2 * k + 2] = share[k] * 0.5 * (1.0 - turn)
        if share[k] != 0.0:
            gate = np.tanh(sigma * projection[n_inner + n_nodes + k])
            score += share[k] * gate * projection[n_inner + k]
    return score


@inner
def _differentiate(projection, n_inner, sigma, steepness, share, out):
    """Write the derivative of the score by each projection.

    ``out`` holds, on the way, of each node the score of what is below it, share 1.
    """
    n_nodes = 2 * n_inner + 1
    for k in range(n_nodes - 1, -1, -1):
        weighted = projection[n_inner + k]
        gate = np.tanh(sigma * projection[n_inner + n_nodes + k])
        out[n_inner + k] = share[k] * gate
        out[n_inner + n_nodes + k] = share[k] * sigma * (1.0 - gate * gate) * weighted
        share[k + n_nodes] = gate * weighted  # of what is below, with k itself
        if k < n_inner:
            turn = np.tanh(steepness * projection[k])
            first, second = share[2 * k + 1 + n_nodes], share[2 * k + 2 + n_nodes]
            share[k + n_nodes] += 0.5 * ((1 + turn) * first + (1 - turn) * second)
            slope = 0.5 * steepness * (1.0 - turn * turn)
            out[k] = share[k] * slope * (first - second)


@inner
def _step(rows, i, parameters, gradient, size):
    """Add a multiple of the row to each column."""
    indptr, indices, data = rows
    columns, scale = parameters
    size /= scale[0]
    own = columns[columns.shape[0] - 1]
    for c in range(gradient.shape[0]):
        own[c] += size * gradient[c]
    for p in stretch(indptr, i):
        value, own = size * data[p], columns[indices[p]]
        for c in range(gradient.shape[0]):
            own[c] += value * gradient[c]


@kernel
def learn(rows, side, order, parameters, settings, n_steps, room):
    """Take a gradient step for each row of ``order``.

    ``settings`` are sigma, the steepness of turns, the weight of the squared lengths,
    and the first step size. The step after ``n_steps`` others is
    1 / (1 / first + weight * n_steps).
    """
    sigma, steepness, alpha, first_size = settings
    projection, share, gradient = room
    n_inner = (projection.shape[0] - 2) // 5
    for o in range(order.shape[0]):
        i = order[o]
        size = first_size / (1.0 + first_size * alpha * (n_steps + o))
        _project(rows, i, parameters, projection)
        score = _descend(projection, n_inner, sigma, steepness, share)
        parameters.scale[0] *= 1.0 - size * alpha
        if score * side[i] < 1.0:
            _differentiate(projection, n_inner, sigma, steepness, share, gradient)
            _step(rows, i, parameters, gradient, size * side[i])


@kernel
def scores(rows, parameters, sigma, room, out):
    """Write the score of each row, each turn of which is taken for certain."""
    projection, share, _ = room
    n_inner = (projection.shape[0] - 2) // 5
    for i in range(out.shape[0]):
        _project(rows, i, parameters, projection)
        out[i] = _descend(projection, n_inner, sigma, np.inf, share)

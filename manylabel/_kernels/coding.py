"""The decisions of a sparse coding tree: a budgeted classifier at every inner node.

Which rows are on which side of a node is known from their labels, so nodes are learnt
one by one, in any order, on rows of the one X.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import budget, node
from manylabel._kernels._jit import kernel
from manylabel._kernels.separator import Columns


class Data(NamedTuple):
    """Features by row."""

    n_features: Any
    x_indptr: Any
    x_indices: Any
    x_data: Any
    bias: Any  # of a column that ``node`` adds and nothing here reads


class Decisions(NamedTuple):
    """What is learnt at some nodes, written in place."""

    intercept: Any  # (n_nodes,)
    w_indptr: Any  # (n_nodes + 1,) the first is 0
    w_indices: Any  # features
    w_data: Any


@kernel
def learn(data, rows, bounds, cost, rules, learnt):
    """Learn to tell ``rows[start:middle]`` from ``rows[middle:end]`` at some nodes.

    ``bounds`` (n_nodes, 3) are those numbers; ``cost`` is what the loss of a row
    counts, for the rows of one node after those of another.
    """
    most_rows, most_values = 0, 0
    for g in range(bounds.shape[0]):
        most_rows = max(most_rows, bounds[g, 2] - bounds[g, 0])
        most_values = max(most_values, _n_values(data, rows, bounds[g]))
    local = node.workspace(most_rows, data.n_features, 0, most_values, 0)
    space = budget.workspace(
        most_rows,
        min(data.n_features, most_values),
        1,
        rules.budget,
        rules.max_planes,
    )
    side, used = np.empty(most_rows, np.int8), 0
    for g in range(bounds.shape[0]):
        start, middle, end = bounds[g, 0], bounds[g, 1], bounds[g, 2]
        for r in range(start, end):
            side[r - start] = 1 if r < middle else -1
        n_features = node.gather_columns(data, rows, start, end, local)
        columns = Columns(
            *(end - start, n_features, local.c_indptr, local.c_indices, local.c_data)
        )
        own = cost[used : used + end - start].reshape((1, end - start))
        used += end - start
        result = budget.solve(columns, side, own, rules, space)
        learnt.intercept[g] = space.free[0, 0]
        _store(g, result.n_features, local.features, space, learnt)


@kernel
def _n_values(data, rows, bounds):
    """Return how many values the rows of a node have."""
    n_values = 0
    for r in range(bounds[0], bounds[2]):
        n_values += data.x_indptr[rows[r] + 1] - data.x_indptr[rows[r]]
    return n_values


@kernel
def _store(g, n_features, features, space, learnt):
    """Write the weights that are not 0, by feature."""
    found = features[space.planes.features[:n_features]]
    place = learnt.w_indptr[g]
    for d in np.argsort(found):
        if np.float32(space.total[0, d]) != 0.0:
            learnt.w_indices[place] = found[d]
            learnt.w_data[place] = space.total[0, d]
            place += 1
    learnt.w_indptr[g + 1] = place

"""The decisions of a sparse coding tree: a budgeted classifier at every inner node.

Which rows are on which side of a node is known from their labels, so nodes are learnt
one by one, in any order, on rows of the one X.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.coding_tree import budget
from manylabel._kernels.csr import stretch
from manylabel._kernels.forest import node
from manylabel._kernels.linear.separator import Columns


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


@allocating_kernel
def learn(data, rows, bounds, cost, rules, learnt):
    """Learn to tell ``rows[start:middle]`` from ``rows[middle:end]`` at some nodes.

    ``bounds`` (n_nodes, 3) are those numbers; ``cost`` is what the loss of a row
    counts, for the rows of one node after those of another.
    """
    most_rows, most_values = 0, 0
    for g in range(bounds.shape[0]):
        most_rows = max(most_rows, bounds[g, 2] - bounds[g, 0])
        most_values = max(most_values, _n_values(data, rows, bounds[g]))
    most = min(data.n_features, most_values) + 1
    local = node.NodeColumns(
        np.empty(most, np.int64),
        np.full(data.n_features, -1, np.int32),
        np.empty(most + 1, np.int64),
        np.empty(most_values + most_rows, np.int32),
        np.empty(most_values + most_rows, np.float32),
        np.empty(most_rows, np.int64),
    )
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
            *(end - start, n_features, local.indptr, local.indices, local.data)
        )
        own = cost[used : used + end - start].reshape((1, end - start))
        used += end - start
        result = budget.solve(columns, side, own, rules, space)
        learnt.intercept[g] = space.free[0, 0]
        _store(g, result.n_features, local.features, space, learnt)


@allocating_kernel
def gather_columns(data, rows, local):
    """Sort the features of rows by column; return how many there are."""
    return node.gather_columns(data, rows, 0, rows.shape[0], local)


@allocating_kernel
def _n_values(data, rows, bounds):
    """Return how many values the rows of a node have."""
    n_values = 0
    for r in range(bounds[0], bounds[2]):
        n_values += data.x_indptr[rows[r] + 1] - data.x_indptr[rows[r]]
    return n_values


@allocating_kernel
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


@allocating_kernel
def judge(data, rows, bounds, held, learnt, score, node_of, is_first):
    """Write the scores of the rows held out at each node; return how many there are.

    Beside each its node, and whether the row belongs to the first child.
    """
    dense, n_pairs = np.zeros(data.n_features), 0
    for g in range(bounds.shape[0]):
        for p in range(learnt.w_indptr[g], learnt.w_indptr[g + 1]):
            dense[learnt.w_indices[p]] = learnt.w_data[p]
        for r in range(bounds[g, 0], bounds[g, 2]):
            row = rows[r]
            if not held[row]:
                continue
            total = np.float64(learnt.intercept[g])
            for p in stretch(data.x_indptr, row):
                total += data.x_data[p] * dense[np.uintp(data.x_indices[p])]
            score[n_pairs], node_of[n_pairs] = total, g
            is_first[n_pairs] = r < bounds[g, 1]
            n_pairs += 1
        for p in range(learnt.w_indptr[g], learnt.w_indptr[g + 1]):
            dense[learnt.w_indices[p]] = 0.0
    return n_pairs


@allocating_kernel
def expect(y_indptr, y_indices, worth, rows, bounds, hits, n_given):
    """Write the counts that the other side of a node holds for each of its rows.

    These are means over the rows there, in which a label of the row counts its worth
    and any other 1.
    """
    share, used = np.zeros((2, worth.shape[0])), 0
    size = np.empty(2)
    for g in range(bounds.shape[0]):
        for side in range(2):
            start, end = bounds[g, side], bounds[g, side + 1]
            size[side] = 0.0
            for r in range(start, end):
                for p in stretch(y_indptr, rows[r]):
                    share[side, y_indices[p]] += 1.0 / (end - start)
                    size[side] += 1.0 / (end - start)
        for r in range(bounds[g, 0], bounds[g, 2]):
            other = 1 if r < bounds[g, 1] else 0
            hits[used], n_given[used] = 0.0, size[other]
            for p in stretch(y_indptr, rows[r]):
                own = worth[y_indices[p]]
                hits[used] += own * share[other, y_indices[p]]
                n_given[used] += (own - 1.0) * share[other, y_indices[p]]
            used += 1
        for r in range(bounds[g, 0], bounds[g, 2]):
            for p in stretch(y_indptr, rows[r]):
                share[0, y_indices[p]] = share[1, y_indices[p]] = 0.0

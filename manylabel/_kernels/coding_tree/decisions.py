"""The decisions of a sparse coding tree: a budgeted classifier at every inner node.

Which rows are on which side of a node is known from their labels, so nodes are learnt
one by one, in any order, on rows of the one X.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.coding_tree import budget
from manylabel._kernels.coding_tree.scores import score
from manylabel._kernels.csr import stretch
from manylabel._kernels.forest.node import gather_columns, make_columns
from manylabel._kernels.linear.separator import Columns
from manylabel._kernels.sorting import sort_pairs


class Features(NamedTuple):
    """Features by row."""

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


class NodeProblem(NamedTuple):
    """The rows of a node by column, their sides, and what is learnt of them."""

    local: Any  # of ``columns``
    solver: Any  # of ``budget``
    side: Any  # (most rows,)
    found: Any  # (most features,) features of the decision
    order: Any  # (most features,)


def learn(features, n_features, rows, bounds, cost, settings, learnt):
    """Learn to tell ``rows[start:middle]`` from ``rows[middle:end]`` at some nodes.

    ``bounds`` (n_nodes, 3) are those numbers; ``cost`` is what the loss of a row
    counts, for the rows of one node after those of another.
    """
    n_values = np.diff(features.x_indptr)[rows]
    before = np.concatenate([[0], np.cumsum(n_values)])
    most_values = int(np.max(before[bounds[:, 2]] - before[bounds[:, 0]]))
    most_rows = int(np.max(bounds[:, 2] - bounds[:, 0]))
    most = min(n_features, most_values)
    solver = budget.make_solver(
        most_rows, most, 1, settings.budget, settings.max_planes
    )
    n_places = len(solver.planes.features)
    problem = NodeProblem(
        *(make_columns(most_rows, n_features, most_values), solver),
        *(np.empty(most_rows, np.int8), *np.empty((2, n_places), np.int64)),
    )
    _learn(features, rows, bounds, cost, settings, problem, learnt)


@kernel
def _learn(features, rows, bounds, cost, settings, problem, learnt):
    local, solver, side, found, order = problem
    used = 0
    for g in range(bounds.shape[0]):
        start, middle, end = bounds[g, 0], bounds[g, 1], bounds[g, 2]
        for r in range(start, end):
            side[r - start] = 1 if r < middle else -1
        n_columns = gather_columns(features, rows, start, end, local)
        columns = Columns(
            end - start, n_columns, local.indptr, local.indices, local.data
        )
        own = cost[used : used + end - start].reshape((1, end - start))
        used += end - start
        result = budget.solve(columns, side, own, settings, solver)
        learnt.intercept[g] = solver.free[0, 0]
        for d in range(result.n_features):
            found[d], order[d] = local.features[solver.planes.features[d]], d
        sort_pairs(found, order, np.int64(0), result.n_features)
        place = learnt.w_indptr[g]
        for d in range(result.n_features):
            weight = np.float32(solver.total[0, order[d]])
            if weight != 0.0:
                learnt.w_indices[place], learnt.w_data[place] = found[d], weight
                place += 1
        learnt.w_indptr[g + 1] = place


@kernel
def gather(features, rows, local):
    """Sort the features of some rows by column; return how many there are."""
    return gather_columns(features, rows, np.int64(0), rows.shape[0], local)


def judge(features, n_features, rows, bounds, held, learnt):
    """Return the scores of the rows held out at each node.

    Beside each its node, and whether the row belongs to the first child.
    """
    n_pairs = int(np.ptp(bounds, axis=1).sum())
    score, node_of = np.empty(n_pairs), np.empty(n_pairs, np.int64)
    is_first, dense = np.empty(n_pairs, np.bool_), np.zeros(n_features)
    out = (score, node_of, is_first)
    n_pairs = _judge(features, rows, bounds, held, learnt, dense, out)
    return score[:n_pairs], node_of[:n_pairs], is_first[:n_pairs]


@kernel
def _judge(features, rows, bounds, held, learnt, dense, out):
    scores, node_of, is_first = out
    n_pairs, x_indices, x_data = 0, features.x_indices, features.x_data
    for g in range(bounds.shape[0]):
        for r in range(bounds[g, 0], bounds[g, 2]):
            row = rows[r]
            if not held[row]:
                continue
            for p in stretch(features.x_indptr, row):
                dense[np.uintp(x_indices[p])] = x_data[p]
            scores[n_pairs], node_of[n_pairs] = score(g, learnt, dense), g
            is_first[n_pairs] = r < bounds[g, 1]
            n_pairs += 1
            for p in stretch(features.x_indptr, row):
                dense[np.uintp(x_indices[p])] = 0.0
    return n_pairs


def expect(y_indptr, y_indices, weights, rows, bounds):
    """Return the counts that the other side of a node holds for each of its rows.

    Labels hit, labels given, and ``weights`` of those given that the row lacks: means
    over the rows there.
    """
    counts = np.empty((3, int(np.ptp(bounds, axis=1).sum())))
    share, totals = np.zeros((2, weights.shape[0])), np.empty((2, 2))
    _expect(y_indptr, y_indices, weights, rows, bounds, (share, totals), counts)
    return counts


@kernel
def _expect(y_indptr, y_indices, weights, rows, bounds, workspace, counts):
    share, totals = workspace
    used, size, weight = 0, totals[0], totals[1]
    for g in range(bounds.shape[0]):
        totals[:] = 0.0
        for r in range(bounds[g, 0], bounds[g, 2]):
            side = 0 if r < bounds[g, 1] else 1
            part = 1.0 / (bounds[g, side + 1] - bounds[g, side])
            for p in stretch(y_indptr, rows[r]):
                share[side, y_indices[p]] += part
                size[side] += part
                weight[side] += part * weights[y_indices[p]]
        for r in range(bounds[g, 0], bounds[g, 2]):
            other = 1 if r < bounds[g, 1] else 0
            hits, lacking = 0.0, weight[other]
            for p in stretch(y_indptr, rows[r]):
                hits += share[other, y_indices[p]]
                lacking -= weights[y_indices[p]] * share[other, y_indices[p]]
            counts[0, used], counts[1, used] = hits, size[other]
            counts[2, used] = max(lacking, 0.0)
            used += 1
        for r in range(bounds[g, 0], bounds[g, 2]):
            for p in stretch(y_indptr, rows[r]):
                share[0, y_indices[p]] = share[1, y_indices[p]] = 0.0

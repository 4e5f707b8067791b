"""One FastXML tree, grown breadth first in one call.

A node is a stretch of a permutation of the rows; neither X nor Y is copied. To split a
node, its labels are put on two sides (``partition``), a linear separator of the sides
is found (``separator``), and the rows go where the separator sends them (Prabhu & Varma
2014, Algorithm 1). A node of few rows, or whose rows would all go one way, becomes a
leaf, which keeps how many of its rows have a label.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import rng, topk
from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.forest import node, partition
from manylabel._kernels.forest import quantization as short
from manylabel._kernels.linear import separator

FULL = 4  # one in so many features has a weight: all are kept


class Data(NamedTuple):
    """What all trees share: features and labels by row, and how they count."""

    n_features: Any
    x_indptr: Any
    x_indices: Any
    x_data: Any
    y_indptr: Any
    y_indices: Any
    weight: Any  # (n_rows,) of a row in the partition
    mass: Any  # (n_rows,) of a row in separators and leaves
    gain: Any  # (n_labels,) of a label
    discount: Any  # (n_labels,) of a rank
    bias: Any  # value of the constant feature
    cost: Any  # of the separator's loss
    leaf_size: Any
    most_rows: Any  # of a node that a split is learnt from
    stub_rows: Any  # a node of at most so many rows is left as it is
    labels_per_leaf: Any


class Tree(NamedTuple):
    """Nodes in the order of growth, written in place."""

    rows: Any  # (n_rows,) permutation; a node is a stretch of it
    bounds: Any  # (n_nodes + 1, 2) the stretch
    children: Any  # (n_nodes,) the first child, the second follows; 0 in a leaf
    intercept: Any  # (n_nodes,)
    w_indptr: Any  # (n_nodes + 1,) weights of the separators
    w_indices: Any
    w_data: Any  # shortened
    leaf_indptr: Any  # (n_nodes + 1,) labels of the leaves
    leaf_indices: Any
    leaf_data: Any  # share of the rows that have the label, in steps


class Workspace(NamedTuple):
    """Memory that every node uses again."""

    local: Any  # of ``node``
    sides: Any  # of ``partition``
    solver: Any  # of ``separator``
    score: Any  # (n_rows,) of the separator
    kept: Any  # (n_features,) columns of the separator's weights
    passed: Any  # (n_rows,) rows on their way to the second child
    dense: Any  # (n_features,) weights of a separator; 0 between nodes


@allocating_kernel
def grow(data, tree, n_done, n_nodes, state):
    """Grow the tree from node ``n_done`` on; return nodes done and nodes known.

    Stops early when the next separator might not fit into ``tree.w_data``: the caller
    then makes room and calls again. To start, there is node 0 with all rows. A stub is
    a leaf that keeps nothing: a branch grown elsewhere can take its place.
    """
    space = _workspace(data, tree)
    while n_done < n_nodes:
        start, end = tree.bounds[n_done, 0], tree.bounds[n_done, 1]
        used = tree.w_indptr[n_done]
        if used + _most_weights(data, tree, start, end) > tree.w_data.shape[0]:
            break
        tree.children[n_done], tree.intercept[n_done] = 0, 0.0
        tree.w_indptr[n_done + 1] = used
        tree.leaf_indptr[n_done + 1] = tree.leaf_indptr[n_done]
        middle = start
        if end - start > max(data.leaf_size, data.stub_rows):
            middle = _split(data, tree, n_done, state, space)
        if start < middle < end:
            tree.children[n_done] = n_nodes
            tree.bounds[n_nodes, 0], tree.bounds[n_nodes, 1] = start, middle
            tree.bounds[n_nodes + 1, 0], tree.bounds[n_nodes + 1, 1] = middle, end
            n_nodes += 2
        elif end - start > data.stub_rows:
            _fill_leaf(data, tree, n_done, space)
        n_done += 1
    return n_done, n_nodes


@allocating_kernel
def _workspace(data, tree):
    n_rows, n_labels = tree.rows.shape[0], data.gain.shape[0]
    n_values, n_known = data.x_data.shape[0], data.y_indices.shape[0]
    return Workspace(
        node.workspace(n_rows, data.n_features, n_labels, n_values, n_known),
        partition.workspace(n_rows, n_labels),
        separator.workspace(n_rows, min(data.n_features, n_values) + 1),
        np.empty(n_rows),
        np.empty(min(data.n_features, n_values), np.int64),
        np.empty_like(tree.rows),
        np.zeros(data.n_features),
    )


@allocating_kernel
def _most_weights(data, tree, start, end):
    """Return how many weights the separator of a node can have at most."""
    n_values = 0
    for r in range(start, end):
        row = tree.rows[r]
        n_values += data.x_indptr[row + 1] - data.x_indptr[row]
    return data.n_features if _is_full(data, n_values) else n_values


@allocating_kernel
def _is_full(data, n_weights):
    """Return whether a node of so many weights keeps its zeros too.

    Then a row finds the weights of its own features by number, and need not pass the
    others: the few nodes at the top, which have most of the weights on its way.
    """
    return FULL * n_weights > data.n_features


@allocating_kernel
def _split(data, tree, n_done, state, space):
    """Separate the rows of a node; return where those of the second child start.

    When all rows go one way, that is an end of the node's stretch. A large node learns
    from some rows, drawn at random: so a level of large nodes costs little more than
    to route the rows.
    """
    start, end = tree.bounds[n_done, 0], tree.bounds[n_done, 1]
    local, n_rows = space.local, min(end - start, data.most_rows)
    if n_rows < end - start:
        _draw_rows(tree.rows, start, end, n_rows, state)
    last = start + n_rows
    n_labels = node.gather_labels(data, tree.rows, start, last, local)
    labels = partition.Labels(
        *(n_rows, n_labels, local.y_indptr, local.y_indices, local.weight, local.gain)
    )
    n_positive = partition.split(labels, data.discount, state, space.sides)
    if n_positive == 0 or n_positive == n_rows:
        return start
    n_features = node.gather_columns(data, tree.rows, start, last, local)
    columns = separator.Columns(
        *(n_rows, n_features + 1, local.c_indptr, local.c_indices, local.c_data)
    )
    cost = data.cost * (end - start) / n_rows  # of those drawn, for all
    separator.solve(
        *(columns, space.sides.side, local.mass, cost, separator.TOLERANCE),
        *(separator.MAX_NEWTON, state, space.solver),
    )
    used = _store_weights(data, tree, n_done, n_features, columns, space)
    if last < end:
        _score_rest(data, tree, n_done, used, last, space)
    middle = _send_rows(tree, start, end, space)
    if start < middle < end:
        tree.w_indptr[n_done + 1] = used
    else:
        tree.intercept[n_done] = 0.0
    return middle


@allocating_kernel
def _draw_rows(rows, start, end, n_drawn, state):
    """Bring some rows of a stretch, drawn at random, to its front."""
    for r in range(start, start + n_drawn):
        other = r + rng.next_below(state, end - r)
        rows[r], rows[other] = rows[other], rows[r]


@allocating_kernel
def _store_weights(data, tree, n_done, n_features, columns, space):
    """Write the weights, and the rows' scores by them; return the weights' end.

    Scores take the weights as they are stored and sum them by ascending feature, as the
    router does, so a training row meets its leaf again.
    """
    weights, score, used = space.solver.weights, space.score, tree.w_indptr[n_done]
    features, kept, n_kept = space.local.features, space.kept, 0
    intercept = np.float32(weights[n_features] * data.bias)
    tree.intercept[n_done] = intercept
    for i in range(columns.n_rows):
        score[i] = intercept
    for n in range(n_features):
        if short.lengthened(short.shortened(weights[n])) != np.float32(0.0):
            kept[n_kept] = n
            n_kept += 1
    order, is_full = np.argsort(features[kept[:n_kept]]), _is_full(data, n_kept)
    for feature in range(data.n_features if is_full else 0):
        tree.w_indices[used + feature], tree.w_data[used + feature] = feature, 0
    for n in range(n_kept):
        column = kept[order[n]]
        stored = short.shortened(weights[column])
        place = used + (features[column] if is_full else n)
        tree.w_indices[place], tree.w_data[place] = features[column], stored
        weight = np.float64(short.lengthened(stored))
        for p in range(columns.indptr[column], columns.indptr[column + 1]):
            score[np.uintp(columns.indices[p])] += weight * columns.data[p]
    return used + (data.n_features if is_full else n_kept)


@allocating_kernel
def _score_rest(data, tree, n_done, used, first, space):
    """Write the scores of the rows of a node from ``first`` on, also by feature."""
    start, end = tree.bounds[n_done, 0], tree.bounds[n_done, 1]
    dense = space.dense
    for p in range(tree.w_indptr[n_done], used):
        dense[np.uintp(tree.w_indices[p])] = short.lengthened(tree.w_data[p])
    for r in range(first, end):
        score = np.float64(tree.intercept[n_done])
        for p in stretch(data.x_indptr, tree.rows[r]):
            score += data.x_data[p] * dense[np.uintp(data.x_indices[p])]
        space.score[r - start] = score
    for p in range(tree.w_indptr[n_done], used):
        dense[np.uintp(tree.w_indices[p])] = 0.0


@allocating_kernel
def _send_rows(tree, start, end, space):
    """Bring the rows of score 0 or more to the front; return where the others start."""
    middle, n_passed = start, 0
    for r in range(start, end):
        if space.score[r - start] >= 0.0:
            tree.rows[middle] = tree.rows[r]
            middle += 1
        else:
            space.passed[n_passed] = tree.rows[r]
            n_passed += 1
    for n in range(n_passed):
        tree.rows[middle + n] = space.passed[n]
    return middle


@allocating_kernel
def _fill_leaf(data, tree, n_done, space):
    """Keep the labels of the largest mean gain among the rows of a leaf."""
    start, end = tree.bounds[n_done, 0], tree.bounds[n_done, 1]
    local, gain, total = space.local, space.sides.lead, 0.0
    n_labels = node.gather_labels(data, tree.rows, start, end, local)
    for n in range(n_labels):
        gain[n] = 0.0
    for i in range(end - start):
        total += local.mass[i]
        for p in range(local.y_indptr[i], local.y_indptr[i + 1]):
            gain[local.y_indices[p]] += local.mass[i]
    for n in range(n_labels):
        gain[n] *= local.gain[n] / total
    kept = np.arange(n_labels)
    if n_labels > data.labels_per_leaf:
        kept = kept[: data.labels_per_leaf]
        topk.best_positions(gain[:n_labels], data.labels_per_leaf, kept)
        kept.sort()
    used = tree.leaf_indptr[n_done]
    for n in range(kept.shape[0]):
        share = gain[kept[n]] / local.gain[kept[n]]
        tree.leaf_indices[used + n] = local.labels[kept[n]]
        tree.leaf_data[used + n] = short.steps(share)
    tree.leaf_indptr[n_done + 1] = used + kept.shape[0]

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
from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import FULL, split_rows, stretch
from manylabel._kernels.forest import node, partition
from manylabel._kernels.forest import quantization as short
from manylabel._kernels.linear import separator
from manylabel._kernels.sorting import sort

COLUMN_BITS = np.int64(0xFFFFFFFF)


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


class Nursery(NamedTuple):
    """What the growth of every node uses again."""

    labels: Any  # :class:`node.NodeLabels`
    columns: Any  # :class:`node.NodeColumns`
    sides: Any  # :class:`partition.Sides`
    newton: Any  # :class:`separator.Newton`
    score: Any  # (n_rows,) of the separator
    kept: Any  # (n_features,) features that have a weight, with the column of each
    chosen: Any  # (n_labels,) numbers of the labels of a leaf
    passed: Any  # (n_rows,) rows on their way to the second child
    dense: Any  # (n_features,) weights of a separator; 0 between nodes


def make_nursery(data):
    """Return what the growth of a tree on some data needs."""
    n_rows, n_labels = len(data.mass), len(data.gain)
    n_values = len(data.x_data)
    n_columns = min(data.n_features, n_values)
    return Nursery(
        node.make_labels(n_rows, n_labels, len(data.y_indices)),
        node.make_columns(n_rows, data.n_features, n_values),
        partition.make_sides(n_rows, n_labels),
        separator.make_newton(n_rows, n_columns + 1),
        np.empty(n_rows),
        np.empty(n_columns, np.int64),
        np.empty(n_labels, np.int32),
        np.empty(n_rows, np.int64),
        np.zeros(data.n_features),
    )


@kernel
def grow(data, tree, n_done, n_nodes, state, nursery):
    """Grow the tree from node ``n_done`` on; return nodes done and nodes known.

    Stops early when the next separator might not fit into ``tree.w_data``: the caller
    then makes room and calls again. To start, there is node 0 with all rows. A stub is
    a leaf that keeps nothing: a branch grown elsewhere can take its place.
    """
    rows, bounds, sides, found = tree.rows, tree.bounds, nursery.sides, nursery.columns
    local = nursery.labels
    while n_done < n_nodes:
        start, end = bounds[n_done, 0], bounds[n_done, 1]
        used, n_values = tree.w_indptr[n_done], 0
        for r in range(start, end):
            n_values += data.x_indptr[rows[r] + 1] - data.x_indptr[rows[r]]
        if FULL * n_values > data.n_features:  # all might be kept
            n_values = data.n_features
        if used + n_values > tree.w_data.shape[0]:
            break
        tree.children[n_done], tree.intercept[n_done] = 0, 0.0
        tree.w_indptr[n_done + 1] = used
        tree.leaf_indptr[n_done + 1] = tree.leaf_indptr[n_done]
        n_rows, middle = min(end - start, data.most_rows), start
        last, n_positive = start + n_rows, 0
        if end - start > max(data.leaf_size, data.stub_rows):
            if n_rows < end - start:
                _draw_rows(rows, start, end, n_rows, state)
            n_labels = node.gather_labels(data, rows, start, last, local)
            labels = partition.Labels(
                *(n_rows, n_labels, local.indptr, local.indices),
                *(local.weight, local.gain),
            )
            n_positive = partition.split(labels, data.discount, state, sides)
        if 0 < n_positive < n_rows:
            n_features = node.gather_columns(data, rows, start, last, found)
            columns = separator.Columns(
                *(n_rows, n_features + 1, found.indptr, found.indices, found.data)
            )
            cost = data.cost * (end - start) / n_rows  # of those drawn, for all
            separator.solve(
                *(columns, sides.side, local.mass, cost, separator.TOLERANCE),
                *(separator.MAX_NEWTON, state, nursery.newton),
            )
            middle = _send_rows(data, tree, n_done, n_features, columns, nursery)
        if start < middle < end:
            tree.children[n_done] = n_nodes
            bounds[n_nodes, 0], bounds[n_nodes, 1] = start, middle
            bounds[n_nodes + 1, 0], bounds[n_nodes + 1, 1] = middle, end
            n_nodes += 2
        elif end - start > data.stub_rows:
            _fill_leaf(data, tree, n_done, local, sides.lead, nursery.chosen)
        n_done += 1
    return n_done, n_nodes


@inner
def _draw_rows(rows, start, end, n_drawn, state):
    """Bring some rows of a stretch, drawn at random, to its front.

    A large node learns from these: so a level of large nodes costs little more than to
    route the rows.
    """
    for r in range(start, start + n_drawn):
        other = r + rng.next_below(state, end - r)
        rows[r], rows[other] = rows[other], rows[r]


@inner
def _send_rows(data, tree, n_done, n_features, columns, nursery):
    """Store the separator and send the rows; return where the second child starts.

    When all rows go one way, that is an end of the node's stretch, and it keeps no
    separator.
    """
    start, end = tree.bounds[n_done, 0], tree.bounds[n_done, 1]
    used = _store_weights(data, tree, n_done, n_features, columns, nursery)
    if start + columns.n_rows < end:
        _score_rest(data, tree, n_done, used, start + columns.n_rows, nursery)
    middle = split_rows(tree.rows, start, end, nursery.score, nursery.passed)
    if start < middle < end:
        tree.w_indptr[n_done + 1] = used
    else:
        tree.intercept[n_done] = 0.0
    return middle


@inner
def _store_weights(data, tree, n_done, n_features, columns, nursery):
    """Write the weights, and the rows' scores by them; return the weights' end.

    Scores take the weights as they are stored and sum them by ascending feature, as the
    router does, so a training row meets its leaf again. Of a fuller node all weights
    are kept: then a row finds those of its own features by number.
    """
    weights, score, used = nursery.newton.weights, nursery.score, tree.w_indptr[n_done]
    kept, n_kept = nursery.kept, np.int64(0)
    intercept = np.float32(weights[n_features] * data.bias)
    tree.intercept[n_done] = intercept
    for i in range(columns.n_rows):
        score[i] = intercept
    for n in range(n_features):
        if short.lengthened(short.shortened(weights[n])) != np.float32(0.0):
            kept[n_kept] = (np.int64(nursery.columns.features[n]) << np.int64(32)) | n
            n_kept += 1
    sort(kept, 0, n_kept)
    is_full = FULL * n_kept > data.n_features
    for feature in range(data.n_features if is_full else 0):
        tree.w_indices[used + feature], tree.w_data[used + feature] = feature, 0
    for n in range(n_kept):
        feature, column = kept[n] >> np.int64(32), kept[n] & COLUMN_BITS
        stored = short.shortened(weights[column])
        place = used + (feature if is_full else n)
        tree.w_indices[place], tree.w_data[place] = feature, stored
        weight = np.float64(short.lengthened(stored))
        for p in range(columns.indptr[column], columns.indptr[column + 1]):
            score[np.uintp(columns.indices[p])] += weight * columns.data[p]
    return used + (data.n_features if is_full else n_kept)


@inner
def _score_rest(data, tree, n_done, used, first, nursery):
    """Write the scores of the rows of a node from ``first`` on, also by feature."""
    start, end = tree.bounds[n_done, 0], tree.bounds[n_done, 1]
    dense = nursery.dense
    for p in range(tree.w_indptr[n_done], used):
        dense[np.uintp(tree.w_indices[p])] = short.lengthened(tree.w_data[p])
    for r in range(first, end):
        score = np.float64(tree.intercept[n_done])
        for p in stretch(data.x_indptr, tree.rows[r]):
            score += data.x_data[p] * dense[np.uintp(data.x_indices[p])]
        nursery.score[r - start] = score
    for p in range(tree.w_indptr[n_done], used):
        dense[np.uintp(tree.w_indices[p])] = 0.0


@inner
def _fill_leaf(data, tree, n_done, local, gain, chosen):
    """Keep the labels of the largest mean gain among the rows of a leaf."""
    start, end, total = tree.bounds[n_done, 0], tree.bounds[n_done, 1], 0.0
    n_labels = node.gather_labels(data, tree.rows, start, end, local)
    for n in range(n_labels):
        gain[n] = 0.0
    for i in range(end - start):
        total += local.mass[i]
        for p in range(local.indptr[i], local.indptr[i + 1]):
            gain[local.indices[p]] += local.mass[i]
    for n in range(n_labels):
        gain[n] *= local.gain[n] / total
    n_kept, is_cut = n_labels, n_labels > data.labels_per_leaf
    if is_cut:
        n_kept = topk.best_positions(gain[:n_labels], data.labels_per_leaf, chosen)
    for n in range(n_kept if is_cut else 0):  # all gains are positive: this marks them
        gain[chosen[n]] = -gain[chosen[n]]
    used = tree.leaf_indptr[n_done]
    for n in range(n_labels):
        if not is_cut or gain[n] < 0.0:
            tree.leaf_indices[used] = local.labels[n]
            tree.leaf_data[used] = short.steps(abs(gain[n]) / local.gain[n])
            used += 1
    tree.leaf_indptr[n_done + 1] = used

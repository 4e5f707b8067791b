"""A probabilistic label tree that is learnt row by row and grows by itself.

Each inner node has a logistic model for each of its children: given that a label of the
row is below the node, is one below the child? The probability of a label is the product
along its path (Jasinska et al. 2016). A row teaches the nodes on the paths of its
labels, by AdaGrad. A place without a child is learnt as a label that no row has, so a
new label begins as if it had been there from the start.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.label_tree.pairs import find
from manylabel._kernels.sorting import sort_pairs

EMPTY = -1  # no child; a label is its column, an inner node v is ~v, and 0 is the root
N_SEEN, N_NODES, N_PAIRS = range(3)
ROUGHNESS = np.float32(0.03)  # of AdaGrad: what a sum of squared gradients begins with
ROUNDING = 1e-9  # of sums of logarithms, and more
LEAST_MOVE = 0.2  # a gradient that makes a pair worth a block, times the root of n


class Settings(NamedTuple):
    """How to learn: numbers that do not change on the stream."""

    step: object  # eta
    law_a: object  # Jain's law for running propensities; 0 for none
    law_b: object
    most: object  # largest 1 / propensity
    boost: object  # (n_labels,) 1 / propensity, or (0,) for ones


class Stream(NamedTuple):
    """Features and labels by row."""

    x_indptr: object
    x_indices: object
    x_data: object
    y_indptr: object
    y_indices: object


class Rows(NamedTuple):
    """Features by row."""

    x_indptr: object
    x_indices: object
    x_data: object


class RowScratch(NamedTuple):
    """Memory of the row that is learnt."""

    x: object  # (most features of a row,) float32, of unit length
    slots: object  # (most features of a row,) int64 where the pairs are, -1 for none
    scores: object  # (arity,) float32
    visited: object  # (n_nodes,) int64 the nodes on the paths
    order: object  # (n_nodes,) int64 where in the visited, plus one; 0 if not
    wanted: object  # (n_nodes, arity) float32 weight of each child that is relevant
    need: object  # (1,) int64 pairs that the row may bring


class Beam(NamedTuple):
    """Memory of a search: nodes to open, and how many were opened at each level."""

    nodes: object  # (n_nodes,) int64
    levels: object  # (n_nodes,) int64
    log_p: object  # (n_nodes,)
    n_opened: object  # (n_nodes,) int64


def make_scratch(n_features, n_nodes, arity):
    """Return memory for rows of at most so many features."""
    return RowScratch(
        np.empty(n_features, np.float32),
        np.empty(n_features, np.int64),
        np.empty(arity, np.float32),
        np.empty(n_nodes, np.int64),
        np.zeros(n_nodes, np.int64),
        np.zeros((n_nodes, arity), np.float32),
        np.zeros(1, np.int64),
    )


def make_beam(n_nodes):
    """Return memory for searches of a tree."""
    return Beam(
        *np.empty((2, n_nodes), np.int64),
        np.empty(n_nodes),
        np.zeros(n_nodes, np.int64),
    )


@kernel
def learn_rows(stream, first, settings, state, scratch):
    """Learn rows from ``first`` on; return the row that there is no room for.

    That is the number of rows if all are learnt; ``scratch.need`` is how many pairs the
    row may bring. Of a row that would fill more than a quarter of the table, what finds
    no room is not learnt.
    """
    counters, n_rows = state.counters, stream.x_indptr.shape[0] - 1
    n_slots = state.keys.shape[0]
    for i in range(first, n_rows):
        start, end = stream.x_indptr[i], stream.x_indptr[i + 1]
        labels = stream.y_indices[stream.y_indptr[i] : stream.y_indptr[i + 1]]
        features = stream.x_indices[start:end]
        if counters[N_NODES] + labels.shape[0] > state.parent.shape[0]:
            return i
        set_row(stream.x_data[start:end], scratch)
        for p in range(labels.shape[0]):
            if state.leaf[labels[p]] < 0:
                _place(labels[p], features, state, scratch)
        n_visited = _visit(labels, settings, state, scratch)
        scratch.need[0] = n_visited * features.shape[0]
        used = counters[N_PAIRS] + min(scratch.need[0], n_slots // 4)
        has_room = used <= n_slots // 4 * 3
        for t in range(n_visited):
            if has_room:
                _learn_node(t, features, settings, state, scratch)
            v = scratch.visited[t]
            scratch.order[v] = 0
            for c in range(scratch.scores.shape[0]):
                scratch.wanted[t, c] = 0
        if not has_room:
            return i
        counters[N_SEEN] += 1
        for p in range(labels.shape[0]):
            state.counts[labels[p]] += 1
    return n_rows


@inner
def set_row(values, scratch):
    """Write the values of a row, brought to length 1."""
    total = 0.0
    for j in range(values.shape[0]):
        total += np.float64(values[j]) * np.float64(values[j])
    scale = 1.0 / np.sqrt(total) if total > 0.0 else 0.0
    for j in range(values.shape[0]):
        scratch.x[j] = np.float32(values[j] * scale)


@inner
def score_children(v, features, state, scratch):
    """Write the scores of all children of a node, and where the pairs are."""
    scores, blocks, arity = scratch.scores, state.blocks, scratch.scores.shape[0]
    for j in range(features.shape[0]):
        at, _ = find(state.keys, v, features[j])
        scratch.slots[j] = at if state.keys[at] != np.uint64(0) else -1
    for c in range(arity):
        scores[c] = state.bias[v, c]
    for j in range(features.shape[0]):
        at, x = scratch.slots[j], scratch.x[j]
        if at >= 0:
            for c in range(arity):
                scores[c] += x * blocks[at, c]


@kernel
def weights_by_feature(state, out):
    """Write the weights of all children of all nodes, side by side, by feature."""
    arity = state.children.shape[1]
    for v in range(out.shape[1] // arity):
        for j in range(out.shape[0]):
            at, _ = find(state.keys, v, j)
            if state.keys[at] != np.uint64(0):
                for c in range(arity):
                    out[j, v * arity + c] = state.blocks[at, c]


@inner
def _score_node(v, i, rows, margins, state, scratch):
    """Write the scores of all children of a node; ``margins`` may have them."""
    if margins.shape[0] == 0:
        features = rows.x_indices[rows.x_indptr[i] : rows.x_indptr[i + 1]]
        score_children(v, features, state, scratch)
        return
    arity = scratch.scores.shape[0]
    for c in range(arity):
        scratch.scores[c] = margins[i, v * arity + c]


@inner
def _place(label, features, state, scratch):
    """Make a new label a leaf: down to the best child that is not full, then beside it.

    The tree has the least depth that takes all labels, and a subtree is full when it
    has as many labels as that depth allows. A leaf that is met becomes a node with the
    old label and the new one.
    """
    children, arity, v = state.children, state.children.shape[1], 0
    capacity = arity
    while capacity <= state.n_leaves[0]:
        capacity *= arity
    while state.n_children[v] == arity:
        state.n_leaves[v] += 1
        capacity //= arity
        score_children(v, features, state, scratch)
        best, best_score = -1, np.float32(0)
        for c in range(arity):
            child = children[v, c]
            n_below = state.n_leaves[~child] if child < 0 else 1
            if n_below < capacity and (best < 0 or scratch.scores[c] > best_score):
                best, best_score = c, scratch.scores[c]
        if children[v, best] >= 0:
            _split(v, best, state)
        v = ~children[v, best]
    state.n_leaves[v] += 1
    _put(label, v, state)


@inner
def _split(v, place, state):
    """Put a node where a label is, and the label below it.

    The label was relevant in all rows that the node would have had, another in none.
    """
    label, u = state.children[v, place], state.counters[N_NODES]
    state.counters[N_NODES] += 1
    state.children[v, place] = ~u
    state.parent[u], state.place[u], state.n_leaves[u] = v, place, 1
    odds = np.float32(np.log(state.counts[label] + 1.0))
    for c in range(state.children.shape[1]):
        state.bias[u, c] = -odds
    state.bias[u, 0] = odds
    _put(label, u, state)


@inner
def _put(label, v, state):
    place = state.n_children[v]
    state.n_children[v] += 1
    state.children[v, place] = label
    state.leaf[label], state.leaf_place[label] = v, place


@inner
def _visit(labels, settings, state, scratch):
    """List the nodes on the paths of some labels; return how many.

    A child that is relevant is wanted by 2 / p - 1 of the rarest label below it.
    """
    scratch.visited[0], scratch.order[0], n_visited = 0, 1, 1
    for p in range(labels.shape[0]):
        weight = _weight(labels[p], settings, state)
        v, place = state.leaf[labels[p]], state.leaf_place[labels[p]]
        while v >= 0:
            if scratch.order[v] == 0:
                scratch.visited[n_visited] = v
                n_visited += 1
                scratch.order[v] = n_visited
            t = scratch.order[v] - 1
            scratch.wanted[t, place] = max(scratch.wanted[t, place], weight)
            v, place = state.parent[v], state.place[v]
    return n_visited


@inner
def _weight(label, settings, state):
    boost = settings.boost[label] if settings.boost.shape[0] > 0 else 1.0
    if settings.law_a > 0.0:
        n_seen, count = state.counters[N_SEEN] + 1, state.counts[label] + 1
        constant = max(np.log(n_seen) - 1.0, 0.0)
        rarity = (settings.law_b + 1.0) / (count + settings.law_b)
        boost = 1.0 + constant * rarity**settings.law_a
    return np.float32(2.0 * min(boost, settings.most) - 1.0)


@inner
def _learn_node(t, features, settings, state, scratch):
    """Step the models of all children of a visited node."""
    v, arity, n_slots = scratch.visited[t], scratch.scores.shape[0], len(state.keys)
    score_children(v, features, state, scratch)
    gradient, largest = scratch.scores, np.float32(0)
    least = np.float32(LEAST_MOVE / np.sqrt(max(1, features.shape[0])))
    for c in range(arity):
        p, wanted = _sigmoid(scratch.scores[c]), scratch.wanted[t, c]
        gradient[c] = (p - np.float32(1)) * wanted if wanted > 0 else p
        largest = max(largest, abs(gradient[c]))
    _step(np.float32(1), gradient, settings.step, state.bias[v])
    for j in range(features.shape[0]):
        at, x = scratch.slots[j], scratch.x[j]
        if at < 0:
            if largest * abs(x) < least or state.counters[N_PAIRS] >= n_slots - 1:
                continue
            at, key = find(state.keys, v, features[j])
            state.keys[at] = key
            state.counters[N_PAIRS] += 1
        _step(x, gradient, settings.step, state.blocks[at])


@inner
def _step(x, gradient, step, block):
    """Move weights by AdaGrad (Duchi, Hazan & Singer 2011)."""
    arity = gradient.shape[0]
    for c in range(arity):
        slope = gradient[c] * x
        total = block[arity + c] + slope * slope
        block[arity + c] = total
        block[c] -= step * slope / np.sqrt(total + ROUGHNESS)


@inner
def _sigmoid(score):
    return np.float32(1) / (np.float32(1) + np.exp(-score))


@inner
def log_sigmoid(score):
    """Return log(1 / (1 + exp(-score))), without overflow."""
    return min(score, 0.0) - np.log1p(np.exp(-abs(score)))


@inner
def log_odds(log_p):
    """Return log(p / (1 - p))."""
    return log_p - np.log(-np.expm1(min(log_p, -1e-300)))


@kernel
def score_rows(rows, margins, state, scratch, log_p, out):
    """Write the log odds of all labels; those never seen keep what ``out`` has."""
    for i in range(out.shape[0]):
        set_row(rows.x_data[rows.x_indptr[i] : rows.x_indptr[i + 1]], scratch)
        log_p[0] = 0.0
        for v in range(state.counters[N_NODES]):  # children come after their parents
            _score_node(v, i, rows, margins, state, scratch)
            for c in range(state.n_children[v]):
                child = state.children[v, c]
                below = log_p[v] + log_sigmoid(np.float64(scratch.scores[c]))
                if child < 0:
                    log_p[~child] = below
                else:
                    out[i, child] = log_odds(below)


@kernel
def best_of_rows(
    rows, margins, state, scratch, beam, width, floor, columns, scores, by_column
):
    """Write the best labels of each row, best first or by column.

    The most probable node is opened next, until none is as probable as the last label
    listed: what is found is exact, but for nodes beyond the first ``width`` of a level.
    Labels below the ``floor`` are not listed; -1 is in their place.
    """
    for i in range(columns.shape[0]):
        set_row(rows.x_data[rows.x_indptr[i] : rows.x_indptr[i + 1]], scratch)
        for r in range(columns.shape[1]):
            columns[i, r], scores[i, r] = -1, floor
        beam.nodes[0], beam.levels[0], beam.log_p[0], n, deepest = 0, 0, 0.0, 1, 0
        while n > 0:
            best = 0
            for t in range(1, n):
                if beam.log_p[t] > beam.log_p[best]:
                    best = t
            v, level, log_p = beam.nodes[best], beam.levels[best], beam.log_p[best]
            if log_odds(log_p) < scores[i, scores.shape[1] - 1]:
                break
            n -= 1
            beam.nodes[best], beam.levels[best] = beam.nodes[n], beam.levels[n]
            beam.log_p[best], deepest = beam.log_p[n], max(deepest, level)
            if beam.n_opened[level] < width:
                beam.n_opened[level] += 1
                _score_node(v, i, rows, margins, state, scratch)
                n = _list_children(
                    *(v, level + 1, log_p, n, state, scratch.scores, beam),
                    *(columns[i], scores[i]),
                )
        for level in range(deepest + 1):
            beam.n_opened[level] = 0
        if by_column:
            sort_pairs(columns[i], scores[i], 0, columns.shape[1])


@inner
def _list_children(v, level, log_p, n, state, child_scores, beam, columns, scores):
    """List the labels right below a node, and add its nodes to the beam's ``n``."""
    last = scores.shape[0] - 1
    least = log_sigmoid(scores[last]) - ROUNDING
    for c in range(state.n_children[v]):
        child, own = state.children[v, c], np.float64(child_scores[c])
        if log_p + min(own, 0.0) < least:  # a quick bound: the rest takes most time
            continue
        below = log_p + log_sigmoid(own)
        score = log_odds(below)
        if score < scores[last]:
            continue
        if child < 0:
            beam.nodes[n], beam.levels[n], beam.log_p[n] = ~child, level, below
            n += 1
            continue
        r = last + 1
        while r > 0 and (
            score > scores[r - 1]
            or (
                score == scores[r - 1]
                and (columns[r - 1] < 0 or child < columns[r - 1])
            )
        ):
            r -= 1
            if r < last:
                columns[r + 1], scores[r + 1] = columns[r], scores[r]
        if r <= last:
            columns[r], scores[r] = child, score
    return n

"""Beam search in a tree of labels, for a batch of rows.

A node's score is the sum over its path of logarithms of factors in (0, 1], one for each
decision, so no label scores higher than the nodes above it. Level by level, the best
nodes of each row are kept, its beam; pairs of row and node are handled node by node, so
that the weights of the children of a node are fetched once for all rows that are there.
Labels go to a row's list of the best. A node that cannot score higher than the worst of
a full list is passed over, which changes nothing but the time; so the most promising
nodes of a level come first.
"""

from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.forest.quantization import lengthened
from manylabel._kernels.sorting import lower_bound, sort, sort_pairs

ZERO, ONE = np.float32(0.0), np.float32(1.0)
SQUARED_HINGE, LOG_LOSS, SIGN = 0, 1, 2
# A margin above 1 is certain; what is left tells larger ones apart.
REST = np.float32(0.1)
PLACE = 32  # bits of a pair that tell the row and its place in the beam
TURNS = 3  # of a level: the best node of each row, the next best, the rest
SEARCHES = 256  # features that can be placed in the time of a row's searches


class Nodes(NamedTuple):
    """What the search reads of a tree; see manylabel.label_tree."""

    child_starts: Any
    labels: Any
    intercept: Any
    block_starts: Any
    features: Any
    entry_starts: Any
    entry_children: Any
    entry_bits: Any


class Best(NamedTuple):
    """The best few of each row, as a heap with the worst first."""

    counts: Any  # (n_rows,)
    keys: Any  # (n_rows, capacity)
    items: Any  # (n_rows, capacity) of equal keys, the smaller is better


class Travel(NamedTuple):
    """Where rows are, and room to work in."""

    beam: Best  # nodes of the level at hand
    following: Best  # nodes of the next level
    pairs: Any  # (n_rows * beam,) node, then row, as one number
    place: Any  # (n_features,) where a feature stands in a block; -1 between nodes
    margin: Any  # (most children of a node,)


@kernel
def search(rows, nodes, root, gain, loss, trust, travel, found):
    """Write the labels of the highest scores of each row into ``found``.

    ``gain`` has what is added to the score of a label, and for an inner node the most
    that is added below it. The logarithm of an inner node's factor counts ``trust`` of
    itself, in [0, 1]. ``SIGN`` is as ``LOG_LOSS``, but leads to children of positive
    margin alone.
    """
    n_rows, beam, following = rows.indptr.shape[0] - 1, travel.beam, travel.following
    for i in range(n_rows):
        found.counts[i], beam.counts[i] = 0, 1
        beam.keys[i, 0], beam.items[i, 0] = gain[root], root
    n_left = n_rows
    while n_left > 0:
        for i in range(n_rows):
            following.counts[i] = 0
        for turn in range(TURNS):
            n_pairs = _next_pairs(beam, turn, found, travel.pairs)
            sort(travel.pairs, 0, n_pairs)
            start = 0
            while start < n_pairs:
                end, node = start + 1, travel.pairs[start] >> PLACE
                while end < n_pairs and travel.pairs[end] >> PLACE == node:
                    end += 1
                span = start, end
                _expand(
                    rows, nodes, gain, loss, trust, span, beam, following, travel, found
                )
                start = end
        beam, following = following, beam
        n_left = 0
        for i in range(n_rows):
            n_left += beam.counts[i]


@kernel
def write_lists(found, labels, scores):
    """Write the labels of each row by column, and what their logarithms stand for."""
    p = 0
    for i in range(found.counts.shape[0]):
        start = p
        for n in range(found.counts[i]):
            labels[p], scores[p] = found.items[i, n], np.float32(exp(found.keys[i, n]))
            p += 1
        sort_pairs(labels, scores, start, p)


@inner
def _next_pairs(beam, turn, found, pairs):
    """Write pairs of node and row: each row's best node, or in the last turn the rest.

    What is found below the best spares most of the others.
    """
    n_pairs, most, width = 0, found.keys.shape[1], beam.items.shape[1]
    for i in range(beam.counts.shape[0]):
        end = beam.counts[i]
        if turn < TURNS - 1 and turn < end:
            best = turn
            for n in range(turn + 1, end):
                if beam.keys[i, n] > beam.keys[i, best]:
                    best = n
            _swap(beam, i, turn, best)
            end = turn + 1
        for n in range(turn, end):
            if found.counts[i] < most or beam.keys[i, n] >= found.keys[i, 0]:
                pairs[n_pairs] = (np.int64(beam.items[i, n]) << PLACE) + i * width + n
                n_pairs += 1
    return n_pairs


@inner
def _swap(beam, i, m, n):
    key, item = beam.keys[i, m], beam.items[i, m]
    beam.keys[i, m], beam.items[i, m] = beam.keys[i, n], beam.items[i, n]
    beam.keys[i, n], beam.items[i, n] = key, item


@inner
def _expand(rows, nodes, gain, loss, trust, span, beam, following, travel, found):
    """Score the children of a node for the rows that are there."""
    start, end = span
    node, width = travel.pairs[start] >> PLACE, beam.items.shape[1]
    place, features = travel.place, nodes.features
    first, last = nodes.child_starts[node], nodes.child_starts[node + 1]
    block = stretch(nodes.block_starts, node)
    # Many rows find a feature by its place, few by a search.
    n_features = nodes.block_starts[node + 1] - nodes.block_starts[node]
    by_place = (end - start) * SEARCHES > n_features
    if by_place:
        for b in block:
            place[features[b]] = b
    for n in range(start, end):
        spot = travel.pairs[n] & ((1 << PLACE) - 1)
        i = spot // width
        bound = beam.keys[i, spot % width]
        _find_margins(rows, nodes, i, node, by_place, travel)
        score = bound - gain[node]
        for child in range(first, last):
            margin = travel.margin[child - first]
            if loss == SIGN and margin <= ZERO:
                continue
            factor = _log_factor(margin, loss)
            label = nodes.labels[child]
            if label >= 0:
                _push(found, i, score + factor + gain[child], label)
            else:
                _push(following, i, score + trust * factor + gain[child], child)
    if by_place:
        for b in block:
            place[features[b]] = -1


@inner
def _find_margins(rows, nodes, i, node, by_place, travel):
    """Write the margins of a node's children for a row."""
    margin, place, features = travel.margin, travel.place, nodes.features
    first, last = nodes.child_starts[node], nodes.child_starts[node + 1]
    for child in range(first, last):
        margin[child - first] = nodes.intercept[child]
    start, end = nodes.block_starts[node], nodes.block_starts[node + 1]
    n_children = np.uintp(last - first)
    for p in stretch(rows.indptr, i):
        at = np.int64(place[rows.indices[p]])
        if not by_place:
            at = _find_feature(features, start, end, rows.indices[p])
        if at < 0:
            continue
        value = rows.data[p]
        q, stop = np.uintp(nodes.entry_starts[at]), np.uintp(nodes.entry_starts[at + 1])
        if stop - q == n_children:  # all of them, in order
            for child in range(n_children):
                margin[child] += value * lengthened(nodes.entry_bits[q + child])
        else:
            for e in range(q, stop):
                weight = lengthened(nodes.entry_bits[e])
                margin[np.uintp(nodes.entry_children[e])] += value * weight


@inner
def _find_feature(features, start, end, feature):
    """Return where a feature stands in a block, -1 if it does not.

    Features are spread evenly more or less, so the place can be guessed; from there
    steps double until they pass it.
    """
    if start == end or not features[start] <= feature <= features[end - 1]:
        return np.int64(-1)
    low, high = np.int64(features[start]), np.int64(features[end - 1])
    guess = start + (feature - low) * (end - 1 - start) // max(high - low, 1)
    step = 4
    if features[guess] < feature:
        low, high = guess + 1, guess + step
        while high < end and features[high] < feature:
            step *= 2
            low, high = high + 1, high + step
        high = min(high + 1, end)
    else:
        low, high = guess - step, guess + 1
        while low > start and features[low] > feature:
            step *= 2
            high, low = low, low - step
        low = max(low, start)
    at = lower_bound(features, low, high, feature)
    return at if at < end and features[at] == feature else np.int64(-1)


@inner
def _log_factor(margin, loss):
    """Return the logarithm of how far to believe in a decision, in (0, 1]."""
    if loss != SQUARED_HINGE:
        small = log(1.0 + exp(-abs(margin)))
        return np.float32(min(margin, ZERO) - small)
    gap = max(ONE - margin, ZERO)
    return -gap * gap * gap - REST / (ONE + max(margin, ZERO))


@inner
def _push(best, i, key, item):
    """Keep an item if it is among the best of a row."""
    keys, items, n = best.keys, best.items, best.counts[i]
    if n < keys.shape[1]:
        best.counts[i] = n + 1
        while n > 0:
            above = (n - 1) // 2
            if not _is_better(keys[i, above], items[i, above], key, item):
                break
            keys[i, n], items[i, n] = keys[i, above], items[i, above]
            n = above
    else:
        if not _is_better(key, item, keys[i, 0], items[i, 0]):
            return
        end, n, below = n, 0, 1
        while below < end:
            other = below + 1
            if other < end and _is_better(
                keys[i, below], items[i, below], keys[i, other], items[i, other]
            ):
                below = other
            if not _is_better(key, item, keys[i, below], items[i, below]):
                break
            keys[i, n], items[i, n] = keys[i, below], items[i, below]
            n, below = below, 2 * below + 1
    keys[i, n], items[i, n] = key, item


@inner
def _is_better(key, item, other_key, other_item):
    return key > other_key or (key == other_key and item < other_item)

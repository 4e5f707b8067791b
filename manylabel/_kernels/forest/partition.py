"""Two sides of the rows of a node, such that each side ranks its labels well.

Rankings r+ and r- and the sides d maximise the sum over rows of

    weight_i * sum over the labels l of row i of  gain_l * discount(rank of l),

with the rank taken on the side of the row (Prabhu & Varma 2014, "FastXML", section 4):
weights of 1 / (ideal sum) make it nDCG, weights of 1 DCG. Given the sides, each ranking
sorts the labels by their mass; given the rankings, each row takes its better side. All
labels of the node are ranked, also those without mass; equal ones as they come.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner
from manylabel._kernels.csr import stretch
from manylabel._kernels.sorting import sort

LEAST_GAIN = 1e-6  # of the mean over rows; less ends the alternation
LABEL_BITS, LARGEST = np.int64(0xFFFFFFFF), np.int64(0x7FFFFFFF)
MOST_MOVES = 8  # a key, before insertion gives up


class Labels(NamedTuple):
    """The labels of the rows of a node (CSR); labels are numbered within the node."""

    n_rows: object
    n_labels: object
    indptr: object
    indices: object
    weight: object  # (n_rows,) of the row
    gain: object  # (n_labels,) of the label


class Sides(NamedTuple):
    """The side of each row, and the ranking of the labels on each side."""

    side: object  # (n_rows,) +1 or -1: the result
    mass: object  # (2, n_labels) by side: gain times the weights of the label's rows
    lead: object  # (n_labels,) by how much the label's place is better on +1
    order: object  # (2, n_labels) by side: labels as they were ranked last
    keys: object  # (n_labels,) numbers that sort as the ranking


def make_sides(n_rows, n_labels):
    """Return sides for nodes of up to this size."""
    mass, lead = np.empty((2, n_labels)), np.empty(n_labels)
    order, keys = np.empty((2, n_labels), np.int32), np.empty(n_labels, np.int64)
    return Sides(np.empty(n_rows, np.int8), mass, lead, order, keys)


@inner
def split(labels, discount, state, sides):
    """Put the rows on two sides in ``sides.side``; return how many are on +1."""
    for i in range(labels.n_rows):
        odd = rng.next_uint64(state) >> np.uint64(63)
        sides.side[i] = 1 if odd else -1
    for label in range(labels.n_labels):
        sides.order[0, label], sides.order[1, label] = label, label
    last = -np.inf
    while True:
        objective = rank_labels(labels, discount, sides)
        n_positive = choose_sides(labels, sides)
        if not objective - last >= LEAST_GAIN:  # true of NaN too: it must end
            return n_positive
        last = objective


@inner
def rank_labels(labels, discount, sides):
    """Rank the labels of each side, into ``lead``; return the mean objective."""
    mass, lead, gain, side = sides.mass, sides.lead, labels.gain, sides.side
    for label in range(labels.n_labels):
        mass[0, label], mass[1, label], lead[label] = 0.0, 0.0, 0.0
    for i in range(labels.n_rows):
        s, weight = np.uintp(0 if side[i] > 0 else 1), labels.weight[i]
        for p in stretch(labels.indptr, i):
            mass[s, np.uintp(labels.indices[p])] += weight
    total = 0.0
    for s in range(2):
        for label in range(labels.n_labels):
            mass[s, label] *= gain[label]
        sort_labels(labels.n_labels, s, sides)
        sign = 1.0 - 2.0 * s
        for rank in range(labels.n_labels):
            label = np.uintp(sides.order[s, rank])
            total += mass[s, label] * discount[rank]
            lead[label] += sign * discount[rank] * gain[label]
    return total / labels.n_rows


@inner
def sort_labels(n_labels, s, sides):
    """Sort ``order`` of one side by mass, starting from what it was before.

    Most rankings differ little from those before, so keys are inserted; if that takes
    more than a few moves a key, they are sorted. A key is the smaller the larger the
    mass, then the label: the bits of a positive single sort as it does. Single
    precision also makes labels equal whose masses differ only by the order in which
    rows were added.
    """
    mass, order, keys, n_ranked = sides.mass, sides.order, sides.keys, np.int64(0)
    for rank in range(n_labels):
        label = np.uintp(order[s, rank])
        if mass[s, label] > 0.0:
            bits = np.int64(np.float32(mass[s, label]).view(np.int32))
            keys[n_ranked] = ((LARGEST - bits) << np.int64(32)) | np.int64(label)
            n_ranked += 1
    moves_left, end = MOST_MOVES * MOST_MOVES, 1  # few at first: it gives up early
    while end < n_ranked and moves_left >= 0:
        key, place = keys[end], end
        while place > 0 and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = key
        moves_left += MOST_MOVES - (end - place)
        end += 1
    if moves_left < 0:
        sort(keys, 0, n_ranked)
    for rank in range(n_ranked):
        order[s, rank] = np.int32(keys[rank] & LABEL_BITS)
    for label in range(n_labels):
        if mass[s, label] == 0.0:
            order[s, n_ranked] = label
            n_ranked += 1


@inner
def choose_sides(labels, sides):
    """Put each row on its better side, or leave it; return how many are on +1."""
    n_positive = 0
    for i in range(labels.n_rows):
        better = 0.0
        for p in stretch(labels.indptr, i):
            better += sides.lead[np.uintp(labels.indices[p])]
        if better != 0.0 and labels.weight[i] > 0.0:
            sides.side[i] = 1 if better > 0.0 else -1
        n_positive += sides.side[i] > 0
    return n_positive

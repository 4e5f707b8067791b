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
from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.csr import stretch

LEAST_GAIN = 1e-6  # of the mean over rows; less ends the alternation
LABEL_BITS = np.uint64(0xFFFFFFFF)
MOST_MOVES = 8  # a key, before insertion gives up


class Labels(NamedTuple):
    """The labels of the rows of a node (CSR); labels are numbered within the node."""

    n_rows: object
    n_labels: object
    indptr: object
    indices: object
    weight: object  # (n_rows,) of the row
    gain: object  # (n_labels,) of the label


class Workspace(NamedTuple):
    """Memory that is used again for every node."""

    side: object  # (n_rows,) +1 or -1: the result
    mass: object  # (2, n_labels) by side: gain times the weights of the label's rows
    lead: object  # (n_labels,) by how much the label's place is better on +1
    order: object  # (2, n_labels) by side: labels as they were ranked last
    keys: object  # (n_labels,) numbers that sort as the ranking


@allocating_kernel
def workspace(n_rows, n_labels):
    """Return memory for nodes of up to this size."""
    mass, lead = np.empty((2, n_labels)), np.empty(n_labels)
    order, keys = np.empty((2, n_labels), np.int32), np.empty(n_labels, np.uint64)
    return Workspace(np.empty(n_rows, np.int8), mass, lead, order, keys)


@allocating_kernel
def split(labels, discount, state, space):
    """Put the rows on two sides in ``space.side``; return how many are on +1."""
    for i in range(labels.n_rows):
        odd = rng.next_uint64(state) >> np.uint64(63)
        space.side[i] = 1 if odd else -1
    for label in range(labels.n_labels):
        space.order[0, label], space.order[1, label] = label, label
    last = -np.inf
    while True:
        objective = rank_labels(labels, discount, space)
        n_positive = choose_sides(labels, space)
        if not objective - last >= LEAST_GAIN:  # true of NaN too: it must end
            return n_positive
        last = objective


@allocating_kernel
def rank_labels(labels, discount, space):
    """Rank the labels of each side, into ``lead``; return the mean objective."""
    mass, lead, gain, side = space.mass, space.lead, labels.gain, space.side
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
        _sort_labels(labels.n_labels, s, space)
        sign = 1.0 - 2.0 * s
        for rank in range(labels.n_labels):
            label = np.uintp(space.order[s, rank])
            total += mass[s, label] * discount[rank]
            lead[label] += sign * discount[rank] * gain[label]
    return total / labels.n_rows


@allocating_kernel
def _sort_labels(n_labels, s, space):
    """Sort ``order`` of one side by mass, starting from what it was before."""
    mass, order, keys, n_ranked = space.mass, space.order, space.keys, 0
    for rank in range(n_labels):
        label = np.uintp(order[s, rank])
        if mass[s, label] > 0.0:
            keys[n_ranked] = _key(mass[s, label], label)
            n_ranked += 1
    if not _insertion_sort(keys, n_ranked):
        keys[:n_ranked].sort()
    for rank in range(n_ranked):
        order[s, rank] = np.int32(keys[rank] & LABEL_BITS)
    for label in range(n_labels):
        if mass[s, label] == 0.0:
            order[s, n_ranked] = label
            n_ranked += 1


@allocating_kernel
def _insertion_sort(keys, n):
    """Sort the first ``n`` keys if they nearly are; return whether it was done.

    Most rankings differ little from those before. If it takes more than a few moves a
    key, the keys are left as they are by then, none lost.
    """
    moves_left = MOST_MOVES * n
    for end in range(1, n):
        key, place = keys[end], end
        while place > 0 and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = key
        moves_left -= end - place
        if moves_left < 0:
            return False
    return True


@allocating_kernel
def _key(mass, label):
    """Return a number that is the smaller the larger the mass, then the label.

    The bits of a positive single sort as it does. Single precision also makes labels
    equal whose masses differ only by the order in which rows were added.
    """
    bits = np.uint64(np.float32(mass).view(np.uint32))
    return ((LABEL_BITS - bits) << np.uint64(32)) | np.uint64(label)


@allocating_kernel
def choose_sides(labels, space):
    """Put each row on its better side, or leave it; return how many are on +1."""
    n_positive = 0
    for i in range(labels.n_rows):
        better = 0.0
        for p in stretch(labels.indptr, i):
            better += space.lead[np.uintp(labels.indices[p])]
        if better != 0.0 and labels.weight[i] > 0.0:
            space.side[i] = 1 if better > 0.0 else -1
        n_positive += space.side[i] > 0
    return n_positive

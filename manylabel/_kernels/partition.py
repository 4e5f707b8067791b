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
from manylabel._kernels._jit import kernel

LEAST_GAIN = 1e-6  # of the mean over rows; less ends the alternation
LABEL_BITS = np.uint64(0xFFFFFFFF)


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
    keys: object  # (n_labels,) that sort as the ranking


@kernel
def workspace(n_rows, n_labels):
    """Return memory for nodes of up to this size."""
    mass, lead = np.empty((2, n_labels)), np.empty(n_labels)
    return Workspace(
        np.empty(n_rows, np.int8), mass, lead, np.empty(n_labels, np.uint64)
    )


@kernel
def split(labels, discount, state, space):
    """Put the rows on two sides in ``space.side``; return how many are on +1."""
    for i in range(labels.n_rows):
        odd = rng.next_uint64(state) >> np.uint64(63)
        space.side[i] = 1 if odd else -1
    last = -np.inf
    while True:
        objective = rank_labels(labels, discount, space)
        n_positive = choose_sides(labels, space)
        if objective - last < LEAST_GAIN:
            return n_positive
        last = objective


@kernel
def rank_labels(labels, discount, space):
    """Rank the labels of each side, into ``lead``; return the mean objective."""
    mass, lead, gain, side = space.mass, space.lead, labels.gain, space.side
    keys = space.keys
    for label in range(labels.n_labels):
        mass[0, label], mass[1, label], lead[label] = 0.0, 0.0, 0.0
    for i in range(labels.n_rows):
        s, weight = np.uintp(0 if side[i] > 0 else 1), labels.weight[i]
        for p in range(labels.indptr[i], labels.indptr[i + 1]):
            mass[s, np.uintp(labels.indices[p])] += weight
    total = 0.0
    for s in range(2):
        sign, n_ranked = 1.0 - 2.0 * s, 0
        for label in range(labels.n_labels):
            mass[s, label] *= gain[label]
            if mass[s, label] > 0.0:
                keys[n_ranked] = _key(mass[s, label], label)
                n_ranked += 1
        keys[:n_ranked].sort()
        for rank in range(n_ranked):
            label = np.uintp(keys[rank] & LABEL_BITS)
            total += mass[s, label] * discount[rank]
            lead[label] += sign * discount[rank] * gain[label]
        for label in range(labels.n_labels):
            if mass[s, label] == 0.0:
                lead[label] += sign * discount[n_ranked] * gain[label]
                n_ranked += 1
    return total / labels.n_rows


@kernel
def _key(mass, label):
    """Return a number that is the smaller the larger the mass, then the label.

    The bits of a positive single sort as it does. Single precision also makes labels
    equal whose masses differ only by the order in which rows were added.
    """
    bits = np.uint64(np.float32(mass).view(np.uint32))
    return ((LABEL_BITS - bits) << np.uint64(32)) | np.uint64(label)


@kernel
def choose_sides(labels, space):
    """Put each row on its better side, or leave it; return how many are on +1."""
    n_positive = 0
    for i in range(labels.n_rows):
        better = 0.0
        for p in range(labels.indptr[i], labels.indptr[i + 1]):
            better += space.lead[np.uintp(labels.indices[p])]
        if better != 0.0 and labels.weight[i] > 0.0:
            space.side[i] = 1 if better > 0.0 else -1
        n_positive += space.side[i] > 0
    return n_positive

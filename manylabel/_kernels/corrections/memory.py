"""What corrections have taught: weights of (label, feature) pairs, and rings of labels.

Pairs stand in two hash tables. The small one, ``recent``, is written; the large one,
``learnt``, is only read, so a copy of the small one is all that it takes to publish
what was learnt. A pair of both counts as the small one says.

A ring has the labels that were last accepted where a feature weighed much: so labels
that the other learner would not list are found.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.label_tree.pairs import key_of, mixed, probe

N_SEEN, N_RECENT = range(2)  # corrections, and pairs of the small table
ROUGHNESS = np.float32(0.03)  # of AdaGrad: what a sum of squared gradients begins with
WEIGHTS = np.array([0.0, 0.25, 0.5, 1.0])  # that corrections may have
PATIENCE = 5.0  # nats by which a weight of 0 must be better than 1, at the beginning


class Pairs(NamedTuple):
    """Weights and sums of squared gradients of pairs, by key."""

    keys: Any  # (n_slots,) uint64, 0 where there is no pair
    blocks: Any  # (n_slots, 2) float32


class Recent(NamedTuple):
    """What is written: pairs, rings, counters, and the losses of each weight."""

    keys: Any
    blocks: Any
    rings: Any  # (n_rings, labels of a ring) int32, the latest first, -1 for none
    filter: Any  # (n_bytes,) uint8, a Bloom filter of the pairs: most are in none
    counters: Any  # (2,) int64
    losses: Any  # (n_weights,) decayed sums
    scales: Any  # (n_weights, 4) slope and offset, and their squared gradients
    mentions: Any  # (2,) labels mentioned, and probable ones that were not


@inner
def read_weight(label, feature, learnt, recent):
    """Return the weight of a pair, 0 if there is none."""
    key = key_of(label, feature)
    byte, bit = _find_bit(key, recent)
    if recent.filter[byte] & bit == 0:
        return np.float32(0)
    at = probe(recent.keys, key)
    if recent.keys[at] == key:
        return recent.blocks[at, 0]
    return learnt.blocks[probe(learnt.keys, key), 0]


@inner
def open_pair(label, feature, learnt, recent):
    """Return the slot of a pair in the small table, moved there if it has none."""
    key = key_of(label, feature)
    at = probe(recent.keys, key)
    if recent.keys[at] != key:
        source = probe(learnt.keys, key)
        recent.keys[at] = key
        recent.blocks[at, 0] = learnt.blocks[source, 0]
        recent.blocks[at, 1] = learnt.blocks[source, 1]
        recent.counters[N_RECENT] += 1
        byte, bit = _find_bit(key, recent)
        recent.filter[byte] |= bit
    return at


@inner
def _find_bit(key, recent):
    """Return the byte and the bit of a key in the filter."""
    place = np.int64(key >> np.uint64(32)) & (8 * recent.filter.shape[0] - 1)
    return place >> 3, np.uint8(1 << (place & 7))


@inner
def step_pair(label, feature, slope, step, learnt, recent):
    """Move a weight by AdaGrad (Duchi, Hazan & Singer 2011); return how far."""
    at = open_pair(label, feature, learnt, recent)
    total = recent.blocks[at, 1] + slope * slope
    move = -step * slope / np.sqrt(total + ROUGHNESS)
    recent.blocks[at, 1] = total
    recent.blocks[at, 0] += move
    return move


@inner
def find_ring(feature, recent):
    """Return the ring of a feature; few others share it."""
    return np.int64(mixed(np.uint64(feature + 1)) & np.uint64(len(recent.rings) - 1))


@inner
def put_first(label, ring):
    """Make a label the latest of a ring, and forget the oldest."""
    last = 0
    while last < ring.shape[0] - 1 and ring[last] != label:
        last += 1
    for r in range(last, 0, -1):
        ring[r] = ring[r - 1]
    ring[0] = label


@kernel
def best_weight(losses):
    """Return the weight of the least loss so far; 1 until there is reason to doubt."""
    best = losses.shape[0] - 1
    for w in range(losses.shape[0] - 2, -1, -1):
        doubt = PATIENCE * (WEIGHTS[best] - WEIGHTS[w])
        if losses[w] + doubt < losses[best]:
            best = w
    return WEIGHTS[best]


@kernel
def add_pairs(keys, blocks, out_keys, out_blocks):
    """Write pairs into a table that has room; return how many were new."""
    n_new = 0
    for source in range(keys.shape[0]):
        if keys[source] != np.uint64(0):
            at = probe(out_keys, keys[source])
            n_new += out_keys[at] == np.uint64(0)
            out_keys[at] = keys[source]
            out_blocks[at, 0] = blocks[source, 0]
            out_blocks[at, 1] = blocks[source, 1]
    return n_new

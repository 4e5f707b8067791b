"""Weights of (node, feature) pairs in one hash table.

A pair has a block of weights, one for each child of the node, and as many sums of
squared gradients: to score all children of a node by a feature takes one place in
memory. A pair that was never learnt has no block. The table is open addressed, with
linear probing; a key is the pair itself, mixed by a bijection, so keys do not collide,
and 0 marks a free slot.
"""

import numpy as np

from manylabel._kernels._jit import inner, kernel


@inner
def find(keys, node, feature):
    """Return the slot of a pair, or the free one where it would be."""
    key = key_of(node, feature)
    return probe(keys, key), key


@inner
def key_of(node, feature):
    """Return the key of a pair, which is not 0."""
    return mixed((np.uint64(node) << np.uint64(32)) | np.uint64(feature + 1))


@inner
def probe(keys, key):
    """Return the slot of a key, or the free one where it would be."""
    mask = np.uint64(keys.shape[0] - 1)
    at = key & mask
    while keys[at] != key and keys[at] != np.uint64(0):
        at = (at + np.uint64(1)) & mask
    return np.int64(at)


@inner
def mixed(z):
    """Return 64 bits mixed by a bijection that keeps 0 (SplitMix64's finisher)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def move(keys, blocks, is_kept, out_keys, out_blocks):
    """Copy the pairs that are kept into an empty table."""
    mask = np.uint64(out_keys.shape[0] - 1)
    for source in range(keys.shape[0]):
        if is_kept[source]:
            at = keys[source] & mask
            while out_keys[at] != np.uint64(0):
                at = (at + np.uint64(1)) & mask
            out_keys[at] = keys[source]
            for c in range(blocks.shape[1]):
                out_blocks[at, c] = blocks[source, c]

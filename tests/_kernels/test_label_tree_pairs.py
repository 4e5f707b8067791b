"""The hash table of (node, feature) pairs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manylabel._kernels.label_tree import pairs


def placed(keys, n_slots, rng):
    """Return a table of some keys, by the plainest linear probing."""
    table, blocks = np.zeros(n_slots, np.uint64), np.zeros((n_slots, 2), np.float32)
    for key in keys:
        at = int(key) % n_slots
        while table[at]:
            at = (at + 1) % n_slots
        table[at], blocks[at] = key, rng.random(2)
    return table, blocks


@given(st.lists(st.integers(1, 2**64 - 1), unique=True, max_size=12), st.integers(0, 9))
def test_pairs_keep_their_blocks_when_they_move(keys, seed):
    rng = np.random.default_rng(seed)
    table, blocks = placed(keys, 16, rng)
    is_kept = (table != 0) & (rng.random(16) < 0.7)
    out, moved = np.zeros(32, np.uint64), np.zeros((32, 2), np.float32)
    pairs.move(table, blocks, is_kept, out, moved)
    expected = dict(zip(table[is_kept].tolist(), blocks[is_kept].tolist(), strict=True))
    used = out != 0
    assert dict(zip(out[used].tolist(), moved[used].tolist(), strict=True)) == expected
    for at in np.flatnonzero(used):  # no gap between a key and its home
        home = int(out[at]) % 32
        assert used[np.arange(home, home + (at - home) % 32) % 32].all()

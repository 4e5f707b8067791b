"""Weights of corrections move from the small table to the large one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manylabel._kernels.corrections import memory

N_SLOTS = 64
tables = st.dictionaries(
    st.integers(1, 2**64 - 1), st.floats(-9, 9, width=32), max_size=N_SLOTS // 4
)


def fill(weights, keys, blocks):
    """Write pairs into a table, and return how many were new to it."""
    n = len(weights)
    some = np.zeros(n + 2, np.uint64)  # with slots that are empty
    some[1 : n + 1] = list(weights)
    values = np.zeros((n + 2, 2), np.float32)
    values[1 : n + 1, 0] = list(weights.values())
    values[1 : n + 1, 1] = np.arange(n)
    return memory.add_pairs(some, values, keys, blocks)


@given(tables, tables)
def test_pairs_are_those_of_a_dict_that_is_updated(first, second):
    keys, blocks = np.zeros(N_SLOTS, np.uint64), np.zeros((N_SLOTS, 2), np.float32)
    assert fill(first, keys, blocks) == len(first)
    assert fill(second, keys, blocks) == len(second.keys() - first.keys())
    is_used = keys != 0
    found = dict(zip(keys[is_used].tolist(), blocks[is_used, 0].tolist(), strict=True))
    assert found == first | second

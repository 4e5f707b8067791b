"""Sorts and searches against NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel._kernels import sorting
from manylabel._kernels._jit import kernel

numbers = st.lists(st.integers(-9, 9), max_size=60)
places = st.tuples(st.integers(0, 60), st.integers(0, 60))


@kernel
def sort(keys, start, end):
    sorting.sort(keys, start, end)


@kernel
def sort_pairs(keys, values, start, end):
    sorting.sort_pairs(keys, values, start, end)


@kernel
def lower_bound(keys, start, end, key):
    return sorting.lower_bound(keys, start, end, key)


def stretch(drawn, keys):
    start, end = sorted(drawn)
    return min(start, len(keys)), min(end, len(keys))


@settings(deadline=None)
@given(numbers, places)
def test_a_stretch_is_sorted_and_the_rest_stays(drawn, ends):
    keys = np.array(drawn, np.int64)
    start, end = stretch(ends, drawn)
    expected = keys.copy()
    expected[start:end].sort()
    sort(keys, start, end)
    np.testing.assert_array_equal(keys, expected)


@pytest.mark.parametrize("n", [2, 17, 1000, 20_000])
@pytest.mark.parametrize("order", ["random", "ascending", "descending", "equal"])
def test_long_arrays_are_sorted_in_any_order(n, order):
    keys = np.random.default_rng(n).integers(0, 10 * n, n)
    if order == "equal":
        keys[:] = 3
    elif order != "random":
        keys = np.sort(keys)[:: 1 if order == "ascending" else -1].copy()
    expected = np.sort(keys)
    sort(keys, 0, n)
    np.testing.assert_array_equal(keys, expected)


@settings(deadline=None)
@given(numbers, places)
def test_pairs_are_sorted_as_by_a_stable_argsort(drawn, ends):
    keys, values = np.array(drawn, np.float64), np.arange(len(drawn))
    start, end = stretch(ends, drawn)
    expected = keys.copy(), values.copy()
    order = start + np.argsort(keys[start:end], kind="stable")
    expected[0][start:end], expected[1][start:end] = keys[order], order
    sort_pairs(keys, values, start, end)
    np.testing.assert_array_equal(keys, expected[0])
    np.testing.assert_array_equal(values, expected[1])


@settings(deadline=None)
@given(numbers, places, st.integers(-10, 10))
def test_the_lower_bound_is_that_of_numpy(drawn, ends, key):
    keys = np.sort(np.array(drawn, np.int64))
    start, end = stretch(ends, drawn)
    found = lower_bound(keys, start, end, key)
    assert found == start + np.searchsorted(keys[start:end], key)

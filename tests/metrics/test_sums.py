"""Sums without rounding: any order and any cut give the bits of one pass."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel.metrics.sums import Counts, ExactSums

numbers = st.floats(allow_nan=False, allow_infinity=False)


def summed(values) -> ExactSums:
    sums = ExactSums(1)
    sums.take(np.array(values, float).reshape(-1, 1))
    return sums


def reference(values) -> float:
    """Return the sum of fractions, rounded once."""
    try:
        return float(sum(map(Fraction, values), Fraction(0)))
    except OverflowError:
        return np.inf if sum(map(Fraction, values)) > 0 else -np.inf


@given(st.lists(numbers, max_size=30))
def test_a_sum_is_that_of_fractions_rounded_once(values):
    assert summed(values).values[0] == reference(values)


@given(st.lists(numbers, max_size=30), st.integers(2, 8), st.randoms())
def test_shards_in_any_order_give_the_bits_of_one_pass(values, n_shards, random):
    shards = [summed(values[start::n_shards]) for start in range(n_shards)]
    random.shuffle(shards)
    total = shards[0]
    for shard in shards[1:]:
        total = total + shard
    assert_array_equal(total._limbs, summed(values)._limbs)


@given(st.lists(numbers, max_size=30))
def test_writing_keeps_every_bit(values):
    sums = summed(values)
    assert_array_equal(ExactSums(1).from_json(sums.to_json())._limbs, sums._limbs)


@pytest.mark.parametrize(
    "extreme", [5e-324, 2.2250738585072014e-308, np.finfo(float).max]
)
def test_the_ends_of_the_range_are_summed(extreme):
    values = [extreme, -extreme, extreme, 1.0]
    assert summed(values).values[0] == reference(values)


def test_a_sum_out_of_reach_is_infinite():
    assert summed([np.finfo(float).max] * 2).values[0] == np.inf
    assert summed([-np.finfo(float).max] * 2).values[0] == -np.inf


def test_each_column_has_its_own_sum():
    sums = ExactSums(2)
    sums.take(np.array([[0.1, 1], [0.2, 2]]))
    assert_array_equal(sums.values, [reference([0.1, 0.2]), 3])


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (["0x1p0"] * 2, "expected 1 sums"),
        (["three"], "expected a sum such as 0x3p-2, found 'three'"),
        (["0x1p4000"], "expected a sum within reach"),
        (["0x1p-1075"], "expected a sum within reach"),
    ],
)
def test_what_is_no_sum_is_refused(written, message):
    with pytest.raises(ValueError, match=message):
        ExactSums(1).from_json(written)


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=9))
def test_counts_are_written_and_read(values):
    counts = Counts(np.array([values]))
    found = Counts().from_json(counts.to_json())
    assert_array_equal((found + Counts()).values, [values])


@pytest.mark.parametrize(
    "written", [None, {"shape": [2]}, {"shape": [1], "places": [3], "counts": [1]}]
)
def test_what_are_no_counts_is_refused(written):
    with pytest.raises(ValueError, match="expected counts"):
        Counts().from_json(written)

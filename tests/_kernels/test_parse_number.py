"""Decimals are read as Python reads them: correctly rounded."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel._kernels._jit import kernel
from manylabel._kernels.parsing import numbers


@kernel
def parse_number(text, at):
    return numbers.parse_number(text, at)


@kernel
def parse_integer(text, at):
    return numbers.parse_integer(text, at)


finite = st.floats(allow_nan=False, allow_infinity=False)
singles = st.floats(allow_nan=False, allow_infinity=False, width=32)
spellings = st.sampled_from(
    ["{!r}", "{:.3g}", "{:.6e}", "{:.17g}", "{:.25f}", "{:E}", "{:+.9g}"]
)
decimals = st.from_regex(
    r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?",
    fullmatch=True,
)


def parse(text):
    return parse_number(np.frombuffer(text.encode() + b"\n", np.uint8), 0)


def reference(text):
    with np.errstate(over="ignore"):
        return np.float32(float(text))


def agrees(text):
    value, end, sure = parse(text)
    expected = reference(text)
    assert end == len(text)
    if sure:
        assert value == expected
        assert np.signbit(value) == np.signbit(expected)
    else:  # close to the middle between two floats, and never infinite
        assert abs(float(value) - float(expected)) <= np.spacing(abs(expected))
        assert np.isfinite(expected)
    return sure


@given(finite, spellings)
def test_doubles_read_as_python_reads_them(value, spelling):
    agrees(spelling.format(value))


@given(decimals)
def test_any_decimal_reads_as_python_reads_it(text):
    agrees(text)


@given(singles.filter(lambda x: 0 < abs(x) < 1e38), st.integers(-3, 3))
def test_the_middle_between_two_floats_is_never_guessed(value, nudge):
    low = np.float32(value)
    high = np.nextafter(low, np.float32(np.inf))
    middle = (Decimal(float(low)) + Decimal(float(high))) / 2
    agrees(str(middle + nudge * abs(middle) * Decimal("1e-19")))


@pytest.mark.parametrize(
    "text",
    "0 -0.0 .5 1. +2 1e-3 16777217 33554431 1e23 9007199254740993 1e-45 7e-46 1e-400 "
    "0e999999999999 3.4028234663852886e38 3.5e38 1e39 -1e400 0000000000000000000001 "
    "0.000000000000000000000000000000000000000001e42 123456789012345678901234567890 "
    "340282346638528859811704183484516925440 1e999999999999999999999".split(),
)
def test_odd_spellings(text):
    assert agrees(text)


@pytest.mark.parametrize("text", ["", ".", "-", "+.", "e5", "1e", "1e+", "x", "-e1"])
def test_what_is_no_number_has_no_length(text):
    assert parse(text)[1] == 0


def test_seventeen_digits_are_nearly_always_sure():
    values = np.random.default_rng(0).random(20_000)
    assert all([parse(repr(value))[2] for value in values.tolist()])


@given(st.integers(-(10**12), 10**12), st.sampled_from(["", " 1", ",2", "x"]))
def test_integers_are_read_and_huge_ones_stay_out_of_range(value, rest):
    text = np.frombuffer(f"{value}{rest}\n".encode(), np.uint8)
    got, end = parse_integer(text, 0)
    assert end == len(str(value))
    assert got == value or (abs(value) >= 10**10 and abs(got) == 10**10)

"""Decimal text to float32, correctly rounded, over bytes that end with a newline.

``text`` is a uint8 array whose last byte is a newline, so no loop needs to look for
the end of the array: a newline is part of no number.
"""

import numpy as np

from manylabel._kernels._jit import kernel

PLUS, COMMA, MINUS, DOT, ZERO, NINE, LOWER_E = 43, 44, 45, 46, 48, 57, 101
NEWLINE, TAB, RETURN, SPACE = 10, 9, 13, 32

MAX_POWER = 300
POWERS = np.array([float(f"1e{k}") for k in range(MAX_POWER + 1)])
EXACT_POWER, EXACT_INTEGER = 22, 2**53  # the doubles that hold a decimal exactly
MAX_MANTISSA = np.uint64(10**18)  # one digit more still fits in 64 bits
FAR = 10**9  # integers and exponents stop growing here
# A rounded mantissa times a rounded power is rounded once more, and digits after the
# nineteenth are dropped: together less than 2**-50 of the value.
DOUBT = 2.0**-49


@kernel
def is_blank(byte):
    """Tell a space, a tab and the first half of a Windows line end."""
    return byte == SPACE or byte == TAB or byte == RETURN


@kernel
def is_digit(byte):
    """Tell 0 to 9."""
    return byte >= ZERO and byte <= NINE


@kernel
def parse_integer(text, at):
    """Return the integer that starts at ``at`` and its end, or 0 and ``at``."""
    p = at
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += 1
    first, value = p, 0
    while is_digit(text[p]):
        value = min(value * 10 + (np.int64(text[p]) - ZERO), FAR * 10)
        p += 1
    if p == first:
        return 0, at
    return (-value if negative else value), p


@kernel
def parse_digits(text, at, mantissa):
    """Append the digits at ``at``; return integer, digits dropped and end.

    Digits after the nineteenth are dropped.
    """
    p = at
    while is_digit(text[p]) and mantissa < MAX_MANTISSA:
        mantissa = mantissa * np.uint64(10) + np.uint64(text[p] - ZERO)
        p += 1
    kept = p
    while is_digit(text[p]):
        p += 1
    return mantissa, p - kept, p


@kernel
def parse_mantissa(text, at):
    """Return the digits at ``at`` as integer, power of ten and end.

    The end is ``at`` where there is no digit.
    """
    mantissa, power, p = parse_digits(text, at, np.uint64(0))
    n_digits = p - at
    if text[p] == DOT:
        start = p + 1
        mantissa, dropped, p = parse_digits(text, start, mantissa)
        power -= p - start - dropped
        n_digits += p - start
    return mantissa, power, (p if n_digits else at)


@kernel
def scale(mantissa, power):
    """Return ``mantissa * 10**power`` as float32, and whether that is sure.

    Sure means: what rounding the decimal to a double and that to float32 gives. What
    might be infinite is returned as infinity, and sure.
    """
    if mantissa == 0 or power < -MAX_POWER:
        return np.float32(0.0), True
    if power > MAX_POWER:
        return np.float32(np.inf), True
    value = np.float64(mantissa)
    value = value * POWERS[power] if power >= 0 else value / POWERS[-power]
    if mantissa <= EXACT_INTEGER and abs(power) <= EXACT_POWER:
        return np.float32(value), True
    low = np.float32(value * (1.0 - DOUBT))
    high = np.float32(value * (1.0 + DOUBT))
    # Every double between the two rounds to the same float32 if the two do.
    return high, low == high or np.isinf(high)


@kernel
def parse_number(text, at):
    """Return the decimal that starts at ``at`` as float32, its end, and if it is sure.

    The end is ``at`` where there is no number. About one number of 17 digits in 2**25
    is too close to the middle between two floats to be sure: read it another way.
    """
    p = at
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += 1
    mantissa, power, q = parse_mantissa(text, p)
    if q == p:
        return np.float32(0.0), at, True
    if text[q] | 32 == LOWER_E:
        exponent, end = parse_integer(text, q + 1)
        if end == q + 1:
            return np.float32(0.0), at, True
        power, q = power + exponent, end
    value, sure = scale(mantissa, power)
    return (-value if negative else value), q, sure

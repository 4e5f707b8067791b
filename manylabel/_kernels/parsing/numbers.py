"""Decimal text to float32, correctly rounded, over bytes that end with a newline.

``text`` is a uint8 array whose last byte is a newline, so no loop needs to look for
the end of the array: a newline is part of no number.
"""

import numpy as np

from manylabel._kernels._jit import inner

PLUS, COMMA, MINUS, DOT, ZERO, NINE, LOWER_E = 43, 44, 45, 46, 48, 57, 101
NEWLINE, TAB, RETURN, SPACE = 10, 9, 13, 32

# With at most 19 digits, other powers of ten round to 0 and to infinity.
MIN_POWER, MAX_POWER = -65, 38
POWERS = np.array([float(f"1e{k}") for k in range(1 - MIN_POWER)])
INFINITE = 2.0**128 - 2.0**103  # the first double that float32 rounds to infinity
EXACT_POWER, EXACT_INTEGER = 22, 2**53  # the doubles that hold a decimal exactly
MAX_MANTISSA = np.uint64(10**18)  # one digit more still fits in 64 bits
FAR = 10**9  # integers and exponents stop growing here
# A rounded mantissa times a rounded power is rounded once more, and digits after the
# nineteenth are dropped: together less than 2**-50 of the value.
DOUBT = 2.0**-49


@inner
def byte(text, at):
    """Return ``text[at]``; an unsigned index needs no check for a negative one."""
    return text[np.uint64(at)]


@inner
def is_blank(character):
    """Tell a space, a tab and the first half of a Windows line end."""
    return character == SPACE or character == TAB or character == RETURN


@inner
def is_digit(character):
    """Tell 0 to 9."""
    return character >= ZERO and character <= NINE


@inner
def parse_integer(text, at):
    """Return the integer that starts at ``at`` and its end, or 0 and ``at``."""
    p = at
    negative = byte(text, p) == MINUS
    if negative or byte(text, p) == PLUS:
        p += 1
    first, value = p, 0
    while is_digit(byte(text, p)):
        value = min(value * 10 + (np.int64(byte(text, p)) - ZERO), FAR * 10)
        p += 1
    if p == first:
        return 0, at
    return (-value if negative else value), p


@inner
def parse_mantissa(text, at):
    """Return the digits at ``at`` as integer, power of ten and end.

    The end is ``at`` where there is no digit. Digits after the nineteenth are dropped.
    """
    mantissa, p = np.uint64(0), at
    while is_digit(byte(text, p)) and mantissa < MAX_MANTISSA:
        mantissa = mantissa * np.uint64(10) + np.uint64(byte(text, p) - ZERO)
        p += 1
    kept = p
    while is_digit(byte(text, p)):
        p += 1
    power, n_digits = p - kept, p - at
    start = p + (byte(text, p) == DOT)
    p = start
    while is_digit(byte(text, p)) and mantissa < MAX_MANTISSA:
        mantissa = mantissa * np.uint64(10) + np.uint64(byte(text, p) - ZERO)
        p += 1
    power -= p - start
    while is_digit(byte(text, p)):
        p += 1
    n_digits += p - start
    return mantissa, power, (p if n_digits else at)


@inner
def scale(mantissa, power):
    """Return ``mantissa * 10**power`` as float32, and whether that is sure.

    Sure means: what rounding the decimal to a double and that to float32 gives. What
    might be infinite is returned as infinity, and sure.
    """
    if mantissa == 0 or power < MIN_POWER:
        return np.float32(0.0), True
    if power > MAX_POWER:
        return np.float32(np.inf), True
    value = np.float64(mantissa)
    value = value * POWERS[power] if power >= 0 else value / POWERS[-power]
    if mantissa <= EXACT_INTEGER and abs(power) <= EXACT_POWER:
        return np.float32(value), True
    low, high = value * (1.0 - DOUBT), value * (1.0 + DOUBT)
    if high >= INFINITE:
        return np.float32(np.inf), True
    # Every double between the two rounds to the same float32 if the two do.
    return np.float32(high), np.float32(low) == np.float32(high)


@inner
def parse_number(text, at):
    """Return the decimal that starts at ``at`` as float32, its end, and if it is sure.

    The end is ``at`` where there is no number. About one number of 17 digits in 2**25
    is too close to the middle between two floats to be sure: read it another way.
    """
    p = at
    negative = byte(text, p) == MINUS
    if negative or byte(text, p) == PLUS:
        p += 1
    mantissa, power, q = parse_mantissa(text, p)
    has_exponent = byte(text, q) | 32 == LOWER_E
    exponent, end = parse_integer(text, q + has_exponent)
    if q == p or (has_exponent and end == q + 1):
        return np.float32(0.0), at, True
    if has_exponent:
        power, q = power + exponent, end
    value, sure = scale(mantissa, power)
    return (-value if negative else value), q, sure

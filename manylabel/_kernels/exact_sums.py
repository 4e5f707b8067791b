"""Sums of float64 without rounding: fixed point, as wide as the type reaches.

A sum is an integer of units of 2**-1074, kept as limbs of 32 bits in int64, the lowest
first, as Neal's small superaccumulator (2015, "Fast exact summation using small and
large superaccumulators").
"""

from manylabel._kernels._jit import inner, kernel

LIMB = 32
N_LIMBS = 67  # 2046 + 53 bits of a term, and what many terms carry over
MASK = (1 << LIMB) - 1
MANTISSA, EXPONENT = 52, 0x7FF


@kernel
def add_rows(bits, limbs):
    """Add rows of finite float64, seen as int64, to sums; leave these carried.

    Parameters
    ----------
    bits : ndarray of shape (n_rows, n_sums)
        The terms; fewer than 2**30 rows, perhaps none.
    limbs : ndarray of shape (n_sums, N_LIMBS)
        The sums, which are changed in place.
    """
    for i in range(bits.shape[0]):
        for j in range(bits.shape[1]):
            add(bits[i, j], limbs[j])
    carry(limbs)


@inner
def carry(limbs):
    """Write sums in the one way in which all limbs but the last are of 32 bits."""
    for j in range(limbs.shape[0]):
        for place in range(N_LIMBS - 1):
            limbs[j, place + 1] += limbs[j, place] >> LIMB
            limbs[j, place] &= MASK


@inner
def add(bits, limbs):
    """Add one number to a sum, whose limbs may outgrow 32 bits."""
    exponent = (bits >> MANTISSA) & EXPONENT
    mantissa = bits & ((1 << MANTISSA) - 1)
    if exponent > 0:  # not subnormal
        mantissa |= 1 << MANTISSA
        exponent -= 1
    if mantissa == 0:
        return
    place, shift = exponent // LIMB, exponent % LIMB
    low = (mantissa & ((1 << (LIMB - shift)) - 1)) << shift
    rest = mantissa >> (LIMB - shift)
    sign = -1 if bits < 0 else 1
    limbs[place] += sign * low
    limbs[place + 1] += sign * (rest & MASK)
    limbs[place + 2] += sign * (rest >> LIMB)

"""Numbers of 16 bits, half the memory of singles.

A weight keeps the upper half of a single: all of its range, and two to three digits. A
share, in (0, 1], counts steps of 1 / 65520, so those of up to ten rows are exact.
"""

import numpy as np

from manylabel._kernels._jit import inner

STEPS = 65520  # of a share of 1; a multiple of 1, 2, ..., 10
HALF = np.uint32(16)


@inner
def shortened(weight):
    """Return the upper half of a single, rounded to the nearest."""
    bits = np.float32(weight).view(np.uint32)
    even = (bits >> HALF) & np.uint32(1)
    return np.uint16((bits + np.uint32(0x7FFF) + even) >> HALF)


@inner
def lengthened(short):
    """Return the single whose upper half is ``short``."""
    return np.uint32(np.uint32(short) << HALF).view(np.float32)


@inner
def steps(share):
    """Return a share in (0, 1] in steps, at least one."""
    return np.uint16(max(1.0, np.rint(share * STEPS)))

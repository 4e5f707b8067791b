"""Random numbers whose whole state is one uint64 in an array (SplitMix64).

The caller draws one state per task before any task starts, so results do not depend
on the number of jobs (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number
generators", figure 17).
"""

import numpy as np

from manylabel._kernels._jit import inner


@inner
def next_uint64(state):
    """Advance ``state`` (shape (1,), uint64) in place; return 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inner
def next_float(state):
    """Return a uniform double in [0, 1)."""
    return np.float64(next_uint64(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner
def next_below(state, bound):
    """Return a uniform integer in [0, bound), for 0 < bound < 2**32.

    The top 32 bits are scaled; the bias is below ``bound / 2**32``.
    """
    high = next_uint64(state) >> np.uint64(32)
    return np.int64((high * np.uint64(bound)) >> np.uint64(32))


@inner
def shuffle(state, items, n):
    """Permute the first ``n`` entries of ``items`` in place (Fisher-Yates)."""
    for i in range(n - 1, 0, -1):
        j = next_below(state, i + 1)
        items[i], items[j] = items[j], items[i]

"""Products of a block of long rows with vectors, four rows at a time.

Four rows at once read and write the vector a quarter as often.
"""

import numpy as np

from manylabel._kernels._jit import kernel, reducing_kernel


@reducing_kernel
def dots(block, n_rows, vector, out):
    """Write the dot product of each of the first rows with ``vector``."""
    i = 0
    while i + 3 < n_rows:
        a, b = np.uintp(i), np.uintp(i + 1)
        c, d = np.uintp(i + 2), np.uintp(i + 3)
        first = second = third = fourth = 0.0
        for k in range(vector.shape[0]):
            first += block[a, k] * vector[k]
            second += block[b, k] * vector[k]
            third += block[c, k] * vector[k]
            fourth += block[d, k] * vector[k]
        out[i], out[i + 1], out[i + 2], out[i + 3] = first, second, third, fourth
        i += 4
    while i < n_rows:
        first = 0.0
        for k in range(vector.shape[0]):
            first += block[np.uintp(i), k] * vector[k]
        out[i] = first
        i += 1


@kernel
def add_rows(block, n_rows, factors, sign, out):
    """Add ``sign * factors[i]`` times row i to ``out``, for each of the first rows."""
    i = 0
    while i + 3 < n_rows:
        a, b = np.uintp(i), np.uintp(i + 1)
        c, d = np.uintp(i + 2), np.uintp(i + 3)
        s, t = sign * factors[a], sign * factors[b]
        u, v = sign * factors[c], sign * factors[d]
        for k in range(out.shape[0]):
            half = s * block[a, k] + t * block[b, k]
            out[k] += half + (u * block[c, k] + v * block[d, k])
        i += 4
    while i < n_rows:
        a, s = np.uintp(i), sign * factors[i]
        for k in range(out.shape[0]):
            out[k] += s * block[a, k]
        i += 1

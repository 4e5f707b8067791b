"""Products of a block of long rows with vectors, four rows at a time.

Four rows at once read and write the vector a quarter as often.
"""

import numpy as np

from manylabel._kernels._jit import kernel, reducing_kernel

TILE = 256


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


@kernel
def multiply(left, n_rows, n_inner, block, out):
    """Write the first rows and inner columns of ``left`` times ``block`` into ``out``.

    By hand: a BLAS would start threads for matrices of this size, for many times the
    price of the product. Columns are taken by the tile, which stays in the cache.
    """
    for low in range(0, block.shape[1], TILE):
        first, width = np.uintp(low), min(TILE, block.shape[1] - low)
        for row in range(n_rows):
            i, j = np.uintp(row), 0
            for k in range(width):
                out[i, first + np.uintp(k)] = 0.0
            while j + 3 < n_inner:
                a, b = np.uintp(j), np.uintp(j + 1)
                c, d = np.uintp(j + 2), np.uintp(j + 3)
                s, t, u, v = left[i, a], left[i, b], left[i, c], left[i, d]
                for q in range(width):
                    k = first + np.uintp(q)
                    half = s * block[a, k] + t * block[b, k]
                    out[i, k] += half + (u * block[c, k] + v * block[d, k])
                j += 4
            while j < n_inner:
                a, s = np.uintp(j), left[i, np.uintp(j)]
                for q in range(width):
                    k = first + np.uintp(q)
                    out[i, k] += s * block[a, k]
                j += 1

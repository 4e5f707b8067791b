"""Products of a block of long rows with vectors, four rows at a time.

Four rows at once read and write the vector a quarter as often.
"""

import numpy as np

from manylabel._kernels._jit import inner, reducing_inner

TILE = 512


@reducing_inner
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


@reducing_inner
def norm(vector):
    """Return the length of ``vector``."""
    total = 0.0
    for k in range(vector.shape[0]):
        total += vector[k] * vector[k]
    return np.sqrt(total)


@inner
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


@inner
def multiply(left, n_rows, n_inner, block, out):
    """Write the first rows and inner columns of ``left`` times ``block`` into ``out``.

    By hand: a BLAS would start threads for matrices of this size, for many times the
    price of the product. Columns are taken by the tile, which stays in the cache.
    """
    for low in range(0, block.shape[1], TILE):
        width, i = min(TILE, block.shape[1] - low), np.int64(0)
        while i + 1 < n_rows:
            _multiply_pair(left, i, n_inner, block, low, width, out)
            i += 2
        if i < n_rows:
            _multiply_row(left, i, n_inner, block, low, width, out)


@inner
def _multiply_pair(left, i, n_inner, block, low, width, out):
    """Write a tile of rows ``i`` and ``i + 1``, which share what is read."""
    first, m, n, j = np.uintp(low), np.uintp(i), np.uintp(i + 1), 0
    for q in range(width):
        out[m, first + np.uintp(q)] = 0.0
        out[n, first + np.uintp(q)] = 0.0
    while j + 3 < n_inner:
        a, b = np.uintp(j), np.uintp(j + 1)
        c, d = np.uintp(j + 2), np.uintp(j + 3)
        s, t, u, v = left[m, a], left[m, b], left[m, c], left[m, d]
        w, x, y, z = left[n, a], left[n, b], left[n, c], left[n, d]
        for q in range(width):
            k = first + np.uintp(q)
            e, f, g, h = block[a, k], block[b, k], block[c, k], block[d, k]
            out[m, k] += (s * e + t * f) + (u * g + v * h)
            out[n, k] += (w * e + x * f) + (y * g + z * h)
        j += 4
    while j < n_inner:
        a, s, w = np.uintp(j), left[m, np.uintp(j)], left[n, np.uintp(j)]
        for q in range(width):
            k = first + np.uintp(q)
            out[m, k] += s * block[a, k]
            out[n, k] += w * block[a, k]
        j += 1


@inner
def _multiply_row(left, i, n_inner, block, low, width, out):
    first, m = np.uintp(low), np.uintp(i)
    for q in range(width):
        out[m, first + np.uintp(q)] = 0.0
    for j in range(n_inner):
        a, s = np.uintp(j), left[m, np.uintp(j)]
        for q in range(width):
            k = first + np.uintp(q)
            out[m, k] += s * block[a, k]

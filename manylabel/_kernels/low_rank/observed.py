"""Sums over the entries of a sparse matrix that weigh more than the others.

``codes`` has a vector for each row of the matrix, ``factors`` one for each column; the
``weight`` of an entry stands where its column does.
"""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch


@kernel
def add_products(indptr, indices, weight, codes, factors, out):
    """Add to each row of ``out`` the sum of weight (code . factor) factor."""
    for i in range(out.shape[0]):
        for p in stretch(indptr, i):
            factor, product = factors[np.uintp(indices[p])], 0.0
            for a in range(factor.shape[0]):
                product += codes[i, a] * factor[a]
            product *= weight[p]
            for a in range(factor.shape[0]):
                out[i, a] += product * factor[a]


@kernel
def add_squares(indptr, indices, weight, factors, out):
    """Add to each square of ``out`` the sum of weight factor factor' of a row."""
    for i in range(out.shape[0]):
        square = out[i]
        for p in stretch(indptr, i):
            factor = factors[np.uintp(indices[p])]
            for a in range(factor.shape[0]):
                value, line = weight[p] * factor[a], square[a]
                for b in range(a + 1):
                    line[b] += value * factor[b]
        for a in range(square.shape[0]):  # what was there is symmetric too
            for b in range(a):
                square[b, a] = square[a, b]

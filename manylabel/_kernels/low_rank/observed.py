"""Sums over the entries of a sparse matrix that weigh more than the others.

``codes`` has a vector for each row of the matrix, ``factors`` one for each column; the
``weight`` of an entry stands where its column does.
"""

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch


@kernel
def add_products(indptr, indices, weight, codes, factors, out):
    """Add to each row of ``out`` the sum of weight (code . factor) factor."""
    for i in range(out.shape[0]):
        for p in stretch(indptr, i):
            product = 0.0
            for a in range(codes.shape[1]):
                product += codes[i, a] * factors[indices[p], a]
            product *= weight[p]
            for a in range(codes.shape[1]):
                out[i, a] += product * factors[indices[p], a]


@kernel
def add_squares(indptr, indices, weight, factors, out):
    """Add to each square of ``out`` the sum of weight factor factor' of a row."""
    for i in range(out.shape[0]):
        for p in stretch(indptr, i):
            for a in range(factors.shape[1]):
                value = weight[p] * factors[indices[p], a]
                for b in range(factors.shape[1]):
                    out[i, a, b] += value * factors[indices[p], b]

"""Rows of compressed sparse matrices."""

import numpy as np

from manylabel._kernels._jit import allocating_kernel


@allocating_kernel
def stretch(indptr, row):
    """Return the places of a row; unsigned, so that reading them tests no sign."""
    row = np.uintp(row)
    return range(np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)]))


@allocating_kernel
def is_sound(indptr, indices, data, n_columns):
    """Return whether rows are in bounds, sorted, free of repetition, and finite."""
    if indptr[0] != 0 or not indptr[-1] == indices.shape[0] == data.shape[0]:
        return False
    for i in range(indptr.shape[0] - 1):
        if not indptr[i] <= indptr[i + 1] <= indices.shape[0]:
            return False
        before = -1
        for p in stretch(indptr, i):
            if not before < indices[p] < n_columns or not np.isfinite(data[p]):
                return False
            before = indices[p]
    return True

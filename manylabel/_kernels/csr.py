"""Rows of compressed sparse matrices."""

import numpy as np

from manylabel._kernels._jit import kernel


@kernel
def stretch(indptr, row):
    """Return the places of a row; unsigned, so that reading them tests no sign."""
    row = np.uintp(row)
    return range(np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)]))

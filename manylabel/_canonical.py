"""Matrices as kernels take them: CSR arrays of sorted, unique, sound indices."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from manylabel._kernels import csr
from manylabel._typing import CSR, Array

SPARSE = 8  # of so many values of a dense matrix, one that is not 0 is expected


def is_ready(X: Any) -> bool:
    """Return whether rows are as they have to be; takes microseconds."""
    return (
        isinstance(X, sp.csr_array)
        and X.dtype == np.float32
        and X.indices.dtype == X.indptr.dtype == np.int32
        and len(X.indptr) == X.shape[0] + 1
        and bool(csr.is_sound(X.indptr, X.indices, X.data, X.shape[1]))
    )


def canonical(matrix: Any, dtype: Any) -> CSR:
    """Return a CSR array with sorted, unique indices; the input is not touched."""
    if (
        isinstance(matrix, np.ndarray)
        and matrix.dtype == dtype == np.float32
        and matrix.flags.c_contiguous
        and matrix.size < 1 << 31
    ):
        return _compressed(matrix)
    known = isinstance(matrix, sp.csr_array) and matrix.dtype == dtype
    result = matrix if known else sp.csr_array(matrix, dtype=dtype)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    # Half the memory, and one compiled version of each kernel in place of two.
    if result.indices.dtype != np.int32 and max(*result.shape, result.nnz) < 1 << 31:
        narrow = (result.indices.astype(np.int32), result.indptr.astype(np.int32))
        result = sp.csr_array((result.data, *narrow), shape=result.shape)
    return result


def _compressed(matrix: Array) -> CSR:
    """Return a dense matrix as CSR; writeable values, none of them 0, are not copied.

    SciPy takes 15 times as long. Kernels would be compiled anew for read-only values.
    """
    dense = np.require(matrix, requirements="W")
    n_rows, n_columns = dense.shape
    starts, is_whole = np.empty(n_rows + 1, np.int32), False
    n_values = 0 if dense[:1].all() else dense.size // SPARSE
    while not is_whole:  # the second time there is room
        columns = np.empty(n_values + n_columns, np.int32)
        values = np.empty(n_values + n_columns, np.float32)
        is_whole = csr.compress(dense, csr.BITS, starts, columns, values)
        n_values = int(starts[-1])
        if n_values == dense.size:  # as of an embedding
            columns = np.tile(np.arange(n_columns, dtype=np.int32), n_rows)
            values, is_whole = dense.reshape(-1), True
    parts = (values[:n_values], columns[:n_values], starts)
    return sp.csr_array(parts, shape=dense.shape)


def check_indices(matrix: Any, name: str) -> None:
    """Refuse a compressed matrix whose indices point outside: SciPy accepts them."""
    if matrix.format not in ("csr", "csc", "bsr"):
        return
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{name} must be a valid sparse matrix: {error}.") from None


def check_finite(X: CSR, name: str) -> CSR:
    bad = np.flatnonzero(~np.isfinite(X.data))
    if not len(bad):
        return X
    row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
    kind = "NaN" if np.isnan(X.data[bad[0]]) else "inf"
    raise ValueError(
        f"{name} must hold finite float32 numbers. "
        f"Got {kind} at row {row}, column {int(X.indices[bad[0]])}."
    )

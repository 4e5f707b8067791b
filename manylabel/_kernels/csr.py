"""Rows of compressed sparse matrices."""

import numpy as np

from manylabel._kernels._jit import inner, kernel

BLOCK = 16  # values of a dense row that are passed over together if all are 0
FULL = 3  # a row of which one value in so many is not 0 stores its zeros too


@inner
def stretch(indptr, row):
    """Return the places of a row; unsigned, so that reading them tests no sign."""
    row = np.uintp(row)
    return range(np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)]))


@kernel
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


@kernel
def count_values(X, starts):
    """Write where the values of each row of a dense matrix start, zeros left out."""
    starts[0] = 0
    for i in range(X.shape[0]):
        n_values = np.int32(0)
        for j in range(X.shape[1]):
            n_values += np.int32(X[i, j] != 0.0)
        starts[i + 1] = starts[i] + n_values


@kernel
def compress(X, starts, columns, values):
    """Write the values of a dense matrix, and their columns, zeros left out.

    Both arrays have one place more, as what is 0 is written too, and then overwritten.
    """
    width = X.shape[1]
    for i in range(X.shape[0]):
        p = np.int64(starts[i])
        for start in range(0, width, BLOCK):
            end = start + BLOCK
            if end <= width:
                n_values = np.int32(0)
                for n in range(BLOCK):
                    n_values += np.int32(X[i, start + n] != 0.0)
                if n_values == 0:
                    continue
            for j in range(start, min(end, width)):
                columns[np.uintp(p)], values[np.uintp(p)] = j, X[i, j]
                p += X[i, j] != 0.0


@inner
def split_rows(rows, start, end, score, passed):
    """Bring the rows of score 0 or more to the front; return where the others start.

    ``score`` has those of ``rows[start:end]``, from 0 on. The order stays on each side;
    ``passed`` holds the others meanwhile.
    """
    middle, n_passed = start, 0
    for r in range(start, end):
        row = rows[r]
        rows[middle], passed[n_passed] = row, row
        is_first = score[r - start] >= 0.0
        middle += is_first
        n_passed += not is_first
    for n in range(n_passed):
        rows[middle + n] = passed[n]
    return middle


def with_full_rows(indptr, indices, data, width):
    """Return a CSR matrix, as three arrays, whose fuller rows store their zeros too.

    There a kernel finds a column by number, and need not read the others.
    """
    counts = np.diff(indptr)
    is_full = FULL * counts > width
    grown = np.where(is_full, width, counts)
    starts = np.concatenate([[0], np.cumsum(grown)])
    columns, values = np.empty(starts[-1], np.int32), np.zeros(starts[-1], data.dtype)
    full, kept = np.repeat(is_full, grown), ~np.repeat(is_full, counts)
    columns[full] = np.tile(np.arange(width), np.count_nonzero(is_full))
    columns[~full], values[~full] = indices[kept], data[kept]
    first = np.repeat(starts[:-1], counts)[~kept]
    values[first + indices[~kept]] = data[~kept]
    return starts, columns, values

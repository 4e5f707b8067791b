"""Rows of compressed sparse matrices."""

import numpy as np

from manylabel._kernels._jit import inner, kernel

BLOCK = 32  # values of a dense row that are looked at together
BITS = np.uint32(1) << np.arange(BLOCK, dtype=np.uint32)
# The number of a bit, by five bits of its product with de Bruijn's sequence.
DE_BRUIJN = 0x077CB531
PLACES = np.argsort((DE_BRUIJN << np.arange(BLOCK) >> 27) & 31)
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
def compress(X, bits, starts, columns, values):
    """Write the values of a dense matrix as CSR, zeros left out; return if all fitted.

    Rows are written while there is room for a whole one; ``starts`` then goes on to
    count the values of the others. ``bits`` is BITS.
    """
    width, room = np.uintp(X.shape[1]), columns.shape[0] - X.shape[1]
    step, p, fits = np.uintp(bits.shape[0]), np.int64(0), True
    starts[0] = 0
    for i in range(np.uintp(X.shape[0])):
        fits = p <= room
        if fits:
            for start in range(np.uintp(0), width, step):
                marked = _mark_values(X, i, start, min(step, width - start), bits)
                p = _write_marked(X, i, start, marked, p, columns, values)
        else:
            n_values = np.int32(0)
            for j in range(width):
                n_values += np.int32(X[i, j] != 0.0)
            p += n_values
        starts[i + np.uintp(1)] = p
    return fits


@inner
def _mark_values(X, i, start, n_columns, bits):
    """Return a number that has the bits of columns whose values are not 0."""
    marked = np.uint32(0)
    for n in range(n_columns):
        bit = bits[n] if X[i, start + n] != 0.0 else np.uint32(0)
        marked = np.uint32(marked | bit)
    return np.int64(marked)


@inner
def _write_marked(X, i, start, marked, p, columns, values):
    """Write the values that are marked; return the place behind them.

    Something is written where none is marked, too, and then overwritten: most blocks of
    a sparse row have one value or none, and which of the two is hard to guess.
    """
    while True:
        others = marked & (marked - 1)
        place = PLACES[np.uintp(((marked ^ others) * DE_BRUIJN >> 27) & 31)]
        j = start + np.uintp(place)
        columns[np.uintp(p)], values[np.uintp(p)] = j, X[i, j]
        p += marked != 0
        marked = others
        if marked == 0:
            return p


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

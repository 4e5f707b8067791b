"""Data lines of an ARFF file, dense or sparse, to flat arrays.

``text`` and ``progress`` are those of :mod:`manylabel._kernels.parse_rows`. Only plain
lines are read: numbers and ``?`` where the attributes are numbers. At any other line
the kernel stops, and the caller reads that line or says what is wrong with it.
``kinds`` and ``columns`` have one entry per attribute: NUMBER, ZERO_ONE or WORD, and
the column of the feature, or ``-1 - column`` of the label. Zeros are not stored.
"""

import numpy as np

from manylabel._kernels._jit import allocating_kernel, inner
from manylabel._kernels.parsing.numbers import (
    COMMA,
    NEWLINE,
    byte,
    is_blank,
    parse_integer,
    parse_number,
)
from manylabel._kernels.parsing.rows import (
    AT,
    INFINITY,
    N_LABELS,
    N_LINES,
    N_ROWS,
    N_UNSURE,
)

NUMBER, ZERO_ONE, WORD = range(3)
STOP = -1
PERCENT, QUESTION, OPEN, CLOSE = 37, 63, 123, 125


@allocating_kernel
def parse_cells(
    text,
    kinds,
    columns,
    read_sparse,
    y_indptr,
    y_indices,
    x_indptr,
    x_indices,
    x_data,
    unsure,
    progress,
):
    """Parse lines from ``progress[AT]`` to the end or to one that is not plain.

    Without ``read_sparse`` a sparse line is not plain: what it omits is not all 0.
    """
    out = (y_indices, x_indices, x_data, unsure)
    counts = np.empty(3, np.int64)
    while progress[AT] < text.shape[0]:
        counts[:] = progress[N_LABELS : N_UNSURE + 1]
        at = skip_blanks(text, progress[AT])
        is_row = byte(text, at) != NEWLINE and byte(text, at) != PERCENT
        if not is_row:
            while byte(text, at) != NEWLINE:
                at += 1
        elif byte(text, at) != OPEN:
            at = parse_dense(text, at, kinds, columns, out, counts)
        elif read_sparse:
            at = parse_sparse(text, at + 1, kinds, columns, out, counts)
        else:
            return
        if at == STOP:
            return

        if is_row:
            progress[N_ROWS] += 1
            y_indptr[progress[N_ROWS]] = counts[0]
            x_indptr[progress[N_ROWS]] = counts[1]
        progress[N_LABELS : N_UNSURE + 1] = counts
        progress[N_LINES] += 1
        progress[AT] = at + 1


@inner
def parse_dense(text, at, kinds, columns, out, counts):
    """Read ``1,0.5,?``; return the place of the newline or STOP."""
    for attribute in range(kinds.shape[0]):
        at = parse_cell(text, at, kinds[attribute], columns[attribute], out, counts)
        if at == STOP:
            return STOP
        last = attribute + 1 == kinds.shape[0]
        if byte(text, at) != (NEWLINE if last else COMMA):
            return STOP
        at += not last
    return at


@inner
def parse_sparse(text, at, kinds, columns, out, counts):
    """Read ``3 1, 7 0.5}``, in order; return the place of the newline or STOP."""
    previous = -1
    at = skip_blanks(text, at)
    while byte(text, at) != CLOSE:
        attribute, p = parse_integer(text, at)
        if p == at or attribute <= previous or attribute >= kinds.shape[0]:
            return STOP
        if not is_blank(byte(text, p)):
            return STOP
        at = parse_cell(text, p, kinds[attribute], columns[attribute], out, counts)
        if at == STOP:
            return STOP
        previous = attribute
        if byte(text, at) == COMMA:
            at = skip_blanks(text, at + 1)
        elif byte(text, at) != CLOSE:
            return STOP
    at = skip_blanks(text, at + 1)
    return at if byte(text, at) == NEWLINE else STOP


@inner
def parse_cell(text, at, kind, column, out, counts):
    """Store one number; return the place after it and its blanks, or STOP."""
    y_indices, x_indices, x_data, unsure = out
    at = skip_blanks(text, at)
    if byte(text, at) == QUESTION:
        return skip_blanks(text, at + 1)
    value, p, sure = parse_number(text, at)
    if p == at or kind == WORD or abs(value) == INFINITY:
        return STOP
    if kind == ZERO_ONE and not (sure and (value == 0 or value == 1)):
        return STOP
    if value != 0 or not sure:
        if column < 0:
            y_indices[counts[0]] = -1 - column
            counts[0] += 1
        else:
            x_indices[counts[1]], x_data[counts[1]] = column, value
            if not sure:
                unsure[counts[2], 0] = counts[1]
                unsure[counts[2], 1], unsure[counts[2], 2] = at, p
                counts[2] += 1
            counts[1] += 1
    return skip_blanks(text, p)


@inner
def skip_blanks(text, at):
    """Return the place of the first byte from ``at`` on that is not blank."""
    while is_blank(byte(text, at)):
        at += 1
    return at

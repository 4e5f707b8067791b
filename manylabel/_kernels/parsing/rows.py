"""Rows of ``label,label index:value ...`` text to flat arrays.

``text`` is a uint8 array of whole lines, the last byte a newline. ``progress`` holds
the counters named below, updated in place after each whole row, so that a caller can
step over a bad line and go on. ``loose`` text is svmlight's: it may have comments,
``qid:`` and labels such as ``1.0``, and its blank lines are no rows.
"""

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.parsing.numbers import (
    COMMA,
    DOT,
    NEWLINE,
    ZERO,
    byte,
    is_blank,
    parse_integer,
    parse_number,
)

AT, N_LINES, N_ROWS, N_LABELS, N_VALUES, N_UNSURE, UNTIDY, FAULT = range(8)
FINE, BAD_LABEL, BAD_FEATURE, BAD_VALUE = range(4)
COLON, HASH, LOWER_Q, LOWER_I, LOWER_D = 58, 35, 113, 105, 100
INFINITY = float("inf")


@kernel
def parse_rows(
    text,
    loose,
    first_label,
    last_label,
    first_feature,
    last_feature,
    y_indptr,
    y_indices,
    x_indptr,
    x_indices,
    x_data,
    unsure,
    progress,
):
    """Parse lines from ``progress[AT]`` to the end of ``text`` or the first bad line.

    The arrays are filled in place from where ``progress`` says; a row that is not
    strictly increasing sets ``progress[UNTIDY]``. Values that
    :func:`~manylabel._kernels.parse_number.parse_number` is not sure of are listed in
    ``unsure`` as (place in ``x_data``, start, end). Returns FINE, or what is wrong at
    ``progress[FAULT]``; ``progress[AT]`` is then the start of that line.
    """
    at, end = progress[AT], text.shape[0]
    while at < end:
        n_labels, n_values = progress[N_LABELS], progress[N_VALUES]
        n_unsure = progress[N_UNSURE]
        p, verdict, untidy = at, FINE, False
        if not ends_token(byte(text, at), loose) and not starts_feature(text, at):
            p, n_labels, verdict, untidy = parse_labels(
                text, at, loose, first_label, last_label, y_indices, n_labels
            )
        if verdict == FINE:
            p, n_values, n_unsure, verdict, mixed = parse_features(
                text, p, loose, first_feature, last_feature, x_indices, x_data,
                n_values, unsure, n_unsure,
            )  # fmt: skip
            untidy = untidy or mixed
        if verdict != FINE:
            progress[FAULT] = p
            return verdict

        progress[N_LINES] += 1
        empty = n_labels == progress[N_LABELS] and n_values == progress[N_VALUES]
        if not (loose and empty):
            progress[N_ROWS] += 1
            y_indptr[progress[N_ROWS]] = n_labels
            x_indptr[progress[N_ROWS]] = n_values
        progress[N_LABELS], progress[N_VALUES] = n_labels, n_values
        progress[N_UNSURE] = n_unsure
        if untidy:
            progress[UNTIDY] = 1
        at = p + 1
        progress[AT] = at
    return FINE


@inner
def parse_labels(text, at, loose, first, last, indices, n):
    """Read ``1,2,3``; return end, count, verdict and whether the order is wrong."""
    previous, untidy = first - 1, False
    while True:
        label, p = parse_integer(text, at)
        if loose and p > at and byte(text, p) == DOT:
            p += 1
            while byte(text, p) == ZERO:
                p += 1
        more = byte(text, p) == COMMA
        if p == at or label < first or label > last:
            return at, n, BAD_LABEL, False
        if not more and not ends_token(byte(text, p), loose):
            return at, n, BAD_LABEL, False
        indices[n] = label
        n += 1
        untidy = untidy or label <= previous
        previous = label
        if not more:
            return p, n, FINE, untidy
        at = p + 1


@inner
def parse_features(text, at, loose, first, last, indices, data, n, unsure, n_unsure):
    """Read ``1:0.5 3:2`` up to the newline; return end, counts, verdict and order."""
    previous, untidy = first - 1, False
    while True:
        while is_blank(byte(text, at)):
            at += 1
        if loose:
            at = skip_asides(text, at)
        if byte(text, at) == NEWLINE:
            return at, n, n_unsure, FINE, untidy
        index, p = parse_integer(text, at)
        if p == at or byte(text, p) != COLON or index < first or index > last:
            return at, n, n_unsure, BAD_FEATURE, False
        value, q, sure = parse_number(text, p + 1)
        whole = q > p + 1 and ends_token(byte(text, q), loose)
        if not whole or abs(value) == INFINITY:
            return at, n, n_unsure, BAD_VALUE, False
        if not sure:
            unsure[n_unsure, 0] = n
            unsure[n_unsure, 1], unsure[n_unsure, 2] = p + 1, q
            n_unsure += 1
        indices[n], data[n] = index, value
        n += 1
        untidy = untidy or index <= previous
        previous = index
        at = q


@inner
def skip_asides(text, at):
    """Return where the next feature or the newline is, past comments and ``qid:``."""
    while True:
        query = (
            byte(text, at) == LOWER_Q
            and byte(text, at + 1) == LOWER_I
            and byte(text, at + 2) == LOWER_D
            and byte(text, at + 3) == COLON
        )
        if byte(text, at) == HASH:
            while byte(text, at) != NEWLINE:
                at += 1
        elif query:
            while not ends_token(byte(text, at), True):
                at += 1
        else:
            return at
        while is_blank(byte(text, at)):
            at += 1


@inner
def starts_feature(text, at):
    """Tell if the line starts with ``index:``, that is, has no label."""
    _, p = parse_integer(text, at)
    return byte(text, p) == COLON or byte(text, at) == LOWER_Q


@inner
def ends_token(character, loose):
    """Tell what may follow a label or a value; a comment only in loose text."""
    comment = loose and character == HASH
    return is_blank(character) or character == NEWLINE or comment

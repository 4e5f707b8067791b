"""The single path of rows down a sparse coding tree, without looking at most of it.

Where a row has none of a decision's features, the intercept decides. Such steps make
chains of nodes, and a row leaves a chain only where one of its own features makes it.
A small tree has a table of all weights, four places of which are looked up at once.
Rows that come to a chain wait there for each other: its part of the table is read for
all of them while it is at hand. In a large tree, rows go one by one, and at each
feature are listed the places where it counts, so that the rest of the chain is never
read; only a short chain is read node by node. The answers are those of every single
decision, to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inlined, inner, kernel
from manylabel._kernels.coding_tree.scores import score
from manylabel._kernels.csr import stretch
from manylabel._kernels.workspace import reused

SHORT = 16  # weights that are read as soon as the places of one feature are found
AT_ONCE = 4  # columns of the table that are looked up together, never of two blocks
BLOCK = 16  # columns whose weights of a feature are side by side: a line of the cache
WINDOW = 512  # places of a chain whose scores are added up together


class Chains(NamedTuple):
    """Nodes by place: a chain is a stretch of places, and its last one is a leaf."""

    end: Any  # (n_nodes,) the last place of the chain
    other: Any  # (n_nodes,) place of the child outside the chain, where one begins
    intercept: Any  # (n_nodes,)
    f_indptr: Any  # (n_nodes + 1,) labels fixed at a place
    f_indices: Any
    table: Any  # (n_features,) numbers of the selected features; -1 for others
    c_indptr: Any  # (n_selected + 1,) where the places of a feature start
    c_places: Any  # ascend within a feature
    c_data: Any
    w_indptr: Any  # (n_nodes + 1,) the same by place
    w_indices: Any  # numbers of features; ascend within a place
    w_data: Any
    column: Any  # (n_nodes,) by head of a chain: that of its first place in the table
    b_intercept: Any  # (n_columns,) of the table
    b_data: Any  # (n_blocks * n_selected * BLOCK,) weights; empty if too many


class RowFeatures(NamedTuple):
    """The selected features of the rows, and of the row on its way."""

    starts: Any  # (n_rows + 1,) where those of a row start
    number: Any  # (n_values + 1,)
    value: Any  # (n_values + 1,)
    dense: Any  # (n_selected,) values of the row by number; 0 between rows
    next: Any  # (n_selected,) by feature of the row: the first place not yet added
    score: Any  # (WINDOW,)


class Waiting(NamedTuple):
    """Lists of the rows that wait at a chain: the last of them, and who was before."""

    last: Any  # (n_nodes,) by head of a chain; -1 if no row waits
    before: Any  # (n_rows,) -1 for the first
    heads: Any  # (n_nodes,) of chains where a row waits


@kernel
def lay_out(children, intercept, fixed, place, end, other, column):
    """Write the place of each node, and the end and the way out of its chain.

    ``fixed`` has how many labels each node fixes, and in the end how many are fixed on
    the way to it; return the most. ``other`` is 0. ``column`` has a number more, in the
    end that of all columns.
    """
    n_nodes, n_placed, most = children.shape[0], 0, 0
    for at in range(n_nodes):
        child = children[at]
        most = max(most, fixed[at])
        if child > 0:
            fixed[child] += fixed[at]
            fixed[child + 1] += fixed[at]
            other[child + (0 if intercept[at] > 0.0 else 1)] = -1  # no head of a chain
    n_columns = 0
    for head in range(n_nodes):
        if other[head] == 0:
            at, start = head, n_placed
            while True:
                place[at] = n_placed
                n_placed += 1
                if children[at] == 0:
                    break
                at = children[at] + (0 if intercept[at] > 0.0 else 1)
            column[start] = _first_column(n_columns, n_placed - 1 - start)
            n_columns = column[start] + n_placed - 1 - start
            for p in range(start, n_placed):
                end[p] = n_placed - 1
    column[n_nodes] = n_columns
    for at in range(n_nodes):
        other[place[at]] = 0
        if children[at] > 0:
            outside = children[at] + (1 if intercept[at] > 0.0 else 0)
            other[place[at]] = place[outside]
    return most


@inner
def _first_column(column, n_columns):
    """Return where the next columns may begin: what is looked up is of one block."""
    if n_columns > AT_ONCE:
        column += -column % AT_ONCE
    if column % BLOCK + max(n_columns, AT_ONCE) > BLOCK:
        column += -column % BLOCK
    return column


def annotate(x_indptr, x_indices, x_data, chains, most_labels):
    """Follow rows to their leaves; return the labels fixed on the way, ascending.

    They are CSR, where those of each row start, and labels. A row goes to the first
    child if its score is above 0.
    """
    n_rows, n_nodes = len(x_indptr) - 1, len(chains.end)
    dense, places, scores = _make_row(len(chains.c_indptr) - 1)
    features = RowFeatures(
        *(np.empty(n_rows + 1, np.int64), np.empty(len(x_data) + 1, np.int32)),
        *(np.empty(len(x_data) + 1, np.float32), dense, places, scores),
    )
    last, heads = _make_lists(n_nodes)
    waiting = Waiting(last, np.empty(n_rows, np.int64), heads)
    starts = np.zeros(n_rows + 1, np.int32)
    labels = np.empty(n_rows * most_labels, np.int32)
    _collect(x_indptr, x_indices, x_data, chains.table, features)
    _descend(chains, features, waiting, most_labels, starts, labels)
    return starts, labels[: starts[-1]].copy()


@reused
def _make_row(n_selected):
    return np.zeros(n_selected, np.float32), np.empty(n_selected, int), np.empty(WINDOW)


@reused
def _make_lists(n_nodes):
    return np.full(n_nodes, -1), np.empty(n_nodes, np.int64)


@kernel
def _collect(x_indptr, x_indices, x_data, table, rows):
    """Write which selected features each row has, and their values."""
    end = np.int64(0)
    rows.starts[0] = 0
    for i in range(x_indptr.shape[0] - 1):
        for p in stretch(x_indptr, i):
            number = table[np.uintp(x_indices[p])]
            rows.number[np.uintp(end)], rows.value[np.uintp(end)] = number, x_data[p]
            end += number >= 0
        rows.starts[i + 1] = end


@kernel
def _descend(chains, rows, waiting, most_labels, starts, labels):
    """Follow all rows to their leaves, and write their labels."""
    n_rows, has_table = waiting.before.shape[0], chains.b_data.shape[0] > 0
    # Without one, it is the places of a row's features that are kept at hand.
    together = max(n_rows, 1) if has_table else 1
    for first in range(0, n_rows, together):
        for i in range(first, first + together):
            waiting.before[i] = i - 1
        waiting.before[first], waiting.last[0] = -1, first + together - 1
        _follow(chains, rows, waiting, most_labels, starts, labels)
    _join(most_labels, starts, labels)


@inner
def _follow(chains, rows, waiting, most_labels, starts, labels):
    """Follow the rows that wait at the root, chain by chain."""
    table, has_table = (chains.b_intercept, chains.b_data), chains.b_data.shape[0] > 0
    width, n_heads = np.uintp(chains.c_indptr.shape[0] - 1), np.int64(1)
    waiting.heads[0] = 0
    while n_heads > 0:
        n_heads -= 1
        at = np.uintp(waiting.heads[n_heads])
        end, i = np.uintp(chains.end[at]), waiting.last[at]
        waiting.last[at] = -1
        while i >= 0:
            row, leave, j = np.uintp(i), at, np.uintp(chains.column[at])
            start, stop = rows.starts[row], rows.starts[row + np.uintp(1)]
            own = rows.number, rows.value, np.uintp(start), np.uintp(stop)
            while has_table and leave < end:
                n = _look_up(j, width, table, own)
                leave, j = leave + n, j + n
                if n < AT_ONCE:
                    break
            if not has_table:
                leave = _way_out(at, end, np.uintp(start), np.uintp(stop), chains, rows)
            leave = min(leave, end)
            p = row * np.uintp(most_labels) + np.uintp(starts[row + np.uintp(1)])
            fixed = chains.f_indptr[at], chains.f_indptr[leave + np.uintp(1)]
            for f in range(np.uintp(fixed[0]), np.uintp(fixed[1])):
                labels[p] = chains.f_indices[f]
                p += np.uintp(1)
            starts[row + np.uintp(1)] = p - row * np.uintp(most_labels)
            i = waiting.before[row]
            if leave < end:
                head = np.uintp(chains.other[leave])
                other = waiting.last[head]
                if other < 0:
                    waiting.heads[np.uintp(n_heads)] = head
                    n_heads += 1
                waiting.before[row], waiting.last[head] = other, row


@inner
def _join(most_labels, starts, labels):
    """Move the labels of all rows together, ascending within a row."""
    end = np.int64(0)
    for i in range(starts.shape[0] - 1):
        start = end
        for p in range(i * most_labels, i * most_labels + starts[i + 1]):
            label, q = labels[p], end
            while q > start and labels[q - 1] > label:
                labels[q] = labels[q - 1]
                q -= 1
            labels[q] = label
            end += 1
        starts[i + 1] = end


@inlined
def _look_up(j, width, table, own):
    """Return how many of AT_ONCE columns the intercept decides before one it does not.

    The last columns may be those of another chain.
    """
    (intercept, weights), (number, value, start, stop) = table, own
    line, one, two, three = np.uintp(BLOCK), np.uintp(1), np.uintp(2), np.uintp(3)
    first = j // line * (width * line) + j % line
    a, b = np.float64(intercept[j]), np.float64(intercept[j + one])
    c, d = np.float64(intercept[j + two]), np.float64(intercept[j + three])
    for f in range(start, stop):
        p, x = first + np.uintp(number[f]) * line, value[f]
        a += weights[p] * x
        b += weights[p + one] * x
        c += weights[p + two] * x
        d += weights[p + three] * x
    if (a > 0.0) != (intercept[j] > 0.0):
        return np.uintp(0)
    if (b > 0.0) != (intercept[j + one] > 0.0):
        return one
    if (c > 0.0) != (intercept[j + two] > 0.0):
        return two
    return three + np.uintp((d > 0.0) == (intercept[j + three] > 0.0))


@inlined
def _way_out(at, end, start, stop, chains, rows):
    """Return the place where a row leaves a chain, of a tree without a table."""
    n_weights = chains.w_indptr[end] - chains.w_indptr[at]
    if n_weights <= SHORT * np.int64(stop - start):
        return _walk(at, end, start, stop, chains, rows)
    return _add_up(at, end, start, stop, chains, rows)


@inlined
def _walk(at, end, start, stop, chains, rows):
    """Return as ``_way_out`` does, by every decision in turn."""
    place = at
    for f in range(start, stop):
        rows.dense[rows.number[f]] = rows.value[f]
    while place < end:
        is_first = score(place, chains, rows.dense) > 0.0
        if is_first != (chains.intercept[place] > 0.0):
            break
        place += np.uintp(1)
    for f in range(start, stop):
        rows.dense[rows.number[f]] = 0.0
    return place


@inner
def _add_up(at, end, start, stop, chains, rows):
    """Return as ``_way_out`` does; a window of places is added up by features."""
    places, total, here = chains.c_places, rows.score, np.int64(at)
    for f in range(start, stop):
        number = rows.number[f]
        low, high = chains.c_indptr[number], chains.c_indptr[number + 1]
        rows.next[f - start] = _first_from(places, low, high, here)
    while here < np.int64(end):
        until = min(here + WINDOW, np.int64(end))
        for n in range(until - here):
            total[np.uintp(n)] = chains.intercept[np.uintp(here + n)]
        for f in range(start, stop):
            value, p = rows.value[f], rows.next[f - start]
            last = np.int64(chains.c_indptr[rows.number[f] + 1])
            while p < last and places[np.uintp(p)] < until:
                own = chains.c_data[np.uintp(p)] * value
                total[np.uintp(places[np.uintp(p)] - here)] += own
                p += 1
            rows.next[f - start] = p
        for place in range(here, until):
            is_first = total[np.uintp(place - here)] > 0.0
            if is_first != (chains.intercept[np.uintp(place)] > 0.0):
                return np.uintp(place)
        here = until
    return end


@inner
def _first_from(places, low, high, at):
    """Return where, between two positions, the places from ``at`` on begin.

    Halves without a branch: its guesses would be wrong half of the time.
    """
    low = np.int64(low)
    n = (np.int64(high) - low) if at > 0 else 0
    while n > 0:
        half = n >> 1
        is_before = np.int64(places[np.uintp(low + half)] < at)
        low += is_before * (half + 1)
        n = half - is_before * (1 - (n & 1))
    return low

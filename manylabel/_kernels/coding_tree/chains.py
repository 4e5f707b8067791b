"""The single path of a row down a sparse coding tree, without looking at most of it.

Where a row has none of a decision's features, the intercept decides. Such steps make
chains of nodes, and a row leaves a chain only where one of its own features makes it:
at each feature are listed the places where it counts, so that the rest of the chain is
never read. Only a short chain is read node by node. A small tree has a table of all
weights, which adds up some nodes of a longer chain at once. The answers are those of
every single decision, to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.coding_tree.scores import score
from manylabel._kernels.csr import stretch
from manylabel._kernels.workspace import reused

SHORT = 16  # weights that are read as soon as the places of one feature are found;
# nodes of a chain that the table is asked for one by one
STRIDE = 32  # places of a longer chain that the table adds up at once
WINDOW = 512  # places of a chain whose scores are added up together


class Chains(NamedTuple):
    """Nodes by place: a chain is a stretch of places, and its last one is a leaf."""

    end: Any  # (n_nodes,) the last place of the chain
    other: Any  # (n_nodes,) place of the child outside the chain
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
    w_table: Any  # (n_selected, n_nodes) the same, dense; of shape (0, 0) if too large


class RowFeatures(NamedTuple):
    """The selected features of the row on its way."""

    number: Any  # (n_selected,) of the row's features
    value: Any  # (n_selected,)
    dense: Any  # (n_selected,) values by number; 0 between rows
    next: Any  # (n_selected,) by feature of the row: the first place not yet added
    score: Any  # (WINDOW,)


@kernel
def lay_out(children, intercept, fixed, place, end, other):
    """Write the place of each node, and the end and the way out of its chain.

    ``fixed`` has how many labels each node fixes, and in the end how many are fixed on
    the way to it; return the most. ``other`` is 0.
    """
    n_nodes, n_placed, most = children.shape[0], 0, 0
    for at in range(n_nodes):
        child = children[at]
        most = max(most, fixed[at])
        if child > 0:
            fixed[child] += fixed[at]
            fixed[child + 1] += fixed[at]
            other[child + (0 if intercept[at] > 0.0 else 1)] = -1  # no head of a chain
    for head in range(n_nodes):
        if other[head] == 0:
            at, start = head, n_placed
            while True:
                place[at] = n_placed
                n_placed += 1
                if children[at] == 0:
                    break
                at = children[at] + (0 if intercept[at] > 0.0 else 1)
            for p in range(start, n_placed):
                end[p] = n_placed - 1
    for at in range(n_nodes):
        other[place[at]] = 0
        if children[at] > 0:
            outside = children[at] + (1 if intercept[at] > 0.0 else 0)
            other[place[at]] = place[outside]
    return most


def annotate(x_indptr, x_indices, x_data, chains, labels, n_labels, n_decisions):
    """Follow each row to its leaf; write the labels fixed on the way, and how many.

    A row goes to the first child if its score is above 0.
    """
    row, out = _make_row(len(chains.c_indptr) - 1), (labels, n_labels, n_decisions)
    _annotate(x_indptr, x_indices, x_data, chains, row, out)


@reused
def _make_row(n_selected):
    return RowFeatures(
        *(np.empty(n_selected, np.int64), np.empty(n_selected, np.float32)),
        *(np.zeros(n_selected, np.float32), np.empty(n_selected, np.int64)),
        np.empty(WINDOW),
    )


@kernel
def _annotate(x_indptr, x_indices, x_data, chains, row, out):
    labels, n_labels, n_decisions = out
    for i in range(x_indptr.shape[0] - 1):
        n_present = np.int64(0)
        for p in stretch(x_indptr, i):
            number = chains.table[np.uintp(x_indices[p])]
            if number >= 0:
                row.number[n_present], row.value[n_present] = number, x_data[p]
                row.dense[number] = x_data[p]
                n_present += 1
        at, n_found, n_asked = np.int64(0), 0, 0
        while True:
            end = np.int64(chains.end[at])
            n_weights = chains.w_indptr[end] - chains.w_indptr[at]
            if end - at <= SHORT and chains.w_table.shape[0] > 0:
                leave = _look_up(at, n_present, chains, row)
            elif chains.w_table.shape[0] > 0:
                leave = _add_up(at, n_present, chains, row)
            elif n_weights <= SHORT * n_present:
                leave = _walk(at, chains, row.dense)
            else:
                leave = _way_out(at, n_present, chains, row)
            for p in range(chains.f_indptr[at], chains.f_indptr[leave + 1]):
                labels[i, n_found] = chains.f_indices[p]
                n_found += 1
            n_asked += leave - at
            if leave == end:
                break
            n_asked += 1
            at = np.int64(chains.other[leave])
        n_labels[i], n_decisions[i] = n_found, n_asked
        for n in range(n_present):
            row.dense[row.number[n]] = 0.0


@inner
def _walk(at, chains, dense):
    """Return as ``_way_out`` does, by every decision in turn."""
    for place in range(at, np.int64(chains.end[at])):
        is_first = score(place, chains, dense) > 0.0
        if is_first != (chains.intercept[place] > 0.0):
            return place
    return np.int64(chains.end[at])


@inner
def _look_up(at, n_present, chains, row):
    """Return as ``_walk`` does, by the row's features alone."""
    for place in range(at, np.int64(chains.end[at])):
        total = np.float64(chains.intercept[place])
        for n in range(n_present):
            number = np.uintp(row.number[n])
            total += chains.w_table[number, np.uintp(place)] * row.value[n]
        if (total > 0.0) != (chains.intercept[place] > 0.0):
            return place
    return np.int64(chains.end[at])


@inner
def _add_up(at, n_present, chains, row):
    """Return as ``_look_up`` does, some places at once."""
    total, table, end = row.score, chains.w_table, np.int64(chains.end[at])
    start = np.int64(at)
    while start < end:
        n_places = min(np.int64(STRIDE), end - start)
        for n in range(n_places):
            total[n] = chains.intercept[start + n]
        for f in range(n_present):
            value, number = row.value[f], np.uintp(row.number[f])
            own = table[number, start : start + n_places]
            for n in range(n_places):
                total[n] += own[n] * value
        for n in range(n_places):
            if (total[n] > 0.0) != (chains.intercept[start + n] > 0.0):
                return start + n
        start += n_places
    return end


@inner
def _way_out(at, n_present, chains, row):
    """Return the place where the row leaves a chain that it enters at ``at``.

    The scores of a window of places are added up feature by feature.
    """
    places, total = chains.c_places, row.score
    for n in range(n_present):
        number = row.number[n]
        low, high = chains.c_indptr[number], chains.c_indptr[number + 1]
        row.next[n] = _first_from(places, low, high, at)
    start, end = np.int64(at), np.int64(chains.end[at])
    while start < end:
        stop = min(start + WINDOW, end)
        for n in range(stop - start):
            total[np.uintp(n)] = chains.intercept[np.uintp(start + n)]
        for n in range(n_present):
            value, p = row.value[n], row.next[n]
            last = np.int64(chains.c_indptr[row.number[n] + 1])
            while p < last and places[np.uintp(p)] < stop:
                own = chains.c_data[np.uintp(p)] * value
                total[np.uintp(places[np.uintp(p)] - start)] += own
                p += 1
            row.next[n] = p
        for place in range(start, stop):
            is_first = total[np.uintp(place - start)] > 0.0
            if is_first != (chains.intercept[np.uintp(place)] > 0.0):
                return place
        start = stop
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

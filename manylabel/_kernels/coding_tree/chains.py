"""The single path of a row down a sparse coding tree, without looking at most of it.

Where a row has none of a decision's features, the intercept decides. Such steps make
chains of nodes, and a row leaves a chain only where one of its own features makes it:
at each feature are listed the places where it counts, so that the rest of the chain is
never read. Only a short chain is read node by node, in a small tree from a table of all
weights. The answers are those of every single decision, to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.csr import stretch

SHORT = 16  # weights that are read as soon as the places of one feature are found
WINDOW = 512  # places of a chain whose scores are added up together


class Chains(NamedTuple):
    """Nodes by place: a chain is a stretch of places, and its last one is a leaf."""

    end: Any  # (n_nodes,) the last place of the chain
    other: Any  # (n_nodes,) place of the child outside the chain
    intercept: Any  # (n_nodes,)
    f_indptr: Any  # (n_nodes + 1,) labels fixed at a place
    f_indices: Any
    table: Any  # (n_features,) numbers of the selected features; -1 for others
    w_indptr: Any  # (n_selected + 1,) where the places of a feature start
    w_places: Any  # ascend within a feature
    w_data: Any
    p_indptr: Any  # (n_nodes + 1,) the same by place
    p_numbers: Any  # ascend within a place
    p_data: Any
    p_table: Any  # (n_nodes, n_selected) the same, dense; of shape (0, 0) if too large


class Workspace(NamedTuple):
    """Memory that every row uses again."""

    number: Any  # (n_selected,) of the row's features
    value: Any  # (n_selected,)
    dense: Any  # (n_selected,) values by number; 0 between rows
    next: Any  # (n_selected,) by feature of the row: the first place not yet added
    score: Any  # (WINDOW,)


@allocating_kernel
def lay_out(children, intercept, place, end, other):
    """Write the place of each node, and the end and the way out of its chain."""
    n_nodes, n_placed = children.shape[0], 0
    is_head = np.ones(n_nodes, np.bool_)
    for at in range(n_nodes):
        if children[at] > 0:
            is_head[children[at] + (0 if intercept[at] > 0.0 else 1)] = False
    for head in range(n_nodes):
        if is_head[head]:
            at, start = head, n_placed
            while True:
                place[at] = n_placed
                n_placed += 1
                if children[at] == 0:
                    break
                at = children[at] + (0 if intercept[at] > 0.0 else 1)
            end[start:n_placed] = n_placed - 1
    for at in range(n_nodes):
        if children[at] > 0:
            outside = children[at] + (1 if intercept[at] > 0.0 else 0)
            other[place[at]] = place[outside]


@allocating_kernel
def annotate(x_indptr, x_indices, x_data, chains, labels, n_labels, n_decisions):
    """Follow each row to its leaf; write the labels fixed on the way, and how many.

    A row goes to the first child if its score is above 0.
    """
    n_selected = chains.w_indptr.shape[0] - 1
    space = Workspace(
        np.empty(n_selected, np.int64),
        np.empty(n_selected, np.float32),
        np.zeros(n_selected, np.float32),
        np.empty(n_selected, np.int64),
        np.empty(WINDOW),
    )
    for i in range(x_indptr.shape[0] - 1):
        n_present = 0
        for p in stretch(x_indptr, i):
            number = chains.table[np.uintp(x_indices[p])]
            if number >= 0:
                space.number[n_present], space.value[n_present] = number, x_data[p]
                space.dense[number] = x_data[p]
                n_present += 1
        at, n_found, n_asked = np.int64(0), 0, 0
        while True:
            end = np.int64(chains.end[at])
            n_weights = chains.p_indptr[end] - chains.p_indptr[at]
            if end - at <= SHORT and chains.p_table.shape[0] > 0:
                leave = _look_up(at, n_present, chains, space)
            elif n_weights <= SHORT * n_present:
                leave = _walk(at, chains, space.dense)
            else:
                leave = _way_out(at, n_present, chains, space)
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
            space.dense[space.number[n]] = 0.0


@allocating_kernel
def _walk(at, chains, dense):
    """Return as ``_way_out`` does, by every decision in turn."""
    for place in range(at, np.int64(chains.end[at])):
        score = np.float64(chains.intercept[place])
        for p in stretch(chains.p_indptr, place):
            score += chains.p_data[p] * dense[np.uintp(chains.p_numbers[p])]
        if (score > 0.0) != (chains.intercept[place] > 0.0):
            return place
    return np.int64(chains.end[at])


@allocating_kernel
def _look_up(at, n_present, chains, space):
    """Return as ``_walk`` does, by the row's features alone."""
    for place in range(at, np.int64(chains.end[at])):
        score = np.float64(chains.intercept[place])
        for n in range(n_present):
            number = np.uintp(space.number[n])
            score += chains.p_table[np.uintp(place), number] * space.value[n]
        if (score > 0.0) != (chains.intercept[place] > 0.0):
            return place
    return np.int64(chains.end[at])


@allocating_kernel
def _way_out(at, n_present, chains, space):
    """Return the place where the row leaves a chain that it enters at ``at``."""
    for n in range(n_present):
        low, high = (
            chains.w_indptr[space.number[n]],
            chains.w_indptr[space.number[n] + 1],
        )
        space.next[n] = _first_from(chains.w_places, low, high, at)
    start, end = np.int64(at), np.int64(chains.end[at])
    while start < end:
        stop = min(start + WINDOW, end)
        _add_up(start, stop, n_present, chains, space)
        for place in range(start, stop):
            is_first = space.score[np.uintp(place - start)] > 0.0
            if is_first != (chains.intercept[np.uintp(place)] > 0.0):
                return place
        start = stop
    return end


@allocating_kernel
def _add_up(start, stop, n_present, chains, space):
    """Write the scores of the places of a window."""
    score = space.score
    for n in range(stop - start):
        score[np.uintp(n)] = chains.intercept[np.uintp(start + n)]
    for n in range(n_present):
        value, p = space.value[n], space.next[n]
        last = np.int64(chains.w_indptr[space.number[n] + 1])
        while p < last and chains.w_places[np.uintp(p)] < stop:
            at = np.uintp(chains.w_places[np.uintp(p)] - start)
            score[at] += chains.w_data[np.uintp(p)] * value
            p += 1
        space.next[n] = p


@allocating_kernel
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

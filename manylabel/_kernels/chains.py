"""The single path of a row down a sparse coding tree, without looking at most of it.

Where a row has none of a decision's features, the intercept decides. Such steps make
chains of nodes, and a row leaves a chain only where one of its own features makes it:
at each feature are listed the places where it counts, so that the rest of the chain is
never read. Only a short chain is read node by node. The answers are those of every
single decision, to the last bit.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch

SHORT = 16  # weights that are read as soon as the places of one feature are found


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


class Workspace(NamedTuple):
    """Memory that every row uses again."""

    number: Any  # (n_features,) of the row's features
    value: Any  # (n_features,)
    dense: Any  # (n_features,) values by number; 0 between rows
    score: Any  # (n_nodes,)
    turn: Any  # (n_nodes,) when the score was last begun
    met: Any  # (n_nodes,) places whose score was begun in this turn


@kernel
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


@kernel
def annotate(x_indptr, x_indices, x_data, chains, labels, n_labels, n_decisions):
    """Follow each row to its leaf; write the labels fixed on the way, and how many.

    A row goes to the first child if its score is above 0.
    """
    n_nodes, n_selected = chains.end.shape[0], chains.w_indptr.shape[0] - 1
    space = Workspace(
        np.empty(n_selected, np.int64),
        np.empty(n_selected, np.float32),
        np.zeros(n_selected, np.float32),
        np.empty(n_nodes),
        np.zeros(n_nodes, np.int64),
        np.empty(n_nodes, np.int64),
    )
    turn = 0
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
            turn += 1
            n_weights = chains.p_indptr[chains.end[at]] - chains.p_indptr[at]
            if n_weights <= SHORT * n_present:
                leave = _walk(at, chains, space.dense)
            else:
                leave = _way_out(at, n_present, turn, chains, space)
            for p in range(chains.f_indptr[at], chains.f_indptr[leave + 1]):
                labels[i, n_found] = chains.f_indices[p]
                n_found += 1
            n_asked += leave - at
            if leave == chains.end[at]:
                break
            n_asked += 1
            at = np.int64(chains.other[leave])
        n_labels[i], n_decisions[i] = n_found, n_asked
        for n in range(n_present):
            space.dense[space.number[n]] = 0.0


@kernel
def _walk(at, chains, dense):
    """Return as ``_way_out`` does, by every decision in turn."""
    for place in range(at, np.int64(chains.end[at])):
        score = np.float64(chains.intercept[place])
        for p in stretch(chains.p_indptr, place):
            score += chains.p_data[p] * dense[np.uintp(chains.p_numbers[p])]
        if (score > 0.0) != (chains.intercept[place] > 0.0):
            return place
    return np.int64(chains.end[at])


@kernel
def _way_out(at, n_present, turn, chains, space):
    """Return the place where the row leaves a chain that it enters at ``at``."""
    leave, n_met = np.int64(chains.end[at]), 0
    score, begun, met = space.score, space.turn, space.met
    for n in range(n_present):
        number, value = space.number[n], space.value[n]
        last = np.int64(chains.w_indptr[number + 1])
        p = _first_from(chains.w_places, chains.w_indptr[number], last, at)
        while p < last and chains.w_places[p] < leave:
            place = np.uintp(chains.w_places[p])
            if begun[place] != turn:
                begun[place], score[place] = turn, chains.intercept[place]
                met[n_met] = place
                n_met += 1
            score[place] += chains.w_data[p] * value
            p += 1
    for n in range(n_met):
        place = met[n]
        if place < leave and (score[place] > 0.0) != (chains.intercept[place] > 0.0):
            leave = place
    return leave


@kernel
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

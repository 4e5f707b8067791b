"""Rows down the trees of a forest, and what the leaves say together.

The nodes of all trees stand in one list; ``roots`` has the first of each tree. What
kernels take are records of this package: the kernel cache imports their modules.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import split_rows, stretch
from manylabel._kernels.forest.quantization import lengthened
from manylabel._kernels.sorting import sort
from manylabel._kernels.topk import best_positions
from manylabel._kernels.workspace import reused


class Rows(NamedTuple):
    """A matrix by rows (CSR), the indices of a row ascending."""

    indptr: object
    indices: object
    data: object


class Journey(NamedTuple):
    """Where rows are on their way down a tree."""

    dense: object  # (n_features,) weights of a node, or values of a row; else 0
    met: object  # (n_features + 1,) weights of a node that meet a value of the row
    rows: object  # (n_rows,) a permutation; those that meet are side by side
    score: object  # (n_rows,) of rows that meet in a node
    passed: object  # (n_rows,) rows on their way to the second child
    waiting: object  # (n_rows + 1, 3) node, start and end of rows that wait there


class Votes(NamedTuple):
    """What the leaves of a row sum up to."""

    total: object  # (n_labels,) 0 between rows
    met: object  # (n_labels,) labels that the leaves have
    score: object  # (n_labels,) by label
    listed: object  # (n_labels,) scores as met
    best: object  # (n_labels,) places of the best of these


@reused
def make_journey(n_rows, n_features):
    """Return what :func:`descend` needs."""
    rows, passed = np.empty((2, n_rows), np.int64)
    met, waiting = np.empty(n_features + 1, np.int64), np.empty((n_rows + 1, 3), int)
    dense, score = np.zeros(n_features), np.empty(n_rows)
    return Journey(dense, met, rows, score, passed, waiting)


@reused
def make_votes(n_labels):
    """Return what :func:`list_rows` needs."""
    score, listed = np.empty((2, n_labels), np.float32)
    met, best = np.empty(n_labels, np.int64), np.empty(n_labels, np.int32)
    return Votes(np.zeros(n_labels), met, score, listed, best)


@kernel
def descend(x, roots, children, intercept, w, journey, out):
    """Write the leaf of every row in every tree into ``out`` (n_rows, n_estimators).

    ``w`` has the weights of each node, shortened.
    Rows that meet in a node of many weights share these, spread out over all features;
    from a node of few weights on each row goes alone, itself spread out. Where all rows
    have a value for each feature, nothing need be spread out. Either way the products
    are summed by ascending feature, so a row meets the same leaf in any company.
    """
    rows, waiting, n_rows = journey.rows, journey.waiting, out.shape[0]
    n_usual = x.indptr[n_rows] // max(n_rows, 1)  # values of a row
    is_full = x.indptr[n_rows] == n_rows * journey.dense.shape[0]
    for t in range(out.shape[1] if n_rows else 0):
        for i in range(n_rows):
            rows[i] = i
        waiting[0, 0], waiting[0, 1], waiting[0, 2] = roots[t], 0, n_rows
        n_waiting = 1
        while n_waiting:
            n_waiting -= 1
            at, start, end = waiting[n_waiting]
            if children[at] == 0:
                for r in range(start, end):
                    out[rows[r], t] = at
            elif not is_full and (
                end - start == 1 or w.indptr[at + 1] - w.indptr[at] <= n_usual
            ):
                for r in range(start, end):
                    out[rows[r], t] = _descend_alone(
                        at, rows[r], x, w, children, intercept, journey
                    )
            else:
                if is_full:
                    _score_full(at, start, end, x, w, intercept[at], journey)
                else:
                    _score_sparse(at, start, end, x, w, intercept[at], journey)
                middle = split_rows(rows, start, end, journey.score, journey.passed)
                for side in range(2):
                    first, last = (middle, end) if side else (start, middle)
                    waiting[n_waiting, 0] = children[at] + side
                    waiting[n_waiting, 1], waiting[n_waiting, 2] = first, last
                    n_waiting += first < last  # none that waits is empty


@inner
def _score_sparse(at, start, end, x, w, intercept, journey):
    """Write the scores of rows that meet in a node.

    Rows are taken in pairs: two additions take no longer than one.
    """
    dense, rows, score = journey.dense, journey.rows, journey.score
    x_indptr, x_indices, x_data = x.indptr, x.indices, x.data
    for p in stretch(w.indptr, at):
        dense[np.uintp(w.indices[p])] = lengthened(w.data[p])
    for r in range(start, end, 2):
        one, other = rows[r], rows[min(r + 1, end - 1)]
        p, p_end = np.uintp(x_indptr[one]), np.uintp(x_indptr[one + 1])
        q, q_end = np.uintp(x_indptr[other]), np.uintp(x_indptr[other + 1])
        first, second = np.float64(intercept), np.float64(intercept)
        n_both = min(p_end - p, q_end - q)
        for n in range(n_both):
            first += x_data[p + n] * dense[np.uintp(x_indices[p + n])]
            second += x_data[q + n] * dense[np.uintp(x_indices[q + n])]
        for n in range(p + n_both, p_end):
            first += x_data[n] * dense[np.uintp(x_indices[n])]
        for n in range(q + n_both, q_end):
            second += x_data[n] * dense[np.uintp(x_indices[n])]
        score[min(r + 1, end - 1) - start] = second
        score[r - start] = first
    for p in stretch(w.indptr, at):
        dense[np.uintp(w.indices[p])] = 0.0


@inner
def _score_full(at, start, end, x, w, intercept, journey):
    """Write the scores of rows that meet in a node, each with a value for each feature.

    Rows are taken by fours, so that their additions need not wait for each other.
    """
    rows, score, x_indptr, x_data = journey.rows, journey.score, x.indptr, x.data
    last = end - 1
    for r in range(start, end, 4):
        r_1, r_2, r_3 = min(r + 1, last), min(r + 2, last), min(r + 3, last)
        i, j = np.uintp(x_indptr[rows[r]]), np.uintp(x_indptr[rows[r_1]])
        k, m = np.uintp(x_indptr[rows[r_2]]), np.uintp(x_indptr[rows[r_3]])
        s_0 = s_1 = s_2 = s_3 = np.float64(intercept)
        for p in stretch(w.indptr, at):
            feature = np.uintp(w.indices[p])
            weight = np.float64(lengthened(w.data[p]))
            s_0 += weight * x_data[i + feature]
            s_1 += weight * x_data[j + feature]
            s_2 += weight * x_data[k + feature]
            s_3 += weight * x_data[m + feature]
        score[r_3 - start], score[r_2 - start] = s_3, s_2
        score[r_1 - start], score[r - start] = s_1, s_0


@inner
def _descend_alone(at, row, x, w, children, intercept, journey):
    """Return the leaf of one row below the node ``at``."""
    w_indptr, w_indices, w_data = w.indptr, w.indices, w.data
    dense, met = journey.dense, journey.met
    for p in stretch(x.indptr, row):
        dense[np.uintp(x.indices[p])] = x.data[p]
    while children[at] > 0:
        first, end = np.uintp(w_indptr[at]), np.uintp(w_indptr[at + 1])
        score, n_met = np.float64(intercept[at]), np.uintp(0)
        if end - first == np.uintp(dense.shape[0]):  # all weights: found by feature
            for p in stretch(x.indptr, row):
                weight = lengthened(w_data[first + np.uintp(x.indices[p])])
                score += weight * np.float64(x.data[p])
            first = end
        # Few weights meet a value. Listed without a branch, then added: twice as fast.
        for p in range(first, end):
            met[n_met] = p
            n_met += np.uintp(dense[np.uintp(w_indices[p])] != 0.0)
        for n in range(n_met):
            p = np.uintp(met[n])
            score += lengthened(w_data[p]) * dense[np.uintp(w_indices[p])]
        at = np.int64(children[at]) + (0 if score >= 0.0 else 1)
    for p in stretch(x.indptr, row):
        dense[np.uintp(x.indices[p])] = 0.0
    return at


@kernel
def list_rows(leaves, shares, gain, unit, shift, most, votes, out):
    """Write the labels that the leaves of each row have, by column, and their scores.

    ``shares`` has the labels of each leaf, in steps. A label scores
    ``sum * gain * unit + shift``. Of more than ``most`` the best are
    written, among equal ones those of the lower columns, into ``out`` (CSR).
    """
    total, met, score, listed = votes.total, votes.met, votes.score, votes.listed
    out.indptr[0], end = 0, 0
    for i in range(leaves.shape[0]):
        n_met = _add_leaves(i, leaves, shares, total, met)
        for n in range(n_met):
            label = np.uintp(met[n])
            score[label] = total[label] * gain[label] * unit + shift
            listed[n], total[label] = score[label], 0.0
        least, n_equal = np.float32(-np.inf), most
        if n_met > most:
            best_positions(listed[:n_met], most, votes.best)
            least, n_listed, n_met = listed[votes.best[most - 1]], n_met, np.int64(0)
            for n in range(n_listed):
                met[n_met] = met[n]
                n_met += listed[n] >= least
                n_equal -= listed[n] > least
        sort(met, 0, n_met)
        for n in range(n_met):
            value = score[np.uintp(met[n])]
            if value > least or n_equal > 0:
                out.indices[end], out.data[end] = met[n], value
                end += 1
            n_equal -= value == least
        out.indptr[i + 1] = end


@inner
def _add_leaves(i, leaves, shares, total, met):
    """Add up the leaves of a row; return how many labels they have, listed in ``met``.

    All shares are positive, so a total of 0 is a label not met before.
    """
    n_met = 0
    for t in range(leaves.shape[1]):
        for p in stretch(shares.indptr, leaves[i, t]):
            label = np.uintp(shares.indices[p])
            if total[label] == 0.0:
                met[n_met] = label
                n_met += 1
            total[label] += shares.data[p]
    return n_met

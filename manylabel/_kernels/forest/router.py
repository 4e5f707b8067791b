"""Rows down the trees of a forest, and what the leaves say together.

The nodes of all trees stand in one list; ``roots`` has the first of each tree. The mean
of the leaves is taken in one vector of all labels that serves every row, of which only
the labels met are touched.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.forest.quantization import lengthened


class Scale(NamedTuple):
    """How what the leaves of a row sum up to becomes a score.

    A label scores ``sum * gain * unit + shift``, one less if it was never seen.
    """

    gain: object  # (n_labels,)
    seen: object  # (n_labels,) whether a training row had it
    unit: object
    shift: object


class Rows(NamedTuple):
    """A matrix by rows (CSR), the indices of a row ascending."""

    indptr: object
    indices: object
    data: object


@allocating_kernel
def descend(
    x_indptr,
    x_indices,
    x_data,
    n_features,
    roots,
    children,
    intercept,
    w_indptr,
    w_indices,
    w_data,
    out,
):
    """Write the leaf of every row in every tree into ``out`` (n_rows, n_estimators).

    The weights ``w_data`` are shortened. Rows that meet in a node of many weights share
    these, spread out over all features; from a node of few weights on each row goes
    alone, itself spread out. Either way the products are summed by ascending feature,
    so a row meets the same leaf in any company.
    """
    x = Rows(x_indptr, x_indices, x_data)
    w = Rows(w_indptr, w_indices, w_data)
    dense, met = np.zeros(n_features), np.empty(n_features + 1, np.int64)
    n_rows = out.shape[0]
    n_usual = x_indptr[n_rows] // max(n_rows, 1)  # values of a row
    rows, passed = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    # Stretches of rows that wait, with their nodes; none is empty.
    waiting = np.empty((n_rows + 1, 3), np.int64)
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
            elif end - start == 1 or w_indptr[at + 1] - w_indptr[at] <= n_usual:
                for r in range(start, end):
                    out[rows[r], t] = _descend_alone(
                        at, rows[r], x, w, children, intercept, dense, met
                    )
            else:
                middle = _divide(
                    at, start, end, rows, passed, x, w, intercept[at], dense
                )
                n_waiting = _wait(waiting, n_waiting, children[at], start, middle)
                n_waiting = _wait(waiting, n_waiting, children[at] + 1, middle, end)


@allocating_kernel
def _wait(waiting, n_waiting, at, start, end):
    """Put a stretch on the pile unless it is empty; return how many wait."""
    if start == end:
        return n_waiting
    waiting[n_waiting, 0], waiting[n_waiting, 1] = at, start
    waiting[n_waiting, 2] = end
    return n_waiting + 1


@allocating_kernel
def _divide(at, start, end, rows, passed, x, w, intercept, dense):
    """Bring rows of score 0 or more to the front; return where the others start."""
    for p in stretch(w.indptr, at):
        dense[np.uintp(w.indices[p])] = lengthened(w.data[p])
    middle, n_passed = start, 0
    for r in range(start, end, 2):  # two additions take no longer than one
        one, other = rows[r], rows[min(r + 1, end - 1)]
        score, next_score = _score_two(one, other, x, dense, intercept)
        if score >= 0.0:
            rows[middle] = one
            middle += 1
        else:
            passed[n_passed] = one
            n_passed += 1
        if r + 1 < end and next_score >= 0.0:
            rows[middle] = other
            middle += 1
        elif r + 1 < end:
            passed[n_passed] = other
            n_passed += 1
    for n in range(n_passed):
        rows[middle + n] = passed[n]
    for p in stretch(w.indptr, at):
        dense[np.uintp(w.indices[p])] = 0.0
    return middle


@allocating_kernel
def _score_two(one, other, x, dense, intercept):
    """Return the scores of two rows, each summed by ascending feature."""
    x_indptr, x_indices, x_data = x.indptr, x.indices, x.data
    p, p_end = np.uintp(x_indptr[one]), np.uintp(x_indptr[one + 1])
    q, q_end = np.uintp(x_indptr[other]), np.uintp(x_indptr[other + 1])
    score, next_score = np.float64(intercept), np.float64(intercept)
    n_both = min(p_end - p, q_end - q)
    for n in range(n_both):
        score += x_data[p + n] * dense[np.uintp(x_indices[p + n])]
        next_score += x_data[q + n] * dense[np.uintp(x_indices[q + n])]
    for n in range(p + n_both, p_end):
        score += x_data[n] * dense[np.uintp(x_indices[n])]
    for n in range(q + n_both, q_end):
        next_score += x_data[n] * dense[np.uintp(x_indices[n])]
    return score, next_score


@allocating_kernel
def _descend_alone(at, row, x, w, children, intercept, dense, met):
    """Return the leaf of one row below the node ``at``."""
    w_indptr, w_indices, w_data = w.indptr, w.indices, w.data
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


@allocating_kernel
def mean_rows(
    leaves, leaf_indptr, leaf_indices, leaf_data, gain, seen, unit, shift, out
):
    """Write the score of every label for each row."""
    scale = Scale(gain, seen, unit, shift)
    total, met = np.zeros(out.shape[1]), np.empty(out.shape[1], np.int64)
    for i in range(out.shape[0]):
        n_met = _add_leaves(i, leaves, leaf_indptr, leaf_indices, leaf_data, total, met)
        for label in range(out.shape[1]):
            out[i, label] = _base(scale.seen[label], scale)
        for n in range(n_met):
            label = np.uintp(met[n])
            out[i, label] = total[label] * scale.gain[label] * scale.unit + scale.shift
            total[label] = 0.0


@allocating_kernel
def best_of_rows(
    leaves,
    leaf_indptr,
    leaf_indices,
    leaf_data,
    gain,
    seen,
    unit,
    shift,
    columns,
    scores,
):
    """Write the best labels of each row and their scores, best first.

    Labels that no leaf has come after those, the ones that were seen first.
    """
    scale = Scale(gain, seen, unit, shift)
    n_labels, k = gain.shape[0], columns.shape[1]
    total, met = np.zeros(n_labels), np.empty(n_labels, np.int64)
    for i in range(columns.shape[0]):
        n_met = _add_leaves(i, leaves, leaf_indptr, leaf_indices, leaf_data, total, met)
        n_best = 0
        for n in range(n_met):
            label = np.uintp(met[n])
            score = total[label] * scale.gain[label] * scale.unit + scale.shift
            n_best = _insert(met[n], np.float32(score), i, n_best, columns, scores)
        for seen in (True, False):
            base, label = _base(seen, scale), 0
            while label < n_labels and (
                n_best < k
                or _is_better(base, label, scores[i, k - 1], columns[i, k - 1])
            ):
                if total[label] == 0.0 and scale.seen[label] == seen:
                    n_best = _insert(label, base, i, n_best, columns, scores)
                label += 1
        for n in range(n_met):
            total[met[n]] = 0.0


@allocating_kernel
def list_rows(
    leaves,
    leaf_indptr,
    leaf_indices,
    leaf_data,
    gain,
    unit,
    shift,
    most,
    indptr,
    columns,
    scores,
):
    """Write the labels that the leaves of each row have, by column, and their scores.

    Of more than ``most`` the best are written, among equal ones those of the lower
    columns. The last three arguments are filled as a CSR array.
    """
    n_labels = gain.shape[0]
    total, met = np.zeros(n_labels), np.empty(n_labels, np.int64)
    listed = np.empty(n_labels, np.float32)
    for i in range(leaves.shape[0]):
        n_met = _add_leaves(i, leaves, leaf_indptr, leaf_indices, leaf_data, total, met)
        labels = np.sort(met[:n_met])
        for n in range(n_met):
            label = np.uintp(labels[n])
            listed[n] = total[label] * gain[label] * unit + shift
            total[label] = 0.0
        least, n_equal = np.float32(-np.inf), 0
        if n_met > most:
            least = np.partition(listed[:n_met], n_met - most)[n_met - most]
            n_equal = most - (listed[:n_met] > least).sum()
        end = np.int64(indptr[i])
        for n in range(n_met):
            if listed[n] > least or (n_equal > 0 and listed[n] == least):
                n_equal -= listed[n] == least
                columns[end], scores[end] = labels[n], listed[n]
                end += 1
        indptr[i + 1] = end


@allocating_kernel
def _base(seen, scale):
    """Return the score of a label that no leaf of the row has."""
    return np.float32(scale.shift if seen else scale.shift - 1.0)


@allocating_kernel
def _add_leaves(i, leaves, leaf_indptr, leaf_indices, leaf_data, total, met):
    """Add up the leaves of a row; return how many labels they have, listed in ``met``.

    All shares are positive, so a total of 0 is a label not met before.
    """
    n_met = 0
    for t in range(leaves.shape[1]):
        for p in stretch(leaf_indptr, leaves[i, t]):
            label = np.uintp(leaf_indices[p])
            if total[label] == 0.0:
                met[n_met] = label
                n_met += 1
            total[label] += leaf_data[p]
    return n_met


@allocating_kernel
def _insert(label, score, i, n_best, columns, scores):
    """Insert a label into the sorted best of row ``i``; return how many there are."""
    k = columns.shape[1]
    if n_best == k:
        if not _is_better(score, label, scores[i, k - 1], columns[i, k - 1]):
            return k
        n_best -= 1
    place = n_best
    while place > 0 and _is_better(
        score, label, scores[i, place - 1], columns[i, place - 1]
    ):
        scores[i, place] = scores[i, place - 1]
        columns[i, place] = columns[i, place - 1]
        place -= 1
    scores[i, place], columns[i, place] = score, label
    return n_best + 1


@allocating_kernel
def _is_better(score, label, other_score, other_label):
    return score > other_score or (score == other_score and label < other_label)

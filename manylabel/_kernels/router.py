"""Rows down the trees of a forest, and what the leaves say together.

The nodes of all trees stand in one list; ``roots`` has the first of each tree. The mean
of the leaves is taken in one vector of all labels that serves every row, of which only
the labels met are touched.
"""

import numpy as np

from manylabel._kernels._jit import kernel


@kernel
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
    """Write the leaf of every row in every tree into ``out`` (n_rows, n_trees)."""
    dense = np.zeros(n_features)
    for i in range(out.shape[0]):
        for p in range(x_indptr[i], x_indptr[i + 1]):
            dense[np.uintp(x_indices[p])] = x_data[p]
        for t in range(out.shape[1]):
            at = np.uintp(roots[t])
            while children[at] > 0:
                score = np.float64(intercept[at])
                for p in range(w_indptr[at], w_indptr[at + np.uintp(1)]):
                    score += np.float64(w_data[p]) * dense[np.uintp(w_indices[p])]
                at = np.uintp(children[at] + (0 if score >= 0.0 else 1))
            out[i, t] = at
        for p in range(x_indptr[i], x_indptr[i + 1]):
            dense[np.uintp(x_indices[p])] = 0.0


@kernel
def mean_rows(leaves, leaf_indptr, leaf_indices, leaf_data, threshold, start, out):
    """Write the mean of the leaves of each row, less a threshold.

    ``start`` has the scores of labels that no leaf has.
    """
    total, met = np.zeros(out.shape[1]), np.empty(out.shape[1], np.int64)
    for i in range(out.shape[0]):
        n_met = _add_leaves(i, leaves, leaf_indptr, leaf_indices, leaf_data, total, met)
        for label in range(out.shape[1]):
            out[i, label] = start[label]
        for n in range(n_met):
            out[i, met[n]] = total[met[n]] / leaves.shape[1] - threshold
            total[met[n]] = 0.0


@kernel
def best_of_rows(
    leaves, leaf_indptr, leaf_indices, leaf_data, threshold, start, columns, scores
):
    """Write the best labels of each row and their scores, best first.

    Labels that no leaf has come after those, by ``start`` and by column.
    """
    n_labels, k, usual = start.shape[0], columns.shape[1], start.max()
    total, met = np.zeros(n_labels), np.empty(n_labels, np.int64)
    for i in range(columns.shape[0]):
        n_met = _add_leaves(i, leaves, leaf_indptr, leaf_indices, leaf_data, total, met)
        n_best = 0
        for n in range(n_met):
            score = np.float32(total[met[n]] / leaves.shape[1] - threshold)
            n_best = _insert(met[n], score, i, n_best, columns, scores)
        label = 0
        while label < n_labels and (n_best < k or scores[i, k - 1] < usual):
            if total[label] == 0.0:
                n_best = _insert(label, start[label], i, n_best, columns, scores)
            label += 1
        for n in range(n_met):
            total[met[n]] = 0.0


@kernel
def _add_leaves(i, leaves, leaf_indptr, leaf_indices, leaf_data, total, met):
    """Add up the leaves of a row; return how many labels they have, listed in ``met``.

    All gains are positive, so a total of 0 is a label not met before.
    """
    n_met = 0
    for t in range(leaves.shape[1]):
        leaf = np.uintp(leaves[i, t])
        for p in range(leaf_indptr[leaf], leaf_indptr[leaf + np.uintp(1)]):
            label = np.uintp(leaf_indices[p])
            if total[label] == 0.0:
                met[n_met] = label
                n_met += 1
            total[label] += leaf_data[p]
    return n_met


@kernel
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


@kernel
def _is_better(score, label, other_score, other_label):
    return score > other_score or (score == other_score and label < other_label)

"""Rows down a tree whose nodes decide by the vote of several linear classifiers.

Only the features that the tree looks at count: they are numbered from 0, and a row is
spread out over these numbers (Liu & Tsang 2017, section 7, the injection table).
"""

import numpy as np

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.csr import stretch


@allocating_kernel
def descend(x_indptr, x_indices, x_data, selected, tree, out):
    """Write the leaf of every row.

    ``selected`` are the features, ascending. ``tree`` has for every node its first
    child, 0 in a leaf, the bounds of its stretch of numbers of features, these and
    their weights (n_numbers, n_folds), and its intercepts (n_nodes, n_folds).
    """
    children, starts, numbers, weights, intercept = tree
    n_selected, n_folds = selected.shape[0], intercept.shape[1]
    dense, score = np.zeros(n_selected), np.empty(n_folds)
    for row in range(out.shape[0]):
        for p in stretch(x_indptr, row):
            number = np.searchsorted(selected, x_indices[p])
            if number < n_selected and selected[number] == x_indices[p]:
                dense[number] = x_data[p]
        at = 0
        while children[at] != 0:
            for fold in range(n_folds):
                score[fold] = intercept[at, fold]
            for w in range(starts[at], starts[at + 1]):
                value = dense[numbers[w]]
                if value != 0.0:
                    for fold in range(n_folds):
                        score[fold] += value * weights[w, fold]
            at = children[at] + (0 if is_positive(score) else 1)
        out[row] = at
        for p in stretch(x_indptr, row):
            number = np.searchsorted(selected, x_indices[p])
            if number < n_selected:
                dense[number] = 0.0


@allocating_kernel
def is_positive(score):
    """Return whether more than half of the scores are above 0."""
    n_positive = 0
    for fold in range(score.shape[0]):
        n_positive += score[fold] > 0.0
    return 2 * n_positive > score.shape[0]

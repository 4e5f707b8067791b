"""Rows down a tree whose nodes decide by the vote of several linear classifiers.

Only the features that the tree looks at count: they are numbered from 0, and a row is
spread out over these numbers (Liu & Tsang 2017, section 7, the injection table).
"""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.sorting import lower_bound


def descend(x_indptr, x_indices, x_data, selected, nodes):
    """Return the leaf of every row.

    ``selected`` are the features, ascending. ``nodes`` has for every node its first
    child, 0 in a leaf, the bounds of its stretch of numbers of features, these and
    their weights (n_numbers, n_folds), and its intercepts (n_nodes, n_folds).
    """
    out = np.empty(x_indptr.shape[0] - 1, np.int64)
    row = np.zeros(selected.shape[0]), np.empty(nodes[-1].shape[1])
    _descend(x_indptr, x_indices, x_data, selected, nodes, row, out)
    return out


@kernel
def _descend(x_indptr, x_indices, x_data, selected, nodes, row, out):
    children, starts, numbers, weights, intercept = nodes
    dense, score = row
    n_selected, n_folds = selected.shape[0], score.shape[0]
    for i in range(out.shape[0]):
        for p in stretch(x_indptr, i):
            number = lower_bound(selected, np.int64(0), n_selected, x_indices[p])
            if number < n_selected and selected[number] == x_indices[p]:
                dense[number] = x_data[p]
        at = np.int64(0)
        while children[at] != 0:
            for fold in range(n_folds):
                score[fold] = intercept[at, fold]
            for w in range(starts[at], starts[at + 1]):
                value = dense[numbers[w]]
                if value != 0.0:
                    for fold in range(n_folds):
                        score[fold] += value * weights[w, fold]
            n_positive = 0
            for fold in range(n_folds):
                n_positive += score[fold] > 0.0
            at = children[at] + (0 if 2 * n_positive > n_folds else 1)
        out[i] = at
        for number in range(n_selected):
            dense[number] = 0.0

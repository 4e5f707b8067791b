"""From scores of labelsets to scores of labels."""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.sorting import lower_bound, sort_pairs

LIMIT = np.finfo(np.float32).max
TINY = np.finfo(np.float32).tiny


def label_margins(set_scores, s_indptr, s_indices, out):
    """Write by how much the best labelset with a label beats the best one without it.

    So exactly the labels of the best labelset are positive, the first of equals
    winning. A label of no labelset gets ``-LIMIT``, one of every labelset ``LIMIT``.
    """
    n_sets = set_scores.shape[1]
    key, order = np.empty(n_sets, set_scores.dtype), np.empty(n_sets, np.int64)
    _label_margins(set_scores, s_indptr, s_indices, key, order, out)


@kernel
def _label_margins(set_scores, s_indptr, s_indices, key, order, out):
    n_sets, n_labels = set_scores.shape[1], out.shape[1]
    for i in range(out.shape[0]):
        for s in range(n_sets):
            key[s], order[s] = -set_scores[i, s], s
        sort_pairs(key, order, np.int64(0), n_sets)
        top = -key[0]
        for label in range(n_labels):
            out[i, label] = -LIMIT
        for rank in range(n_sets - 1, -1, -1):
            s = order[rank]
            for p in range(s_indptr[s], s_indptr[s + 1]):
                out[i, s_indices[p]] = set_scores[i, s] - top
        for p in range(s_indptr[order[0]], s_indptr[order[0] + 1]):
            label, margin = s_indices[p], LIMIT
            for rank in range(n_sets):  # the best labelset without the label
                s = order[rank]
                start, end = np.int64(s_indptr[s]), np.int64(s_indptr[s + 1])
                place = lower_bound(s_indices, start, end, label)
                if place == end or s_indices[place] != label:
                    margin = max(top - set_scores[i, s], TINY)
                    break
            out[i, label] = margin

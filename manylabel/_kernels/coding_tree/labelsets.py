"""From scores of labelsets to scores of labels."""

import numpy as np

from manylabel._kernels._jit import allocating_kernel

LIMIT = np.finfo(np.float32).max
TINY = np.finfo(np.float32).tiny


@allocating_kernel
def label_margins(set_scores, s_indptr, s_indices, out):
    """Write by how much the best labelset with a label beats the best one without it.

    So exactly the labels of the best labelset are positive, the first of equals
    winning. A label of no labelset gets ``-LIMIT``, one of every labelset ``LIMIT``.
    """
    for i in range(out.shape[0]):
        scores, margins = set_scores[i], out[i]
        order = np.argsort(-scores, kind="mergesort")
        top = scores[order[0]]
        margins[:] = -LIMIT
        for rank in range(order.shape[0] - 1, -1, -1):
            s = order[rank]
            for p in range(s_indptr[s], s_indptr[s + 1]):
                margins[s_indices[p]] = scores[s] - top
        for p in range(s_indptr[order[0]], s_indptr[order[0] + 1]):
            rival = _best_without(s_indices[p], order, s_indptr, s_indices)
            margins[s_indices[p]] = (
                LIMIT if rival < 0 else max(top - scores[rival], TINY)
            )


@allocating_kernel
def _best_without(label, order, s_indptr, s_indices):
    """Return the first labelset of ``order`` that lacks ``label``, or -1."""
    for s in order:
        members = s_indices[s_indptr[s] : s_indptr[s + 1]]
        place = np.searchsorted(members, label)
        if place == members.shape[0] or members[place] != label:
            return s
    return -1

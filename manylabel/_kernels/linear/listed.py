"""Linear scores of some labels of each row, in place of all."""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch

ZERO = np.float32(0.0)


@kernel
def score_listed(rows, group, labels, weights, intercept, slope, dense, out):
    """Write the scores of the labels that a row's group lists, in their order.

    ``weights`` are by label (CSR), and ``slope`` is what each counts the sum of a row.
    A label that has a weight for every feature is read at the row's features; one with
    fewer reads the row, spread out over ``dense``, which holds zeros, and does so again
    at the end.
    """
    n_features = np.uintp(dense.shape[0])
    for i in range(out.shape[0]):
        total = ZERO
        for p in stretch(rows.indptr, i):
            dense[np.uintp(rows.indices[p])] = rows.data[p]
            total += rows.data[p]
        for n in range(out.shape[1]):
            label = labels[group[i], n]
            start = np.uintp(weights.indptr[label])
            end = np.uintp(weights.indptr[label + 1])
            score = intercept[label] + slope[label] * total
            if end - start == n_features:
                for p in stretch(rows.indptr, i):
                    at = start + np.uintp(rows.indices[p])
                    score += rows.data[p] * weights.data[at]
            else:
                for q in range(start, end):
                    score += weights.data[q] * dense[np.uintp(weights.indices[q])]
            out[i, n] = score
        for p in stretch(rows.indptr, i):
            dense[np.uintp(rows.indices[p])] = ZERO

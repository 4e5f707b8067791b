"""Ranked labels against the truth."""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.sorting import lower_bound

UNSEEN = float(np.finfo(np.float32).min)  # ranks below every label that was seen


@kernel
def find_hits(y_indptr, y_indices, columns, out):
    """Write whether each ranked column is true; ``columns`` is padded with -1."""
    for i in range(columns.shape[0]):
        start, end = np.int64(y_indptr[i]), np.int64(y_indptr[i + 1])
        for j in range(columns.shape[1]):
            place = lower_bound(y_indices, start, end, columns[i, j])
            out[i, j] = place < end and y_indices[place] == columns[i, j]


@kernel
def discounted_sums(gains, discounts, out):
    """Write the sum of the first gains of each row, each times its discount.

    Summed one by one, so that a row has the same bits in whatever chunk it comes.
    """
    for i in range(gains.shape[0]):
        total = 0.0
        for j in range(discounts.shape[0]):
            total += gains[i, j] * discounts[j]
        out[i] = total

"""Products of rows with the centroids of labels, for the tail classifiers of a forest.

Centroids stand by feature, in fixed point: few labels share a feature of a row, where
the centroid of a frequent label has most features. The constant feature is apart.
"""

import math

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch

# A column is scanned unless it is so many times as long as there are labels to find.
SCANNED = 64


@kernel
def products(
    x_indptr,
    x_indices,
    x_data,
    weight,
    bias,
    r_indptr,
    r_indices,
    c_indptr,
    c_indices,
    c_data,
    scale,
    constant,
    out,
):
    """Write the product of a unit-length row with the centroid of each label in ``r``.

    ``weight`` has a factor for each feature. ``r`` lists some labels of each row,
    ascending. The centroid of a label has ``scale * c`` for its features, ``constant``
    for the bias. It is summed by ascending feature, whatever the other labels are.
    """
    total = np.zeros(scale.shape[0], np.float32)  # of every label, cleared by row
    for i in range(x_indptr.shape[0] - 1):
        first, last = np.int64(r_indptr[i]), np.int64(r_indptr[i + 1])
        longest = SCANNED * (last - first)
        length = _length(i, x_indptr, x_indices, x_data, weight, bias)
        for p in stretch(x_indptr, i):
            column = np.uintp(x_indices[p])
            value = np.float32(np.float64(weight[column]) * x_data[p] / length)
            n_entries = c_indptr[column + np.uintp(1)] - c_indptr[column]
            if n_entries == total.shape[0]:
                start = np.uintp(c_indptr[column])
                for q in range(first, last):
                    label = np.uintp(r_indices[q])
                    total[label] += value * np.float32(c_data[start + label])
            elif n_entries > longest:
                _add_found(
                    *(column, value, first, last, r_indices),
                    *(c_indptr, c_indices, c_data, total),
                )
            else:
                for q in stretch(c_indptr, column):
                    total[np.uintp(c_indices[q])] += value * np.float32(c_data[q])
        for p in range(first, last):
            label = np.uintp(r_indices[p])
            out[p] = scale[label] * total[label] + bias / length * constant[label]
            total[label] = 0.0
        for p in stretch(x_indptr, i):
            column = np.uintp(x_indices[p])
            n_entries = c_indptr[column + np.uintp(1)] - c_indptr[column]
            if n_entries < total.shape[0] and n_entries <= longest:
                for q in stretch(c_indptr, column):
                    total[np.uintp(c_indices[q])] = 0.0


@kernel
def _length(i, x_indptr, x_indices, x_data, weight, bias):
    """Return the length of a row with its bias; 1 for a row of zeros."""
    total = np.float64(bias) * bias
    for p in stretch(x_indptr, i):
        value = np.float64(x_data[p]) * weight[np.uintp(x_indices[p])]
        total += value * value
    return math.sqrt(total) if total > 0.0 else 1.0


@kernel
def _add_found(
    column, value, first, last, r_indices, c_indptr, c_indices, c_data, total
):
    """Add a long column to the totals of few labels: look each of them up."""
    low, end = np.int64(c_indptr[column]), np.int64(c_indptr[column + np.uintp(1)])
    for p in range(first, last):
        high = end
        while low < high:
            middle = (low + high) // 2
            if c_indices[middle] < r_indices[p]:
                low = middle + 1
            else:
                high = middle
        if low < end and c_indices[low] == r_indices[p]:
            total[np.uintp(r_indices[p])] += value * np.float32(c_data[low])

"""The labels and features of the rows of one node, renumbered from 0.

So a node costs what its own rows hold, whatever the number of labels and features.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.csr import stretch

BAND = 128  # values of a row, on average, that are written by column at a time


class Workspace(NamedTuple):
    """Memory that every node uses again."""

    labels: object  # (n_labels,) labels of the node, ascending
    label_number: object  # (n_labels,) numbers within the node; -1 between nodes
    y_indptr: object  # rows of the node, by numbers of labels
    y_indices: object
    weight: object  # (n_rows,) of the rows of the node, in the partition
    mass: object  # (n_rows,) of the rows of the node, elsewhere
    gain: object  # (n_labels,) of the labels of the node
    features: object  # features of the node, as they come
    feature_number: object  # (n_features,) numbers within the node; -1 between nodes
    c_indptr: object  # columns of the node, by numbers of rows
    c_indices: object
    c_data: object


@allocating_kernel
def workspace(n_rows, n_features, n_labels, n_values, n_known):
    """Return memory for data of this size, of so many values and known labels."""
    most = min(n_features, n_values) + 1
    return Workspace(
        np.empty(n_labels, np.int64),
        np.full(n_labels, -1, np.int32),
        np.empty(n_rows + 1, np.int64),
        np.empty(n_known, np.int32),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_labels),
        np.empty(most, np.int64),
        np.full(n_features, -1, np.int32),
        np.empty(most + 1, np.int64),
        np.empty(n_values + n_rows, np.int32),
        np.empty(n_values + n_rows, np.float32),
    )


@allocating_kernel
def gather_labels(data, rows, start, end, space):
    """Renumber the labels of ``rows[start:end]``; return how many there are."""
    number, labels, n_labels = space.label_number, space.labels, 0
    for r in range(start, end):
        for p in stretch(data.y_indptr, rows[r]):
            label = np.uintp(data.y_indices[p])
            if number[label] < 0:
                number[label] = 0
                labels[n_labels] = label
                n_labels += 1
    labels[:n_labels].sort()
    for n in range(n_labels):
        number[labels[n]] = n
        space.gain[n] = data.gain[labels[n]]
    place = 0
    for r in range(start, end):
        space.y_indptr[r - start] = place
        space.weight[r - start] = data.weight[rows[r]]
        space.mass[r - start] = data.mass[rows[r]]
        for p in stretch(data.y_indptr, rows[r]):
            space.y_indices[place] = number[np.uintp(data.y_indices[p])]
            place += 1
    space.y_indptr[end - start] = place
    for n in range(n_labels):
        number[labels[n]] = -1
    return n_labels


@allocating_kernel
def gather_columns(data, rows, start, end, space):
    """Sort the features of ``rows[start:end]`` by column; return how many there are.

    The constant feature is one more column, the last. Counted first, then filled; the
    starts of the columns move up to their ends while they are filled.
    """
    number, features, n_features = space.feature_number, space.features, 0
    indptr = space.c_indptr
    for r in range(start, end):
        for p in stretch(data.x_indptr, rows[r]):
            feature = np.uintp(data.x_indices[p])
            if number[feature] < 0:
                number[feature] = n_features
                features[n_features], indptr[n_features] = feature, 0
                n_features += 1
            indptr[np.uintp(number[feature])] += 1
    total = 0
    for n in range(n_features):
        total, indptr[n] = total + indptr[n], total
    _fill_columns(data, rows[start:end], total, space)
    for n in range(n_features, 0, -1):
        indptr[n] = indptr[n - 1]
    indptr[0] = 0
    for n in range(n_features):
        number[features[n]] = -1
    for i in range(end - start):
        space.c_indices[total + i], space.c_data[total + i] = i, data.bias
    indptr[n_features + 1] = total + end - start
    return n_features


@allocating_kernel
def _fill_columns(data, rows, total, space):
    """Write the values by column, of long rows a band of features at a time.

    Columns that are written in turn should lie in the cache, their addresses too.
    """
    number, indptr, n_rows = space.feature_number, space.c_indptr, rows.shape[0]
    n_bands = max(1, total // (BAND * max(1, n_rows)))
    place_in = np.empty(n_rows, np.int64)
    for i in range(n_rows):
        place_in[i] = data.x_indptr[rows[i]]
    for band in range(1, n_bands + 1):
        limit = number.shape[0] * band // n_bands
        for i in range(n_rows):
            p, last = np.uintp(place_in[i]), np.uintp(data.x_indptr[rows[i] + 1])
            while p < last and data.x_indices[p] < limit:
                n = np.uintp(number[np.uintp(data.x_indices[p])])
                place = np.uintp(indptr[n])
                indptr[n] += 1
                space.c_indices[place], space.c_data[place] = i, data.x_data[p]
                p += np.uintp(1)
            place_in[i] = p

"""The features of the rows of one node by column, renumbered from 0.

So a node costs what its own rows hold, whatever the number of features.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner
from manylabel._kernels.csr import stretch

BAND = 128  # values of a row, on average, that are written by column at a time


class NodeColumns(NamedTuple):
    """Features of the rows of a node, by column; every node uses it again."""

    features: object  # features of the node, as they come
    number: object  # (n_features,) numbers within the node; -1 between nodes
    indptr: object  # columns of the node, by numbers of rows
    indices: object
    data: object
    place: object  # (n_rows,) values of a row that have been written


def make_columns(n_rows, n_features, n_values):
    """Return columns for data of this size, of so many values."""
    most = min(n_features, n_values) + 1
    return NodeColumns(
        np.empty(most, np.int64),
        np.full(n_features, -1, np.int32),
        np.empty(most + 1, np.int64),
        np.empty(n_values + n_rows, np.int32),
        np.empty(n_values + n_rows, np.float32),
        np.empty(n_rows, np.int64),
    )


@inner
def gather_columns(data, rows, start, end, local):
    """Sort the features of ``rows[start:end]`` by column; return how many there are.

    The constant feature is one more column, the last. Counted first, then filled; the
    starts of the columns move up to their ends while they are filled. Of long rows a
    band of features is filled at a time: columns that are written in turn should lie in
    the cache, their addresses too.
    """
    number, features, n_features = local.number, local.features, 0
    indptr, place_in, n_rows, total = local.indptr, local.place, end - start, 0
    x_indptr, x_indices, x_data = data.x_indptr, data.x_indices, data.x_data
    for r in range(start, end):
        place_in[r - start] = x_indptr[rows[r]]
        for p in stretch(x_indptr, rows[r]):
            feature = np.uintp(x_indices[p])
            if number[feature] < 0:
                number[feature] = n_features
                features[n_features], indptr[n_features] = feature, 0
                n_features += 1
            indptr[np.uintp(number[feature])] += 1
    for n in range(n_features):
        total, indptr[n] = total + indptr[n], total
    n_bands = max(1, total // (BAND * max(1, n_rows)))
    for band in range(1, n_bands + 1):
        limit = number.shape[0] * band // n_bands
        for i in range(n_rows):
            p, last = np.uintp(place_in[i]), np.uintp(x_indptr[rows[start + i] + 1])
            while p < last and x_indices[p] < limit:
                n = np.uintp(number[np.uintp(x_indices[p])])
                place = np.uintp(indptr[n])
                indptr[n] += 1
                local.indices[place], local.data[place] = i, x_data[p]
                p += np.uintp(1)
            place_in[i] = p
    for n in range(n_features, 0, -1):
        indptr[n] = indptr[n - 1]
    indptr[0] = 0
    for n in range(n_features):
        number[features[n]] = -1
    for i in range(n_rows):
        local.indices[total + i], local.data[total + i] = i, data.bias
    indptr[n_features + 1] = total + n_rows
    return n_features

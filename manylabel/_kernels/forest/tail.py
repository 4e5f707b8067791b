"""Products of rows with the centroids of labels, for the tail classifiers of a forest.

Centroids are in fixed point, their constant feature apart. Those of few features stand
by label and are read whole. Wide ones, of which a row meets but a few features, stand
by feature, where their labels are numbered among themselves.
"""

import math
from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.forest.router import Rows

# A column is scanned unless it is so many times as long as there are labels to find.
SCANNED = 64


class Room(NamedTuple):
    """What the products of one row are worked out in."""

    value: object  # (n_features,) of the row; 0 between rows
    wide: object  # numbers of the wide labels that are listed, ascending
    place: object  # where they are listed
    total: object  # (n_wide,) products; 0 between rows


@allocating_kernel
def products(
    x_indptr,
    x_indices,
    x_data,
    weight,
    bias,
    r_indptr,
    r_indices,
    number,
    n_wide,
    c_indptr,
    c_indices,
    c_data,
    own_indptr,
    own_indices,
    own_data,
    scale,
    constant,
    out,
):
    """Write the product of a unit-length row with the centroid of each label in ``r``.

    ``weight`` has a factor for each feature. ``r`` lists some labels of each row,
    ascending. A wide label has a ``number``, others -1. The centroid of the former has
    ``scale * c`` for its features, of others ``scale * own``, and ``constant`` for the
    bias. It is summed by ascending feature, whatever the other labels are.
    """
    x, own = Rows(x_indptr, x_indices, x_data), Rows(own_indptr, own_indices, own_data)
    c, most = Rows(c_indptr, c_indices, c_data), min(n_wide, r_indices.shape[0])
    room = Room(
        np.zeros(weight.shape[0], np.float32),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.zeros(n_wide, np.float32),
    )
    for i in range(x_indptr.shape[0] - 1):
        length = _lay_out(i, x, weight, bias, room.value)
        n_listed = 0
        for p in stretch(r_indptr, i):
            label = np.uintp(r_indices[p])
            if number[label] >= 0:
                room.wide[n_listed], room.place[n_listed] = number[label], p
                n_listed += 1
            else:
                out[p] = scale[label] * _product(label, own, room.value)
        _add_wide(i, room.wide[:n_listed], x, c, room)
        for n in range(n_listed):
            p = room.place[n]
            out[p] = scale[np.uintp(r_indices[p])] * room.total[room.wide[n]]
        if bias != 0.0:
            for p in stretch(r_indptr, i):
                out[p] += bias / length * constant[np.uintp(r_indices[p])]
        _clear(i, room.wide[:n_listed], x, c, room)


@allocating_kernel
def _lay_out(i, x, weight, bias, value):
    """Lay out a row, brought to unit length with its bias; return its length before.

    A row of zeros stays, as if its length were 1.
    """
    total = np.float64(bias) * bias
    for p in stretch(x.indptr, i):
        weighted = np.float64(x.data[p]) * weight[np.uintp(x.indices[p])]
        total += weighted * weighted
    length = math.sqrt(total) if total > 0.0 else 1.0
    for p in stretch(x.indptr, i):
        column = np.uintp(x.indices[p])
        value[column] = np.float64(weight[column]) * x.data[p] / length
    return length


@allocating_kernel
def _product(label, own, value):
    """Return the product of the row laid out with a centroid that is not wide."""
    total = np.float32(0.0)
    for p in stretch(own.indptr, label):
        total += value[np.uintp(own.indices[p])] * np.float32(own.data[p])
    return total


@allocating_kernel
def _add_wide(i, labels, x, c, room):
    """Add up the products of a row with some wide centroids; others may get a part."""
    if labels.shape[0] == 0:
        return
    for p in stretch(x.indptr, i):
        column = np.uintp(x.indices[p])
        value, total = room.value[column], room.total
        if _is_full(column, c, room):
            start = np.uintp(c.indptr[column])
            for n in labels:
                label = np.uintp(n)
                total[label] += value * np.float32(c.data[start + label])
        elif _is_scanned(column, labels, c):
            for q in stretch(c.indptr, column):
                total[np.uintp(c.indices[q])] += value * np.float32(c.data[q])
        else:
            _add_found(column, value, labels, c, total)


@allocating_kernel
def _clear(i, labels, x, c, room):
    """Set what a row wrote back to 0."""
    room.total[labels] = 0.0
    for p in stretch(x.indptr, i):
        column = np.uintp(x.indices[p])
        room.value[column] = 0.0
        if not _is_full(column, c, room) and _is_scanned(column, labels, c):
            for q in stretch(c.indptr, column):
                room.total[np.uintp(c.indices[q])] = 0.0


@allocating_kernel
def _is_full(column, c, room):
    """Return whether a column has an entry for every wide label."""
    return c.indptr[column + np.uintp(1)] - c.indptr[column] == room.total.shape[0]


@allocating_kernel
def _is_scanned(column, labels, c):
    n_entries = c.indptr[column + np.uintp(1)] - c.indptr[column]
    return n_entries <= SCANNED * labels.shape[0]


@allocating_kernel
def _add_found(column, value, labels, c, total):
    """Add a long column to the totals of few labels: look each of them up."""
    low, end = np.int64(c.indptr[column]), np.int64(c.indptr[column + np.uintp(1)])
    for label in labels:
        high = end
        while low < high:
            middle = (low + high) // 2
            if c.indices[middle] < label:
                low = middle + 1
            else:
                high = middle
        if low < end and c.indices[low] == label:
            total[label] += value * np.float32(c.data[low])

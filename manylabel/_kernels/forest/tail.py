"""Products of rows with the centroids of labels, for the tail classifiers of a forest.

Centroids are in fixed point, their constant feature apart. Those of few features stand
by label and are read whole. Wide ones, of which a row meets but a few features, stand
by feature, where their labels are numbered among themselves.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.sorting import lower_bound
from manylabel._kernels.workspace import reused

# A column is scanned unless it is so many times as long as there are labels to find.
SCANNED = 64
# One of all labels is read whole if at least one label in so many is listed.
MOST = 4


class Products(NamedTuple):
    """What the products of one row are worked out in."""

    value: Any  # (n_features,) of the row; 0 between rows
    wide: Any  # (n_wide,) numbers of the wide labels that are listed, ascending
    place: Any  # (n_wide,) where they are listed
    total: Any  # (n_wide,) products; 0 between rows


@reused
def make_products(n_features, n_wide):
    """Return what :func:`multiply` needs."""
    wide, place = np.empty((2, n_wide), np.int64)
    zeros = np.zeros(n_features, np.float32), np.zeros(n_wide, np.float32)
    return Products(zeros[0], wide, place, zeros[1])


@kernel
def multiply(x, bias, listed, tail, room, out):
    """Write the product of each unit-length row with the centroids of its labels.

    ``listed`` has some labels of each row, ascending (CSR); ``tail`` is a
    :class:`manylabel.trees._tail.Tail`. Products are summed by ascending feature,
    whatever the other labels are.
    """
    labels, number, scale = listed.labels, tail.number, tail.scale
    for i in range(x.indptr.shape[0] - 1):
        length = _lay_out(i, x, tail.weight, bias, room.value)
        n_listed = np.int64(0)
        for p in stretch(listed.indptr, i):
            label = np.uintp(labels[p])
            if number[label] >= 0:
                room.wide[n_listed], room.place[n_listed] = number[label], p
                n_listed += 1
            else:
                total = np.float32(0.0)
                for q in stretch(tail.own_starts, label):
                    value = room.value[np.uintp(tail.own_features[q])]
                    total += value * np.float32(tail.own_values[q])
                out[p] = scale[label] * total
        _add_wide(i, n_listed, x, tail, room)
        for n in range(n_listed):
            p = room.place[n]
            out[p] = scale[np.uintp(labels[p])] * room.total[room.wide[n]]
        if bias != 0.0:
            for p in stretch(listed.indptr, i):
                out[p] += bias / length * tail.constant[np.uintp(labels[p])]
        _clear(i, n_listed, x, tail, room)


@inner
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


@inner
def _add_wide(i, n_listed, x, tail, room):
    """Add up the products of a row with some wide centroids; others may get a part.

    A column of all wide labels is read whole or where it is needed, a short one is
    scanned, and in a long one each label is looked up.
    """
    starts, numbers, values = tail.starts, tail.numbers, tail.values
    total, wide, n_wide = room.total, room.wide, room.total.shape[0]
    if n_listed == 0:
        return
    for p in stretch(x.indptr, i):
        column = np.uintp(x.indices[p])
        value = room.value[column]
        start, end = np.int64(starts[column]), np.int64(starts[column + np.uintp(1)])
        if end - start == n_wide and MOST * n_listed >= n_wide:
            first = np.uintp(start)
            for label in range(np.uintp(n_wide)):
                total[label] += value * np.float32(values[first + label])
        elif end - start == n_wide:
            for n in range(n_listed):
                label = np.uintp(wide[n])
                total[label] += value * np.float32(values[np.uintp(start) + label])
        elif end - start <= SCANNED * n_listed:
            for q in stretch(starts, column):
                total[np.uintp(numbers[q])] += value * np.float32(values[q])
        else:
            for n in range(n_listed):
                start = lower_bound(numbers, start, end, wide[n])
                if start < end and numbers[start] == wide[n]:
                    total[wide[n]] += value * np.float32(values[start])


@inner
def _clear(i, n_listed, x, tail, room):
    """Set what a row wrote back to 0."""
    n_wide = room.total.shape[0]
    if MOST * n_listed >= n_wide:
        room.total[:] = 0.0
    for n in range(n_listed):
        room.total[room.wide[n]] = 0.0
    for p in stretch(x.indptr, i):
        column = np.uintp(x.indices[p])
        room.value[column] = 0.0
        n_entries = tail.starts[column + np.uintp(1)] - tail.starts[column]
        if n_entries != n_wide and n_entries <= SCANNED * n_listed:
            for q in stretch(tail.starts, column):
                room.total[np.uintp(tail.numbers[q])] = 0.0

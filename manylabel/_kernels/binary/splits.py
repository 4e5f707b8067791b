"""The best axis-parallel splits of nodes, by least squares, exact and sparse.

The columns of all features are sorted by value once, zeros not stored; a feature is
then read once for all nodes of a level: its negative values upwards, gathering what
lies below a threshold, its positive ones downwards, gathering what lies above. Zeros
are what remains between the two.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel


class SortedColumns(NamedTuple):
    """A matrix by columns, the values of each ascending, without zeros."""

    indptr: np.ndarray  # int64
    rows: np.ndarray  # int32
    values: np.ndarray  # float32


class Best(NamedTuple):
    """The best split so far, in row 0 of features not used before, in row 1 of others.

    Each has a column for each node.
    """

    gain: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray


def sort_columns(X):
    """Return the columns of a CSR array, sorted."""
    X = X.tocsc()
    columns = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    order = np.lexsort((X.data, columns))
    order = order[X.data[order] != 0]
    counts = np.bincount(columns[order], minlength=X.shape[1])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return SortedColumns(starts, X.indices[order].astype(np.int32), X.data[order])


def make_best(n_nodes):
    """Return that no split has been found yet."""
    pair = (2, n_nodes)
    return Best(np.zeros(pair), np.full(pair, -1), np.zeros(pair))


@inner
def _consider(best, own, node, feature, part, total, threshold):
    """Keep a split if it gains more; ``part`` and ``total`` are a count and a sum."""
    n, s = part
    rest_n, rest_s = total[node, 0] - n, total[node, 1] - s
    gain = s * s / n + rest_s * rest_s / rest_n
    gain -= total[node, 1] * total[node, 1] / total[node, 0]
    if gain > best.gain[own, node]:
        best.gain[own, node] = gain
        best.feature[own, node] = feature
        best.threshold[own, node] = threshold


@inner
def _gather(columns, span, step, rows, total, feature, own, half, best):
    """Read values in one direction; ``half`` has count, sum and last value by node."""
    node, target = rows
    for p in range(span[0], span[1], step):
        row = columns.rows[p]
        at, value = node[row], np.float64(columns.values[p])
        if at < 0:
            continue
        if half[at, 0] > 0.0 and value != half[at, 2]:
            part = half[at, 0], half[at, 1]
            middle = 0.5 * (value + half[at, 2])
            _consider(best, own, at, feature, part, total, middle)
        half[at, 0] += 1.0
        half[at, 1] += target[row]
        half[at, 2] = value


@kernel
def search(columns, features, is_used, rows, total, halves, best):
    """Find the best split of each node among some features.

    ``rows`` has the node of each row, or -1, and its target; ``total`` the count and
    the sum of the targets of each node. ``halves`` is room, of shape (2, n_nodes, 3).
    """
    n_nodes, low, high = total.shape[0], halves[0], halves[1]
    for f in range(features.shape[0]):
        feature = features[f]
        own = np.int64(is_used[feature])
        start, end = columns.indptr[feature], columns.indptr[feature + 1]
        zero = start
        while zero < end and columns.values[zero] < 0.0:
            zero += 1
        for at in range(n_nodes):
            for part in range(3):
                low[at, part] = high[at, part] = 0.0
        _gather(columns, (start, zero), 1, rows, total, feature, own, low, best)
        _gather(columns, (end - 1, zero - 1), -1, rows, total, feature, own, high, best)
        for at in range(n_nodes):
            n_zero = total[at, 0] - low[at, 0] - high[at, 0]
            below, above = (low[at, 0], low[at, 1]), (high[at, 0], high[at, 1])
            if low[at, 0] > 0.0 and n_zero + high[at, 0] > 0.0:
                # The last value is 0 where there is none on the other side.
                middle = 0.5 * (low[at, 2] + (0.0 if n_zero > 0.0 else high[at, 2]))
                _consider(best, own, at, feature, below, total, middle)
            if high[at, 0] > 0.0 and n_zero > 0.0:
                middle = 0.5 * high[at, 2]
                _consider(best, own, at, feature, above, total, middle)


@kernel
def send(columns, splits, node, moved):
    """Write to ``moved`` the nodes of the rows after some splits.

    ``splits`` has node, feature, threshold and first child: the first takes the rows
    of values up to the threshold, the next one the others.
    """
    parents, features, thresholds, children = splits
    for row in range(node.shape[0]):
        moved[row] = node[row]
        for s in range(parents.shape[0]):
            if parents[s] == node[row]:
                moved[row] = children[s] + (0.0 > thresholds[s])
    for s in range(parents.shape[0]):
        feature = features[s]
        for p in range(columns.indptr[feature], columns.indptr[feature + 1]):
            row = columns.rows[p]
            if node[row] == parents[s]:
                moved[row] = children[s] + (columns.values[p] > thresholds[s])

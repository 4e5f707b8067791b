"""The best columns of each row: score descending, then column ascending.

The order is total, so every caller breaks ties the same way. Scores may be infinite,
not NaN. A bounded heap makes a row of L scores cost O(L + k log k log(L / k)) on
average.
"""

import numpy as np

from manylabel._kernels._jit import allocating_kernel


@allocating_kernel
def dense_rows(scores, k, out_columns):
    """Write the ``k`` best columns of each row of an array, padded with -1."""
    for i in range(scores.shape[0]):
        out_columns[i, :k] = -1
        best_positions(scores[i], k, out_columns[i])


@allocating_kernel
def best_of_rows(scores, out_columns, out_scores):
    """Write the best columns of each row of an array, and their scores."""
    for i in range(scores.shape[0]):
        best_positions(scores[i], out_columns.shape[1], out_columns[i])
        for n in range(out_columns.shape[1]):
            out_scores[i, n] = scores[i, out_columns[i, n]]


@allocating_kernel
def sort_by_column(columns, scores):
    """Sort the columns of each row, and their scores with them, in place."""
    for i in range(columns.shape[0]):
        order = np.argsort(columns[i])
        columns[i], scores[i] = columns[i][order], scores[i][order]


@allocating_kernel
def csr_rows(s_indptr, s_indices, s_data, k, out_columns):
    """Write the ``k`` best stored columns of each CSR row, padded with -1.

    Stored zeros and negative scores compete; what is not stored does not.
    """
    for i in range(s_indptr.shape[0] - 1):
        row = slice(s_indptr[i], s_indptr[i + 1])
        indices, out = s_indices[row], out_columns[i]
        out[:k] = -1
        for j in range(best_positions(s_data[row], k, out)):
            out[j] = indices[out[j]]


@allocating_kernel
def filled_rows(s_indptr, s_indices, s_data, seen, others, columns, scores):
    """Write the best labels of each row and their scores, best first.

    Labels that a row does not list follow by column: those seen in training, of score
    ``others[0]``, then the rest, of score ``others[1]``.
    """
    listed = np.zeros(seen.shape[0], np.bool_)
    for i in range(columns.shape[0]):
        row = slice(s_indptr[i], s_indptr[i + 1])
        labels, data, best = s_indices[row], s_data[row], columns[i]
        n_best = best_positions(data, best.shape[0], best)
        for n in range(n_best):
            scores[i, n], best[n] = data[best[n]], labels[best[n]]
        if n_best == best.shape[0]:
            continue
        listed[labels] = True
        for kind in range(2):
            label = 0
            while n_best < best.shape[0] and label < seen.shape[0]:
                if seen[label] == (kind == 0) and not listed[label]:
                    best[n_best], scores[i, n_best] = label, others[kind]
                    n_best += 1
                label += 1
        listed[labels] = False


@allocating_kernel
def best_positions(data, k, out):
    """Write the positions of the ``k`` largest of ``data``; return how many.

    The best comes first; equal values keep their order.
    """
    n = min(k, data.shape[0])
    if n == 0:
        return 0
    for p in range(n):
        out[p] = p
    for root in range(n // 2 - 1, -1, -1):
        _sift_down(data, out, root, n)
    for p in range(n, data.shape[0]):
        if data[p] > data[out[0]]:  # a later equal value ranks lower
            out[0] = p
            _sift_down(data, out, 0, n)
    for end in range(n - 1, 0, -1):
        out[0], out[end] = out[end], out[0]
        _sift_down(data, out, 0, end)
    return n


@allocating_kernel
def _sift_down(data, heap, root, end):
    """Restore the heap ``heap[:end]`` below ``root``; its root is the worst."""
    item = heap[root]
    while True:
        child = 2 * root + 1
        if child >= end:
            break
        if child + 1 < end and _is_worse(data, heap[child + 1], heap[child]):
            child += 1
        if not _is_worse(data, heap[child], item):
            break
        heap[root] = heap[child]
        root = child
    heap[root] = item


@allocating_kernel
def _is_worse(data, p, q):
    return data[p] < data[q] or (data[p] == data[q] and p > q)

"""The best columns of each row: score descending, then column ascending.

The order is total, so every caller breaks ties the same way. Scores may be infinite,
not NaN. A bounded heap makes a row of L scores cost O(L + k log k log(L / k)) on
average.
"""

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.sorting import sort_pairs


@kernel
def dense_rows(scores, k, out_columns):
    """Write the ``k`` best columns of each row of an array, padded with -1."""
    for i in range(scores.shape[0]):
        for n in range(best_positions(scores[i], k, out_columns[i]), k):
            out_columns[i, n] = -1


@kernel
def best_of_rows(scores, out_columns, out_scores):
    """Write the best columns of each row of an array, sorted, and their scores."""
    k = out_columns.shape[1]
    for i in range(scores.shape[0]):
        best_positions(scores[i], k, out_columns[i])
        for n in range(k):
            out_scores[i, n] = scores[i, out_columns[i, n]]
        sort_pairs(out_columns[i], out_scores[i], 0, k)


@kernel
def csr_rows(s_indptr, s_indices, s_data, k, out_columns):
    """Write the ``k`` best stored columns of each CSR row, padded with -1.

    Stored zeros and negative scores compete; what is not stored does not.
    """
    for i in range(s_indptr.shape[0] - 1):
        start, end, out = s_indptr[i], s_indptr[i + 1], out_columns[i]
        n_best = best_positions(s_data[start:end], k, out)
        for n in range(k):
            out[n] = s_indices[start + out[n]] if n < n_best else -1


@kernel
def filled_rows(lists, seen, others, listed, columns, scores, by_column):
    """Write the best labels of each row and their scores, best first or by column.

    Labels that a row does not list follow by column: those seen in training, of score
    ``others[0]``, then the rest, of score ``others[1]``. ``listed`` is False for every
    label, and is so again at the end.
    """
    s_indptr, s_indices, s_data = lists.indptr, lists.labels, lists.values
    k = columns.shape[1]
    for i in range(columns.shape[0]):
        start, end, best = s_indptr[i], s_indptr[i + 1], columns[i]
        n_best = best_positions(s_data[start:end], k, best)
        for n in range(n_best):
            p = start + best[n]
            scores[i, n], best[n] = s_data[p], s_indices[p]
        if n_best < k:
            for p in range(start, end):
                listed[s_indices[p]] = True
            for kind in range(2):
                label = 0
                while n_best < k and label < seen.shape[0]:
                    if seen[label] == (kind == 0) and not listed[label]:
                        best[n_best], scores[i, n_best] = label, others[kind]
                        n_best += 1
                    label += 1
            for p in range(start, end):
                listed[s_indices[p]] = False
        if by_column:
            sort_pairs(best, scores[i], 0, k)


@inner
def best_positions(data, k, out):
    """Write the positions of the ``k`` largest of ``data``; return how many.

    The best comes first; equal values keep their order. The heap has the worst on top.
    """
    n_data, n = data.shape[0], min(k, data.shape[0])
    for p in range(n):
        out[p] = p
    root, end, p = n // 2 - 1, n, n
    while end > 0:
        at = max(root, 0)
        if root >= 0:  # heap up
            item = out[root]
            root -= 1
        else:  # exchange the worst for each better one, then sort
            while p < n_data and data[p] <= data[out[0]]:  # a later equal one is worse
                p += 1
            item = p
            if p == n_data:
                end -= 1
                item, out[end] = out[end], out[0]
            p += p < n_data
        child = 2 * at + 1
        while child < end:
            one, other = out[child], out[min(child + 1, end - 1)]
            if data[other] < data[one] or (data[other] == data[one] and other > one):
                one, child = other, child + 1
            if data[one] > data[item] or (data[one] == data[item] and one < item):
                break
            out[at] = one
            at, child = child, 2 * child + 1
        out[at] = item
    return n

"""The sum of the values of the leaves that rows reach in many small trees."""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch
from manylabel._kernels.sorting import lower_bound


def add_values(x_indptr, x_indices, x_data, selected, trees, out):
    """Add to ``out`` what the trees say of each row.

    ``selected`` are the features, ascending. ``trees`` has the first node of each tree,
    and of every node the first child, 0 in a leaf, the place of its feature among the
    selected ones, threshold and value.
    """
    room = np.zeros(selected.shape[0])
    _add_values(x_indptr, x_indices, x_data, selected, trees, room, out)


@kernel
def _add_values(x_indptr, x_indices, x_data, selected, trees, room, out):
    roots, children, numbers, threshold, value = trees
    n_selected = selected.shape[0]
    for i in range(out.shape[0]):
        for p in stretch(x_indptr, i):
            number = lower_bound(selected, np.int64(0), n_selected, x_indices[p])
            if number < n_selected and selected[number] == x_indices[p]:
                room[number] = x_data[p]
        for tree in range(roots.shape[0] - 1):
            at = roots[tree]
            while children[at] != 0:
                at = children[at] + (room[numbers[at]] > threshold[at])
            out[i] += value[at]
        for number in range(n_selected):
            room[number] = 0.0

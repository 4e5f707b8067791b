"""The score of a row at a node of a sparse coding tree: the one place for it."""

import numpy as np

from manylabel._kernels._jit import inner
from manylabel._kernels.csr import stretch


@inner
def score(at, nodes, dense):
    """Return the score of a row whose values are laid out in ``dense``.

    ``nodes`` is a record of nodes with an ``intercept`` and, by ``w_indptr``, numbers
    of features in ``w_indices`` and their weights in ``w_data``.
    """
    total = np.float64(nodes.intercept[at])
    for p in stretch(nodes.w_indptr, at):
        total += nodes.w_data[p] * dense[np.uintp(nodes.w_indices[p])]
    return total

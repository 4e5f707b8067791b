"""The rows of a node, with the features that they have."""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.csr import stretch


@kernel
def gather(rows, chosen, place, features, out):
    """Write chosen rows with features renumbered; return how many features they have.

    Features are numbered as they come, ``features`` has what they are called outside,
    and ``place`` holds -1 for each of them, now and again at the end.
    """
    n_features, q = 0, 0
    for n in range(chosen.shape[0]):
        for p in stretch(rows.indptr, chosen[n]):
            j = rows.indices[p]
            if place[j] < 0:
                place[j], features[n_features] = n_features, j
                n_features += 1
            out.indices[q], out.data[q] = place[j], rows.data[p]
            q += 1
        out.indptr[n + 1] = q
    for f in range(n_features):
        place[features[f]] = np.int32(-1)
    return n_features

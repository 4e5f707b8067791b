"""Scores of labels from scores of labelsets."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel._kernels.coding_tree import labelsets


def reference(scores, sets):
    """Best labelset with the label less best one without; slow and obvious."""
    out = np.empty((len(scores), sets.shape[1]), np.float32)
    for i, row in enumerate(scores):
        for label in range(sets.shape[1]):
            has = sets[:, label] > 0
            within = row[has].max(initial=-np.inf)
            without = row[~has].max(initial=-np.inf)
            won = has[np.argmax(row)]
            gap = np.float32(within - without)
            out[i, label] = np.clip(gap, -labelsets.LIMIT, labelsets.LIMIT)
            if won:
                out[i, label] = max(out[i, label], labelsets.TINY)
    return out


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 5))
def test_follows_its_definition(seed, n_sets, n_labels):
    rng = np.random.default_rng(seed)
    sets = np.unique(rng.integers(0, 2, size=(n_sets, n_labels)), axis=0)
    scores = rng.integers(-3, 3, size=(4, len(sets))).astype(np.float32)  # with ties
    compressed = sp.csr_array(sets)
    out = np.empty((4, n_labels), np.float32)
    labelsets.label_margins(scores, compressed.indptr, compressed.indices, out)
    assert_array_equal(out, reference(scores, sets))
    assert_array_equal(out > 0, sets[scores.argmax(axis=1)] > 0)

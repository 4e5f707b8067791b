"""Some labels of each row."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Array


class Lists(NamedTuple):
    """Some labels of each row, by column, and a number for each: a bare CSR array.

    Making a ``csr_array`` takes as long as finding the labels of a row.
    """

    indptr: Array
    labels: Array
    values: Array

    def csr(self, n_labels: int) -> CSR:
        """Return them as a matrix."""
        shape = (len(self.indptr) - 1, n_labels)
        return sp.csr_array((self.values, self.labels, self.indptr), shape=shape)


def by_column(columns: Array, scores: Array, n_labels: int) -> CSR:
    """Return the labels of each row, listed in any order, as a CSR array."""
    order = np.argsort(columns, axis=1)
    columns = np.take_along_axis(columns, order, axis=1)
    scores = np.take_along_axis(scores, order, axis=1)
    indptr = np.arange(0, columns.size + 1, columns.shape[1], dtype=np.int32)
    return Lists(indptr, columns.ravel(), scores.ravel()).csr(n_labels)

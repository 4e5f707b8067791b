"""Some labels of each row."""

from typing import NamedTuple

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

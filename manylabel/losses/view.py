"""What a ranked chunk and a compared chunk of rows have in common."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from manylabel._typing import CSR, Ints


@dataclass(frozen=True, eq=False)
class View:
    """True labels of a chunk of rows.

    Parameters
    ----------
    truth : csr_array of shape (n_rows, n_labels)
        Canonical array of ones.
    """

    truth: CSR

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.truth.shape[0])

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return int(self.truth.shape[1])

    @cached_property
    def n_true(self) -> Ints:
        """Number of true labels of each row."""
        return row_lengths(self.truth)


def row_lengths(matrix: CSR) -> Ints:
    """Return the number of stored entries of each row."""
    bounds: Ints = np.asarray(matrix.indptr, np.int64)
    return bounds[1:] - bounds[:-1]

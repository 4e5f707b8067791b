"""A 0/1 prediction beside the truth, counted once for every measure."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from manylabel import _validation
from manylabel._kernels import costs
from manylabel._typing import CSR, Ints, MatrixLike
from manylabel.losses.view import View, row_lengths


@dataclass(frozen=True, eq=False)
class Compared(View):
    """Predicted and true label sets with the number of labels they share.

    Parameters
    ----------
    truth, predictions : csr_array of shape (n_rows, n_labels)
        Canonical arrays of ones.
    hits : ndarray of shape (n_rows,)
        Labels that are true and predicted, by row.
    label_hits : ndarray of shape (n_labels,)
        Rows in which a label is true and predicted, by label.

    Examples
    --------
    >>> Compared.of([[1, 1, 0]], [[1, 0, 1]]).hits
    array([1])
    """

    predictions: CSR
    hits: Ints
    label_hits: Ints

    @classmethod
    def of(cls, Y: MatrixLike, predictions: MatrixLike) -> Self:
        """Check both matrices and count what they share."""
        Y = _validation.labels(Y)
        P = _validation.labels(
            predictions, n_rows=Y.shape[0], n_labels=Y.shape[1], name="predictions"
        )
        hits, label_hits = (np.zeros(size, np.int64) for size in Y.shape)
        costs.count_hits(Y.indptr, Y.indices, P.indptr, P.indices, hits, label_hits)
        return cls(Y, P, hits, label_hits)

    @cached_property
    def n_predicted(self) -> Ints:
        """Number of predicted labels of each row."""
        return row_lengths(self.predictions)

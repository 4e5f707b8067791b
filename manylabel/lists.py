"""Some labels of each row."""

from collections.abc import Sequence
from copy import copy
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from manylabel._kernels import topk
from manylabel._typing import CSR, Array, Bools, Singles


class Lists(NamedTuple):
    """Some labels of each row, by column, and a number for each: a bare CSR array.

    Making a ``csr_array`` takes as long as finding the labels of a row: a single row
    is a copy of an empty one.
    """

    indptr: Array
    labels: Array
    values: Array

    @classmethod
    def stacked(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of some lists, then those of the next."""
        if len(parts) == 1:
            return parts[0]
        counts = np.concatenate([np.diff(part.indptr) for part in parts])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate([part.values for part in parts]),
        )

    def csr(self, n_labels: int) -> CSR:
        """Return them as a matrix."""
        if len(self.indptr) != 2:  # noqa: PLR2004 - not one row
            shape = (len(self.indptr) - 1, n_labels)
            return sp.csr_array((self.values, self.labels, self.indptr), shape=shape)
        kind = np.promote_types(self.indptr.dtype, self.labels.dtype)
        row = copy(_empty_row(n_labels))
        row.indptr = self.indptr.astype(kind, copy=False)
        row.indices, row.data = self.labels.astype(kind, copy=False), self.values
        return row

    def ones(self, n_labels: int) -> CSR:
        """Return them as a matrix of ones."""
        return self._replace(values=np.ones(len(self.labels), np.int64)).csr(n_labels)

    def dense(self, seen: Bools, others: Singles) -> Singles:
        """Return the numbers of all labels; ``others`` has those of labels not listed.

        The first is that of labels seen in training, the second of the rest.
        """
        n_rows = len(self.indptr) - 1
        out: Singles = np.tile(np.where(seen, others[0], others[1]), (n_rows, 1))
        rows = np.repeat(np.arange(n_rows), np.diff(self.indptr))
        out[rows, self.labels] = self.values
        return out

    def above(self, least: float) -> Self:
        """Return the labels of a larger number alone."""
        kept = self.values > least
        if kept.all():
            return self
        n_kept = np.concatenate([[0], np.cumsum(kept)])
        return type(self)(n_kept[self.indptr], self.labels[kept], self.values[kept])

    def best(self, k: int, seen: Bools, others: Singles) -> CSR:
        """Return the best ``k`` labels of each row, as if all were listed."""
        columns = np.empty((len(self.indptr) - 1, min(k, len(seen))), np.int32)
        scores, listed = np.empty(columns.shape, np.float32), np.zeros_like(seen)
        topk.filled_rows(self, seen, others, listed, columns, scores, True)
        return by_column(columns, scores, len(seen))


def by_column(columns: Array, scores: Array, n_labels: int) -> CSR:
    """Return as many labels of each row, sorted, and their scores, as a CSR array."""
    indptr = np.arange(0, columns.size + 1, columns.shape[1], dtype=np.int32)
    return Lists(indptr, columns.ravel(), scores.ravel()).csr(n_labels)


def where(is_given: Bools) -> CSR:
    """Return the labels that rows are given as ones; SciPy takes five times as long."""
    n_rows, n_labels = is_given.shape
    kind = np.int32 if is_given.size < 1 << 31 else np.int64
    given = np.flatnonzero(is_given)
    indptr = np.searchsorted(given, np.arange(n_rows + 1) * n_labels)
    labels = (given % max(n_labels, 1)).astype(kind)
    return Lists(indptr.astype(kind), labels, labels).ones(n_labels)


def with_rows(matrix: CSR, rows: Array, others: CSR) -> CSR:
    """Return a matrix in which some rows are replaced by others."""
    places = np.arange(matrix.shape[0])
    places[rows] = matrix.shape[0] + np.arange(len(rows))
    return sp.vstack([matrix, others], format="csr")[places]


@lru_cache
def _empty_row(n_labels: int) -> CSR:
    return sp.csr_array((1, n_labels))


def find_labelsets(Y: CSR) -> tuple[Array, Array, Array]:
    """Return which distinct labelset each row has, their first rows and frequencies.

    They are numbered in the order in which they come up.
    """
    bounds = zip(Y.indptr[:-1], Y.indptr[1:], strict=True)
    number: dict[bytes, int] = {}
    member = np.array(
        [number.setdefault(Y.indices[a:b].tobytes(), len(number)) for a, b in bounds]
    )
    _, first, counts = np.unique(member, return_index=True, return_counts=True)
    return member, first, counts

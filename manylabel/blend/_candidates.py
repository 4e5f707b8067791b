"""The labels that at least one of several learners thinks of."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.lists import Lists
from manylabel.model_selection.calibration import shares_of


class Candidates(NamedTuple):
    """Labels of each row, by column, and what each learner makes of them."""

    indptr: Ints
    labels: Array
    shares: Floats  # (n_pairs, n_learners); 0 for a label that a learner did not list

    @classmethod
    def of(cls, lists: Sequence[CSR], curves: Floats) -> "Candidates":
        """Return the labels of all lists, with calibrated scores."""
        n_rows, n_labels = lists[0].shape
        keys = [
            np.repeat(np.arange(n_rows) * n_labels, np.diff(scores.indptr))
            + scores.indices
            for scores in lists
        ]
        pairs, places = np.unique(np.concatenate(keys), return_inverse=True)
        shares = np.zeros((len(pairs), len(lists)))
        ends = np.cumsum([len(some) for some in keys])
        parts = np.split(places, ends[:-1])
        for n, (at, scores) in enumerate(zip(parts, lists, strict=True)):
            shares[at, n] = shares_of(scores.data, curves[n])
        indptr = np.searchsorted(pairs, np.arange(n_rows + 1) * n_labels)
        return cls(indptr, (pairs % n_labels).astype(np.int32), shares)

    def blended(self, weights: Floats, gain: Floats) -> Lists:
        """Return the weighted shares of the labels, times their gains."""
        # Few columns: threads of BLAS would take longer to start than this takes.
        values = np.einsum("ij,j", self.shares, weights) * gain[self.labels]
        return Lists(self.indptr, self.labels, values.astype(np.float32))

    def heads(self, depth: int, gains: Sequence[Floats]) -> Self:
        """Return the labels that may rank high, whatever the learners weigh.

        By the most that a learner makes of them, they are among the ``depth`` best of
        their row, for one of the gains.
        """
        most, n_pairs = self.shares.max(axis=1), np.diff(self.indptr)
        rows = np.repeat(np.arange(len(n_pairs)), n_pairs)
        ranks = np.arange(len(rows)) - self.indptr[rows]
        kept = np.zeros(len(rows), np.bool_)
        for gain in gains:
            order = np.lexsort((-most * gain[self.labels], rows))
            kept[order[ranks < depth]] = True
        n_kept = np.concatenate([[0], np.cumsum(kept)])
        indptr = n_kept[self.indptr]
        return type(self)(indptr, self.labels[kept], self.shares[kept])

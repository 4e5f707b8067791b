"""Which labels are given in place of which, and the rows that went worst."""

from collections.abc import Sequence
from heapq import nlargest
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Ints, MatrixLike
from manylabel.losses.compared import Compared
from manylabel.losses.ranked import Ranked, dcg, ideal_dcg

N_WORST = 20
MOST_PAIRED = 10  # labels of a row on either side of a confusion


class WorstRow(NamedTuple):
    """A row whose ranking is far from its labels.

    Attributes
    ----------
    row : int
        Its number, counted from 0.
    item : object
        What was given for it: a text, a name; None if nothing was.
    ndcg : float
        nDCG at the depth of the ranking.
    best : float
        The largest score: of rows that are as bad, the surest come first.
    recorded : tuple of int
        The labels that it has.
    given : tuple of int
        The labels that it was given.
    ranked : tuple of int
        The labels that were ranked best.
    """

    row: int
    item: Any
    ndcg: float
    best: float
    recorded: tuple[int, ...]
    given: tuple[int, ...]
    ranked: tuple[int, ...]


class Mistakes:
    """Confused labels and the worst rows, accumulated over chunks of rows.

    Parameters
    ----------
    k : int, default=5
        Depth of the rankings by which rows are bad.

    Attributes
    ----------
    n_rows : int
        Rows so far.
    worst : list of WorstRow
        The 20 rows of least nDCG@k, the worst first; rows without labels are none.

    Examples
    --------
    >>> found = Mistakes(k=1).update([[1, 0]], [[0.1, 0.9]], [[0, 1]], ["a text"])
    >>> found.pairs(), found.worst[0].item
    ([(1, 0, 1)], 'a text')
    """

    def __init__(self, k: int = 5) -> None:
        self.k = k
        self.n_rows = 0
        self.worst: list[WorstRow] = []
        self._pairs: CSR | None = None

    def update(
        self,
        Y: MatrixLike,
        scores: MatrixLike,
        predictions: MatrixLike,
        items: Sequence[Any] | None = None,
    ) -> Self:
        """Take a chunk of true labels, scores, 0/1 predictions, and what rows are."""
        compared, ranked = Compared.of(Y, predictions), Ranked.of(Y, scores, self.k)
        truth, given = compared.truth, compared.predictions
        wrong, missed = _only_first(given, truth), _only_first(truth, given)
        pairs = sp.csr_array(wrong.T @ missed)
        self._pairs = pairs if self._pairs is None else self._pairs + pairs
        self._keep_worst(ranked, given, _best_scores(scores, ranked), items)
        self.n_rows += ranked.n_rows
        return self

    def pairs(self, most: int = 50) -> list[tuple[int, int, int]]:
        """Return a label given, one recorded and missed, and the rows of both.

        The most frequent come first. A row counts for at most ten labels given in vain
        and ten missed.
        """
        if self._pairs is None:
            return []
        found = self._pairs.tocoo()
        order = np.lexsort((found.col, found.row, -found.data))[:most]
        columns = (found.row[order], found.col[order], found.data[order])
        return list(zip(*(part.astype(int).tolist() for part in columns), strict=True))

    def _keep_worst(
        self, ranked: Ranked, given: CSR, best: Any, items: Sequence[Any] | None
    ) -> None:
        ndcg = dcg(ranked.hits, self.k) / ideal_dcg(ranked.n_true, self.k)
        order = np.lexsort((-best, ndcg))
        order = order[ranked.n_true[order] > 0][:N_WORST]
        rows = [
            WorstRow(
                row=self.n_rows + row,
                item=None if items is None else items[row],
                ndcg=float(ndcg[row]),
                best=float(best[row]),
                recorded=_columns(ranked.truth, row),
                given=_columns(given, row),
                ranked=tuple(c for c in ranked.columns[row].tolist() if c >= 0),
            )
            for row in order.tolist()
        ]
        self.worst = nlargest(N_WORST, [*self.worst, *rows], key=_badness)


def _badness(row: WorstRow) -> tuple[float, float, int]:
    return -row.ndcg, row.best, -row.row


def _best_scores(scores: Any, ranked: Ranked) -> Any:
    """Return the score of the first label of each row; -inf if it has none."""
    first = ranked.columns[:, 0]
    found = sp.csr_array(scores)[np.arange(len(first)), first]
    return np.where(first >= 0, found, -np.inf)


def _only_first(mine: CSR, theirs: CSR) -> CSR:
    """Return the first labels of each row of ``mine`` that ``theirs`` has not."""
    rest = sp.csr_array(mine.astype(np.int64) - mine.multiply(theirs).astype(np.int64))
    rest.eliminate_zeros()
    rank = np.arange(rest.nnz) - np.repeat(rest.indptr[:-1], np.diff(rest.indptr))
    rest.data[rank >= MOST_PAIRED] = 0
    rest.eliminate_zeros()
    return rest


def _columns(matrix: CSR, row: int) -> tuple[int, ...]:
    columns: Ints = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    return tuple(columns.tolist())

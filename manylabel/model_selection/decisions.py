"""From probabilities to sets of labels: those of the least expected cost."""

from typing import Any

import numpy as np

from manylabel import _validation
from manylabel._kernels import least_cost
from manylabel._typing import CSR, Array, Floats, Ints, MatrixLike
from manylabel.lists import Lists
from manylabel.losses import CostLike, CountedCost
from manylabel.losses.resolve import as_counted_cost

N_CANDIDATES = 100
SLACK = 1e-12  # of a charge, for rounding
MOST_OTHERS = 200.0  # true labels that are not listed; more change no set


class LeastCost:
    """Gives each row the set of labels of the least expected cost.

    With independent labels of probabilities p, the best set of a size has the most
    probable ones, and how many of them are true is Poisson binomial; the expected costs
    of all sizes follow from its recurrence [1]_. So sets are the best there are for F1,
    accuracy (Jaccard) and any other cost that falls with the hits; for the Hamming and
    the subset loss they are the labels of a probability above 1/2.

    Parameters
    ----------
    cost : str or object with ``from_counts``, default="f1"
        What a set is charged; see :func:`manylabel.losses.as_cost`.
    n_candidates : int, default=100
        Labels that a row is given at most. Those behind them count as one Poisson
        number of true labels.
    size_ratio : array of shape (n_sizes,) or None, default=None
        How many times as often as independent labels would a row has 0, 1, 2, ... true
        labels; more are as the last. None is 1: labels are independent. The best sets
        have the most probable labels all the same.

    References
    ----------
    .. [1] Ye, Chai, Lee & Chieu, "Optimizing F-measures: a tale of two approaches",
       ICML 2012.

    Examples
    --------
    >>> proba = [[0.9, 0.45, 0.1], [0.4, 0.3, 0.1]]
    >>> LeastCost("f1").decide(proba).toarray()
    array([[1, 1, 0],
           [1, 1, 0]])
    >>> LeastCost("hamming").decide(proba).toarray()
    array([[1, 0, 0],
           [0, 0, 0]])
    """

    def __init__(
        self,
        cost: CostLike = "f1",
        *,
        n_candidates: int = N_CANDIDATES,
        size_ratio: Any = None,
    ) -> None:
        self.cost = as_counted_cost(cost)
        self.n_candidates = int(
            _validation.number(n_candidates, "n_candidates", least=1)
        )
        ratio = [1.0] if size_ratio is None else size_ratio
        self.size_ratio = np.asarray(ratio, np.float64)
        known = self.size_ratio.ndim == 1 and self.size_ratio.size > 0
        if (
            not known
            or not (np.isfinite(self.size_ratio) & (self.size_ratio >= 0)).all()
        ):
            raise ValueError(
                "size_ratio must be a row of finite numbers of 0 or more. "
                f"Got {size_ratio!r:.60}."
            )
        self._charges: dict[tuple[int, int, int], Floats] = {}

    def decide(self, proba: MatrixLike, *, rest: float = 0.0) -> CSR:
        """Return the sets.

        Parameters
        ----------
        proba : array or sparse array of shape (n_rows, n_labels)
            Probabilities that labels are true; what is not stored is 0.
        rest : float, default=0.0
            How many labels of a row are true, on average, that are not stored.

        Returns
        -------
        csr_array of shape (n_rows, n_labels)
            Labels, 0/1.
        """
        return self.weigh(proba, rest=rest)[0]

    def weigh(self, proba: MatrixLike, *, rest: float = 0.0) -> tuple[CSR, Floats]:
        """Return the sets, and what each is expected to cost.

        With a ``size_ratio``, costs of a row are so but for a common factor.
        """
        known = _validation.probabilities(proba)
        depth = min(self.n_candidates, known.shape[1])
        starts, order, others = _ranked(known, depth)
        tail = _poisson(others + rest)
        charges = self._charge(depth, tail.shape[1], known.shape[1])
        sizes, costs = np.empty(known.shape[0], np.int64), np.empty(known.shape[0])
        room = np.empty((depth + 1, depth + tail.shape[1])), np.empty(depth + 1)
        ranked = known.data[order].astype(np.float64)
        least_cost.least_cost_sizes(starts, ranked, tail, charges, *room, sizes, costs)
        return _heads(known, starts, order, sizes), costs

    def _charge(self, depth: int, n_tail: int, n_labels: int) -> Floats:
        """Return costs by size, hits and other true labels, made once."""
        key = depth, n_tail, n_labels
        if key not in self._charges:
            charges = tabulate(self.cost, *key)
            n_true = np.add.outer(np.arange(depth + 1), np.arange(charges.shape[2]))
            last = len(self.size_ratio) - 1
            self._charges[key] = charges * self.size_ratio[np.minimum(n_true, last)]
        return self._charges[key]


def tabulate(cost: CountedCost, depth: int, n_tail: int, n_labels: int) -> Floats:
    """Return what a cost charges, by the size of a set, its hits and what it misses.

    A cost that rises with the hits is refused: its best sets are not heads of the
    ranking.
    """
    size, hits, missed = np.ogrid[: depth + 1, : depth + 1, : depth + n_tail]
    n_true = np.minimum(hits + missed, n_labels)
    found, true, given = np.broadcast_arrays(np.minimum(hits, size), n_true, size)
    charges = np.asarray(cost.from_counts(found, true, given, n_labels), np.float64)
    falls = charges[:, 1:, :-1] <= charges[:, :-1, 1:] + SLACK
    allowed = (hits[:, 1:] <= size) & (hits[:, 1:] + missed[:, :, :-1] <= n_labels)
    wrong = np.argwhere(allowed & ~falls)
    if len(wrong):
        s, h, t = (int(each) for each in wrong[0])
        raise ValueError(
            f"cost must fall with the hits. {cost.name!r} charges "
            f"{charges[s, h, t + 1]:g} for {h} hits and {charges[s, h + 1, t]:g} for "
            f"{h + 1} ({s} labels given, {h + t + 1} true)."
        )
    return np.ascontiguousarray(charges)


def _ranked(proba: CSR, depth: int) -> tuple[Ints, Ints, Floats]:
    """Return the entries of each row, most probable first, and the sum of the rest."""
    rows = np.repeat(np.arange(proba.shape[0]), np.diff(proba.indptr))
    order = np.lexsort((-proba.data, rows))
    rank = np.arange(len(order)) - proba.indptr[rows]
    listed = rank < depth
    others = proba.data[order[~listed]].astype(np.float64)
    rest = np.asarray(np.bincount(rows[~listed], others, proba.shape[0]), np.float64)
    counts = np.minimum(np.diff(proba.indptr), depth)
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    return starts, order[listed], rest


def _poisson(means: Floats) -> Floats:
    """Return the distributions of Poisson numbers, as long as the largest asks for."""
    means = np.minimum(means, MOST_OTHERS)
    most = float(means.max(initial=0.0))
    n = 1 if most == 0 else int(2 ** np.ceil(np.log2(most + 6 * np.sqrt(most) + 8)))
    out: Floats = np.empty((len(means), n))
    out[:, 0] = np.exp(-means)
    for t in range(1, n):
        out[:, t] = out[:, t - 1] * means / t
    out /= out.sum(axis=1, keepdims=True)
    return out


def _heads(proba: CSR, starts: Ints, order: Ints, sizes: Ints) -> CSR:
    """Return the first labels of each row, so many, as 0/1."""
    rank = np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
    kept = rank < np.repeat(sizes, np.diff(starts))
    columns: Array = proba.indices[order[kept]]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    ones: Any = np.ones(len(columns), np.int64)
    sets = Lists(indptr, columns, ones).csr(proba.shape[1])
    sets.sort_indices()
    return sets

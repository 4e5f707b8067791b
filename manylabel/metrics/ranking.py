"""Metrics of the k best-ranked labels.

Conventions, for all of them: labels are ranked by score, equal scores by column, the
lower first. In sparse scores the stored entries are the predictions, whatever their
sign; what is not stored is not predicted, and a missing prediction is a miss. In dense
scores every label competes. A row without true labels contributes 0 and counts.
"""

from typing import Any, ClassVar, Self

import numpy as np

from manylabel import _validation
from manylabel._docstrings import described_like
from manylabel._typing import Array, MatrixLike
from manylabel.losses.ranked import Ranked, dcg, ideal_dcg
from manylabel.metrics.metric import LabelMetric, Metric, ratio


class RankingMetric(Metric):
    """A metric of the ``k`` best-ranked labels.

    Parameters
    ----------
    k : int, default=5
        Ranking depth.
    """

    symbol: ClassVar[str]
    sentence: ClassVar[str]
    propensity: Any = None

    def __init__(self, k: int = 5) -> None:
        super().__init__()
        (self.k,) = _validation.depths((k,))

    @property
    def key(self) -> str:
        """The name in a report, for instance ``P@5``."""
        return f"{self.symbol}@{self.k}"

    @property
    def meaning(self) -> str:
        """One sentence for people who do not know the name."""
        return self.sentence.format(k=self.k)

    def update(self, Y: MatrixLike, scores: MatrixLike) -> Self:
        """Take a chunk of true labels and scores; return itself."""
        return self.add(Ranked.of(Y, scores, self.k, self.propensity))

    def _is_like(self, other: Self) -> bool:
        mine, theirs = (
            np.asarray(getattr(metric.propensity, "values_", metric.propensity))
            for metric in (self, other)
        )
        return super()._is_like(other) and np.array_equal(mine, theirs)


@described_like(RankingMetric)
class PrecisionAtK(RankingMetric):
    """P@k: hits among the k best-ranked labels, divided by k whatever the row has.

    Examples
    --------
    >>> metric = PrecisionAtK(2)
    >>> metric.update([[1, 0, 1]], [[0.9, 0.8, 0.1]]).value
    0.5
    >>> metric.update([[0, 1, 0]], [[0.9, 0.1, 0.2]]).value
    0.25
    """

    symbol = "P"
    sentence = "Share of true labels among the {k} best-ranked, mean over rows."

    def _terms(self, view: Ranked) -> Array:
        return view.n_hits(self.k)[:, None]

    def _figure(self, sums: Array) -> Array:
        return super()._figure(sums) / self.k


@described_like(RankingMetric)
class NDCGAtK(RankingMetric):
    """nDCG@k: hits discounted by 1 / log2(rank + 1), relative to a perfect ranking.

    The perfect ranking has min(k, number of true labels) hits.

    Examples
    --------
    >>> NDCGAtK(2).update([[1, 0, 0]], [[0.8, 0.9, 0.1]]).value.__round__(3)
    0.631
    """

    symbol = "nDCG"
    sentence = (
        "Discounted hits among the {k} best-ranked labels, relative to a perfect "
        "ranking, mean over rows."
    )

    def _terms(self, view: Ranked) -> Array:
        return (dcg(view.hits, self.k) / ideal_dcg(view.n_true, self.k))[:, None]


@described_like(RankingMetric)
class RecallAtK(RankingMetric):
    """Recall@k: the share of a row's true labels that are among the k best-ranked.

    Examples
    --------
    >>> RecallAtK(1).update([[1, 0, 1]], [[0.9, 0.8, 0.1]]).value
    0.5
    """

    symbol = "recall"
    sentence = "Share of a row's true labels among the {k} best-ranked, mean over rows."

    def _terms(self, view: Ranked) -> Array:
        return (view.n_hits(self.k) / np.maximum(view.n_true, 1))[:, None]


@described_like(RankingMetric)
class F1AtK(RankingMetric):
    """F1@k: harmonic mean of P@k and recall@k of each row, 2 hits / (k + n_true).

    Examples
    --------
    >>> F1AtK(1).update([[1, 0, 1]], [[0.9, 0.8, 0.1]]).value.__round__(3)
    0.667
    """

    symbol = "F1"
    sentence = "Harmonic mean of precision and recall at {k} of a row, mean over rows."

    def _terms(self, view: Ranked) -> Array:
        return (2 * view.n_hits(self.k) / (self.k + view.n_true))[:, None]


@described_like(RankingMetric)
class CoverageAtK(RankingMetric, LabelMetric):
    """Label coverage@k: the share of labels found at least once.

    Of the labels that are true in some row, those that are a hit among the k
    best-ranked in some row.

    Examples
    --------
    >>> CoverageAtK(1).update([[1, 0], [1, 1]], [[0.9, 0.1], [0.8, 0.3]]).value
    0.5
    """

    symbol = "coverage"
    sentence = (
        "Share of the labels that occur that were found among the {k} best-ranked of "
        "at least one row."
    )

    def _terms(self, view: Ranked) -> Array:
        found = view.columns[:, : self.k][view.hits[:, : self.k]]
        return np.stack(
            [
                np.bincount(labels, minlength=view.n_labels)
                for labels in (found, view.truth.indices)
            ]
        )

    def _figure(self, sums: Array) -> Array:
        found, occurring = np.count_nonzero(sums, axis=1)
        return ratio(found, occurring)


def precision_at_k(Y: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    """Return P@k; see :class:`PrecisionAtK`.

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        True labels, 0/1.
    scores : array or sparse array of shape (n_rows, n_labels)
        Scores.
    k : int, default=5
        Ranking depth.

    Returns
    -------
    float
        A fraction in [0, 1].

    Examples
    --------
    >>> precision_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=2)
    0.5
    """
    return PrecisionAtK(k).update(Y, scores).value


@described_like(precision_at_k)
def ndcg_at_k(Y: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    """Return nDCG@k; see :class:`NDCGAtK`.

    Examples
    --------
    >>> ndcg_at_k([[1, 0, 1]], [[0.9, 0.1, 0.8]], k=2)
    1.0
    """
    return NDCGAtK(k).update(Y, scores).value


@described_like(precision_at_k)
def recall_at_k(Y: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    """Return recall@k; see :class:`RecallAtK`.

    Examples
    --------
    >>> recall_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=2)
    0.5
    """
    return RecallAtK(k).update(Y, scores).value


@described_like(precision_at_k)
def f1_at_k(Y: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    """Return F1@k; see :class:`F1AtK`.

    Examples
    --------
    >>> f1_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=2)
    0.5
    """
    return F1AtK(k).update(Y, scores).value


@described_like(precision_at_k)
def coverage_at_k(Y: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    """Return label coverage@k; see :class:`CoverageAtK`.

    Examples
    --------
    >>> coverage_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=2)
    0.5
    """
    return CoverageAtK(k).update(Y, scores).value

"""Whether probabilities are as they say: of what is 30 % probable, 30 % is true."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from manylabel import _validation
from manylabel._docstrings import described_like
from manylabel._typing import Array, Floats, MatrixLike
from manylabel.losses.ranked import Ranked
from manylabel.metrics.metric import LabelMetric, ratio
from manylabel.metrics.ranking import RankingMetric, precision_at_k

N_BINS = 10
GRAIN = 2.0**-24  # probabilities are counted in grains, so that sums are whole numbers


class Bin(NamedTuple):
    """Predictions of about the same probability, and how many of them are true.

    Attributes
    ----------
    low, high : float
        Probabilities from ``low`` on and below ``high``; the last bin has 1, too.
    proba : float
        Their mean; NaN if there are none.
    share : float
        The share that is recorded, NaN if there are none. With propensities, an
        unbiased estimate of the share that is true, which can exceed 1.
    n_pairs : int
        How many there are.
    """

    low: float
    high: float
    proba: float
    share: float
    n_pairs: int


@dataclass(frozen=True, eq=False)
class Probable(Ranked):
    """The best columns of each row, whether they are true, and how probable they are.

    Parameters
    ----------
    proba : ndarray of shape (n_rows, depth)
        Probabilities; 0 where a row has fewer predictions.

    Examples
    --------
    >>> Probable.of_ranked(Ranked.of([[0, 1]], [[3.0, 4.0]], 1), [[0.2, 0.7]]).proba
    array([[0.7]])
    """

    proba: Floats

    @classmethod
    def of_ranked(cls, ranked: Ranked, proba: MatrixLike) -> "Probable":
        """Check probabilities, and find those of the columns that are ranked."""
        known = _validation.probabilities(proba)
        if known.shape != ranked.truth.shape:
            raise ValueError(
                f"proba must have the shape of Y, {ranked.truth.shape}. "
                f"Got {known.shape}."
            )
        columns = ranked.columns
        rows = np.repeat(np.arange(len(columns)), columns.shape[1])
        found = known[rows, columns.ravel()] if columns.size else np.empty(0)
        dense = np.asarray(found, float).reshape(columns.shape)
        is_given = np.where(columns < 0, 0.0, dense)
        return cls(ranked.truth, columns, ranked.hits, ranked.weights, is_given)


@described_like(RankingMetric)
class CalibrationErrorAtK(RankingMetric, LabelMetric):
    """ECE@k: how far the probabilities of the k best-ranked labels are from the truth.

    Pairs of a row and one of its k best-ranked labels are put into ten bins by their
    probability; the error is the distance between the mean probability of a bin and the
    share of it that is true, mean over pairs [1]_.

    Parameters
    ----------
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded. A recorded one then counts
        1 / propensity, which makes the share of a bin unbiased for that of true labels,
        and the name is PSECE@k.

    Attributes
    ----------
    reliability : tuple of Bin
        The bins, the least probable first.

    References
    ----------
    .. [1] Guo, Pleiss, Sun & Weinberger, "On calibration of modern neural networks",
       ICML 2017, equation 3.

    Examples
    --------
    >>> metric = CalibrationErrorAtK(1).update([[1, 0], [0, 1]], [[0.8, 0.1]] * 2)
    >>> round(metric.value, 3)
    0.3
    >>> [(bin.n_pairs, bin.share) for bin in metric.reliability if bin.n_pairs]
    [(2, 0.5)]
    """

    symbol = "ECE"
    sentence = (
        "Loss: distance between the probability of the {k} best-ranked labels and the "
        "share of them that is recorded, mean over ten bins of probability."
    )
    is_loss = True

    def __init__(self, k: int = 5, propensity: Any = None) -> None:
        super().__init__(k)
        self.propensity = propensity

    @property
    def key(self) -> str:
        """The name in a report, ``ECE@5`` or ``PSECE@5``."""
        return super().key if self.propensity is None else f"PS{super().key}"

    @property
    def meaning(self) -> str:
        """One sentence for people who do not know the name."""
        if self.propensity is None:
            return super().meaning
        true = "is true, each recorded label counted 1 / propensity"
        return super().meaning.replace("is recorded", true)

    def update(
        self, Y: MatrixLike, scores: MatrixLike, proba: MatrixLike | None = None
    ) -> Self:
        """Take a chunk of true labels, scores and probabilities; return itself.

        Without ``proba``, scores are the probabilities.
        """
        ranked = Ranked.of(Y, scores, self.k, self.propensity)
        return self.add(Probable.of_ranked(ranked, scores if proba is None else proba))

    @property
    def reliability(self) -> tuple[Bin, ...]:
        """The bins, the least probable first."""
        nothing = np.zeros((3, N_BINS), np.int64)
        count, proba, worth = self._sums.values if self.n_rows else nothing
        edges = np.arange(N_BINS + 1) / N_BINS
        with np.errstate(invalid="ignore"):
            means = proba * GRAIN / count, worth * GRAIN / count
        columns = (edges[:-1], edges[1:], *means, count)
        lines = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(Bin(*line) for line in lines)

    def _terms(self, view: Probable) -> Array:
        is_given = view.columns[:, : self.k] >= 0
        proba = view.proba[:, : self.k][is_given]
        gains = view.hits if self.propensity is None else view.gains
        worth = gains[:, : self.k][is_given].astype(float)
        place = np.minimum((proba * N_BINS).astype(np.int64), N_BINS - 1)
        return np.stack(
            [
                np.bincount(place, weights, minlength=N_BINS)
                for weights in (None, np.round(proba / GRAIN), np.round(worth / GRAIN))
            ]
        ).astype(np.int64)

    def _figure(self, sums: Array) -> Array:
        count, proba, worth = sums
        return ratio(np.abs(proba - worth).sum() * GRAIN, count.sum())


@described_like(precision_at_k)
def calibration_error_at_k(
    Y: MatrixLike,
    scores: MatrixLike,
    k: int = 5,
    *,
    proba: MatrixLike | None = None,
    propensity: Any = None,
) -> float:
    """Return ECE@k; see :class:`CalibrationErrorAtK`.

    Parameters
    ----------
    proba : array or sparse array of shape (n_rows, n_labels) or None, default=None
        Probabilities in [0, 1], 0 where a sparse one has none; None if scores are.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded.

    Returns
    -------
    float
        A loss in [0, 1]; with propensities, PSECE@k, which can exceed 1.

    Examples
    --------
    >>> calibration_error_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=1).__round__(3)
    0.1
    """
    return CalibrationErrorAtK(k, propensity).update(Y, scores, proba).value

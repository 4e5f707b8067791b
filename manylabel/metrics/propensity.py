"""Ranking metrics in which a hit counts 1 / propensity.

Rare labels are recorded less often than they are true, so a recorded one stands for
several. Normalised values, the default and what papers report, are a ratio of means:
the mean over rows of what was gained by the mean of the most that a ranking of the same
rows could gain (the Extreme Classification Repository's script). Raw values are the
unbiased estimates of :mod:`manylabel.losses.unbiased`, and can exceed 1.
"""

from abc import abstractmethod
from typing import Any

import numpy as np

from manylabel._docstrings import described_like
from manylabel._typing import Array, Floats, MatrixLike
from manylabel.losses.ranked import Ranked, cumulative_gain, dcg, ideal_dcg
from manylabel.metrics.metric import ratio
from manylabel.metrics.ranking import RankingMetric


class PropensityMetric(RankingMetric):
    """A ranking metric in which a hit counts 1 / propensity.

    Parameters
    ----------
    k : int, default=5
        Ranking depth.
    propensity : Propensity, array of shape (n_labels,) or float, default=1.0
        Probability that a true label is recorded.
    normalised : bool, default=True
        Divide by the best attainable value.
    """

    _n_sums = 2

    def __init__(
        self, k: int = 5, propensity: Any = 1.0, *, normalised: bool = True
    ) -> None:
        super().__init__(k)
        self.propensity = propensity
        self.normalised = normalised

    @property
    def key(self) -> str:
        """The name in a report, for instance ``PSP@5``."""
        return super().key if self.normalised else f"raw {super().key}"

    @property
    def meaning(self) -> str:
        """One sentence for people who do not know the name."""
        relative = ", relative to the best attainable" if self.normalised else ""
        return f"{super().meaning}{relative}: rare, often hidden labels weigh more."

    def _terms(self, view: Ranked) -> Array:
        return np.stack(
            [self._gain(view, view.gains), self._gain(view, view.best_gains)], axis=1
        )

    @abstractmethod
    def _gain(self, view: Ranked, gains: Floats) -> Floats:
        """Return what gains in ranked order are worth to each row."""

    def _figure(self, sums: Array) -> Array:
        if not self.normalised:
            return super()._figure(sums)
        return np.minimum(ratio(*sums), 1.0)  # the two sums may round differently


@described_like(PropensityMetric)
class PSPAtK(PropensityMetric):
    """PSP@k: propensity-scored precision.

    Parameters
    ----------
    normalised : bool, default=True
        Divide by the best attainable value: with propensities 1, P@k by the P@k of a
        perfect ranking. Raw with propensities 1 is P@k.

    Examples
    --------
    >>> metric = PSPAtK(1, propensity=[0.5, 0.25])
    >>> metric.update([[1, 1]], [[0.9, 0.1]]).value
    0.5
    """

    symbol = "PSP"
    sentence = "Precision at {k} with each hit counted 1 / propensity"

    def _gain(self, view: Ranked, gains: Floats) -> Floats:
        return cumulative_gain(gains, self.k) / self.k


@described_like(PropensityMetric)
class PSNDCGAtK(PropensityMetric):
    """PSnDCG@k: propensity-scored nDCG.

    The gain of a row is divided by the DCG of min(k, number of recorded labels) hits
    before the mean is taken.

    Parameters
    ----------
    normalised : bool, default=True
        Divide by the best attainable value. With propensities 1 that changes nothing
        where every row has a label.

    Notes
    -----
    Not an unbiased estimate of nDCG@k, raw or not, because it divides by the number of
    recorded labels; :func:`manylabel.losses.unbiased_dcg` is one.

    Examples
    --------
    >>> metric = PSNDCGAtK(1, propensity=[0.5, 0.25])
    >>> metric.update([[1, 1]], [[0.9, 0.1]]).value
    0.5
    """

    symbol = "PSnDCG"
    sentence = "nDCG at {k} with each hit counted 1 / propensity"

    def _gain(self, view: Ranked, gains: Floats) -> Floats:
        return dcg(gains, self.k) / ideal_dcg(view.n_true, self.k)


def psp_at_k(
    Y: MatrixLike,
    scores: MatrixLike,
    k: int = 5,
    *,
    propensity: Any,
    normalised: bool = True,
) -> float:
    """Return PSP@k; see :class:`PSPAtK`.

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        Recorded labels, 0/1.
    scores : array or sparse array of shape (n_rows, n_labels)
        Scores.
    k : int, default=5
        Ranking depth.
    propensity : Propensity, array of shape (n_labels,) or float
        Probability that a true label is recorded.
    normalised : bool, default=True
        Divide by the best attainable value.

    Returns
    -------
    float
        A fraction in [0, 1] if normalised.

    Examples
    --------
    >>> psp_at_k([[1, 1]], [[0.9, 0.1]], k=1, propensity=[0.5, 0.25])
    0.5
    """
    return PSPAtK(k, propensity, normalised=normalised).update(Y, scores).value


@described_like(psp_at_k)
def psndcg_at_k(
    Y: MatrixLike,
    scores: MatrixLike,
    k: int = 5,
    *,
    propensity: Any,
    normalised: bool = True,
) -> float:
    """Return PSnDCG@k; see :class:`PSNDCGAtK`.

    Examples
    --------
    >>> psndcg_at_k([[1, 1]], [[0.9, 0.1]], k=1, propensity=[0.5, 0.25])
    0.5
    """
    return PSNDCGAtK(k, propensity, normalised=normalised).update(Y, scores).value

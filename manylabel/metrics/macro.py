"""Metrics of the k best-ranked labels in which all labels count alike.

Each label is judged over the rows, then the mean over labels is taken: of all labels
there are, as scikit-learn has it. One that no row is given, and none has, counts 0.
"""

import numpy as np

from manylabel._docstrings import described_like
from manylabel._typing import Array, MatrixLike
from manylabel.losses.ranked import Ranked
from manylabel.metrics.metric import LabelMetric, ratio
from manylabel.metrics.ranking import RankingMetric, precision_at_k


class MacroMetric(RankingMetric, LabelMetric):
    """A mean over labels, of hits, rows that are given a label, and rows that have it.

    A subclass says what a label's figure is (``_of_labels``).
    """

    def _terms(self, view: Ranked) -> Array:
        columns, hits = view.columns[:, : self.k], view.hits[:, : self.k]
        counted = (columns[hits], columns[columns >= 0], view.truth.indices)
        return np.stack(
            [np.bincount(part, minlength=view.n_labels) for part in counted]
        )

    def _figure(self, sums: Array) -> Array:
        return np.asarray(self._of_labels(*sums).mean())

    def _of_labels(self, hits: Array, given: Array, true: Array) -> Array:
        raise NotImplementedError


@described_like(RankingMetric)
class MacroPrecisionAtK(MacroMetric):
    """macro-P@k: of the rows that a label is given to, those that have it.

    Examples
    --------
    >>> MacroPrecisionAtK(1).update([[1, 0], [1, 1]], [[0.9, 0.1], [0.8, 0.3]]).value
    0.5
    """

    symbol = "macro-P"
    sentence = (
        "Of the rows that a label is given to as one of {k}, those that have it, mean "
        "over labels; all labels count alike."
    )

    def _of_labels(self, hits: Array, given: Array, true: Array) -> Array:
        return ratio(hits, given)


@described_like(RankingMetric)
class MacroRecallAtK(MacroMetric):
    """macro-R@k: of the rows that have a label, those that it is given to.

    Examples
    --------
    >>> MacroRecallAtK(1).update([[1, 0], [1, 1]], [[0.9, 0.1], [0.2, 0.3]]).value
    0.75
    """

    symbol = "macro-R"
    sentence = (
        "Of the rows that have a label, those that it is given to as one of {k}, mean "
        "over labels; all labels count alike."
    )

    def _of_labels(self, hits: Array, given: Array, true: Array) -> Array:
        return ratio(hits, true)


@described_like(RankingMetric)
class MacroF1AtK(MacroMetric):
    """macro-F1@k: the F1 of each label over the rows, mean over labels.

    Examples
    --------
    >>> MacroF1AtK(1).update([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.3]]).value
    1.0
    """

    symbol = "macro-F1"
    sentence = (
        "F1 of each label over the rows that it is given to as one of {k}, mean over "
        "labels; all labels count alike."
    )

    def _of_labels(self, hits: Array, given: Array, true: Array) -> Array:
        return ratio(2 * hits, given + true)


@described_like(precision_at_k)
def macro_precision_at_k(Y: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    """Return macro-P@k; see :class:`MacroPrecisionAtK`.

    Examples
    --------
    >>> macro_precision_at_k([[1, 0], [1, 1]], [[0.9, 0.8], [0.9, 0.8]], k=1)
    0.5
    """
    return MacroPrecisionAtK(k).update(Y, scores).value


@described_like(precision_at_k)
def macro_recall_at_k(Y: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    """Return macro-R@k; see :class:`MacroRecallAtK`.

    Examples
    --------
    >>> macro_recall_at_k([[1, 0], [1, 1]], [[0.9, 0.8], [0.9, 0.8]], k=1)
    0.5
    """
    return MacroRecallAtK(k).update(Y, scores).value


@described_like(precision_at_k)
def macro_f1_at_k(Y: MatrixLike, scores: MatrixLike, k: int = 5) -> float:
    """Return macro-F1@k; see :class:`MacroF1AtK`.

    Examples
    --------
    >>> macro_f1_at_k([[1, 0, 1]], [[0.9, 0.8, 0.1]], k=1).__round__(3)
    0.333
    """
    return MacroF1AtK(k).update(Y, scores).value

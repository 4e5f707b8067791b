"""Metrics of predicted label sets.

Costs are losses: 0 is best. Micro-F1 and macro-F1 are scores: 1 is best. Chu, Huang &
Lin (2019, section 2) exchange the last two names; here they have their usual meaning.
"""

from typing import Self

import numpy as np

from manylabel._docstrings import described_like
from manylabel._typing import Array, MatrixLike
from manylabel.losses import CostLike, as_cost
from manylabel.losses.compared import Compared
from manylabel.metrics.metric import LabelMetric, Metric, ratio


class SetMetric(Metric):
    """A metric of 0/1 predictions."""

    def update(self, Y: MatrixLike, scores: MatrixLike) -> Self:
        """Take a chunk of true labels and 0/1 predictions; return itself."""
        return self.add(Compared.of(Y, scores))


class MeanCost(SetMetric):
    """The mean over rows of a cost.

    Parameters
    ----------
    cost : str, object with ``from_counts`` or callable
        See :func:`manylabel.losses.as_cost`.

    Examples
    --------
    >>> MeanCost("hamming").update([[1, 0], [0, 1]], [[1, 0], [1, 1]]).value
    0.25
    """

    is_loss = True

    def __init__(self, cost: CostLike) -> None:
        super().__init__()
        self.cost = as_cost(cost)

    @property
    def key(self) -> str:
        """The name of the cost."""
        return self.cost.name

    @property
    def meaning(self) -> str:
        """One sentence about the cost."""
        return self.cost.meaning

    def _terms(self, view: Compared) -> Array:
        return self.cost.of_rows(view)[:, None]


class MicroF1(SetMetric):
    """Micro-F1: the F1 of all (row, label) pairs together.

    0 if no label is true and none is predicted, as in scikit-learn.

    Examples
    --------
    >>> MicroF1().update([[1, 0], [0, 1]], [[1, 0], [1, 1]]).value
    0.8
    """

    key = "micro-F1"
    meaning = "F1 of all (row, label) decisions taken together; frequent labels rule."
    _n_sums = 2

    def _terms(self, view: Compared) -> Array:
        return np.stack([2 * view.hits, view.n_true + view.n_predicted], axis=1)

    def _figure(self, sums: Array) -> Array:
        return ratio(*sums)


class MacroF1(SetMetric, LabelMetric):
    """Macro-F1: the F1 of each label over the rows, mean over all labels.

    A label that is never true and never predicted counts 0, as in scikit-learn.

    Examples
    --------
    >>> MacroF1().update([[1, 0], [0, 1]], [[1, 0], [1, 1]]).value.__round__(3)
    0.833
    """

    key = "macro-F1"
    meaning = (
        "F1 of each label over the rows, mean over labels; all labels count alike."
    )

    def _terms(self, view: Compared) -> Array:
        true, predicted = (
            np.bincount(matrix.indices, minlength=view.n_labels)
            for matrix in (view.truth, view.predictions)
        )
        return np.stack([2 * view.label_hits, true + predicted])

    def _figure(self, sums: Array) -> Array:
        hits, either = sums
        return ratio((hits / np.maximum(either, 1)).sum(), len(hits))


def micro_f1(Y: MatrixLike, predictions: MatrixLike) -> float:
    """Return micro-F1; see :class:`MicroF1`.

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        True labels, 0/1.
    predictions : array or sparse array of shape (n_rows, n_labels)
        Predicted labels, 0/1.

    Returns
    -------
    float
        A score in [0, 1].

    Examples
    --------
    >>> micro_f1([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.8
    """
    return MicroF1().update(Y, predictions).value


@described_like(micro_f1)
def macro_f1(Y: MatrixLike, predictions: MatrixLike) -> float:
    """Return macro-F1; see :class:`MacroF1`.

    Examples
    --------
    >>> macro_f1([[1, 0], [0, 1]], [[1, 0], [0, 1]])
    1.0
    """
    return MacroF1().update(Y, predictions).value


@described_like(micro_f1)
def mean_cost(Y: MatrixLike, predictions: MatrixLike, cost: CostLike) -> float:
    """Return the mean over rows of a cost; see :class:`MeanCost`.

    Parameters
    ----------
    cost : str, object with ``from_counts`` or callable
        See :func:`manylabel.losses.as_cost`.

    Returns
    -------
    float
        The mean cost; for a named cost a fraction in [0, 1].

    Examples
    --------
    >>> mean_cost([[1, 0], [0, 1]], [[1, 0], [1, 1]], "subset")
    0.5
    """
    return MeanCost(cost).update(Y, predictions).value

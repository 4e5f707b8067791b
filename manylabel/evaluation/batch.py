"""Judge predictions for many rows, all at once or chunk by chunk."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from manylabel import _validation
from manylabel._typing import Array, MatrixLike
from manylabel.evaluation.report import Report
from manylabel.losses import NAMED, CostLike
from manylabel.losses.compared import Compared
from manylabel.losses.ranked import Ranked
from manylabel.metrics import MacroF1, MeanCost, Metric, MicroF1
from manylabel.metrics.resolve import PLAIN, SCORED

COSTS: tuple[CostLike, ...] = tuple(NAMED)


class Evaluation:
    """All figures about some predictions, accumulated over chunks of rows.

    Each chunk is ranked once, however many figures are asked for.

    Parameters
    ----------
    k : int or tuple of int, default=(1, 3, 5)
        Ranking depths.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded; adds PSP@k and PSnDCG@k.
    costs : tuple of costs, default=("hamming", "f1", "accuracy", "rank", "subset")
        What 0/1 predictions are charged; see :func:`manylabel.losses.as_cost`.

    Examples
    --------
    >>> evaluation = Evaluation(k=1)
    >>> evaluation = evaluation.update([[1, 0]], [[0.9, 0.1]])
    >>> evaluation.update([[1, 0]], [[0.1, 0.9]]).report()["P@1"]
    0.5
    """

    def __init__(
        self,
        *,
        k: int | tuple[int, ...] = (1, 3, 5),
        propensity: Any = None,
        costs: Iterable[CostLike] = COSTS,
    ) -> None:
        depths = tuple(dict.fromkeys(_validation.depths(k)))
        self.depth = max(depths)
        self.propensity = propensity
        self._ranking: list[Metric] = [kind(at) for kind in PLAIN for at in depths]
        if propensity is not None:
            self._ranking += [kind(at, propensity) for kind in SCORED for at in depths]
        self._sets: list[Metric] = [*map(MeanCost, costs), MicroF1(), MacroF1()]
        refuse_repeated([metric.key for metric in self._sets])
        self._given: tuple[bool, bool] | None = None

    def update(
        self,
        Y: MatrixLike,
        scores: MatrixLike | None = None,
        predictions: MatrixLike | None = None,
    ) -> Self:
        """Take a chunk of rows; return itself.

        Parameters
        ----------
        Y : array or sparse array of shape (n_rows, n_labels)
            True labels, 0/1.
        scores : array or sparse array of shape (n_rows, n_labels) or None, default=None
            Scores, for the ranking metrics. Of integers or booleans: 0/1 predictions.
        predictions : array or sparse array or None, default=None
            0/1 predictions of the same shape, for the set metrics.

        Returns
        -------
        Evaluation
            Itself.
        """
        if scores is not None and predictions is None and _is_binary_dtype(scores):
            scores, predictions = None, scores
        # All terms are made before any metric changes: bad input leaves no trace.
        views: list[tuple[list[Metric], Any]] = []
        if scores is not None:
            ranked = Ranked.of(Y, scores, self.depth, self.propensity)
            views.append((self._ranking, ranked))
        if predictions is not None:
            views.append((self._sets, Compared.of(Y, predictions)))
        taken = [
            (metric, metric.terms(view), view)
            for metrics, view in views
            for metric in metrics
        ]
        self._agree_on_kinds(scores is not None, predictions is not None)
        for metric, terms, view in taken:
            self._take(metric, terms, view)
        return self

    def merge(self, other: "Evaluation") -> Self:
        """Take the rows that another evaluation of the same kind has seen."""
        if other._given is None:
            return self
        self._agree_on_kinds(*other._given)
        for mine, theirs in zip(self._metrics(), other._metrics(), strict=True):
            mine.merge(theirs)
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return max((metric.n_rows for metric in self._metrics()), default=0)

    def report(self) -> Report:
        """Return the figures over all rows so far."""
        return Report.of(self._metrics())

    def _take(self, metric: Metric, terms: Array, view: Any) -> None:
        metric.take(terms, view)

    def _metrics(self) -> list[Metric]:
        has_scores, has_predictions = self._given or (False, False)
        return self._ranking * has_scores + self._sets * has_predictions

    def _agree_on_kinds(self, has_scores: bool, has_predictions: bool) -> None:
        given = has_scores, has_predictions
        if not any(given):
            raise ValueError("scores or predictions must be given. Got neither.")
        if self._given not in (None, given):
            raise ValueError(
                "Every chunk must bring scores, predictions or both as the first did."
            )
        self._given = given


def evaluate(
    Y: MatrixLike,
    scores: MatrixLike,
    *,
    k: int | tuple[int, ...] = (1, 3, 5),
    propensity: Any = None,
    predictions: MatrixLike | None = None,
    costs: Iterable[CostLike] = COSTS,
) -> Report:
    """Judge predictions by every metric that applies to them.

    Parameters
    ----------
    Y : array or sparse array of shape (n_rows, n_labels)
        True labels, 0/1.
    scores : array or sparse array of shape (n_rows, n_labels)
        Scores. If sparse, the stored entries are the predictions, whatever their sign,
        and a missing one is a miss. Equal scores are ranked by column, the lower first.
        Scores of integers or booleans are 0/1 predictions: they have set costs and no
        ranking.
    k : int or tuple of int, default=(1, 3, 5)
        Ranking depths.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded; adds PSP@k and PSnDCG@k,
        normalised by the best attainable.
    predictions : array or sparse array or None, default=None
        0/1 predictions, for the set metrics beside the ranking ones.
    costs : tuple of costs, default=("hamming", "f1", "accuracy", "rank", "subset")
        What 0/1 predictions are charged; see :func:`manylabel.losses.as_cost`.

    Returns
    -------
    Report
        Fractions by name: ``P@k``, ``nDCG@k``, ``recall@k``, ``F1@k``, ``coverage@k``,
        ``macro-P@k``, ``macro-R@k``, ``macro-F1@k``, with propensities ``PSP@k`` and
        ``PSnDCG@k``, and for 0/1 predictions the name of each cost, ``micro-F1`` and
        ``macro-F1``.

    Examples
    --------
    >>> Y = [[1, 0, 1], [0, 1, 0]]
    >>> scores = [[0.9, 0.8, 0.1], [0.2, 0.7, 0.6]]
    >>> report = evaluate(Y, scores, k=(1, 2), propensity=0.5)
    >>> report["P@2"], report["PSP@2"]
    (0.5, 0.6666666666666666)
    >>> evaluate(Y, [[1, 1, 0], [0, 1, 0]])["hamming"]
    0.3333333333333333
    """
    evaluation = Evaluation(k=k, propensity=propensity, costs=costs)
    return evaluation.update(Y, scores, predictions).report()


def _is_binary_dtype(scores: Any) -> bool:
    dtype = scores.dtype if hasattr(scores, "dtype") else np.asarray(scores).dtype
    return dtype.kind in "biu"


def refuse_repeated(names: list[str]) -> None:
    """Refuse costs of which two have the same name."""
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"costs must have different names. Got {name!r} twice.")

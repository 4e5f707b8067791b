"""What each row adds to every figure, and figures over rows drawn again."""

from typing import Any, Self

import numpy as np

from manylabel._typing import Array, Floats, RandomState
from manylabel.evaluation.batch import Evaluation
from manylabel.evaluation.report import Report
from manylabel.metrics import Metric
from manylabel.metrics.metric import LabelMetric
from manylabel.metrics.resampling import resampled_sums
from manylabel.parallel import spawn_seeds

LEVEL = 0.95


class RowwiseEvaluation(Evaluation):
    """An evaluation that keeps what each row adds, so that rows can be drawn again.

    Figures over labels, coverage@k and macro-F1, are no sums over rows and are left
    out; so is ECE@k, which is larger on rows drawn again than on the rows themselves.
    See :class:`Evaluation` for the other parameters.

    Parameters
    ----------
    max_rows : int or None, default=None
        What rows add is forgotten when there are more; None keeps all.

    Examples
    --------
    >>> evaluation = RowwiseEvaluation(k=1, propensity=0.5)
    >>> evaluation = evaluation.update([[1, 0], [1, 1]], [[0.9, 0.1], [0.1, 0.9]])
    >>> evaluation.terms()["PSP@1"].tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """

    def __init__(self, *, max_rows: int | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.max_rows = max_rows
        self._rows: dict[str, list[Array]] = {}

    def terms(self) -> dict[str, Array]:
        """Return by figure what each row adds, arrays of shape (n_rows, n_sums)."""
        return {key: np.concatenate(parts) for key, parts in self._rows.items()}

    def merge(self, other: Evaluation) -> Self:
        """Take the rows that another evaluation of the same kind has seen."""
        if not isinstance(other, RowwiseEvaluation):
            kind = type(other).__name__
            raise TypeError(f"other must be a RowwiseEvaluation. Got a {kind}.")
        super().merge(other)
        for key, parts in other._rows.items():
            self._rows.setdefault(key, []).extend(parts)
        return self

    def resampled(self, n_resamples: int, seed: Any) -> dict[str, Floats]:
        """Return by figure its values over rows drawn again.

        The same seed draws the same rows, so that the values of two evaluations of the
        same rows are paired.
        """
        terms = self.terms()
        sums = resampled_sums(np.hstack(list(terms.values())), n_resamples, seed)
        widths = np.cumsum([part.shape[1] for part in terms.values()])[:-1]
        pieces = dict(zip(terms, np.split(sums, widths, axis=1), strict=True))
        return {
            metric.key: metric.resampled(pieces[metric.key])
            for metric in self._metrics()
            if metric.key in pieces
        }

    def report_with_intervals(
        self, n_resamples: int = 1000, random_state: RandomState = 0
    ) -> Report:
        """Return the figures, and intervals that hold 95 % of each on rows drawn again.

        Without rows, or with more than ``max_rows``, there are no intervals.
        """
        if not self.n_rows or not self._rows:
            return self.report()
        (seed,) = spawn_seeds(random_state, 1)
        drawn = self.resampled(n_resamples, seed)
        intervals = {key: interval(values) for key, values in drawn.items()}
        return Report.of(self._metrics(), intervals)

    def _take(self, metric: Metric, terms: Array, view: Any) -> None:
        super()._take(metric, terms, view)
        if self.max_rows is not None and self.n_rows > self.max_rows:
            self._rows = {}
        elif not isinstance(metric, LabelMetric):
            self._rows.setdefault(metric.key, []).append(terms)


def interval(drawn: Floats) -> tuple[float, float]:
    """Return the bounds that hold 95 % of the values drawn."""
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return low, high

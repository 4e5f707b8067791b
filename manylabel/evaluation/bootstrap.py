"""What each row adds to every figure, and figures over rows drawn again."""

from typing import Any, Self

import numpy as np

from manylabel._typing import Array, Floats
from manylabel.evaluation.batch import Evaluation
from manylabel.metrics import Metric
from manylabel.metrics.metric import LabelMetric

MAX_DRAWN = 1 << 22  # rows drawn at once: bounds the memory


class RowwiseEvaluation(Evaluation):
    """An evaluation that keeps what each row adds, so that rows can be drawn again.

    Figures over labels, coverage@k and macro-F1, are no sums over rows and are left
    out. See :class:`Evaluation` for the parameters.

    Examples
    --------
    >>> evaluation = RowwiseEvaluation(k=1, propensity=0.5)
    >>> evaluation = evaluation.update([[1, 0], [1, 1]], [[0.9, 0.1], [0.1, 0.9]])
    >>> evaluation.terms()["PSP@1"].tolist()
    [[2.0, 2.0], [2.0, 2.0]]
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
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

    def _take(self, metric: Metric, terms: Array, view: Any) -> None:
        super()._take(metric, terms, view)
        if not isinstance(metric, LabelMetric):
            self._rows.setdefault(metric.key, []).append(terms)


def resampled_sums(terms: Array, n_resamples: int, seed: Any) -> Floats:
    """Return sums over as many rows drawn with replacement, ``n_resamples`` times.

    A ratio of sums needs both of the same rows: whatever stands side by side in
    ``terms`` is drawn together.

    Parameters
    ----------
    terms : ndarray of shape (n_rows, n_sums)
        What each row adds.
    n_resamples : int
        How often rows are drawn.
    seed : int or Generator
        The same seed draws the same rows.

    Returns
    -------
    ndarray of shape (n_resamples, n_sums)
        The sums.
    """
    rng = np.random.default_rng(seed)
    terms, n_rows = terms.astype(float), len(terms)
    sums = np.empty((n_resamples, terms.shape[1]))
    step = max(1, MAX_DRAWN // n_rows)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        drawn = rng.integers(n_rows, size=(size, n_rows))
        drawn += n_rows * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n_rows)
        sums[start : start + size] = counts.reshape(size, n_rows) @ terms
    return sums

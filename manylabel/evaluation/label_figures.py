"""How well each label is found."""

from collections.abc import Iterator, Sequence
from typing import Self

import numpy as np

from manylabel._typing import Ints, MatrixLike
from manylabel.losses.compared import Compared
from manylabel.losses.ranked import Ranked
from manylabel.metrics.metric import ratio


class LabelFigures:
    """Counts for each label, accumulated over chunks of rows.

    Parameters
    ----------
    k : int, default=5
        Ranking depth of ``found@k``.

    Examples
    --------
    >>> figures = LabelFigures(k=1)
    >>> Y, scores, sets = [[1, 0], [1, 1]], [[0.9, 0.1], [0.9, 0.8]], [[1, 0], [0, 1]]
    >>> for line in figures.update(Y, scores, sets).worst_first(["a", "b"]):
    ...     print(*line)
    a 2 1 1.0 0.5 0.6666666666666666 1.0
    b 1 1 1.0 1.0 1.0 0.0
    """

    def __init__(self, k: int = 5) -> None:
        self.k = k
        self._counts: Ints | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of what :meth:`worst_first` yields."""
        sets = ("rows", "predicted", "precision", "recall", "F1")
        return ("label", *sets, f"found@{self.k}")

    def update(
        self, Y: MatrixLike, scores: MatrixLike, predictions: MatrixLike
    ) -> Self:
        """Take a chunk of true labels, scores and 0/1 predictions; return itself."""
        compared, ranked = Compared.of(Y, predictions), Ranked.of(Y, scores, self.k)
        n_labels = compared.n_labels
        counts = np.stack(
            [
                np.bincount(compared.truth.indices, minlength=n_labels),
                np.bincount(compared.predictions.indices, minlength=n_labels),
                compared.label_hits,
                np.bincount(ranked.columns[ranked.hits], minlength=n_labels),
            ]
        )
        self._counts = counts if self._counts is None else self._counts + counts
        return self

    def worst_first(self, names: Sequence[str]) -> Iterator[tuple[str | float, ...]]:
        """Yield a line for each label that is true or predicted in some row.

        Labels with the lowest F1 come first, of equal ones those with the most rows.
        ``found@k`` is the share of a label's rows that have it among the k best-ranked.
        """
        if self._counts is None:
            return
        true, predicted, hits, found = self._counts
        precision, recall = ratio(hits, predicted), ratio(hits, true)
        f1, at_k = ratio(2 * hits, true + predicted), ratio(found, true)
        columns = [true, predicted, precision, recall, f1, at_k]
        for label in np.lexsort((-true, f1)).tolist():
            if true[label] or predicted[label]:
                yield names[label], *(column[label].item() for column in columns)

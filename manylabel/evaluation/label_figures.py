"""How well each label is found."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from manylabel._typing import Ints, MatrixLike
from manylabel.explanation import Names
from manylabel.losses.compared import Compared
from manylabel.losses.ranked import Ranked
from manylabel.metrics.metric import ratio

BANDS = (0, 1, 2, 6, 21, 101, 1001)  # rows from which a band of labels begins


class Band(NamedTuple):
    """Labels of like frequency, and how well they are found together.

    Attributes
    ----------
    name : str
        How many rows have each of them.
    n_labels : int
        How many labels there are.
    n_true, n_predicted, n_hits : int
        Pairs of a row and a label: true, predicted, both.
    n_found : int
        True pairs among the k best-ranked.
    """

    name: str
    n_labels: int
    n_true: int
    n_predicted: int
    n_hits: int
    n_found: int

    @property
    def precision(self) -> float:
        """Share of the predicted pairs that are true, NaN if there are none."""
        return self.n_hits / self.n_predicted if self.n_predicted else float("nan")

    @property
    def recall(self) -> float:
        """Share of the true pairs that are predicted, NaN if there are none."""
        return self.n_hits / self.n_true if self.n_true else float("nan")

    @property
    def found(self) -> float:
        """Share of the true pairs among the k best-ranked, NaN if there are none."""
        return self.n_found / self.n_true if self.n_true else float("nan")


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

    def worst_first(self, names: Names = None) -> Iterator[tuple[str | float, ...]]:
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
                name = str(label) if names is None else names[label]
                yield name, *(column[label].item() for column in columns)

    def bands(self, counts: Ints | None = None) -> list[Band]:
        """Return labels of like frequency together, the rarest first.

        Labels are as frequent as ``counts`` of the training rows say, or where there
        are none, the rows judged by. Bands without labels that are true or predicted
        are left out.
        """
        if self._counts is None:
            return []
        frequency = self._counts[0] if counts is None else np.asarray(counts)
        occurs = self._counts[:2].any(axis=0)
        place = np.searchsorted(BANDS, frequency, side="right") - 1
        names = [_name_band(*ends) for ends in pairwise([*BANDS, 0])]
        return [
            Band(names[b], int(here.sum()), *self._counts[:, here].sum(axis=1).tolist())
            for b in range(len(BANDS))
            if (here := occurs & (place == b)).any()
        ]


def _name_band(low: int, end: int) -> str:
    """Return the rows of a band in words.

    Examples
    --------
    >>> _name_band(1, 2), _name_band(6, 21), _name_band(1001, 0)
    ('1 row', '6 to 20 rows', 'over 1,000 rows')
    """
    if not end:
        return f"over {low - 1:,} rows"
    if end - low == 1:
        return "no row" if low == 0 else "1 row"
    return f"{low:,} to {end - 1:,} rows"

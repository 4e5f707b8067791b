"""All that a page says about a model, accumulated over chunks of rows."""

from collections.abc import Sequence
from typing import Any, Self

from manylabel._typing import MatrixLike
from manylabel.evaluation.bootstrap import RowwiseEvaluation
from manylabel.evaluation.label_figures import LabelFigures
from manylabel.evaluation.mistakes import Mistakes


class Examination:
    """Figures of rows, of labels, and mistakes, for a page.

    Parameters
    ----------
    k : int or tuple of int, default=(1, 3, 5)
        Ranking depths.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        Probability that a true label is recorded.
    max_rows : int or None, default=None
        Of more rows there are no intervals; None has them for any number.

    Attributes
    ----------
    evaluation : RowwiseEvaluation
        The figures of rows.
    labels : LabelFigures
        Those of labels.
    mistakes : Mistakes
        Confused labels and the worst rows.

    Examples
    --------
    >>> found = Examination(k=1).update([[1, 0]], [[0.1, 0.9]], [[0, 1]])
    >>> found.evaluation.report()["P@1"], found.mistakes.pairs()
    (0.0, [(1, 0, 1)])
    """

    def __init__(
        self,
        *,
        k: int | tuple[int, ...] = (1, 3, 5),
        propensity: Any = None,
        max_rows: int | None = None,
    ) -> None:
        options = {"k": k, "propensity": propensity}
        self.evaluation = RowwiseEvaluation(max_rows=max_rows, **options)
        self.labels = LabelFigures(self.evaluation.depth)
        self.mistakes = Mistakes(self.evaluation.depth)

    def update(
        self,
        Y: MatrixLike,
        scores: MatrixLike,
        predictions: MatrixLike,
        proba: MatrixLike | None = None,
        items: Sequence[Any] | None = None,
    ) -> Self:
        """Take a chunk of rows, as :class:`Evaluation` does, and what rows are."""
        self.evaluation.update(Y, scores, predictions, proba)
        self.labels.update(Y, scores, predictions)
        self.mistakes.update(Y, scores, predictions, items)
        return self

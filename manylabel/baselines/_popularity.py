"""The model that ignores the features."""

from typing import Annotated

import numpy as np

from manylabel._docstrings import described_like
from manylabel._typing import CSR, Array, Floats, Singles
from manylabel.base import WeighingClassifier
from manylabel.model_selection.calibration import Curves
from manylabel.model_selection.probable import DEPTH, CalibratedBatchClassifier
from manylabel.persistence.records import Field, Finite


@described_like(CalibratedBatchClassifier)
class Popularity(CalibratedBatchClassifier, WeighingClassifier):
    """Score every label by how often it was recorded, whatever the row.

    What a model must beat before it has learnt anything. The score is the share of the
    training rows that have the label, less one half: ``predict`` returns the labels
    that more than half of them have. ``predict_proba`` is the share itself.

    Parameters
    ----------
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Any of them lets ``predict_topk`` and ``to_proba`` return the shares too.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    frequency_ : ndarray of shape (n_labels,)
        Share of the training rows that have each label.

    Examples
    --------
    >>> model = Popularity().fit([[0.0], [1.0], [2.0]], [[1, 0], [1, 0], [0, 1]])
    >>> model.predict([[5.0]])
    array([[1, 0]])
    >>> model.predict_topk([[5.0]], k=1).toarray().round(2)
    array([[0.17, 0.  ]], dtype=float32)
    """

    frequency_: Annotated[Singles, Field("float32", "n_labels", Finite(0))]

    def __init__(self, *, calibrate: str | None = None) -> None:
        self.calibrate = calibrate

    def _has_own_probabilities(self) -> bool:
        return True

    def _own_probabilities(self, X: CSR) -> Array:
        return np.tile(self.frequency_, (X.shape[0], 1))

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        self.frequency_ = (Y.T @ weight / weight.sum()).astype(np.float32)

    def _calibrate(self, X: CSR, Y: CSR, weight: Floats | None = None) -> None:
        """Say how scores are to be read: one half more is the share."""
        if self.calibrate is None:
            return
        line = np.array([[-0.5, 0.5]])
        best = np.sort(self.frequency_)[::-1].astype(np.float64)
        n_unlisted = float(best[DEPTH:].sum())
        bands = np.zeros_like(self.classes_)
        curves = Curves(line, line + 0.5, bands, n_unlisted, np.ones(1))
        chances = np.tile(best[:DEPTH], (Y.shape[0], 1))
        self.calibration_ = curves.compare_sizes(chances, np.diff(Y.indptr))

    def _scores(self, X: CSR) -> Array:
        return np.tile(self.frequency_ - np.float32(0.5), (X.shape[0], 1))

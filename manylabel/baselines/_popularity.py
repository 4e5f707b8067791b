"""The model that ignores the features."""

from typing import Annotated

import numpy as np

from manylabel._typing import CSR, Array, Floats, Singles
from manylabel.base import WeighingClassifier
from manylabel.persistence.records import Field, Finite


class Popularity(WeighingClassifier):
    """Score every label by how often it was recorded, whatever the row.

    What a model must beat before it has learnt anything. The score is the share of the
    training rows that have the label, less one half: ``predict`` returns the labels
    that more than half of them have.

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

    def _weigh(self, X: CSR, Y: CSR, weight: Floats) -> None:
        self.frequency_ = (Y.T @ weight / weight.sum()).astype(np.float32)

    def _scores(self, X: CSR) -> Array:
        return np.tile(self.frequency_ - np.float32(0.5), (X.shape[0], 1))

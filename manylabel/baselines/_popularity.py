"""The model that ignores the features."""

from typing import Self

import numpy as np

from manylabel._typing import CSR, Array, MatrixLike, Singles
from manylabel.base import MultiLabelClassifier


class Popularity(MultiLabelClassifier):
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

    frequency_: Singles

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Count the labels of ``Y``.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features; only their shape matters.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.

        Returns
        -------
        Popularity
            Itself.
        """
        _, labels = self._begin_fit(X, Y)
        counts = np.bincount(labels.indices, minlength=labels.shape[1])
        self.frequency_ = (counts / labels.shape[0]).astype(np.float32)
        return self

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"frequency_": (len(self.classes_),)}

    def _scores(self, X: CSR) -> Array:
        return np.tile(self.frequency_ - np.float32(0.5), (X.shape[0], 1))

"""What every estimator of the library has in common."""

from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from manylabel import persistence
from manylabel._typing import CSR, Array, MatrixLike


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose target is a 0/1 matrix of shape (n_rows, n_labels).

    A subclass has ``fit`` and ``decision_function``; ``predict_topk`` where it can do
    better than cutting a dense array. ``_begin_fit`` sets ``classes_`` and
    ``sparse_output_``.
    """

    classes_: Array
    sparse_output_: bool

    def predict(self, X: MatrixLike) -> Any:
        """Return the 0/1 matrix of labels whose score is positive.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        csr_array or ndarray of shape (n_rows, n_labels)
            Sparse if the ``Y`` of ``fit`` was sparse, else dense.
        """
        return self._as_fitted(self.decision_function(X) > 0)

    def decision_function(self, X: MatrixLike) -> Array:
        """Return a score for every row and label; higher is more relevant."""
        raise NotImplementedError

    def save(self, path: str | Path) -> None:
        """Write the fitted model to the folder ``path``, replacing a model there."""
        check_is_fitted(self)
        persistence.save(self, path)

    def get_state(self) -> dict[str, Any]:
        """Return what was learnt: a flat dict of arrays and JSON scalars."""
        check_is_fitted(self)
        return persistence.flatten(
            {name: v for name, v in vars(self).items() if name.endswith("_")}
        )

    def set_state(self, state: dict[str, Any]) -> Self:
        """Take over what another estimator of the same class learnt."""
        vars(self).update(persistence.unflatten(state))
        return self

    def _begin_fit(self, Y: MatrixLike, n_labels: int) -> None:
        self.classes_ = np.arange(n_labels)
        self.sparse_output_ = bool(sp.issparse(Y))

    def _as_fitted(self, labels: Any) -> Array | CSR:
        """Return 0/1 labels as int64: sparse if fitted on sparse labels, else dense."""
        if self.sparse_output_:
            return sp.csr_array(labels).astype(np.int64)
        return np.asarray(labels.toarray() if sp.issparse(labels) else labels, np.int64)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

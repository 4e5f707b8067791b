"""Learners of streams whose rows may bring new features and labels."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._typing import CSR, Floats, MatrixLike
from manylabel.online._calibrated import CalibratedStream
from manylabel.propensity import recorded_law

LAW = (0.55, 1.5)  # of running propensities


class GrowingClassifier(CalibratedStream):
    """Rows may have more columns than those before, and fewer, where ``grow`` is true.

    A subclass has ``_grow(n_features, n_labels)``, which makes room for columns or
    refuses them, and ``_check_room``, which refuses them before anything is made.
    ``propensity`` is that of labels met and to come, or None.
    """

    grow: bool
    propensity: Any
    max_inverse_propensity: float

    def _gain(self) -> Floats:
        """Return how many true labels a recorded one stands for, at most so many."""
        n_labels = len(self.classes_)
        if not self._is_running():
            gain = self._boosts(n_labels)
        else:
            gain = 1 / recorded_law(self._counts(), self.n_seen_, *LAW)
        return np.minimum(gain, self.max_inverse_propensity)

    def _widths(
        self, x: Mapping[int, float], y: Mapping[int, float]
    ) -> tuple[int, int]:
        if not self.grow:
            return super()._widths(x, y)
        known = getattr(self, "n_features_in_", 1), len(getattr(self, "classes_", "1"))
        n_features = _validation.width(x, known[0], "x")
        n_labels = _validation.width(y, known[1], "y")
        if n_labels > known[1]:  # before anything is made for all of them
            self._check_room(n_features, n_labels)
        return n_features, n_labels

    def _continue(self, X: MatrixLike, Y: MatrixLike) -> tuple[CSR, CSR]:
        if not self.grow:
            return super()._continue(X, Y)
        rows = _validation.feature_matrix(X)
        labels = _validation.labels(Y, n_rows=rows.shape[0])
        n_features = max(rows.shape[1], self.n_features_in_)
        n_labels = max(labels.shape[1], len(self.classes_))
        self._grow(n_features, n_labels)
        return _validation.widened(rows, n_features), _validation.widened(
            labels, n_labels
        )

    def _known_features(self, X: MatrixLike) -> CSR:
        if not self.grow:
            return super()._known_features(X)
        if not hasattr(self, "classes_"):  # the check alone takes 20 us
            check_is_fitted(self)
        return _validation.widened(_validation.feature_matrix(X), self.n_features_in_)

    def _boosts(self, n_labels: int) -> Floats:
        """Return 1 / propensity of each label."""
        if self.propensity is None or self._is_running():
            return np.ones(n_labels)
        values = getattr(self.propensity, "values_", self.propensity)
        if self.grow and np.ndim(values):
            values = values[:n_labels]
        return 1 / _validation.propensities(values, n_labels)

    def _law(self) -> tuple[float, float]:
        """Return the law of running propensities, zeros for none."""
        return LAW if self._is_running() else (0.0, 0.0)

    def _is_running(self) -> bool:
        return isinstance(self.propensity, str) and self.propensity == "running"

    def _check_propensity(self) -> None:
        if isinstance(self.propensity, str) and not self._is_running():
            raise ValueError(
                'propensity must be a fitted Propensity, numbers in (0, 1], "running" '
                f"or None. Got {self.propensity!r}."
            )

    def _grow(self, n_features: int, n_labels: int) -> None:
        raise NotImplementedError

    def _check_room(self, n_features: int, n_labels: int) -> None:
        raise NotImplementedError

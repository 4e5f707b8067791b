"""What the linear baselines on a stream have in common."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_scalar

from manylabel import _validation
from manylabel._kernels import regression
from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.base import PAIRS_AT_ONCE, OnlineClassifier

REGRESSORS = ("ridge", "gradient")
UNSEEN = np.finfo(np.float32).min  # ranks below every label that was seen


class CodeRegression(OnlineClassifier):
    """Linear regression, row by row, from the features to a code of the labels.

    A subclass has ``_start_code(n_labels)``, which draws the code, ``_n_targets``, its
    length, ``_encode(Y)`` and ``_decode(codes)``, which returns scores. A label that no
    row has had so far gets the smallest score there is: it ranks last and is not
    predicted.
    """

    regressor: str
    reg: float
    step: float
    fit_intercept: bool
    weights_: Floats
    inverse_: Floats
    counts_: Ints

    def _check_parameters(self) -> None:
        if self.regressor not in REGRESSORS:
            raise ValueError(
                f"regressor must be one of {REGRESSORS}. Got {self.regressor!r}."
            )
        for name in ("reg", "step"):
            value = getattr(self, name)
            check_scalar(value, name, Real, min_val=0, include_boundaries="neither")

    def _start(self, n_features: int, n_labels: int) -> None:
        size = 0  # gradient descent needs no inverse
        if self.regressor == "ridge":
            _validation.ridge_size(n_features, 'use regressor="gradient"')
            size = n_features + 1
        self.inverse_ = np.eye(size) / self.reg
        self._start_code(n_labels)
        self.weights_ = np.zeros((n_features + 1, self._n_targets()))
        self.counts_ = np.zeros(n_labels, np.int64)

    def _learn(self, X: CSR, Y: CSR) -> None:
        n_rows = max(1, PAIRS_AT_ONCE // self.weights_.shape[1])
        for start in range(0, X.shape[0], n_rows):
            codes = self._encode(Y[start : start + n_rows])
            indptr = X.indptr[start : start + len(codes) + 1]
            self._learn_codes((indptr, X.indices, X.data), codes, self.n_seen_ + start)
        self.counts_ += np.bincount(Y.indices, minlength=Y.shape[1])

    def _learn_codes(self, rows: tuple[Any, ...], codes: Floats, n_seen: int) -> None:
        # The stream began with or without an inverse, whatever regressor says now.
        if len(self.inverse_):
            regression.learn_ridge(
                *(*rows, codes, self._bias(), self.inverse_, self.weights_)
            )
        else:
            regression.learn_gradient(
                *(*rows, codes, self._bias(), float(self.step), n_seen, self.weights_)
            )

    def _scores(self, X: CSR) -> Array:
        codes = np.empty((X.shape[0], self.weights_.shape[1]))
        regression.predict(
            X.indptr, X.indices, X.data, self._bias(), self.weights_, codes
        )
        scores = self._decode(codes)
        scores[:, self.counts_ == 0] = UNSEEN
        return scores

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n_weights, n_labels = self.n_features_in_ + 1, len(self.classes_)
        n_inverse = n_weights if len(self.inverse_) else 0
        return {
            "counts_": (n_labels,),
            "inverse_": (n_inverse, n_inverse),
            "weights_": (n_weights, self._n_targets()),
        }

    def _bias(self) -> float:
        return float(bool(self.fit_intercept))

    def _start_code(self, n_labels: int) -> None:
        raise NotImplementedError

    def _n_targets(self) -> int:
        raise NotImplementedError

    def _encode(self, Y: CSR) -> Floats:
        raise NotImplementedError

    def _decode(self, codes: Floats) -> Floats:
        raise NotImplementedError

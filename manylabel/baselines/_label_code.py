"""What learners that predict a code of the labels have in common."""

from typing import Annotated

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from manylabel import _validation
from manylabel._kernels.cs_dpp import regression
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.base import WeighingClassifier
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Field, Finite
from manylabel.solvers import linear, ridge

MIDWAY = 0.5  # between a label that is there, 1, and one that is not, 0
MAX_LABELS = 10_000  # a square matrix of float64 of this width takes 0.8 GB


class LabelCode(CalibratedBatchClassifier, WeighingClassifier):
    """Linear regression from the features to a code of the labels, and back.

    A subclass has ``_encode(Y, weight)``, which learns a code and returns that of each
    row, and ``_decode(codes)``, which returns scores. A label that no row had gets the
    smallest score there is.

    Parameters
    ----------
    l2_regularization : float, default=1.0
        Weight of the squared length of the solution.
    normalize : bool, default=True
        Scale every row to unit length, in ``fit`` and when predicting.
    fit_intercept : bool, default=True
        Add a constant feature, regularised as the others.
    calibrate : {"auto", "sigmoid", "isotonic"} or None, default=None
        Make scores probabilities, for ``predict_proba``, by rows held out; see
        :class:`Calibrated`. It takes about one more fit, or four of fewer
        than 5,000 rows.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds what is drawn at random.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    class_count_ : ndarray of shape (n_labels,)
        Rows that had each label.
    coef_ : ndarray of shape (n_features + 1, n_components)
        Weights, the intercepts last.
    calibration_ : Curves
        What scores mean; empty without ``calibrate``. See :class:`Calibrated`.
    """

    l2_regularization: float
    normalize: bool
    fit_intercept: bool
    class_count_: Annotated[Ints, Field("int64", "n_labels", Finite(0))]
    coef_: Annotated[Floats, Field("float64", "n_features + 1, n_components", Finite())]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _validation.number(self.l2_regularization, "l2_regularization", above=0)

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        self._count(Y)
        codes = self._encode(Y.astype(np.float64), weight)
        # A squared error counts as often as the squares of its factors say.
        root, reg = np.sqrt(weight), float(self.l2_regularization)
        rows, targets = scale_rows(self._padded(X), root), codes * root[:, None]
        self.coef_ = ridge.solve(rows, targets, reg, self._n_jobs())

    def _count(self, Y: CSR) -> None:
        self.class_count_ = np.bincount(Y.indices, minlength=Y.shape[1])

    def _scores(self, X: CSR) -> Array:
        codes = np.empty((X.shape[0], self.coef_.shape[1]))
        rows = (X.indptr, X.indices, self._values(X))
        regression.predict(*rows, self._bias(), self.coef_, codes)
        scores = self._decode(codes)
        scores[:, self.class_count_ == 0] = UNSEEN
        return scores

    def _padded(self, X: CSR) -> CSR:
        """Return the rows as they are learnt, the constant feature last."""
        parts = (self._values(X), X.indices, X.indptr)
        return ridge.pad(sp.csr_array(parts, shape=X.shape), self._bias())

    def _values(self, X: CSR) -> Array:
        return linear.unit_values(X) if self.normalize else X.data

    def _bias(self) -> float:
        return float(bool(self.fit_intercept))

    def _encode(self, Y: CSR, weight: Floats) -> Floats:
        raise NotImplementedError

    def _decode(self, codes: Floats) -> Floats:
        raise NotImplementedError


class LinearCode(LabelCode):
    """Decodes by a matrix: the scores of a code z are z' components + a constant."""

    components_: Annotated[Floats, Field("float64", "n_components, n_labels", Finite())]

    def _decode(self, codes: Floats) -> Floats:
        scores = np.empty((len(codes), len(self.classes_)))
        regression.decode(codes, self.components_, scores)
        scores += self._offset()
        return scores

    def _offset(self) -> Floats | float:
        """Return what is added to the scores of each label, or of all."""
        return -MIDWAY


def scale_rows(matrix: CSR, factor: Floats) -> CSR:
    """Return a matrix with its rows times factors.

    Examples
    --------
    >>> scale_rows(sp.csr_array([[1.0], [2.0]]), np.array([3.0, 4.0])).toarray().ravel()
    array([3., 8.])
    """
    values = matrix.data * np.repeat(factor, np.diff(matrix.indptr))
    return sp.csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def leading(square: Floats, size: int) -> tuple[Floats, Floats]:
    """Return the ``size`` largest eigenvalues of a symmetric matrix, largest first.

    Also their eigenvectors, as rows.
    """
    last = len(square) - 1
    values, vectors = scipy.linalg.eigh(square, subset_by_index=[last + 1 - size, last])
    return values[::-1], np.ascontiguousarray(vectors.T[::-1])


def check_labels(name: str, n_labels: int, way_out: str) -> None:
    """Refuse labels whose square matrix would fill the memory."""
    if n_labels > MAX_LABELS:
        raise ValueError(
            f"{name} keeps a matrix of n_labels x n_labels, so Y must have at most "
            f"{MAX_LABELS} labels. Got {n_labels}: use {way_out}."
        )

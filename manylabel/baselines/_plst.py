"""Principal label space transformation: the best code that a rotation can give."""

from typing import Annotated

import numpy as np
import scipy.linalg

from manylabel import _validation
from manylabel._kernels.cs_dpp import regression
from manylabel._kernels.ranking import UNSEEN
from manylabel._typing import CSR, Array, Floats
from manylabel.base import BatchClassifier
from manylabel.persistence.records import Field, Finite

MAX_LABELS = 10_000  # a square matrix of float64 of this width takes 0.8 GB


class PLST(BatchClassifier):
    """Ridge regression to the principal components of the labels.

    Labels are coded as y in {-1, +1}; the code is P (y - o), where o is their mean and
    the rows of P are the leading eigenvectors of the covariance of the labels [1]_. A
    label is predicted when its part of P' z + o, for the regressed code z, is above 0.
    DPP is measured against this: it is the offline reference of Theorem 3 in [2]_.

    Parameters
    ----------
    n_components : float or int, default=0.1
        Length of the code: a fraction of the labels, rounded up, or a number.
    l2_regularization : float, default=1.0
        Weight of the squared length of the solution.
    fit_intercept : bool, default=True
        Add a constant feature, regularised as the others.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    components_ : ndarray of shape (n_components, n_labels)
        P, orthonormal rows, largest variance first.
    mean_ : ndarray of shape (n_labels,)
        Mean o of the labels in {-1, +1}; -1 for a label that no row had.
    coef_ : ndarray of shape (n_features + 1, n_components)
        Weights, the intercepts last.

    Notes
    -----
    A label that no row had ranks last. At most 20,000 features and 10,000 labels:
    beyond, the online learners take less memory.

    References
    ----------
    .. [1] Tai & Lin, "Multilabel classification with principal label space
       transformation", Neural Computation 24, 2012, Algorithm 1.
    .. [2] Chu, Huang & Lin, "Dynamic principal projection for cost-sensitive online
       multi-label classification", Machine Learning 108, 2019.

    Examples
    --------
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> PLST(n_components=1).fit(X, Y).predict([[1.0, 0.0]])
    array([[1, 0]])
    """

    components_: Annotated[Floats, Field("float64", "n_components, n_labels", Finite())]
    mean_: Annotated[Floats, Field("float64", "n_labels", Finite(-1))]
    coef_: Annotated[Floats, Field("float64", "n_features + 1, n_components", Finite())]

    def __init__(
        self,
        *,
        n_components: float = 0.1,
        l2_regularization: float = 1.0,
        fit_intercept: bool = True,
    ) -> None:
        self.n_components = n_components
        self.l2_regularization = l2_regularization
        self.fit_intercept = fit_intercept

    def _check_parameters(self) -> None:
        _validation.number(self.l2_regularization, "l2_regularization", above=0)

    def _learn(self, X: CSR, Y: CSR) -> None:
        _check_size(X.shape[1], Y.shape[1])
        size = _validation.code_size(self.n_components, Y.shape[1])
        ones = Y.astype(np.float64)
        share = np.asarray(ones.mean(axis=0)).ravel()
        self.mean_ = 2 * share - 1
        self.components_ = _leading(ones, share, size)
        # y - o = 2 (y01 - share)
        codes = 2 * (ones @ self.components_.T - self.components_ @ share)
        self.coef_ = _solve_ridge(X, codes, self._bias(), float(self.l2_regularization))

    def _scores(self, X: CSR) -> Array:
        codes = np.empty((X.shape[0], len(self.components_)))
        regression.predict(X.indptr, X.indices, X.data, self._bias(), self.coef_, codes)
        scores = np.empty((X.shape[0], len(self.classes_)))
        regression.decode(codes, self.components_, scores)
        scores += self.mean_
        scores[:, self.mean_ == -1] = UNSEEN
        return scores

    def _bias(self) -> float:
        return float(bool(self.fit_intercept))


def _leading(ones: CSR, share: Floats, size: int) -> Floats:
    """Return the ``size`` leading eigenvectors of the covariance of the labels."""
    covariance = (ones.T @ ones).toarray() / ones.shape[0] - np.outer(share, share)
    last = len(share) - 1
    _, vectors = scipy.linalg.eigh(covariance, subset_by_index=[last + 1 - size, last])
    return np.ascontiguousarray(vectors.T[::-1])


def _solve_ridge(X: CSR, codes: Floats, bias: float, reg: float) -> Floats:
    """Return the weights of ridge regression, the constant feature's last."""
    X = X.astype(np.float64)
    sums = bias * np.asarray(X.sum(axis=0)).ravel()
    gram = np.empty((X.shape[1] + 1, X.shape[1] + 1))
    gram[:-1, :-1] = (X.T @ X).toarray()
    gram[-1, :-1] = gram[:-1, -1] = sums
    gram[-1, -1] = bias * bias * X.shape[0]
    gram[np.diag_indices_from(gram)] += reg
    moments = np.vstack([X.T @ codes, bias * codes.sum(axis=0)])
    weights: Floats = scipy.linalg.solve(gram, moments, assume_a="pos")
    return np.ascontiguousarray(weights)


def _check_size(n_features: int, n_labels: int) -> None:
    _validation.ridge_size(n_features, 'use CSDPP(regressor="gradient")')
    if n_labels > MAX_LABELS:
        raise ValueError(
            f"PLST keeps a matrix of n_labels x n_labels, so Y must have at most "
            f"{MAX_LABELS} labels. Got {n_labels}: use CSDPP."
        )

"""Conditional principal label space transformation: codes that features can tell."""

from typing import Annotated

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._docstrings import described_like
from manylabel._typing import CSR, Floats
from manylabel.baselines._label_code import (
    LabelCode,
    LinearCode,
    check_labels,
    leading,
    scale_rows,
)
from manylabel.persistence.records import Field, Finite
from manylabel.solvers import ridge


@described_like(LabelCode)
class CPLST(LinearCode):
    """Ridge regression to those directions of the labels that it can predict.

    Labels are coded as y in {-1, +1} and shifted by their mean o: rows of Z. With the
    hat matrix of ridge regression, H = X (X'X + reg I)^-1 X', the rows of the code P
    are the leading eigenvectors of Z'HZ [1]_, where those of PLST are the ones of Z'Z:
    a direction that varies much but that the features say nothing about has no place.
    A label is predicted when its part of P' z + o, for the regressed code z, is above
    0.

    Parameters
    ----------
    n_components : float or int, default=200
        Length of the code: a fraction of the labels, rounded up, or a number, at most
        that of the labels, where the code loses nothing.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_labels)
        P, orthonormal rows, most predictable variance first.
    mean_ : ndarray of shape (n_labels,)
        Mean o of the labels in {-1, +1}; -1 for a label that no row had.

    Notes
    -----
    P minimises the squared error on the learnt rows, which splits into what the code
    loses and what the regression misses, for reg = 0. The paper regularises the hat
    matrix by 0.1 and does not scale the rows; rows of unit length and 1 rank better on
    rows held out. A label that no row had ranks last. The weights of all labels are
    held while fitting, so these are at most 10,000, and n_features x n_labels is
    bounded by the memory: beyond, use :class:`~manylabel.LEML`.

    References
    ----------
    .. [1] Chen & Lin, "Feature-aware label space dimension reduction for multi-label
       classification", NIPS 2012, Algorithm 1.

    Examples
    --------
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> CPLST(n_components=1).fit(X, Y).predict([[1.0, 0.0]])
    array([[1, 0]])
    """

    mean_: Annotated[Floats, Field("float64", "n_labels", Finite(-1))]

    def __init__(
        self,
        *,
        n_components: float = 200,
        l2_regularization: float = 1.0,
        normalize: bool = True,
        fit_intercept: bool = True,
        calibrate: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.l2_regularization = l2_regularization
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate
        self.n_jobs = n_jobs

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        _check_size(X.shape[1] + 1, Y.shape[1])
        self._count(Y)
        size = _validation.code_size(self.n_components, Y.shape[1])
        root, share = np.sqrt(weight), Y.T @ weight / weight.sum()
        rows = scale_rows(self._padded(X), root)
        self.mean_ = 2 * share - 1
        # y - o = 2 (y01 - share), of which the factor does not turn eigenvectors.
        with_all = sp.hstack([Y, np.ones((Y.shape[0], 1))], format="csr")
        targets = scale_rows(with_all, root)
        reg = float(self.l2_regularization)
        weights = _shift(ridge.solve(rows, targets, reg, self.n_jobs), share)
        moments = _shift((rows.T @ targets).toarray(), share)
        predicted = moments.T @ weights  # Z'HZ / 4
        _, self.components_ = leading((predicted + predicted.T) / 2, size)
        self.coef_ = 2 * weights @ self.components_.T

    def _offset(self) -> Floats:
        return self.mean_


def _shift(linear: Floats, share: Floats) -> Floats:
    """Return what is linear in the labels, of labels less their mean.

    The last column is that of a label on every row.
    """
    shifted: Floats = linear[:, :-1] - np.outer(linear[:, -1], share)
    return shifted


def _check_size(n_weights: int, n_labels: int) -> None:
    check_labels("CPLST", n_labels, "LEML")
    most = _validation.most_bytes() // (8 * n_labels)
    if n_weights > most:
        raise ValueError(
            f"CPLST keeps a matrix of n_features x n_labels, so X must have fewer than "
            f"{most} features for {n_labels} labels. Got {n_weights - 1}: use LEML."
        )

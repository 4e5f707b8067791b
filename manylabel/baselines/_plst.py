"""Principal label space transformation: the best code that a rotation can give."""

from typing import Annotated

import numpy as np

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


@described_like(LabelCode)
class PLST(LinearCode):
    """Ridge regression to the principal components of the labels.

    Labels are coded as y in {-1, +1}; the code is P (y - o), where o is their mean and
    the rows of P are the leading eigenvectors of the covariance of the labels [1]_. A
    label is predicted when its part of P' z + o, for the regressed code z, is above 0.
    DPP is measured against this: it is the offline reference of Theorem 3 in [2]_.

    Parameters
    ----------
    n_components : float or int, default=0.1
        Length of the code: a fraction of the labels, rounded up, or a number.
    normalize : bool, default=False
        Scale every row to unit length, in ``fit`` and when predicting.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_labels)
        P, orthonormal rows, largest variance first.
    mean_ : ndarray of shape (n_labels,)
        Mean o of the labels in {-1, +1}; -1 for a label that no row had.

    Notes
    -----
    A label that no row had ranks last. At most 10,000 labels: beyond, the online
    learners take less memory.

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

    mean_: Annotated[Floats, Field("float64", "n_labels", Finite(-1))]

    def __init__(
        self,
        *,
        n_components: float = 0.1,
        l2_regularization: float = 1.0,
        normalize: bool = False,
        fit_intercept: bool = True,
        calibrate: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.l2_regularization = l2_regularization
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.calibrate = calibrate

    def _encode(self, Y: CSR, weight: Floats) -> Floats:
        check_labels("PLST", Y.shape[1], "CSDPP")
        size = _validation.code_size(self.n_components, Y.shape[1])
        total = weight.sum()
        share = Y.T @ weight / total
        self.mean_ = 2 * share - 1
        products = (Y.T @ scale_rows(Y, weight)).toarray()
        covariance = products / total - np.outer(share, share)
        _, self.components_ = leading(covariance, size)
        # y - o = 2 (y01 - share)
        codes: Floats = 2 * (Y @ self.components_.T - self.components_ @ share)
        return codes

    def _offset(self) -> Floats:
        return self.mean_

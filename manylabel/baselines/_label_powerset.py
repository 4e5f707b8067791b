"""Whole labelsets as classes."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Array, MatrixLike, RandomState
from manylabel.base import MultiLabelClassifier
from manylabel.baselines._one_vs_rest import OneVsRest

# Margins of labelsets lie about 1 apart: a softmax of the margins as they are would
# drown the best labelset in thousands of hopeless ones.
SHARPNESS = 10.0


class LabelPowerset(MultiLabelClassifier):
    """Predict one of the labelsets seen in training, by a linear SVM per labelset.

    ``predict`` returns the labelset of the highest score, so it never makes up a
    combination. The score of a label is the total weight of the labelsets that contain
    it, where the weights of all labelsets are a sharp softmax of their margins.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, as in :class:`OneVsRest`.
    tol : float, default=0.1
        When a labelset's separator is done, as in :class:`OneVsRest`.
    max_iter : int, default=1000
        Most passes over the rows.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the order in which rows are visited.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    labelsets_ : csr_array of shape (n_labelsets, n_labels)
        The distinct rows of ``Y``, most frequent first.
    separator_ : OneVsRest
        One separator per labelset.

    Examples
    --------
    >>> X = [[1.0, 0.0], [1.0, 0.2], [0.0, 1.0], [0.1, 1.0]]
    >>> Y = [[1, 1], [1, 1], [0, 1], [0, 1]]
    >>> LabelPowerset().fit(X, Y).predict([[0.9, 0.1], [0.1, 0.8]])
    array([[1, 1],
           [0, 1]])
    """

    labelsets_: CSR
    separator_: OneVsRest

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 0.1,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: MatrixLike, Y: MatrixLike) -> Self:
        """Learn one separator per distinct labelset.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.

        Returns
        -------
        LabelPowerset
            Itself.
        """
        rows, labels = self._begin_fit(X, Y)
        self.labelsets_, member = _distinct_rows(labels)
        indicator = sp.csr_array(
            (np.ones(len(member), np.float32), member, np.arange(len(member) + 1)),
            shape=(len(member), self.labelsets_.shape[0]),
        )
        self.separator_ = OneVsRest(**self.get_params()).fit(rows, indicator)
        return self

    def _scores(self, X: CSR) -> Array:
        weights = self.separator_._scores(X).astype(np.float64)
        weights -= weights.max(axis=1, keepdims=True)
        np.exp(SHARPNESS * weights, out=weights)
        weights /= weights.sum(axis=1, keepdims=True)
        return weights @ self.labelsets_

    def _labels(self, X: CSR) -> CSR:
        return self.labelsets_[self.separator_._scores(X).argmax(axis=1)] > 0

    def _n_scores(self) -> int:
        return max(self.labelsets_.shape)


def _distinct_rows(labels: CSR) -> tuple[CSR, Any]:
    """Return the distinct rows, most frequent first, and the number of each row's."""
    bounds = zip(labels.indptr[:-1], labels.indptr[1:], strict=True)
    keys = [labels.indices[a:b].tobytes() for a, b in bounds]
    _, first, member, counts = np.unique(
        np.array(keys, dtype=object),
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    order = np.lexsort((first, -counts))  # ties: the one seen first
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return labels[first[order]], rank[member.ravel()]

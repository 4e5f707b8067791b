"""Whole labelsets as classes."""

from typing import Annotated

import numpy as np
import scipy.sparse as sp

from manylabel._docstrings import described_like
from manylabel._kernels.coding_tree import labelsets
from manylabel._typing import CSR, Array, Floats, RandomState
from manylabel.base import WeighingClassifier
from manylabel.baselines._one_vs_rest import OneVsRest
from manylabel.lists import find_labelsets
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Matrix


@described_like(CalibratedBatchClassifier)
class LabelPowerset(CalibratedBatchClassifier, WeighingClassifier):
    """Predict one of the labelsets seen in training, by a linear SVM per labelset.

    ``predict`` returns the labelset of the highest score, so it never makes up a
    combination. The score of a label is by how much the best labelset with it beats the
    best one without it: positive for the labels of the best labelset.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss, as in :class:`OneVsRest`.
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

    labelsets_: Annotated[CSR, Matrix("float32", "n_labelsets, n_labels")]
    separator_: OneVsRest

    def __init__(
        self,
        *,
        C: float = 1.0,
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.C = C
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: CSR, Y: CSR, weight: Floats) -> None:
        self.labelsets_, member = _distinct_rows(Y, weight)
        indicator = sp.csr_array(
            (np.ones(len(member), np.float32), member, np.arange(len(member) + 1)),
            shape=(len(member), self.labelsets_.shape[0]),
        )
        separator = OneVsRest(**self.get_params() | {"calibrate": None})
        self.separator_ = separator.fit(X, indicator, weight)

    def _scores(self, X: CSR) -> Array:
        set_scores = self.separator_._scores(X)
        out = np.empty((X.shape[0], len(self.classes_)), np.float32)
        sets = self.labelsets_
        labelsets.label_margins(set_scores, sets.indptr, sets.indices, out)
        return out

    def _check_state(self) -> None:
        super()._check_state()
        if self.separator_.n_features_in_ != self.n_features_in_:
            raise ValueError("separator_ must have the features of the whole.")
        if len(self.separator_.classes_) != self.labelsets_.shape[0]:
            raise ValueError("separator_ must have a class for each of labelsets_.")

    def _n_scores(self) -> int:
        return int(max(self.labelsets_.shape))


def _distinct_rows(labels: CSR, weight: Floats) -> tuple[CSR, Array]:
    """Return the distinct rows, most frequent first, and which one each row is."""
    member, first, _ = find_labelsets(labels)
    mass = np.bincount(member, weight)
    order = np.lexsort((first, -mass))  # ties: the one seen first
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return labels[first[order]], rank[member]

"""A learner whose scores are made probabilities, and its sets those of least cost."""

from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from manylabel import _validation
from manylabel._kernels import ranking
from manylabel._typing import CSR, Array, Bools, Floats, MatrixLike, RandomState
from manylabel.base import BatchClassifier, MultiLabelClassifier, check_learner
from manylabel.model_selection.calibration import METHODS, Curves
from manylabel.model_selection.decisions import LeastCost
from manylabel.model_selection.holdout import FEWEST, hold_out, hold_out_in_turn
from manylabel.persistence.records import Number

FEW_ROWS = 2000  # of fewer, a fifth is too few: each is held out in turn
DEPTH = 50  # labels of a row whose scores are calibrated, and that it may be given


class Calibrated(BatchClassifier):
    """A learner with probabilities, and with sets of labels of least expected cost.

    Scores of rows held out say how often labels of such scores are true. Labels that
    are about as frequent share one curve, so that rare ones have one too; within a
    label the ranking is that of the learner.

    Parameters
    ----------
    estimator : estimator
        What ranks the labels; it is cloned.
    method : {"auto", "sigmoid", "isotonic"}, default="auto"
        The form of the curves: logistic (Platt), or any that ascends. "auto" takes the
        second where 200 labels of a band were found in the rows held out.
    cost : str or object with ``from_counts``, default="f1"
        What the sets of ``predict`` are to make small; see :class:`LeastCost`.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in (0, 1]. Where it is given,
        probabilities are those that a label is true, else that it is recorded.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of rows that are held out: one in five, at most 5,000; of fewer
        than 2,000 each in turn, by five learners; of fewer than 20 none, and the
        learner is tried on the rows that it learnt.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    estimator_ : estimator
        The learner, fitted to all rows.
    curves_ : Curves
        What its scores mean: ``bands``, ``scores``, ``shares``.
    n_unlisted_ : float
        True labels of a row, on average, that are not among its 50 best.

    Examples
    --------
    >>> from manylabel import OneVsRest, make_corpus
    >>> corpus = make_corpus(n_rows=400, n_labels=5, random_state=0)
    >>> model = Calibrated(OneVsRest(), cost="f1").fit(corpus.X, corpus.Y)
    >>> proba = model.predict_proba(corpus.X)
    >>> bool(abs(proba.sum() / corpus.Y.sum() - 1) < 0.2)
    True
    """

    _unweighted = "probabilities are shares of rows held out"
    estimator_: MultiLabelClassifier
    curves_: Curves
    n_unlisted_: Annotated[float, Number(least=0)]

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "auto",
        cost: Any = "f1",
        propensity: Any = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cost = cost
        self.propensity = propensity
        self.random_state = random_state

    def predict_proba(self, X: MatrixLike) -> Floats:
        """Return the probability of every label.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.

        Returns
        -------
        ndarray of shape (n_rows, n_labels)
            That a label is true, or recorded if there is no ``propensity``. For many
            labels use ``predict_topk(X, k, proba=True)``.
        """
        scores = self.decision_function(X)
        labels = np.tile(self.classes_, len(scores))
        return self.curves_.apply(scores.ravel(), labels).reshape(scores.shape)

    def predict_topk(self, X: MatrixLike, k: int = 5, *, proba: bool = False) -> CSR:
        """Return the ``k`` best labels of each row, with scores or probabilities.

        Parameters
        ----------
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        k : int, default=5
            How many labels; all of them when there are fewer.
        proba : bool, default=False
            Return probabilities in place of scores. Which labels are the best is told
            by the scores.

        Returns
        -------
        csr_array of shape (n_rows, n_labels)
            The stored entries are the predictions.
        """
        found = super().predict_topk(X, k)
        return self._probable(found) if proba else found

    def _learn(self, X: CSR, Y: CSR) -> None:
        propensity = 1.0 if self.propensity is None else self.propensity
        gain = 1 / _validation.propensities(propensity, Y.shape[1])
        best, true = self._rank_held(X, Y)
        hits = _find_hits(best, true)
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        worth = hits * gain[best.indices]
        self.curves_ = Curves.fit(best.data, best.indices, worth, counts, self.method)
        missed = gain[true.indices].sum() - worth.sum()
        self.n_unlisted_ = max(0.0, float(missed / true.shape[0]))
        self._tell(self._probable(best), Y, gain)
        self.estimator_ = clone(self.estimator).fit(X, Y)

    def _rank_held(self, X: CSR, Y: CSR) -> tuple[CSR, CSR]:
        """Return the best labels of rows held out, and the labels that they have."""
        splits = [hold_out(X.shape[0], self.random_state)]
        if FEWEST <= X.shape[0] < FEW_ROWS:
            splits = hold_out_in_turn(X.shape[0], self.random_state)
        best = [
            clone(self.estimator).fit(X[train], Y[train]).predict_topk(X[held], DEPTH)
            for train, held in splits
        ]
        true = Y[np.concatenate([split.held for split in splits])]
        return sp.csr_array(sp.vstack(best, format="csr")), true

    def _tell(self, proba: CSR, Y: CSR, gain: Floats) -> None:
        """Learn more from the probabilities of rows held out."""

    def _probable(self, found: CSR) -> CSR:
        found.data = self.curves_.apply(found.data, found.indices)
        return found

    def _scores(self, X: CSR) -> Array:
        return np.asarray(self.estimator_.decision_function(X))

    def _topk(self, X: CSR, k: int) -> CSR:
        found: CSR = self.estimator_.predict_topk(X, k)
        return found

    def _labels(self, X: CSR) -> CSR:
        proba = self._probable(self._topk(X, DEPTH))
        decider = LeastCost(self.cost, n_candidates=DEPTH)
        return decider.decide(proba, rest=self.n_unlisted_)

    def _n_jobs(self) -> int | None:
        return None  # the learner has the threads

    def _check_state(self) -> None:
        super()._check_state()
        self._check_part(self.estimator_, "estimator_")

    def _check_parameters(self) -> None:
        check_learner(self.estimator, "estimator")
        _validation.choice(self.method, "method", METHODS)
        LeastCost(self.cost)


def _find_hits(best: CSR, Y: CSR) -> Bools:
    """Return which of the listed labels are true."""
    columns = best.indices.reshape(best.shape[0], -1)
    hits = np.empty(columns.shape, np.bool_)
    ranking.find_hits(Y.indptr, Y.indices, columns, hits)
    return hits.ravel()

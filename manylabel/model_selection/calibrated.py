"""A learner whose scores are made probabilities, and its sets those of least cost."""

from typing import Any

import numpy as np
from sklearn.base import clone

from manylabel import _validation
from manylabel._typing import CSR, Array, Floats, RandomState
from manylabel.base import BatchClassifier, MultiLabelClassifier, check_learner
from manylabel.model_selection.calibration import METHODS, Curves
from manylabel.model_selection.decisions import LeastCost
from manylabel.model_selection.probable import CalibratedClassifier, rank_held_out


class Calibrated(CalibratedClassifier, BatchClassifier):
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
        than 5,000 each in turn, by five learners; of fewer than 20 none, and the
        learner is tried on the rows that it learnt.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    estimator_ : estimator
        The learner, fitted to all rows.
    calibration_ : Curves
        What its scores mean: ``bands``, ``scores``, ``shares``, and ``n_unlisted``, the
        true labels of a row, on average, that are not among its 50 best.

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
    _is_by_rank = True  # curves are those of the first labels of rows, above all
    estimator_: MultiLabelClassifier

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

    @property
    def calibrate(self) -> str:
        """The form of the curves, as other learners call it."""
        return self.method

    def _learn(self, X: CSR, Y: CSR) -> None:
        self.estimator_ = clone(self.estimator).fit(X, Y)
        gain = self._label_gain(Y.shape[1])
        held = rank_held_out(
            lambda: clone(self.estimator),
            *(X, Y, self.random_state),
            threshold=getattr(self.estimator_, "threshold_", 0.0),
        )
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        self.calibration_ = Curves.fit(
            *held, counts, gain, self.method, by_rank=self._is_by_rank
        )
        self._tell(self.calibration_.apply_to(held.best), Y, gain)

    def _tell(self, proba: CSR, Y: CSR, gain: Floats) -> None:
        """Learn more from the probabilities of rows held out."""

    def _scores(self, X: CSR) -> Array:
        return np.asarray(self.estimator_.decision_function(X))

    def _topk(self, X: CSR, k: int) -> CSR:
        found: CSR = self.estimator_.predict_topk(X, k)
        return found

    def _labels(self, X: CSR) -> CSR:
        return self._cheapest_sets(X, self.cost)

    def _n_jobs(self) -> int | None:
        return None  # the learner has the threads

    def _check_state(self) -> None:
        super()._check_state()
        self._check_part(self.estimator_, "estimator_")
        if not self.calibration_:
            raise ValueError("calibration_ must have a curve for each label.")

    def _check_parameters(self) -> None:
        check_learner(self.estimator, "estimator")
        _validation.choice(self.method, "method", METHODS)
        LeastCost(self.cost)

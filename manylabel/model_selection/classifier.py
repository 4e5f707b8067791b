"""A learner whose sets of labels are those above thresholds."""

from typing import Annotated, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from manylabel._typing import CSR, Array, Bools, Floats, MatrixLike, RandomState
from manylabel._warning import warn
from manylabel.base import BatchClassifier, MultiLabelClassifier, check_learner
from manylabel.model_selection import thresholds
from manylabel.model_selection.holdout import hold_out
from manylabel.persistence.records import Field, Finite


class Thresholds(BatchClassifier):
    """A learner whose labels are given above thresholds, chosen on a validation set.

    Ranking and scores are those of the learner; ``predict`` returns the labels whose
    scores are above ``thresholds_``.

    Parameters
    ----------
    estimator : estimator
        What ranks the labels; it is cloned.
    cost : str or object with ``from_counts``, default="f1"
        The cost of a set to make small, ``"f1"``, ``"accuracy"``, ``"hamming"`` ...
    min_precision : float or None, default=None
        In place of a cost: as many labels as can be given so that this share of them
        is true, with 95 % confidence (the binomial interval of the rows held out). If
        that cannot be promised, a warning says so, and there is a standard error to
        spare.
    min_recall : float or None, default=None
        In place of a cost: as few labels as have this share of the true ones, with the
        same confidence; else a warning, and nothing to spare.
    per_label : bool, default=False
        Whether each label has its own threshold, chosen by its own column; a label that
        no row held out has takes the common one.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of rows that are held out: one in five, at most 5,000. Of fewer
        than 20 rows none is: the learner is tried on the rows that it learnt.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    estimator_ : estimator
        The learner, fitted to all rows.
    thresholds_ : ndarray of shape (n_labels,)
        Scores of the learner that are to be exceeded; where none reaches the goal, the
        best score on the rows held out.
    promised_ : ndarray of shape (n_labels,)
        Whether the rows held out promise precision or recall.

    Examples
    --------
    >>> from manylabel import OneVsRest, make_corpus
    >>> corpus = make_corpus(n_rows=300, n_labels=20, noise=0.7, propensity=1.0)
    >>> strict = Thresholds(OneVsRest(), min_precision=0.8).fit(corpus.X, corpus.Y)
    >>> loose = Thresholds(OneVsRest(), min_recall=0.9).fit(corpus.X, corpus.Y)
    >>> bool((strict.thresholds_ > loose.thresholds_).all())
    True
    """

    _unweighted = "thresholds are chosen on rows held out, which count alike"
    estimator_: MultiLabelClassifier
    thresholds_: Annotated[Floats, Field("float64", "n_labels", Finite())]
    promised_: Annotated[Bools, Field("bool", "n_labels")]

    def __init__(
        self,
        estimator: Any,
        *,
        cost: Any = "f1",
        min_precision: float | None = None,
        min_recall: float | None = None,
        per_label: bool = False,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.cost = cost
        self.min_precision = min_precision
        self.min_recall = min_recall
        self.per_label = per_label
        self.random_state = random_state

    def _learn(self, X: CSR, Y: CSR) -> None:
        train, held = hold_out(X.shape[0], self.random_state)
        pilot = clone(self.estimator).fit(X[train], Y[train])
        self._take(pilot, X[held], Y[held])
        self.estimator_ = clone(self.estimator).fit(X, Y)

    def choose(self, estimator: Any, X: MatrixLike, Y: MatrixLike) -> Self:
        """Take a fitted learner, and choose thresholds on rows that it has not seen.

        Parameters
        ----------
        estimator : estimator
            Fitted.
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.

        Returns
        -------
        Thresholds
            Itself.
        """
        self._check_parameters()
        with self._undo_on_error():
            rows, labels = self._begin_fit(X, Y)
            self._take(estimator, rows, labels)
            self.estimator_ = estimator
        return self

    def _take(self, estimator: Any, X: CSR, Y: CSR) -> None:
        """Choose thresholds; warn of a goal that such rows cannot promise."""
        scores, goal = estimator.predict_topk(X, thresholds.DEPTH), self._goal()
        chosen = thresholds.choose(scores, Y, goal, per_label=self.per_label)
        self.thresholds_, self.promised_ = chosen
        if not self.promised_.all():
            name = "min_precision" if goal.of_given else "min_recall"
            n_short, n_labels = int((~self.promised_).sum()), len(self.promised_)
            labels = f" for {n_short} of {n_labels} labels" if self.per_label else ""
            warn(
                f"{name}={goal.share:g} cannot be promised{labels} by {Y.shape[0]:,} "
                "rows held out: with 95 % confidence, no threshold reaches it.",
            )

    def _goal(self) -> thresholds.Goal:
        return thresholds.Goal.of(self.cost, self.min_precision, self.min_recall)

    def _scores(self, X: CSR) -> Array:
        return np.asarray(self.estimator_.decision_function(X))

    def _labels(self, X: CSR) -> CSR:
        return sp.csr_array(self._scores(X) > self.thresholds_)

    def _topk(self, X: CSR, k: int) -> CSR:
        found: CSR = self.estimator_.predict_topk(X, k)
        return found

    def _n_jobs(self) -> int | None:
        return None  # the learner has the threads

    def _check_state(self) -> None:
        super()._check_state()
        self._check_part(self.estimator_, "estimator_")

    def _check_parameters(self) -> None:
        check_learner(self.estimator, "estimator")
        self._goal()

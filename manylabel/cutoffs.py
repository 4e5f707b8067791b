"""What a score must exceed for its label to be given, by a target of the user's."""

import re
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from manylabel import thresholds
from manylabel._kernels import ranking
from manylabel._typing import CSR, Array, Bools, Floats, Ints, MatrixLike, RandomState
from manylabel.base import BatchClassifier, check_learner
from manylabel.baselines import OneVsRest
from manylabel.lists import Lists
from manylabel.losses.resolve import as_counted_cost

GOAL = re.compile(r"(precision|recall)=(0?\.\d+|0|1(?:\.0*)?)")


class Pairs(NamedTuple):
    """Labels that rows may be given, those of a label together, best scores first."""

    starts: Ints  # (n_groups + 1,)
    scores: Array
    is_hit: Bools
    n_true: Floats  # (n_groups,) rows that have the label, listed or not

    @classmethod
    def of(cls, scores: CSR, Y: CSR, *, per_label: bool) -> "Pairs":
        """Return the labels listed in ``scores``, all together unless ``per_label``."""
        columns = scores.indices.reshape(scores.shape[0], -1)
        hits = np.empty(columns.shape, np.bool_)
        ranking.find_hits(Y.indptr, Y.indices, columns, hits)
        group = columns.ravel() if per_label else np.zeros(columns.size, np.int64)
        n_groups = Y.shape[1] if per_label else 1
        order = np.lexsort((-scores.data, group))
        starts = np.searchsorted(group[order], np.arange(n_groups + 1))
        n_true = np.bincount(Y.indices, minlength=Y.shape[1]) if per_label else [Y.nnz]
        return cls(
            *(starts, scores.data[order], hits.ravel()[order], np.asarray(n_true))
        )


class Cutoffs(BatchClassifier):
    """A learner whose sets are cut off where a target is met, on rows held out.

    The ranking is that of the learner; ``predict`` returns the labels whose scores are
    above the cut-offs.

    Parameters
    ----------
    learner : estimator or None, default=None
        What ranks the labels; it is cloned. None is ``OneVsRest()``.
    target : str or object with ``from_counts``, default="f1"
        ``"precision=0.9"``: as many labels as can be given so that this share of them
        is true, with a standard error to spare; ``"recall=0.9"``: as few as have this
        share of the true ones; or a cost to make small, ``"f1"``, ``"accuracy"``,
        ``"hamming"`` ...
    per_label : bool, default=False
        Whether each label has its own cut-off, chosen by its own column; a label that
        no row held out has takes the common one.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of rows that are held out: one in five, at most 5,000. Of fewer
        than 20 rows none is: the learner is tried on the rows that it learnt.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    learner_ : estimator
        The learner, fitted to all rows.
    cutoffs_ : ndarray of shape (n_labels,)
        Scores of the learner that are to be exceeded; where none meets the target, the
        best score on the rows held out.

    Notes
    -----
    Scores are those of the learner less the cut-off. With ``per_label`` that would
    change the ranking: there they are the learner's, and ``predict`` compares them with
    ``cutoffs_``, not with 0.

    Examples
    --------
    >>> from manylabel import make_corpus
    >>> corpus = make_corpus(n_rows=300, n_labels=5, random_state=0)
    >>> strict = Cutoffs(target="precision=0.9").fit(corpus.X, corpus.Y)
    >>> loose = Cutoffs(target="recall=0.9").fit(corpus.X, corpus.Y)
    >>> bool((strict.cutoffs_ > loose.cutoffs_).all())
    True
    """

    learner_: Any
    cutoffs_: Floats

    def __init__(
        self,
        learner: Any = None,
        *,
        target: Any = "f1",
        per_label: bool = False,
        random_state: RandomState = 0,
    ) -> None:
        self.learner = learner
        self.target = target
        self.per_label = per_label
        self.random_state = random_state

    def _learn(self, X: CSR, Y: CSR) -> None:
        held, rest = thresholds.held_out(X.shape[0], self.random_state)
        pilot = self._fresh().fit(X[rest], Y[rest])
        self.cutoffs_ = self._chosen(pilot, X[held], Y[held])
        self.learner_ = self._fresh().fit(X, Y)

    def choose(self, learner: Any, X: MatrixLike, Y: MatrixLike) -> Self:
        """Take a fitted learner, and choose its cut-offs on rows that it has not seen.

        Parameters
        ----------
        learner : estimator
            Fitted.
        X : array or sparse array of shape (n_rows, n_features)
            Features.
        Y : array or sparse array of shape (n_rows, n_labels)
            Labels, 0/1.

        Returns
        -------
        Cutoffs
            Itself.
        """
        self._check_parameters()
        with self._undo_on_error():
            rows, labels = self._begin_fit(X, Y)
            self.cutoffs_ = self._chosen(learner, rows, labels)
            self.learner_ = learner
        return self

    def _fresh(self) -> Any:
        return OneVsRest() if self.learner is None else clone(self.learner)

    def _chosen(self, learner: Any, X: CSR, Y: CSR) -> Floats:
        scores = learner.predict_topk(X, thresholds.DEPTH)
        common = self._common(scores, Y)
        if not self.per_label:
            return np.full(Y.shape[1], common)
        pairs = Pairs.of(scores, Y, per_label=True)
        own = cut_off(pairs, *self._goal())
        return np.where(pairs.n_true > 0, own, common)

    def _common(self, scores: CSR, Y: CSR) -> float:
        kind, _ = goal = self._goal()
        if kind in ("precision", "recall"):
            return float(cut_off(Pairs.of(scores, Y, per_label=False), *goal)[0])
        lists = Lists(scores.indptr, scores.indices, scores.data)
        return thresholds.best_threshold(lists, Y, np.ones(Y.shape[1]), kind)

    def _goal(self) -> tuple[Any, float]:
        """Return "precision" or "recall" and its value, or a cost and nothing."""
        found = GOAL.fullmatch(self.target) if isinstance(self.target, str) else None
        return (
            (found[1], float(found[2]))
            if found
            else (as_counted_cost(self.target), 0.0)
        )

    def _shift(self) -> Floats:
        """Return what scores are less: own cut-offs would change the ranking."""
        return np.zeros_like(self.cutoffs_) if self.per_label else self.cutoffs_

    def _scores(self, X: CSR) -> Array:
        return np.asarray(self.learner_.decision_function(X) - self._shift())

    def _labels(self, X: CSR) -> CSR:
        return sp.csr_array(self._scores(X) > self.cutoffs_ - self._shift())

    def _topk(self, X: CSR, k: int) -> CSR:
        found: CSR = self.learner_.predict_topk(X, k)
        found.data = found.data - self._shift()[found.indices]
        return found

    def _n_jobs(self) -> int | None:
        return None  # the learner has the threads

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"cutoffs_": (len(self.classes_),)}

    def _check_state(self) -> None:
        super()._check_state()
        self._check_part(self.learner_, "learner_")

    def _check_parameters(self) -> None:
        if self.learner is not None:
            check_learner(self.learner, "learner")
        if isinstance(self.target, str) and "=" in self.target:
            if not GOAL.fullmatch(self.target):
                raise ValueError(
                    "target must be precision= or recall= with a share, or a cost. "
                    f"Got {self.target!r}."
                )
        else:
            as_counted_cost(self.target, "target")


def cut_off(pairs: Pairs, goal: Any, share: float) -> Floats:
    """Return the cut-off of each group: ``share`` of a goal, or the least of a cost."""
    hits = np.cumsum(np.concatenate([[0], pairs.is_hit]))
    out = np.empty(len(pairs.n_true))
    for group, (start, end) in enumerate(pairwise(pairs.starts)):
        scores, n_given = pairs.scores[start:end], np.arange(end - start + 1.0)
        found, n_true = hits[start : end + 1] - hits[start], float(pairs.n_true[group])
        if goal == "precision":
            # A cut-off that just met it would owe that to luck: it is one of many.
            luck = np.sqrt(share * (1 - share) * n_given)
            charge = np.where(found >= share * n_given + luck, -n_given, np.inf)
        elif goal == "recall":
            charge = np.where(found >= share * n_true, n_given, end - start + 1.0)
        else:
            charge = goal.from_counts(found, n_true, n_given, max(1, len(pairs.scores)))
        parted = np.concatenate([[True], scores[:-1] != scores[1:], [True]])
        charge = np.where(parted[: len(charge)], charge, np.inf)
        out[group] = thresholds.below(scores, int(charge.argmin()))
    return out

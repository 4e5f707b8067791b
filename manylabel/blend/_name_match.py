"""Names of labels as evidence, so that labels without an example are suggested too."""

from math import ceil
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from manylabel import _validation, parallel
from manylabel._docstrings import described_like
from manylabel._typing import (
    CSR,
    Array,
    Bools,
    Floats,
    Ints,
    RandomState,
)
from manylabel.base import MultiLabelClassifier, check_learner
from manylabel.blend._candidates import Candidates
from manylabel.blend._listed import DEPTH, NEVER, OTHERS, ListedClassifier
from manylabel.label_tree import LabelTree
from manylabel.lists import Lists
from manylabel.losses.resolve import as_counted_cost
from manylabel.model_selection import thresholds
from manylabel.model_selection.calibration import calibration, find_hits
from manylabel.model_selection.holdout import hold_out
from manylabel.model_selection.probable import CalibratedBatchClassifier
from manylabel.persistence.records import Field, Finite, Number

MOST_NAMED = 20  # labels that names list
# Below, a likeness says nothing: of 1,000 such labels less than one is true.
LEAST_LIKE = 0.05
RARE, RAREST = 2, 0.1  # rows of a label that is left out; at least this share of all is
SEEN_WEIGHTS = (0.0, 0.1, 0.3, 1.0)
UNSEEN_WEIGHTS = (1.0, 0.5, 0.2, 0.1, 0.03, 0.01, 0.003, 0.001)  # of equals, the first
DEPTHS, DEEPEST = (1, 5), 10  # of the precision, and of labels left out
TILT = 1e-3  # of a curve, over its whole length


@described_like(CalibratedBatchClassifier)
class NameMatch(CalibratedBatchClassifier, ListedClassifier):
    """A learner, and beside it how like a text the names of labels are.

    So labels that no training row has can be suggested, and rare ones better. A name
    is as like a text as the cosine of their rows, times the square of the share of the
    name that is found in the text. What a likeness is worth is told by rows held out:
    by the rarest labels, which count as if they had not been learnt. Scores are the
    share of labels that were true there.

    Parameters
    ----------
    estimator : multi-label classifier or None, default=None
        What ranks the labels that have training rows; None is ``LabelTree()``.
    names : csr_array of shape (n_names, n_features) or None, default=None
        The features of names. A :class:`Tagger` sets them: of its ``vocabulary``, or
        of the names of its labels. None is no evidence.
    owners : array of shape (n_names,) or None, default=None
        The label, a column, of each name; a label may have several.
    unseen_weight : float or None, default=None
        What the share of a likeness counts for labels that no training row has. None
        chooses it, as ``unseen_weight_`` says. 1 takes it as it is, which suggests more
        of these labels, in the places of labels that were learnt.
    cost : str or object with ``from_counts``, default="f1"
        What the threshold of ``predict`` is to make small, on rows held out.
    n_jobs : int or None, default=None
        Threads of the learner, if it names none; None is 1, -1 all cores.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of rows that are held out: one in five, at most 5,000.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    estimator_ : multi-label classifier
        The learner, fitted to the labels that have training rows.
    seen_ : ndarray of shape (n_labels,)
        Whether a row that was learnt had the label.
    curve_, name_curve_ : ndarray of shape (2, n_knots)
        Scores of the learner, likenesses of names, and the share of true labels there.
    weight_, unseen_weight_ : float
        What the share of a likeness counts, beside that of the learner, for labels
        that were learnt and for others: what ranks the labels left out best, and costs
        the others no more of the learner's P@1 and P@5 than one standard error.
    threshold_ : float
        What a label must exceed to be predicted.

    Examples
    --------
    >>> from manylabel import NameMatch, Tagger, Vocabulary
    >>> texts = ["red wine", "white wine", "brown bread", "rye bread"] * 10
    >>> tags = [["wine"], ["wine"], ["bread"], ["bread"]] * 10
    >>> vocabulary = Vocabulary({"bread": {}, "cheese": {}, "wine": {}})
    >>> tagger = Tagger(NameMatch(), vocabulary=vocabulary).fit(texts, tags)
    >>> [name for name, score in tagger.tag("some cheese", k=1)]
    ['cheese']
    """

    _unweighted = "what names are worth is told on rows held out, which count alike"
    estimator_: MultiLabelClassifier
    curve_: Annotated[Floats, Field("float64", "2, n_knots", Finite())]
    name_curve_: Annotated[Floats, Field("float64", "2, n_likenesses", Finite())]
    weight_: Annotated[float, Number(least=0)]
    unseen_weight_: Annotated[float, Number(least=0)]
    _rows_at_once = 1024  # a likeness of each name with each row is held
    _matcher: "Matcher | None" = None  # made of the names when it is needed

    def __init__(
        self,
        estimator: Any = None,
        *,
        names: Any = None,
        owners: Any = None,
        unseen_weight: float | None = None,
        cost: Any = "f1",
        calibrate: str | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.estimator = estimator
        self.names = names
        self.owners = owners
        self.unseen_weight = unseen_weight
        self.cost = cost
        self.calibrate = calibrate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(self, X: CSR, Y: CSR) -> None:
        self._matcher = None
        matcher = self._match_names()
        train, held = hold_out(X.shape[0], self.random_state)
        with parallel.stage("validation", 0.5):
            learner, seen = self._fit_seen(X[train], Y[train])
            lists = _list_all(learner, seen, X[held], DEPTH), matcher.list(X[held])
        counts = np.bincount(Y[train].indices, minlength=Y.shape[1])
        self._weigh_names(lists, Y[held], _rarest(counts))
        with parallel.stage("training"):
            self.estimator_, self.seen_ = self._fit_seen(X, Y)

    def _fit_seen(self, X: CSR, Y: CSR) -> tuple[Any, Bools]:
        """Return a learner of the labels that rows have, and which these are."""
        seen = np.bincount(Y.indices, minlength=Y.shape[1]) > 0
        if not seen.any():  # a learner needs a label
            seen[:] = True
        learner = LabelTree() if self.estimator is None else clone(self.estimator)
        if getattr(learner, "n_jobs", 1) is None:
            learner.set_params(n_jobs=self.n_jobs)
        if getattr(learner, "calibrate", None) is not None:  # it is done here
            learner.set_params(calibrate=None)
        return learner.fit(X, Y[:, np.flatnonzero(seen)]), seen

    def _weigh_names(self, lists: tuple[CSR, CSR], Y: CSR, left_out: Bools) -> None:
        """Tell what scores and likenesses mean, and how much each counts."""
        ranked, named = lists
        self.curve_ = _tilted(calibration(ranked.data, find_hits(ranked, Y)))
        is_told = left_out[named.indices] & (named.data > 0)
        hits = find_hits(named, Y)[is_told]
        self.name_curve_ = np.zeros((2, 1))
        if len(hits):
            found = calibration(named.data[is_told], hits, by_hits=True)
            self.name_curve_ = _tilted(found)
        held = HeldOut(self._join(lists), left_out, Y)
        self.weight_, self.unseen_weight_ = held.choose()
        if self.unseen_weight is not None:
            self.unseen_weight_ = float(self.unseen_weight)
        scores = held.blend(self.weight_, self.unseen_weight_)
        cost, worth = as_counted_cost(self.cost), np.ones(Y.shape[1])
        best = thresholds.best_threshold(scores, Y, worth, cost)
        highest = 1 + max(self.weight_, self.unseen_weight_)  # no score is above it
        self.threshold_ = best if Y.nnz else highest

    def _join(self, lists: tuple[CSR, CSR]) -> Candidates:
        """Return the labels of both lists, with the shares that they stand for."""
        width = max(self.curve_.shape[1], self.name_curve_.shape[1])
        curves = [
            np.pad(curve, ((0, 0), (0, width - curve.shape[1])), "edge")
            for curve in (self.curve_, self.name_curve_)
        ]
        ranked, named = lists
        filled = Lists(named.indptr, named.indices, named.data)
        found = filled.above(0.0).csr(named.shape[1])
        return Candidates.of((ranked, found), np.stack(curves))

    def _blended(self, X: CSR, depth: int) -> Lists:
        ranked = _list_all(self.estimator_, self.seen_, X, depth)
        found = self._join((ranked, self._match_names().list(X)))
        scores = blend(found, ~self.seen_, self.weight_, self.unseen_weight_)
        return scores._replace(values=scores.values - np.float32(self.threshold_))

    def _match_names(self) -> "Matcher":
        if self._matcher is None:
            n_labels = len(self.classes_)
            given = self.names, self.owners
            self._matcher = Matcher.of(*given, n_labels, self.n_features_in_)
        return self._matcher

    def _check_state(self) -> None:
        super()._check_state()
        self._matcher = None
        self._match_names()
        if self.estimator_.n_features_in_ != self.n_features_in_:
            raise ValueError("n_features_in_ must be the same for estimator_.")
        if len(self.estimator_.classes_) != np.count_nonzero(self.seen_):
            raise ValueError("estimator_ must have the labels that were seen.")
        for name in ("curve_", "name_curve_"):
            if (np.diff(getattr(self, name)[0]) < 0).any():
                raise ValueError(f"{name} must ascend.")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.estimator is not None:
            check_learner(self.estimator, "estimator")
        if (self.names is None) != (self.owners is None):
            raise ValueError("names and owners must be given together.")
        if self.unseen_weight is not None:
            _validation.number(self.unseen_weight, "unseen_weight", least=0)
        as_counted_cost(self.cost)


class Matcher(NamedTuple):
    """The names of labels, ready to be compared with texts."""

    columns: CSR  # (n_features, n_names)
    squares: CSR
    owners: Ints
    n_labels: int

    @classmethod
    def of(cls, names: Any, owners: Any, n_labels: int, n_features: int) -> "Matcher":
        """Return a matcher, or raise ValueError for names of other labels or rows."""
        if names is None:
            names, owners = sp.csr_array((0, n_features)), []
        rows = _validation.feature_matrix(names, name="names")
        labels = np.asarray(owners, np.int64)
        if rows.shape[1] != n_features or labels.shape != (rows.shape[0],):
            raise ValueError(
                f"names must have {n_features} features, and owners a label for each. "
                f"Got shapes {rows.shape} and {labels.shape}."
            )
        _validation.check_columns(labels, n_labels, "owners")
        columns = rows.T.tocsr()
        parts = columns.data**2, columns.indices, columns.indptr
        squares = sp.csr_array(parts, shape=columns.shape)
        return cls(columns, squares, labels, n_labels)

    def list(self, X: CSR) -> CSR:
        """Return the labels whose names are most like each row, as many for each.

        Labels of no likeness fill the lists.
        """
        present = sp.csr_array((np.ones_like(X.data), X.indices, X.indptr), X.shape)
        found, share = X @ self.columns, present @ self.squares
        found.sort_indices()
        share.sort_indices()
        like = found.data * share.data**2
        rows = np.repeat(np.arange(X.shape[0]), np.diff(found.indptr))
        kept = like >= LEAST_LIKE
        rows, labels = rows[kept], self.owners[found.indices[kept]]
        return self._best(rows, labels, like[kept], X.shape[0])

    def _best(self, rows: Ints, labels: Ints, like: Array, n_rows: int) -> CSR:
        """Return the best labels, each by the best of its names."""
        keys = rows * self.n_labels + labels
        order = np.lexsort((-like, keys))
        keys, first = np.unique(keys[order], return_index=True)
        indptr = np.searchsorted(keys, np.arange(n_rows + 1) * self.n_labels)
        listed = (keys % self.n_labels).astype(np.int32)
        lists = Lists(indptr, listed, like[order][first].astype(np.float32))
        every = np.ones(self.n_labels, np.bool_)
        return lists.best(MOST_NAMED, every, np.zeros(2, np.float32))


class HeldOut(NamedTuple):
    """Rows held out: what both say of their labels, those left out, and the truth."""

    found: Candidates
    left_out: Bools
    Y: CSR

    def choose(self) -> tuple[float, float]:
        """Return what names count, for labels that were learnt and for others."""
        before, most = self.judge(0.0, 0.0)  # the learner by itself
        values = [self.judge(w, 0.0)[0].mean() for w in SEEN_WEIGHTS]
        weight = SEEN_WEIGHTS[int(np.argmax(values))]
        chosen = 0.0
        for unseen in UNSEEN_WEIGHTS:
            after, gain = self.judge(weight, unseen)
            lost = before - after
            error = lost.std(axis=0) / np.sqrt(len(lost))
            if (lost.mean(axis=0) <= error).all() and gain > most:
                chosen, most = unseen, gain
        return weight, chosen

    def blend(self, weight: float, unseen: float) -> Lists:
        """Return the shares of labels; the learner has none of those left out."""
        shares = self.found.shares.copy()
        shares[self.left_out[self.found.labels], 0] = 0.0
        found = self.found._replace(shares=shares)
        return blend(found, self.left_out, weight, unseen)

    def judge(self, weight: float, unseen: float) -> tuple[Floats, float]:
        """Return P@1 and P@5 of each row, and the DCG@10 of the labels left out.

        Labels left out are no hits for the precision.
        """
        n_rows, n_labels = self.Y.shape
        every = np.ones(n_labels, np.bool_)
        best = self.blend(weight, unseen).best(DEEPEST, every, OTHERS)
        is_true, is_out = find_hits(best, self.Y), self.left_out[best.indices]
        order = np.argsort(-best.data.reshape(n_rows, -1), axis=1, kind="stable")
        learnt, others = (
            np.take_along_axis(hits.reshape(n_rows, -1), order, axis=1)
            for hits in (is_true & ~is_out, is_true & is_out)
        )
        precision = np.stack([learnt[:, :k].mean(axis=1) for k in DEPTHS], axis=1)
        gains = 1 / np.log2(np.arange(2, others.shape[1] + 2))
        return precision, float(others.sum(axis=0) @ gains)


def blend(found: Candidates, unseen: Bools, weight: float, other: float) -> Lists:
    """Return the learner's share of each label, and that of its names, weighed.

    Labels that nothing speaks for, neither rows nor names, rank last.
    """
    is_unseen = unseen[found.labels]
    values = found.shares[:, 0] + found.shares[:, 1] * np.where(
        is_unseen, other, weight
    )
    values[is_unseen & (values <= 0)] = NEVER
    return Lists(found.indptr, found.labels, values.astype(np.float32))


def _list_all(learner: Any, seen: Bools, X: CSR, depth: int) -> CSR:
    """Return the labels that a learner of those that were seen lists, of all."""
    best = learner.predict_topk(X, depth)
    columns = np.flatnonzero(seen).astype(best.indices.dtype)[best.indices]
    parts = best.data, columns, best.indptr
    return sp.csr_array(parts, shape=(X.shape[0], len(seen)))


def _tilted(curve: Floats) -> Floats:
    """Return a curve that ascends everywhere, so that what was ranked stays so."""
    x, y = curve
    span = x[-1] - x[0] or 1.0
    x = np.concatenate([[x[0] - span], x, [x[-1] + span]])
    y = np.concatenate([[y[0]], y, [y[-1]]])
    return np.stack([x, y + TILT * (x - x[0]) / (3 * span)])


def _rarest(counts: Ints) -> Bools:
    """Return the labels that count as if they had not been learnt."""
    learnt = np.flatnonzero(counts)
    order = learnt[np.argsort(counts[learnt], kind="stable")]
    rarest = counts <= RARE
    rarest[order[: ceil(RAREST * len(order))]] = True
    return rarest

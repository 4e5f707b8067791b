"""Which labels a tagger gives: the best of those that are allowed, or sets of them."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._suggestion import suggest
from manylabel._typing import CSR, Array, Bools
from manylabel.base import PAIRS_AT_ONCE, cut
from manylabel.data.dataset import LabelSpace, best_first
from manylabel.losses import CountedCost, as_cost
from manylabel.model_selection import MacroAtK, Thresholds
from manylabel.model_selection.probable import DEPTH, CalibratedClassifier, decide
from manylabel.text._rules import ColumnRules

DEEPEST = 1000  # labels of a row that are looked through first
DEEPER = 8  # times as many, while rows have too few of those that are allowed
USUAL_COST = "f1"


class Decision(NamedTuple):
    """How labels are given to rows."""

    learner: Any  # fitted; Thresholds around it once they were chosen
    cost: Any = None  # that sets make small in expectation; None: the learner decides
    allowed: Bools | None = None  # (n_labels,)
    rules: ColumnRules | None = None
    are_texts: bool = False  # of which one without a known word is given nothing

    def rank(self, X: CSR, k: int) -> CSR:
        """Return the ``k`` best labels of each row, of those that are allowed."""
        (depth,) = _validation.depths(k)
        if self.allowed is None:
            found: CSR = self.learner.predict_topk(X, depth)
            return found
        return rank_allowed(self.learner, X, depth, self.allowed)

    def give(self, X: CSR) -> CSR:
        """Return the sets, each label with its score."""
        is_listed = self.cost is not None and self.rules is None
        depth = DEPTH if is_listed else DEEPEST  # sets of least cost are among these
        return _with_scores(self.give_sets(X), self.rank(X, depth))

    def give_sets(self, X: CSR) -> CSR:
        """Return the sets, 0/1."""
        sets = self._decide(X)
        if self.are_texts:
            is_known = np.diff(X.indptr) > 0
            sets = _keep_entries(sets, np.repeat(is_known, np.diff(sets.indptr)))
        if self.rules is None:
            return sets
        given = _with_scores(sets, self.rank(X, DEEPEST))
        rows = [
            sorted(self.rules.take(row, self.allowed))
            for row in _best_first_rows(given)
        ]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        indices = np.array([each for row in rows for each in row], np.int64)
        ones = np.ones(len(indices), np.int64)
        return sp.csr_array((ones, indices, indptr), shape=given.shape)

    def _decide(self, X: CSR) -> CSR:
        """Return the sets before parents are brought, 0/1."""
        if self.cost is None:
            sets = sp.csr_array(self.learner.predict(X))
            if self.allowed is None:
                return sets
            return _keep_entries(sets, self.allowed[sets.indices])
        best, scorer = self.rank(X, DEPTH), scorer_of(self.learner)
        if self.rules is not None:
            best = _keep_entries(best, _not_excluded(best, self.rules))
        curves = scorer.calibration_
        if self.allowed is not None:  # labels that are not allowed do not count
            curves = curves._replace(n_unlisted=0.0, size_ratio=np.ones(1))
        return decide(scorer.to_proba(best), curves, self.cost)


def rank_allowed(learner: Any, X: CSR, k: int, allowed: Bools) -> CSR:
    """Return the ``k`` best of the labels that are allowed.

    Long lists are cut to what is allowed; those of rows that have too few of it then
    are made longer, up to all labels.
    """
    n_allowed, n_labels = int(allowed.sum()), len(allowed)
    if n_allowed == 0:
        return sp.csr_array((X.shape[0], n_labels))
    enough = min(n_labels, k + n_labels - n_allowed)
    depth = min(enough, max(k, DEEPEST))
    found = _keep_best(learner.predict_topk(X, depth), k, allowed)
    while depth < enough:
        short = np.flatnonzero(np.diff(found.indptr) < min(k, n_allowed))
        if not len(short):
            break
        depth = min(enough, DEEPER * depth)
        pieces = cut(X[short], max(1, PAIRS_AT_ONCE // depth))
        longer = [
            _keep_best(learner.predict_topk(rows, depth), k, allowed)
            for (rows,) in pieces
        ]
        rest = np.setdiff1d(np.arange(X.shape[0]), short)
        order = np.argsort(np.concatenate([rest, short]))
        found = sp.csr_array(sp.vstack([found[rest], *longer], format="csr")[order])
    return found


def allowed_columns(labels: LabelSpace, allow: Any, deny: Any) -> Bools | None:
    """Return which labels may be given; None for all of them."""
    if allow is None and deny is None:
        return None
    allowed = np.full(len(labels), allow is None)
    for name, names, value in (("allow", allow, True), ("deny", deny, False)):
        if names is None:
            continue
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise TypeError(f"{name} must be a list of names. Got {names!r:.40}.")
        for each in names:
            if each not in labels:
                raise ValueError(
                    f"{name} must name labels of the model. Got {each!r:.60}."
                    f"{suggest(each, labels.names)}"
                )
            allowed[labels.column(each)] = value
    return allowed


def scorer_of(learner: Any) -> Any:
    """Return the learner without thresholds around it."""
    return learner.estimator_ if isinstance(learner, Thresholds) else learner


def is_probable(learner: Any) -> bool:
    """Return whether a fitted learner was calibrated."""
    return getattr(scorer_of(learner), "calibrate", None) is not None


def check_probable(learner: Any, asked: str) -> None:
    """Raise ValueError if a fitted learner has no probabilities."""
    if not is_probable(learner):
        raise ValueError(
            f"{asked} needs a model with probabilities: fit "
            'Tagger(calibrate="auto"), or manylabel fit --calibrate auto.'
        )


def cost_of(learner: Any, cost: Any, calibrate: Any) -> Any:
    """Return what sets are to cost least of; None if the learner decides by itself."""
    if isinstance(learner, Thresholds | MacroAtK):
        return None
    if getattr(learner, "calibrate", None) is None:
        return None
    if cost is not None:
        return cost
    if isinstance(learner, CalibratedClassifier):
        cost = getattr(learner, "cost", None)
        if cost is not None and not isinstance(as_cost(cost), CountedCost):
            return None  # only the learner, a chain, makes it small
    return USUAL_COST if cost is None and calibrate is not None else cost


def _not_excluded(best: CSR, rules: ColumnRules) -> Bools:
    """Return the entries that no better one of their group excludes."""
    alone = rules._replace(brings={})
    rows = [alone.take(row, None) for row in _best_first_rows(best)]
    kept = [np.isin(best[[n]].indices, row) for n, row in enumerate(rows)]
    return np.concatenate([np.zeros(0, np.bool_), *kept])


def _best_first_rows(scores: CSR) -> list[list[int]]:
    """Return the columns of each row, those of the highest scores first."""
    columns = scores.indices[best_first(scores)].tolist()
    return [columns[start:end] for start, end in pairwise(scores.indptr.tolist())]


def _keep_best(found: CSR, k: int, allowed: Bools) -> CSR:
    """Return the best ``k`` entries of each row, of columns that are allowed."""
    found = _keep_entries(found, allowed[found.indices])
    order, starts = best_first(found), found.indptr[:-1]
    rank = np.empty(found.nnz, np.int64)
    rank[order] = np.arange(found.nnz) - np.repeat(starts, np.diff(found.indptr))
    return _keep_entries(found, rank < k)


def _keep_entries(matrix: CSR, kept: Bools) -> CSR:
    """Return some of the stored entries of a matrix."""
    indptr = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    parts = matrix.data[kept], matrix.indices[kept], indptr
    return sp.csr_array(parts, shape=matrix.shape)


def _with_scores(sets: CSR, ranked: CSR) -> CSR:
    """Return the labels of sets with their scores; of those not ranked, the lowest."""
    rows, keys = _keys(sets)
    _, known = _keys(ranked)
    lowest = np.zeros(sets.shape[0])
    has_any = np.diff(ranked.indptr) > 0
    lowest[has_any] = np.minimum.reduceat(ranked.data, ranked.indptr[:-1][has_any])
    at = np.searchsorted(known, keys).clip(max=max(0, len(known) - 1))
    values = lowest[rows]
    if len(known):
        values = np.where(known[at] == keys, ranked.data[at], values)
    return sp.csr_array((values, sets.indices, sets.indptr), shape=sets.shape)


def _keys(matrix: CSR) -> tuple[Array, Array]:
    """Return the rows of the stored entries, and a number that ascends for each."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, rows * matrix.shape[1] + matrix.indices

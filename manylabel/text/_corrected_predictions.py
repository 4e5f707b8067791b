"""What a tagger with corrections says of items."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._kernels.corrections import candidates, memory, scoring
from manylabel._typing import CSR, Array, Bools, Floats, Ints
from manylabel.data.dataset import LabelSpace
from manylabel.sharing import Shared, reading
from manylabel.text._corrections import Learnt, Recent
from manylabel.text._decision import DEEPEST, Decision, allowed_columns, is_probable
from manylabel.text._listed import N_LISTED, Listed, list_best
from manylabel.text._moved import Moved, decide, find_given, obey
from manylabel.text._odds import ScoreMap, find_thresholds
from manylabel.text._open_rows import Items, read_items, weigh_unknown
from manylabel.text._predictions import Tagged
from manylabel.text._tagger import Tagger


class CorrectedPredictions(Shared):
    """What a tagger says of items, moved by what was learnt from corrections."""

    tagger: Tagger
    new_names_: Array
    learnt_: Learnt
    recent_: Recent
    _map: tuple[Any, ScoreMap] | None = None  # of a learner's scores
    _unknown: tuple[Any, float] | None = None  # a vectorizer, weight of other words

    @property
    def label_names_(self) -> Array:
        """Names of the labels: the tagger's, then those that came with corrections."""
        return np.concatenate([self.tagger.label_names_, self._new_names()])

    @property
    def n_corrections_(self) -> int:
        """Items that were corrected."""
        recent = getattr(self, "recent_", None)
        return 0 if recent is None else int(recent.counters[memory.N_SEEN])

    def tag(self, item: Any, k: int | None = 5) -> Tagged:
        """Return the ``k`` best labels of an item with their scores, the best first.

        Parameters
        ----------
        item : str or row of features
            The text, or a row of shape (n_features,) or (1, n_features).
        k : int or None, default=5
            How many labels; None returns those that ``predict`` gives.

        Returns
        -------
        list of (str, float)
            Names and scores.
        """
        return self.tag_many(self.tagger._one(item), k)[0]

    @reading
    def tag_many(
        self,
        items: Any,
        k: int | None = 5,
        *,
        allow: Iterable[str] | None = None,
        deny: Iterable[str] | None = None,
        proba: bool = False,
    ) -> list[Tagged]:
        """Return for each item what ``tag`` returns, a list of lists.

        Parameters
        ----------
        items : iterable of str or matrix of features
            Texts or rows.
        k : int or None, default=5
            How many labels; None returns those that ``predict`` gives.
        allow : iterable of str or None, default=None
            The only labels to rank; None is all of them.
        deny : iterable of str or None, default=None
            Labels to leave out.
        proba : bool, default=False
            Return probabilities in place of scores. Which labels are the best is told
            by the scores.

        Returns
        -------
        list of lists of (str, float)
            Names and scores of each item's labels.
        """
        self._check_tagger()
        is_told = not proba or is_probable(self.tagger.learner_)
        if is_told and not self.n_corrections_:
            return self.tagger.tag_many(items, k, allow, deny, proba)
        taken, allowed = self._read(items), self._allow(allow, deny)
        if k is None:
            found = self._give(taken, allowed, DEEPEST, proba=proba)
        else:
            found = self._move(taken, _deep_enough(k), allowed, proba=proba)
        return self._rank(found, taken.X.shape[0], k)

    @reading
    def predict(
        self,
        items: Any,
        allow: Iterable[str] | None = None,
        deny: Iterable[str] | None = None,
    ) -> list[list[str]]:
        """Return the names of the labels that each item is given, by column."""
        self._check_tagger()
        if not self.n_corrections_:
            return self.tagger.predict(items, allow, deny)
        taken = self._read(items)
        found = self._give(taken, self._allow(allow, deny), N_LISTED)
        return self._name_sets(found, taken.X.shape[0])

    @reading
    def tag_and_predict(
        self, items: Any, k: int = 5
    ) -> tuple[list[Tagged], list[list[str]]]:
        """Return what ``tag_many`` and ``predict`` return, in less time than both.

        Parameters
        ----------
        items : iterable of str or matrix of features
            Texts or rows.
        k : int, default=5
            How many labels ``tag_many`` is to return.

        Returns
        -------
        tuple of two lists
            The best labels of each item with their scores, and those it is given.
        """
        self._check_tagger()
        if not self.n_corrections_:
            return self.tagger.tag_many(items, k), self.tagger.predict(items)
        taken, depth = self._read(items), _deep_enough(k)
        n_rows, decision = taken.X.shape[0], self._decision(None)
        found, is_given = self._decide(taken, decision, None, depth)
        sets = obey(found.keep(is_given), n_rows, decision)
        return self._rank(found, n_rows, k), self._name_sets(sets, n_rows)

    def _read(self, items: Any) -> Items:
        vectorizer = self.tagger.vectorizer_
        if self._unknown is None or self._unknown[0] is not vectorizer:
            self._unknown = vectorizer, weigh_unknown(vectorizer)
        return read_items(vectorizer, items, self._unknown[1])

    def _list(
        self, X: CSR, depth: int, allowed: Bools | None = None, given: CSR | None = None
    ) -> Listed:
        """Return the labels that the tagger ranks first, of those that are allowed."""
        decision = self._decision(allowed)
        return list_best(decision, X, depth, self._score_map(), given)

    def _decision(self, allowed: Bools | None) -> Decision:
        """Return how the tagger gives labels."""
        if allowed is not None:
            allowed = allowed[: len(self.tagger.label_names_)]
        return self.tagger._decision()._replace(allowed=allowed)

    def _move(
        self,
        taken: Items,
        depth: int,
        allowed: Bools | None = None,
        given: CSR | None = None,
        *,
        proba: bool = False,
    ) -> Moved:
        """Return the candidates of items, moved by corrections."""
        lists, scores, chances = self._list(taken.X, depth, allowed, given)
        n_rows = taken.X.shape[0]
        if not hasattr(self, "recent_"):
            rows = np.repeat(np.arange(n_rows), np.diff(lists.indptr))
            values, still = expit(lists.odds), np.zeros(len(scores))
            return Moved(rows, lists.labels, scores, values, lists.ranks, still)
        n_labels = len(self.tagger.label_names_) + len(self.new_names_)
        room = len(scores) + n_rows * candidates.MOST_RAISED
        out = scoring.make_moved(n_rows, room)
        n = scoring.move_rows(
            *(taken.rows, lists, len(self.tagger.label_names_)),
            *(self.learnt_, self.recent_),
            candidates.make_row(longest(taken.rows.indptr)),
            candidates.make_candidates(n_labels, longest(lists.indptr)),
            out,
        )
        rows = np.repeat(np.arange(n_rows), np.diff(out.indptr))
        labels, sources, odds, ranks, moves = (each[:n] for each in out[1:])
        is_still, before = moves == 0, scores
        if not is_still.all():  # else the lists are as they were
            scores = self._score_map().to_scores(ranks + moves)
            scores[is_still] = before[sources[is_still]]
        values = expit(odds + moves) if proba else scores
        if proba and chances is not None:
            values[is_still] = chances[sources[is_still]]
        moved = Moved(rows, labels, scores, values, ranks, moves)
        return moved if allowed is None else moved.keep(allowed[labels])

    def _give(
        self, taken: Items, allowed: Bools | None, depth: int, *, proba: bool = False
    ) -> Moved:
        """Return the labels that items are given."""
        decision = self._decision(allowed)
        found, is_given = self._decide(taken, decision, allowed, depth, proba=proba)
        decision = decision._replace(allowed=allowed)  # with those that are new
        return obey(found.keep(is_given), taken.X.shape[0], decision)

    def _decide(
        self,
        taken: Items,
        decision: Decision,
        allowed: Bools | None,
        depth: int,
        *,
        proba: bool = False,
    ) -> tuple[Moved, Bools]:
        """Return the candidates of items, and which of them are given."""
        given = decision.give_sets(taken.X)
        depth = max(depth, longest(given.indptr) + N_LISTED)
        found = self._move(taken, depth, allowed, proba=proba)
        is_given = find_given(found, given)
        if np.count_nonzero(is_given) < given.nnz:  # a rule that is not by rank
            given = decision.give(taken.X)
            found = self._move(taken, depth, allowed, given, proba=proba)
            is_given = find_given(found, given)
        return found, decide(found, is_given, self._thresholds(), taken.X.shape[0])

    def _rank(self, found: Moved, n_rows: int, k: int | None) -> list[Tagged]:
        """Return the best labels of each row with their values, all if k is None."""
        order = np.lexsort((found.labels, -found.scores, found.rows))
        starts = np.searchsorted(found.rows, np.arange(n_rows + 1))
        if n_rows == 1:
            order = order[:k]
        names, values = self._name(found.labels[order]), found.values[order].tolist()
        pairs = list(zip(names, values, strict=True))
        most = len(pairs) if k is None else k
        return [pairs[a : min(a + most, b)] for a, b in pairwise(starts.tolist())]

    def _name_sets(self, found: Moved, n_rows: int) -> list[list[str]]:
        """Return the names of the labels of each row, by column."""
        order = np.lexsort((found.labels, found.rows))
        starts = np.searchsorted(found.rows, np.arange(n_rows + 1))
        names = self._name(found.labels[order])
        return [names[a:b] for a, b in pairwise(starts.tolist())]

    def _allow(
        self, allow: Iterable[str] | None, deny: Iterable[str] | None
    ) -> Bools | None:
        """Return which labels may be listed; None for all of them."""
        if allow is None and deny is None:
            return None
        return allowed_columns(LabelSpace(self.label_names_), allow, deny)

    def _thresholds(self) -> Floats:
        """Return the log odds above which labels are given."""
        n_labels = len(self.tagger.label_names_) + len(self._new_names())
        return find_thresholds(self.tagger.learner_, self._score_map(), n_labels)

    def _score_map(self) -> ScoreMap:
        """Return the map of the tagger's scores, which may have got thresholds."""
        learner = self.tagger.learner_
        if self._map is None or self._map[0] is not learner:
            self._map = learner, ScoreMap.of(learner)
        return self._map[1]

    def _new_names(self) -> Array:
        return getattr(self, "new_names_", np.empty(0, object))

    def _name(self, labels: Ints) -> list[str]:
        """Return the names of labels."""
        known, new = self.tagger.label_names_, self._new_names()
        if labels.max(initial=0) < len(known):
            return list(known[labels])
        return [
            known[label] if label < len(known) else new[label - len(known)]
            for label in labels.tolist()
        ]

    def _check_tagger(self) -> None:
        if not isinstance(self.tagger, Tagger):
            raise TypeError(f"tagger must be a Tagger. Got {self.tagger!r:.40}.")
        if not self.tagger.__sklearn_is_fitted__():  # the check alone takes 20 us
            check_is_fitted(self.tagger)


def _deep_enough(k: int) -> int:
    """Return how many labels of the tagger to look at for the ``k`` best."""
    (depth,) = _validation.depths(k)
    return max(2 * depth, depth + N_LISTED)


def longest(indptr: Array) -> int:
    return max(np.diff(indptr).tolist(), default=0)

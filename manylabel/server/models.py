"""Models as the service reads them: items in, labels out; they never change."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import scipy.sparse as sp

from manylabel._typing import CSR, Array
from manylabel.data.dataset import best_first
from manylabel.server.errors import BadItem
from manylabel.server.items import Item, as_rows
from manylabel.text import Corrected, Reason, TagExplanation, Tagger, leave_out

DEPTH = 5  # labels that are judged by rank
DEEPEST = 1000  # labels among which allowed ones are looked for, where labels are many
DENSE = 1 << 23  # scores that are ranked at once, where labels are few
Tagged = list[tuple[str, float]]


class Verdict(NamedTuple):
    """What a model says of an item: its best labels, and those that it gives."""

    best: list[str]
    given: list[str]


class Wish(NamedTuple):
    """Which labels are wanted: how many, among which, and with which numbers."""

    k: int = 5
    allow: Collection[str] | None = None
    deny: Collection[str] | None = None
    proba: bool = False


class Model(Protocol):
    """What is read; ``tagger`` is the model as it was before the log."""

    tagger: Tagger

    @property
    def label_names(self) -> Array: ...  # noqa: D102

    def count_labels(self, given: Mapping[str, int]) -> Mapping[str, int]: ...  # noqa: D102

    def tag_many(  # noqa: D102
        self, items: Sequence[Item], wish: Wish
    ) -> list[Tagged]: ...

    def judge(self, item: Item) -> Verdict: ...  # noqa: D102

    def explain(  # noqa: D102
        self, item: Item, labels: Sequence[str] | None, k: int
    ) -> TagExplanation: ...

    def save(self, path: Path) -> None: ...  # noqa: D102


class OnlineModel:
    """A tagger whose own learner learns the stream, as it was at some moment."""

    def __init__(self, tagger: Tagger) -> None:
        self.tagger = tagger

    @property
    def label_names(self) -> Array:
        """Names of all labels."""
        return self.tagger.label_names_

    def count_labels(self, given: Mapping[str, int]) -> Mapping[str, int]:
        """Return how often labels came; what feedback gave was learnt and counted."""
        return _count(self.tagger)

    def tag_many(self, items: Sequence[Item], wish: Wish) -> list[Tagged]:
        """Return the best labels of each item, of those that are allowed."""
        X = self.tagger.transform(as_rows(self.tagger, items))
        allowed = None if wish.allow is None else set(wish.allow)
        denied = set(wish.deny or ())
        if wish.proba:
            scores = sp.csr_array(self._probabilities(X))
        else:
            depth = self._depth(X) if allowed is not None else wish.k + len(denied)
            scores = self.tagger.learner_.predict_topk(X, depth)
        return [_choose(row, allowed, denied)[: wish.k] for row in self._name(scores)]

    def judge(self, item: Item) -> Verdict:
        """Return what the model says of an item before it learns it."""
        X = self.tagger.transform(as_rows(self.tagger, [item]))
        (best,) = self._name(self.tagger.learner_.predict_topk(X, DEPTH))
        given = sp.csr_array(self.tagger.learner_.predict(X)).indices
        names = self.tagger.label_names_[given].tolist()
        return Verdict([name for name, _ in best], names)

    def explain(
        self, item: Item, labels: Sequence[str] | None, k: int
    ) -> TagExplanation:
        """Return why an item gets labels: the words of its text, with weights."""
        return self.tagger.explain(read_text(self.tagger, item), labels, k)

    def save(self, path: Path) -> None:
        """Write the tagger to a model folder."""
        self.tagger.save(path)

    def _name(self, scores: CSR) -> list[Tagged]:
        order = best_first(scores)
        names = self.tagger.label_names_[scores.indices[order]].tolist()
        pairs = list(zip(names, scores.data[order].tolist(), strict=True))
        return [pairs[start:stop] for start, stop in pairwise(scores.indptr.tolist())]

    def _depth(self, X: CSR) -> int:
        n_labels = len(self.tagger.label_names_)
        return n_labels if X.shape[0] * n_labels <= DENSE else DEEPEST

    def _probabilities(self, X: CSR) -> Any:
        learner = self.tagger.learner_
        if not hasattr(learner, "predict_proba"):
            kind = type(learner).__name__
            raise BadItem(f"proba must be false: {kind} has scores, no probabilities.")
        return learner.predict_proba(X)


class CorrectedModel:
    """A tagger with its corrections, as they were at some moment."""

    def __init__(self, corrected: Corrected) -> None:
        self.corrected = corrected
        self.tagger = corrected.tagger

    @cached_property
    def label_names(self) -> Array:
        """Names of all labels, those too that came with corrections."""
        return self.corrected.label_names_

    def count_labels(self, given: Mapping[str, int]) -> Mapping[str, int]:
        """Return how often labels came before, and were given by feedback."""
        counts = _count(self.tagger)
        return counts | {name: counts.get(name, 0) + n for name, n in given.items()}

    def tag_many(self, items: Sequence[Item], wish: Wish) -> list[Tagged]:
        """Return the best labels of each item, of those that are allowed."""
        rows = as_rows(self.tagger, items)
        if wish.allow is None and wish.deny is None:
            return self.corrected.tag_many(rows, wish.k, proba=wish.proba)
        allow, deny = self._known(wish.allow), self._known(wish.deny)
        if allow == []:
            return [[] for _ in items]
        return self.corrected.tag_many(
            rows, wish.k, allow=allow, deny=deny, proba=wish.proba
        )

    def judge(self, item: Item) -> Verdict:
        """Return what the model says of an item before it learns it."""
        rows = as_rows(self.tagger, [item])
        (best,) = self.corrected.tag_many(rows, DEPTH)
        (given,) = self.corrected.predict(rows)
        return Verdict([name for name, _ in best], given)

    def explain(
        self, item: Item, labels: Sequence[str] | None, k: int
    ) -> TagExplanation:
        """Return why an item gets labels: the words of its text, with weights."""
        text = read_text(self.tagger, item)
        (best,) = self.corrected.tag_many([text], k if labels is None else DEEPEST)
        ranks = {name: place for place, (name, _) in enumerate(best, start=1)}
        return TagExplanation(self._reasons(text, list(labels or ranks), ranks))

    def save(self, path: Path) -> None:
        """Write tagger and corrections to a model folder."""
        self.corrected.save(path)

    def _reasons(
        self, text: str, labels: list[str], ranks: Mapping[str, int]
    ) -> list[Reason]:
        """Return what the scores of labels lose without each word."""
        words, texts = leave_out(text, self.tagger.vectorizer_)
        found = self.corrected.tag_many([text, *texts], len(labels), allow=labels)
        scores = [dict(row) for row in found]
        reasons = []
        for label in labels:
            whole = scores[0][label]
            lost = [whole - each.get(label, whole) for each in scores[1:]]
            order = sorted(range(len(words)), key=lambda at: -abs(lost[at]))
            weights = [(words[at], lost[at]) for at in order]
            reasons.append(
                Reason(label, whole, ranks.get(label, DEEPEST + 1), weights, {})
            )
        return reasons

    def _known(self, names: Iterable[str] | None) -> list[str] | None:
        """Return those of some names that are labels."""
        return None if names is None else [n for n in names if n in self._names]

    @cached_property
    def _names(self) -> set[str]:
        return set(self.label_names)


def read_text(tagger: Tagger, item: Item) -> str:
    """Return the text of an item that is to be explained."""
    if not tagger.reads_texts_:
        raise BadItem(
            "item must be a text to be explained, and the model one of texts."
        )
    (text,) = as_rows(tagger, [item])
    return str(text)


def _count(tagger: Tagger) -> dict[str, int]:
    names, counts = tagger.label_names_.tolist(), tagger.label_counts_.tolist()
    return dict(zip(names, counts, strict=True))


def _choose(row: Tagged, allowed: set[str] | None, denied: set[str]) -> Tagged:
    return [
        (name, score)
        for name, score in row
        if name not in denied and (allowed is None or name in allowed)
    ]

"""Models as the service reads them: items in, labels out; they never change."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from manylabel._typing import Array
from manylabel.server.errors import BadItem
from manylabel.server.items import Item, as_rows
from manylabel.text import Corrected, Reason, TagExplanation, Tagger, leave_out

DEPTH = 5  # labels that are judged by rank
DEEPEST = 1000  # labels among which allowed ones are looked for, where labels are many
Tagged = list[tuple[str, float]]


class Verdict(NamedTuple):
    """What a model says of an item: its best labels, and those that it gives."""

    best: list[str]
    given: list[str]


class Wish(NamedTuple):
    """Which labels are wanted: how many, among which, and with which numbers."""

    k: int | None = 5  # None for the set that the model gives
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

    def judge_many(self, items: Sequence[Item]) -> list[Verdict]: ...  # noqa: D102

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
        rows = as_rows(self.tagger, items)
        allow, deny = (_known(each, self._names) for each in (wish.allow, wish.deny))
        if allow == []:
            return [[] for _ in items]
        if wish.proba and getattr(self.tagger.learner_, "calibrate", None) is None:
            found = self._name_probabilities(rows)
            if wish.k is None:
                given = self.tagger.tag_many(rows, None, allow, deny)
                allowed = [{name for name, _ in row} for row in given]
                pairs = zip(found, allowed, strict=True)
                return [_choose(row, names, None) for row, names in pairs]
            return [_choose(row, allow, deny)[: wish.k] for row in found]
        return self.tagger.tag_many(rows, wish.k, allow, deny, wish.proba)

    def judge(self, item: Item) -> Verdict:
        """Return what the model says of an item before it learns it."""
        return self.judge_many([item])[0]

    def judge_many(self, items: Sequence[Item]) -> list[Verdict]:
        """Return what the model says of items before it learns them."""
        rows = as_rows(self.tagger, items)
        return _pair(self.tagger.tag_many(rows, DEPTH), self.tagger.predict(rows))

    def explain(
        self, item: Item, labels: Sequence[str] | None, k: int
    ) -> TagExplanation:
        """Return why an item gets labels: the words of its text, with weights."""
        return self.tagger.explain(read_text(self.tagger, item), labels, k)

    def save(self, path: Path) -> None:
        """Write the tagger to a model folder."""
        self.tagger.save(path)

    @cached_property
    def _names(self) -> set[str]:
        return set(self.label_names)

    def _name_probabilities(self, rows: Any) -> list[Tagged]:
        """Return all labels by the learner's own probabilities, the best first."""
        learner = self.tagger.learner_
        if not hasattr(learner, "predict_proba"):
            kind = type(learner).__name__
            raise BadItem(f"proba must be false: {kind} has scores, no probabilities.")
        p = learner.predict_proba(self.tagger.transform(rows))
        names = self.label_names.tolist()
        return [
            [(names[n], float(row[n])) for n in np.argsort(-row, kind="stable")]
            for row in p
        ]


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
        allow, deny = (_known(each, self._names) for each in (wish.allow, wish.deny))
        if allow == []:
            return [[] for _ in items]
        return self.corrected.tag_many(
            rows, wish.k, allow=allow, deny=deny, proba=wish.proba
        )

    def judge(self, item: Item) -> Verdict:
        """Return what the model says of an item before it learns it."""
        return self.judge_many([item])[0]

    def judge_many(self, items: Sequence[Item]) -> list[Verdict]:
        """Return what the model says of items before it learns them."""
        rows = as_rows(self.tagger, items)
        return _pair(*self.corrected.tag_and_predict(rows, DEPTH))

    def explain(
        self, item: Item, labels: Sequence[str] | None, k: int
    ) -> TagExplanation:
        """Return why an item gets labels: the words of its text, with weights."""
        text = read_text(self.tagger, item)
        for name in labels or ():
            if name not in self._names:
                raise BadItem(f"labels must be the model's. Got {name!r:.60}.")
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
            # A label that came with feedback on other words has no score here.
            whole = scores[0].get(label, 0.0)
            lost = [whole - each.get(label, whole) for each in scores[1:]]
            order = sorted(range(len(words)), key=lambda at: -abs(lost[at]))
            weights = [(words[at], lost[at]) for at in order]
            reasons.append(
                Reason(label, whole, ranks.get(label, DEEPEST + 1), weights, {})
            )
        return reasons

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


def _pair(best: Iterable[Tagged], given: Iterable[list[str]]) -> list[Verdict]:
    """Return the best labels of each item beside those that it is given."""
    return [
        Verdict([name for name, _ in row], names)
        for row, names in zip(best, given, strict=True)
    ]


def _count(tagger: Tagger) -> dict[str, int]:
    names, counts = tagger.label_names_.tolist(), tagger.label_counts_.tolist()
    return dict(zip(names, counts, strict=True))


def _known(names: Iterable[str] | None, labels: set[str]) -> list[str] | None:
    """Return those of some names that are labels."""
    return None if names is None else [name for name in names if name in labels]


def _choose(
    row: Tagged, allow: Collection[str] | None, deny: Collection[str] | None
) -> Tagged:
    kept = None if allow is None else set(allow)
    denied = set(deny or ())
    return [
        (name, score)
        for name, score in row
        if name not in denied and (kept is None or name in kept)
    ]

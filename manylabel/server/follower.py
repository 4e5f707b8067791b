"""Models that follow a log: they learn feedback, and are read while they learn."""

from collections.abc import Collection, Iterator, Sequence
from copy import copy, deepcopy
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import scipy.sparse as sp

from manylabel._typing import CSR
from manylabel.data.dataset import best_first
from manylabel.server.errors import BadItem
from manylabel.server.items import Feedback, Item, as_rows
from manylabel.text import TagExplanation, Tagger
from manylabel.text._items import PASSTHROUGH

DEPTH = 5  # labels that are judged by rank
DEEPEST = 1000  # labels among which allowed ones are looked for
DENSE = 1 << 23  # scores that are made at once, where labels are few
Tagged = list[tuple[str, float]]


class Verdict(NamedTuple):
    """What a model says of an item: its best labels, and those that it gives."""

    best: list[str]
    given: list[str]


class Model(Protocol):
    """What is read: it never changes."""

    tagger: Any

    def tag_many(  # noqa: D102
        self,
        items: Sequence[Item],
        k: int,
        *,
        allow: Collection[str] | None = None,
        deny: Collection[str] | None = None,
        proba: bool = False,
    ) -> list[Tagged]: ...

    def judge(self, item: Item) -> Verdict: ...  # noqa: D102

    def explain(  # noqa: D102
        self, item: Item, labels: Sequence[str] | None, k: int
    ) -> TagExplanation: ...

    def save(self, path: Path) -> None: ...  # noqa: D102


class Follower(Protocol):
    """What learns: ``learn`` in the order of the log, ``freeze`` to be read.

    However feedback is cut into calls of ``learn``, what was learnt has the same bits.
    """

    def learn(self, given: Sequence[Feedback]) -> None: ...  # noqa: D102

    def freeze(self) -> Model: ...  # noqa: D102


def learns_itself(tagger: Tagger) -> bool:
    """Tell whether a tagger's own learner takes a stream of such items."""
    hashes = getattr(tagger.vectorizer_, "n_features", None) is not None
    streams = hashes or tagger.vectorizer_ == PASSTHROUGH
    return streams and hasattr(tagger.learner_, "partial_fit")


class OnlineModel:
    """A tagger whose learner learns the stream itself, as it was at some moment."""

    def __init__(self, tagger: Tagger) -> None:
        self.tagger = tagger

    def tag_many(
        self,
        items: Sequence[Item],
        k: int,
        *,
        allow: Collection[str] | None = None,
        deny: Collection[str] | None = None,
        proba: bool = False,
    ) -> list[Tagged]:
        """Return the ``k`` best labels of each item, of those that are allowed."""
        tagger = self.tagger
        X = tagger.transform(as_rows(tagger, items))
        if proba:
            scores = sp.csr_array(self._probabilities(X))
        elif allow is None:
            scores = tagger.learner_.predict_topk(X, k + len(set(deny or ())))
        else:
            scores = self._deep(X)
        kept = None if allow is None else set(allow)
        return [
            [
                it
                for it in row
                if it[0] not in (deny or ()) and (kept is None or it[0] in kept)
            ][:k]
            for row in self._named(scores)
        ]

    def judge(self, item: Item) -> Verdict:
        """Return what the model says of an item before it learns it."""
        X = self.tagger.transform(as_rows(self.tagger, [item]))
        learner, names = self.tagger.learner_, self.tagger.label_names_
        (best,) = self._named(learner.predict_topk(X, DEPTH))
        given = sp.csr_array(learner.predict(X)).indices
        return Verdict([name for name, _ in best], names[given].tolist())

    def explain(
        self, item: Item, labels: Sequence[str] | None, k: int
    ) -> TagExplanation:
        """Return why an item gets labels: the words of its text, with weights."""
        if not self.tagger.reads_texts_:
            raise BadItem(
                "item must be a text to be explained, and so must the model's."
            )
        (text,) = as_rows(self.tagger, [item])
        return self.tagger.explain(text, labels, k)

    def save(self, path: Path) -> None:
        """Write the tagger to a model folder."""
        self.tagger.save(path)

    def _named(self, scores: CSR) -> Iterator[Tagged]:
        order = best_first(scores)
        names = self.tagger.label_names_[scores.indices[order]].tolist()
        values = scores.data[order].tolist()
        for start, stop in zip(scores.indptr[:-1], scores.indptr[1:], strict=True):
            yield list(zip(names[start:stop], values[start:stop], strict=True))

    def _deep(self, X: CSR) -> CSR:
        learner, n_labels = self.tagger.learner_, len(self.tagger.label_names_)
        depth = n_labels if X.shape[0] * n_labels <= DENSE else DEEPEST
        return learner.predict_topk(X, min(depth, n_labels))

    def _probabilities(self, X: CSR) -> Any:
        learner = self.tagger.learner_
        if not hasattr(learner, "predict_proba"):
            kind = type(learner).__name__
            raise BadItem(f"proba must be false: {kind} has scores, no probabilities.")
        return learner.predict_proba(X)


class OnlineFollower:
    """Teaches a tagger whose learner has ``partial_fit``.

    A label that was not mentioned is absent if the feedback is complete, or if the
    learner has a propensity, which says how often labels are forgotten. Else it is
    taken to be as the model gives it just now, so that nothing is learnt of it. A label
    that the learner has no room for is left out.

    Parameters
    ----------
    tagger : Tagger
        Fitted; it is not changed.
    """

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self._is_frozen = True

    def learn(self, given: Sequence[Feedback]) -> None:
        """Learn feedback, in order."""
        if given and self._is_frozen:  # what readers have is left as it is
            self._tagger = copy(self._tagger)
            self._tagger.learner_ = deepcopy(self._tagger.learner_)
            self._is_frozen = False
        for run in self._runs(given):
            rows = as_rows(self._tagger, [each.item for each in run])
            self._tagger.partial_fit(rows, [self._labels(each) for each in run])

    def freeze(self) -> OnlineModel:
        """Return what was learnt, for readers."""
        self._is_frozen = True
        return OnlineModel(self._tagger)

    def _runs(self, given: Sequence[Feedback]) -> Iterator[list[Feedback]]:
        """Cut feedback where the model must have learnt what came before.

        Columns of new labels are given in the order in which they come, so whatever
        brings one is learnt alone.
        """
        grows = getattr(self._tagger.ranker_, "grow", False)
        run: list[Feedback] = []
        for each in given:
            known = set() if not grows else set(self._known())
            alone = self._must_fill(each) or (
                grows and not known.issuperset(each.accepted)
            )
            if alone and run:
                yield run
                run = []
            run.append(each)
            if alone:
                yield run
                run = []
        if run:
            yield run

    def _known(self) -> Any:
        return self._tagger.label_names_

    def _must_fill(self, each: Feedback) -> bool:
        has_law = getattr(self._tagger.ranker_, "propensity", None) is not None
        return not (each.complete or has_law)

    def _labels(self, each: Feedback) -> list[str]:
        labels = dict.fromkeys(each.accepted)
        if self._must_fill(each):
            said = {*each.accepted, *each.rejected}
            model = OnlineModel(self._tagger)
            labels |= dict.fromkeys(
                n for n in model.judge(each.item).given if n not in said
            )
        if not getattr(self._tagger.ranker_, "grow", False):
            known = set(self._known())
            return [name for name in labels if name in known]
        return list(labels)


def follow_tagger(folder: Path) -> Follower:
    """Return what follows the log from a model folder on."""
    tagger = Tagger.load(folder)
    if learns_itself(tagger):
        return OnlineFollower(tagger)
    return FixedFollower(tagger)


class FixedFollower:
    """A tagger that does not learn."""

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger

    def learn(self, given: Sequence[Feedback]) -> None:
        """Leave feedback alone."""

    def freeze(self) -> OnlineModel:
        """Return the tagger, for readers."""
        return OnlineModel(self._tagger)

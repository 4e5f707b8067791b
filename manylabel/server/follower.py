"""Models that follow a log: what was learnt is a function of the feedback given."""

import logging
from collections.abc import Iterator, Sequence
from copy import copy, deepcopy
from pathlib import Path
from typing import Protocol

from manylabel import persistence
from manylabel.server.errors import BadItem
from manylabel.server.items import Feedback, Item, as_rows
from manylabel.server.models import CorrectedModel, Model, OnlineModel, Verdict
from manylabel.text import Corrected, Tagger

logger = logging.getLogger(__name__)


class Follower(Protocol):
    """What learns: ``learn`` in the order of the log, ``freeze`` to be read.

    However feedback is cut into calls of ``learn``, what was learnt has the same bits.
    """

    def learn(self, given: Sequence[Feedback]) -> None: ...  # noqa: D102

    def judge(self, item: Item) -> Verdict: ...  # noqa: D102

    def freeze(self) -> Model: ...  # noqa: D102


def load_follower(folder: Path) -> Follower:
    """Return what follows the log from a model folder on."""
    found = load_model(folder)
    if isinstance(found, Corrected):
        return CorrectedFollower(found)
    return OnlineFollower(found) if learns_itself(found) else CorrectedFollower(found)


def load_model(folder: Path) -> Tagger | Corrected:
    """Return the tagger of a folder, or the corrections beside one."""
    found = persistence.load(folder)
    return found if isinstance(found, Corrected) else Tagger.load(folder)


def warm_up(follower: Follower) -> None:
    """Compile what learning and predicting need, on a copy that nobody sees."""
    model = follower.freeze()
    item = {"text": "a"} if model.tagger.reads_texts_ else {"features": {"0": 1.0}}
    draft = copy(follower)
    draft.learn([Feedback(0, item, [str(model.label_names[0])], [], True)])
    draft.judge(item)


def learns_itself(tagger: Tagger) -> bool:
    """Tell whether a tagger's own learner takes a stream of such items."""
    hashes = getattr(tagger.vectorizer_, "n_features", None) is not None
    streams = hashes or not tagger.reads_texts_
    return streams and hasattr(tagger.learner_, "partial_fit")


class CorrectedFollower:
    """Learns corrections beside a tagger that stays as it is.

    Parameters
    ----------
    found : Tagger or Corrected
        Fitted; it is not changed.
    """

    def __init__(self, found: Tagger | Corrected) -> None:
        is_corrected = isinstance(found, Corrected)
        self._corrected = found if is_corrected else Corrected(found)
        self._is_frozen = True

    def learn(self, given: Sequence[Feedback]) -> None:
        """Learn feedback, in order."""
        if given and self._is_frozen:  # what readers have is left as it is
            self._corrected, self._is_frozen = self._corrected.copy(), False
        for run in _readable(self._corrected.tagger, [list(given)]):
            self._corrected.correct(
                as_rows(self._corrected.tagger, [each.item for each in run]),
                [each.accepted for each in run],
                [each.rejected for each in run],
                [each.complete for each in run],
            )

    def judge(self, item: Item) -> Verdict:
        """Return what the model now says of an item."""
        return CorrectedModel(self._corrected).judge(item)

    def freeze(self) -> CorrectedModel:
        """Return what was learnt, for readers."""
        self._is_frozen = True
        return CorrectedModel(self._corrected)


class OnlineFollower:
    """Teaches a tagger whose learner has ``partial_fit``.

    A label that was not mentioned is absent if the feedback is complete, or if the
    learner has a propensity, which says how often labels are forgotten. Else it is
    taken to be as the model gives it just then, so that little is learnt of it. A label
    that the learner has no room for is left out.

    Parameters
    ----------
    tagger : Tagger
        Fitted; it is not changed.
    """

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self._is_frozen = True
        self._known = set(tagger.label_names_)
        self._grows = bool(getattr(tagger.ranker_, "grow", False))
        self._has_law = getattr(tagger.ranker_, "propensity", None) is not None

    def learn(self, given: Sequence[Feedback]) -> None:
        """Learn feedback, in order."""
        if given and self._is_frozen:  # what readers have is left as it is
            self._tagger = copy(self._tagger)
            self._tagger.learner_ = deepcopy(self._tagger.learner_)
            self._is_frozen = False
        for run in _readable(self._tagger, self._runs(given)):
            rows = as_rows(self._tagger, [each.item for each in run])
            self._tagger.partial_fit(rows, [self._labels(each) for each in run])

    def judge(self, item: Item) -> Verdict:
        """Return what the model now says of an item."""
        return OnlineModel(self._tagger).judge(item)

    def freeze(self) -> OnlineModel:
        """Return what was learnt, for readers."""
        self._is_frozen = True
        return OnlineModel(self._tagger)

    def _runs(self, given: Sequence[Feedback]) -> Iterator[list[Feedback]]:
        """Cut feedback where the model must have learnt what came before.

        The columns of new labels are in the order in which they come, so feedback that
        brings some is learnt alone; so is what the model has to complete.
        """
        run: list[Feedback] = []
        has_law = self._has_law
        for each in given:
            is_new = self._grows and not self._known.issuperset(each.accepted)
            if not is_new and (has_law or each.complete):
                run.append(each)
                continue
            if run:
                yield run
            yield [each]
            run = []
            if is_new:
                self._known.update(each.accepted)
        if run:
            yield run

    def _must_fill(self, each: Feedback) -> bool:
        return not (each.complete or self._has_law)

    def _labels(self, each: Feedback) -> list[str]:
        labels = each.accepted
        if self._must_fill(each):
            given = self.judge(each.item).given
            labels = [*labels, *(n for n in given if n not in each.rejected)]
        if self._grows or self._known.issuperset(labels):
            return labels
        return [name for name in labels if name in self._known]


def _readable(
    tagger: Tagger, runs: Iterator[list[Feedback]] | list[list[Feedback]]
) -> Iterator[list[Feedback]]:
    """Yield runs without the items that the model cannot read.

    A version may be of other features than the one that the feedback was given to.
    """
    for run in runs:
        kept = [each for each in run if _can_read(tagger, each)]
        if len(kept) < len(run):
            n = len(run) - len(kept)
            logger.warning("%d feedbacks are of items that the model cannot read", n)
        if kept:
            yield kept


def _can_read(tagger: Tagger, each: Feedback) -> bool:
    if tagger.reads_texts_:
        return isinstance(each.item.get("text"), str)
    try:
        as_rows(tagger, [each.item])
    except BadItem:
        return False
    return True

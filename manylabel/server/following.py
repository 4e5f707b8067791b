"""Following a log: what a model is after each event, learnt in one thread."""

import logging
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from manylabel.exceptions import ManylabelError
from manylabel.server.costs import RunningCosts
from manylabel.server.curve import Curve
from manylabel.server.events import FEEDBACK, RETRACT, Event
from manylabel.server.follower import Follower, load_follower, warm_up
from manylabel.server.history import FOREVER, History
from manylabel.server.items import Feedback
from manylabel.server.log import Log
from manylabel.server.models import Model
from manylabel.server.store import Store

AT_ONCE = 1000  # events read at a time
logger = logging.getLogger(__name__)


class Published(NamedTuple):
    """What readers see: a model that never changes, and where it stands."""

    model: Model
    version: str
    applied: int


class Following:
    """The state of one model, brought forward event by event.

    It is a function of the log, so that all processes that follow one log reach the
    same bits, wherever they began. One thread at a time may call its verbs; others may
    read ``published``.

    Parameters
    ----------
    name : str
        The model.
    log : Log
        What is followed.
    store : Store
        Where versions and snapshots are.
    """

    def __init__(self, name: str, log: Log, store: Store) -> None:
        self.name = name
        self.published: Published | None = None
        self.trouble = ""  # what is wrong now, as a sentence
        self.history = History()
        self.costs, self.curve = RunningCosts(), Curve()
        self.label_counts: Counter[str] = Counter()
        self.cursor = 0  # the last event that was read
        self._counted = 0  # the last event that is in the figures
        self.n_unsaved = 0  # feedbacks learnt since the last snapshot
        self._log, self._store = log, store
        self._follower: Follower | None = None
        self._is_right = True  # the follower is what the history says

    def start(self) -> None:
        """Load the newest snapshot that is whole, and replay what came after it."""
        self.cursor = self._log.last()
        self.history = read_history(self._log, self.name, self.cursor)
        self._is_right = False
        self._counted = self._restore_figures()
        self._publish()
        for events in self._chunks(self._counted):  # of a version that is not there
            self._count(events)

    def step(self, last: int) -> bool:
        """Take over some events, up to the number of one; return whether more wait."""
        events = self._log.read(self.cursor, AT_ONCE, self.name)
        events = [event for event in events if event.sequence <= last]
        more = len(events) == AT_ONCE
        self.cursor = events[-1].sequence if more else max(last, self.cursor)
        was_right, self._is_right = self._is_right, False
        is_still = not any([self.history.add(event) for event in events])
        self._count(events)
        if was_right and is_still and self._follower is not None:
            self._learn(self._follower, events)
            self._is_right = True
        self._publish()
        return more

    def facts(self) -> dict[str, Any]:
        """Return the figures up to the last event, to stand beside a snapshot."""
        return {
            "costs": self.costs.get_state(),
            "curve": self.curve.get_state(),
            "labels": dict(self.label_counts),
        }

    def _publish(self) -> None:
        """Let readers see what was learnt; if it is not right, make it anew."""
        if not self.history.version:
            self.trouble = f"Model {self.name!r} has no active version."
            return
        try:
            if not self._is_right or self._follower is None:
                self._follower = self._rebuild()
                self._is_right = True
                if self.published is None:
                    warm_up(self._follower)
        except ManylabelError as error:
            # Readers go on with what was published last.
            self.say(str(error))
            return
        self.trouble = ""
        version = self.history.version
        self.published = Published(self._follower.freeze(), version, self.cursor)

    def _rebuild(self) -> Follower:
        """Return a follower that has learnt what the history says, and no more."""
        follower, base = self._base()
        for events in self._chunks(min(base, self._counted)):
            self._count(events)
            self._learn(follower, [e for e in events if e.sequence > base])
        return follower

    def _base(self) -> tuple[Follower, int]:
        """Return the newest beginning that can be read, and its number."""
        for snapshot in self._store.snapshots(self.name):
            if self.history.continues(snapshot.version, snapshot.sequence):
                if snapshot.sequence > self.cursor:
                    continue
                try:
                    return load_follower(snapshot.path), snapshot.sequence
                except ManylabelError as error:
                    logger.warning("a snapshot is skipped: %s", error)
        lineage = self.history.lineage
        folder = self._store.find(self.name, lineage.version)
        return load_follower(folder), lineage.contains

    def _learn(self, follower: Follower, events: list[Event]) -> None:
        given = [as_feedback(event) for event in self.history.select(events)]
        follower.learn(given)
        self.n_unsaved += len(given)

    def _count(self, events: list[Event]) -> None:
        """Take events into the figures, unless they were before."""
        given = [
            event
            for event in events
            if event.kind == FEEDBACK and event.sequence > self._counted
        ]
        for event in given:
            self.costs.follow(event.body)
            self.curve.note(event.sequence, self.costs)
        accepted = (event.body["accepted"] for event in given)
        self.label_counts.update(chain.from_iterable(accepted))
        for event in events:
            if event.kind == RETRACT and event.sequence > self._counted:
                self._uncount(event)
        if events:
            self._counted = max(events[-1].sequence, self._counted)

    def _uncount(self, retraction: Event) -> None:
        """Take the labels of a retracted feedback out of the counts, once."""
        number = retraction.body["sequence"]
        if self.history.retracted.get(number) != retraction.sequence:
            return
        for event in self._log.read(number - 1, 1, self.name):
            if event.kind == FEEDBACK and event.sequence == number:
                self.label_counts.subtract(event.body["accepted"])
        self.label_counts = +self.label_counts  # without those that are 0

    def _restore_figures(self) -> int:
        """Take over the figures beside the newest snapshot; return its number."""
        for snapshot in self._store.snapshots(self.name):
            facts = self._store.facts(snapshot)
            if facts is not None:
                self.costs.set_state(facts["costs"])
                if "curve" in facts:  # not in those of older versions
                    self.curve.set_state(facts["curve"])
                self.label_counts = Counter(facts["labels"])
                return snapshot.sequence
        self.costs, self.curve = RunningCosts(), Curve()
        self.label_counts = Counter()
        return 0

    def _chunks(self, after: int) -> Iterator[list[Event]]:
        return read_chunks(self._log, self.name, after, self.cursor)

    def say(self, trouble: str) -> None:
        """Note what is wrong, and log it once."""
        if trouble != self.trouble:
            logger.warning("model %s: %s", self.name, trouble)
        self.trouble = trouble


def as_feedback(event: Event) -> Feedback:
    """Return what an event of feedback says."""
    body = event.body
    labels = body["accepted"], body["rejected"], body["complete"]
    return Feedback(event.sequence, body["item"], *labels)


def read_history(log: Log, model: str, upto: int = FOREVER) -> History:
    """Return the history of a model up to a number of the log."""
    history = History()
    for events in read_chunks(log, model, 0, upto, controls=True):
        for event in events:
            history.add(event)
    return history


def read_chunks(
    log: Log, model: str, after: int, upto: int, *, controls: bool = False
) -> Iterator[list[Event]]:
    """Yield a model's events after one number and up to another, in chunks."""
    while after < upto:
        events = log.read(after, AT_ONCE, model, controls=controls)
        yield [event for event in events if event.sequence <= upto]
        if len(events) < AT_ONCE:
            return
        after = events[-1].sequence

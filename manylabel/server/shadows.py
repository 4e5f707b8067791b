"""Shadows: versions that are not active, scored on the feedback that comes in."""

import logging
from threading import Event as Flag
from threading import Thread
from typing import NamedTuple

from manylabel.exceptions import ManylabelError
from manylabel.server.costs import RunningCosts
from manylabel.server.errors import BadItem
from manylabel.server.events import FEEDBACK, Event
from manylabel.server.follower import Follower, load_follower
from manylabel.server.following import Following, as_feedback, read_chunks
from manylabel.server.history import History, Lineage
from manylabel.server.log import Log
from manylabel.server.store import Store

PAUSE = 0.5  # seconds between looks at the log
logger = logging.getLogger(__name__)


class Score(NamedTuple):
    """Costs of a version since an event, beside those of what was served then."""

    since: int
    costs: RunningCosts
    served: RunningCosts


class Shadow:
    """A version that learns as if it were active, each item judged before it is learnt.

    Parameters
    ----------
    version : str
        Which version.
    since : int
        The event after which it is scored.
    lineage : Lineage
        What it learns.
    follower : Follower
        The version as it was saved.
    """

    def __init__(
        self, version: str, since: int, lineage: Lineage, follower: Follower
    ) -> None:
        self.score = Score(since, RunningCosts(), RunningCosts())
        self.version, self.lineage = version, lineage
        self.cursor = lineage.contains
        self._follower = follower

    def learn(self, events: list[Event], history: History) -> None:
        """Judge and learn events; what came before it was a shadow is only learnt."""
        kept = [
            event
            for event in events
            if event.kind == FEEDBACK
            and self.lineage.has(event.sequence)
            and event.sequence not in history.retracted
        ]
        since = self.score.since
        self._follower.learn([as_feedback(e) for e in kept if e.sequence <= since])
        for event in kept:
            if event.sequence > since:
                self._judge(event)
                self._follower.learn([as_feedback(event)])

    def _judge(self, event: Event) -> None:
        try:
            verdict = self._follower.judge(event.body["item"])
        except BadItem:
            return
        self.score.costs.add(*verdict, event.body)
        self.score.served.follow(event.body)


class Shadows:
    """The shadows of one model, in a thread of their own.

    Parameters
    ----------
    following : Following
        The model; which versions are shadows is in its history.
    log : Log
        The log.
    store : Store
        Where versions are.
    """

    def __init__(self, following: Following, log: Log, store: Store) -> None:
        self._following, self._log, self._store = following, log, store
        self._shadows: dict[str, Shadow] = {}
        self._is_stopped = Flag()
        self._thread: Thread | None = None

    def scores(self) -> dict[str, Score]:
        """Return the scores by version."""
        return {version: each.score for version, each in list(self._shadows.items())}

    def consider(self) -> None:
        """Begin to score once there is a shadow; return at once."""
        if self._following.history.shadows and self._thread is None:
            name = f"shadows {self._following.name}"
            self._thread = Thread(target=self._run, name=name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop scoring."""
        self._is_stopped.set()
        if self._thread is not None:
            self._thread.join()

    def step(self) -> None:
        """Bring all shadows forward to where the model stands."""
        history, upto = self._following.history, self._following.cursor
        for version, since in list(history.shadows.items()):
            shadow = self._current(version, since, history)
            for events in read_chunks(
                self._log, self._following.name, shadow.cursor, upto
            ):
                shadow.learn(events, history)
            shadow.cursor = max(upto, shadow.cursor)
        for version in set(self._shadows) - set(history.shadows):
            del self._shadows[version]

    def _current(self, version: str, since: int, history: History) -> Shadow:
        """Return the shadow of a version, anew if what it has learnt is not right."""
        known = history.versions[version].body["contains"]
        lineage = history.lineage._replace(version=version, contains=known)
        shadow = self._shadows.get(version)
        if (
            shadow is None
            or (shadow.lineage, shadow.score.since) != (lineage, since)
            or any(
                when > shadow.cursor and lineage.has(number)
                for number, when in list(history.retracted.items())
            )
        ):
            folder = self._store.find(self._following.name, version)
            shadow = Shadow(version, since, lineage, load_follower(folder))
            self._shadows[version] = shadow
        return shadow

    def _run(self) -> None:
        while not self._is_stopped.wait(PAUSE):
            try:
                self.step()
            except ManylabelError as error:
                logger.warning("model %s: no shadow: %s", self._following.name, error)
            except Exception:
                logger.exception("the shadows of model %s", self._following.name)

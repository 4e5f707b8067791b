"""One model of the service: read by many threads while one follows the log."""

import secrets
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from itertools import chain
from pathlib import Path
from threading import Condition
from typing import Any, NamedTuple

from manylabel.server import events, versions
from manylabel.server.answers import Predictions, VersionInfo
from manylabel.server.drift import Drift
from manylabel.server.errors import (
    BadItem,
    NotReady,
    UnknownPrediction,
    UnknownSequence,
    UnknownVersion,
)
from manylabel.server.events import Appended, Draft, Event, Remembered
from manylabel.server.following import Following, Published
from manylabel.server.following_thread import FollowingThread
from manylabel.server.items import (
    FeedbackIn,
    Item,
    as_body,
    check_labels,
    is_blank,
)
from manylabel.server.jobs import Job, Jobs, Order
from manylabel.server.label_index import LabelIndex
from manylabel.server.labelling import Candidate, choose_items
from manylabel.server.log import Log
from manylabel.server.memory import Memory
from manylabel.server.models import Tagged, Wish
from manylabel.server.settings import Settings
from manylabel.server.shadows import Shadows
from manylabel.server.snapshots import Snapshots
from manylabel.server.store import Store
from manylabel.server.subscription import Subscription, Update
from manylabel.server.writer import GroupWriter
from manylabel.text import TagExplanation

PART = 1000  # items that are tagged in one go
RANDOM = 10  # bytes of an id that are drawn at random
AMONG = 500  # predictions among which the items to label next are


class Parts(NamedTuple):
    """What the models of a service share."""

    log: Log
    store: Store
    writer: GroupWriter
    memory: Memory
    settings: Settings


class Replica:
    """One model: predictions from what is published, feedback into the log.

    Predictions never wait for learning. Threads may call all verbs at the same time.

    Parameters
    ----------
    name : str
        The model.
    parts : Parts
        The log and what else the models of a service share.
    """

    def __init__(self, name: str, parts: Parts) -> None:
        self.name = name
        self._parts = parts
        self._following = Following(name, parts.log, parts.store)
        self._shadows = Shadows(self._following, parts.log, parts.store)
        snapshots = Snapshots(self._following, parts.store, parts.settings)
        self._thread = FollowingThread(self._following, snapshots, self._tell)
        self._jobs = Jobs(parts.store)
        self._drifts = Drift(), Drift()  # of scores, of probabilities
        self._index = LabelIndex()
        # Of a version when it was first looked at: labels that came later are counted.
        self._first_labels = "", frozenset[str]()
        self._pruned = 0  # the last control after which old versions were dropped
        self._counts: Mapping[str, int] = {}
        self._indexed: Published | None = None  # what index and counts are of
        self._news = Condition()
        self._subscriptions: set[Subscription] = set()

    @property
    def version(self) -> str:
        """The version that is served."""
        return self._published().version

    @property
    def applied(self) -> int:
        """Up to which number of the log everything has been learnt."""
        found = self._following.published
        return found.applied if found else 0

    @property
    def acknowledged(self) -> int:
        """The last number of the log that is known here."""
        return max(self._thread.last, self.applied)

    @property
    def trouble(self) -> str:
        """What is wrong with the model now, as a sentence; empty if nothing is."""
        return self._following.trouble

    def is_ready(self) -> bool:
        """Tell whether the model can be read, and its labels searched."""
        return self._indexed is not None

    def start(self) -> None:
        """Begin to follow the log."""
        self._thread.start()

    def stop(self) -> None:
        """Stop following."""
        self._thread.stop()
        self._shadows.stop()
        for each in list(self._subscriptions):
            each.close()

    def notice(self, last: int) -> None:
        """Be told that the log has events up to a number."""
        self._thread.notice(last)

    def predict(
        self,
        items: Sequence[Item],
        *,
        k: int | None = 5,
        allow: Collection[str] | None = None,
        deny: Collection[str] | None = None,
        proba: bool = False,
        remember: bool = True,
    ) -> Predictions:
        """Return the ``k`` best labels of each item, of those that are allowed.

        Where ``k`` is None, those that the model gives. What is remembered can be named
        by its id when feedback comes.
        """
        now = self._published()
        wish, labels = Wish(k, allow, deny, proba), list[Tagged]()
        for start in range(0, len(items), PART):  # between them, others have a turn
            labels += now.model.tag_many(items[start : start + PART], wish)
        ids = _draw_ids(len(items))
        if k is not None:  # the scores of sets are those above a threshold
            self._drifts[proba].add([row[0][1] for row in labels if row])
        if remember:
            at = time.time()
            self._parts.memory.remember(
                [
                    Remembered(each, self.name, now.version, dict(item), row, at)
                    for each, item, row in zip(ids, items, labels, strict=True)
                ]
            )
        return Predictions(now.version, now.applied, ids, labels)

    def feedback(
        self, given: FeedbackIn, key: str | None, who: str
    ) -> "Future[Appended]":
        """Append feedback to the log; the future is done when it is on the disk.

        The same key again returns the same number, and nothing is learnt twice.
        """
        return self.feedbacks([(given, key)], who)[0]

    def feedbacks(
        self, given: Sequence[tuple[FeedbackIn, str | None]], who: str
    ) -> list["Future[Appended]"]:
        """Append feedbacks with their keys, once all of them were looked at."""
        given = [(check_labels(each), key) for each, key in given]
        items = [self._item(each, key) for each, key in given]
        if any(map(is_blank, items)):
            raise BadItem("text of feedback must not be blank: it teaches nothing.")
        now = self._published()
        verdicts = now.model.judge_many(items)
        futures = []
        for (each, key), item, verdict in zip(given, items, verdicts, strict=True):
            body = as_body(each, item, who)
            body["predicted"] = {"version": now.version, **verdict._asdict()}
            futures.append(self._submit(events.FEEDBACK, body, key))
            self._parts.memory.settle(self.name, item)
        return futures

    def find_new_labels(self, given: Iterable[FeedbackIn]) -> list[str]:
        """Return the labels that the model never had, each once."""
        now = self._published()
        if self._first_labels[0] != now.version:
            self._first_labels = now.version, frozenset(now.model.label_names.tolist())
        first, later = self._first_labels[1], self._following.label_counts
        named = chain.from_iterable((*each.accepted, *each.rejected) for each in given)
        names = dict.fromkeys(map(str.strip, named))
        return [name for name in names if name not in first and name not in later]

    def find(self, key: str, kind: str = events.FEEDBACK) -> Event | None:
        """Return the event of a kind that a key was used for."""
        return self._parts.log.find(self.name, kind, key)

    def corrections(self, before: int, limit: int) -> list[tuple[Event, str]]:
        """Return the last feedback before a number, and whether the model has it."""
        state = self._following.history.state
        found = self._parts.log.latest(self.name, before, limit)
        return [(event, state(event.sequence)) for event in found]

    def retract(
        self, sequence: int, who: str, key: str | None = None
    ) -> "Future[Appended]":
        """Take one feedback out of what was learnt."""
        found = self._parts.log.read(sequence - 1, 1)
        if not found or found[0][:3] != (sequence, self.name, events.FEEDBACK):
            raise UnknownSequence(sequence, "that of a feedback of this model")
        return self._submit(events.RETRACT, {"sequence": sequence, "who": who}, key)

    def activate(self, version: str, who: str) -> "Future[Appended]":
        """Serve another version, with the feedback that it does not contain yet."""
        self._check_version(version)
        return self._submit(events.ACTIVATE, {"version": version, "who": who})

    def rollback(self, sequence: int, who: str) -> "Future[Appended]":
        """Go back to what the model was after an event, less what was retracted."""
        last = self._parts.log.last()
        if sequence > last:
            raise UnknownSequence(sequence, f"at most {last}, where the log ends")
        if not self._following.history.at(sequence).version:
            rule = "a number of the log at which the model had a version"
            raise UnknownSequence(sequence, rule)
        self._check_version(self._following.history.at(sequence).version)
        return self._submit(events.ROLLBACK, {"sequence": sequence, "who": who})

    def wait(self, sequence: int, timeout: float) -> bool:
        """Wait until the event of a number is learnt; return whether it is."""
        with self._news:
            return self._news.wait_for(lambda: self.applied >= sequence, timeout)

    def explain(
        self, item: Item, labels: Sequence[str] | None = None, k: int = 5
    ) -> TagExplanation:
        """Return why an item gets labels: the words of its text, with weights."""
        return self._published().model.explain(item, labels, k)

    def labels(self, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Return labels that begin so, or have such a word, and how often they came."""
        counts = self._count_labels()
        names = self._index.find(prefix, limit, lambda name: counts.get(name, 0))
        return [(name, counts.get(name, 0)) for name in names]

    def versions(self) -> list[VersionInfo]:
        """Return the versions of the model, the newest first."""
        # A copy: the thread that follows adds to them meanwhile.
        found = list(self._following.history.versions.values())
        return [self._describe(event) for event in reversed(found)]

    def card(self) -> dict[str, Any]:
        """Return what the model is."""
        now = self._published()
        place = {"version": now.version, "applied": now.applied}
        return dict(now.model.tagger.card()) | place

    def figures(self) -> dict[str, Any]:
        """Return running costs, drift, label counts, and how much waits to be learnt.

        Unknown labels were accepted by feedback, and the model has no room for them.
        """
        counts = self._following.label_counts
        drifts = [drift.index() for drift in self._drifts]
        known = set(self._published().model.label_names)
        return {
            "costs": self._following.costs.to_dict(),
            "curve": list(self._following.curve.points),
            "drift": max((each for each in drifts if each is not None), default=None),
            "labels": dict(counts.most_common(100)),
            "waiting": self.acknowledged - self.applied,
            "unknown_labels": sorted(set(counts) - known)[:100],
            "applied": self.applied,
            "acknowledged": self.acknowledged,
            "trouble": self.trouble,
        }

    def retrain(
        self,
        *,
        who: str,
        learner: str | None = None,
        quality: str = "balanced",
        data: Path | None = None,
    ) -> Job:
        """Learn a new version from data and the log, in a process of its own.

        The data are the file named, or the one that the model says it was learnt from.
        The version contains the log up to its start, and is not active by itself.
        """
        models, log = str(self._parts.store.models.absolute()), self._parts.log.url
        file = None if data is None else str(data.absolute())
        self._published()
        return self._jobs.start(
            Order(models, log, self.name, "", learner, quality, file, who)
        )

    def job(self, job_id: str) -> Job:
        """Return how far a job is, or raise UnknownJob."""
        return self._jobs.get(job_id)

    def shadow(
        self, version: str, who: str, *, is_on: bool = True
    ) -> "Future[Appended]":
        """Score a version that is not active on the feedback to come, or stop it."""
        self._check_version(version)
        body = {"version": version, "is_on": is_on, "who": who}
        return self._submit(events.SHADOW, body)

    def queue(self, n: int, items: Sequence[Item] | None = None) -> list[Candidate]:
        """Return the items to label next, the most useful first.

        They are chosen among some items, or among the newest predictions that are
        remembered and whose items have had no feedback.
        """
        if items is None:
            found = self._parts.memory.unsettled(self.name, AMONG)
        else:
            found = [Remembered("", self.name, "", dict(i), [], 0.0) for i in items]
        return choose_items(self._published().model, found, n)

    def subscribe(self) -> Subscription:
        """Return what is told of each change, until it is closed."""
        return Subscription(self._subscriptions)

    def _published(self) -> Published:
        found = self._following.published
        if found is None:
            why = self.trouble or f"Model {self.name!r} is being loaded."
            raise NotReady(why)
        return found

    def _submit(
        self, kind: str, body: dict[str, Any], key: str | None = None
    ) -> "Future[Appended]":
        future = self._parts.writer.submit(Draft(self.name, kind, body, key))
        future.add_done_callback(self._note)
        return future

    def _note(self, future: "Future[Appended]") -> None:
        if not future.cancelled() and future.exception() is None:
            self.notice(future.result().sequence)

    def _item(self, given: FeedbackIn, key: str | None) -> Item:
        """Return the item that feedback is about."""
        if given.item is not None:
            return given.item
        name = given.prediction_id or ""
        # It may have been forgotten since the same request came first.
        event = key and self.find(key)
        if event and event.body.get("prediction") == name:
            item: Item = event.body["item"]
            return item
        found = self._parts.memory.recall(name)
        if found is None or found.model != self.name:
            raise UnknownPrediction(name)
        return found.item

    def _check_version(self, version: str) -> None:
        if version not in self._following.history.versions:
            raise UnknownVersion(self.name, version)
        self._parts.store.find(self.name, version)

    def _describe(self, event: Event) -> VersionInfo:
        body, version = event.body, event.body["version"]
        is_active = version == self._following.history.version
        score = self._shadows.scores().get(version)
        own = score.costs if score else self._following.costs if is_active else None
        return VersionInfo(
            version=version,
            contains=body["contains"],
            at=event.at,
            who=body["who"],
            about=body.get("about", ""),
            is_active=is_active,
            is_there=self._parts.store.version(self.name, version).is_dir(),
            costs=None if own is None else own.to_dict(),
            scored_since=score and score.since,
            served=score and score.served.to_dict(),
        )

    def _count_labels(self) -> Mapping[str, int]:
        """Return how often labels came; the index then has those that are new."""
        found = self._following.published
        if found is None:
            return {}
        if found is not self._indexed:
            self._index = self._index.extended(found.model.label_names.tolist())
            self._counts = found.model.count_labels(dict(self._following.label_counts))
            self._indexed = found
        return self._counts

    def _tell(self) -> None:
        """Let those know who wait for news."""
        found = self._following.published
        if self._indexed is None:
            self._count_labels()
        self._shadows.consider()
        if found is None:
            return
        history = self._following.history
        if history.last != self._pruned:
            versions.prune(self.name, history, self._parts.store, self._parts.settings)
            self._pruned = history.last
        with self._news:
            self._news.notify_all()
        if self._subscriptions:
            update = Update(found.applied, self._following.costs.to_dict())
            for each in list(self._subscriptions):
                each.put(update)


def _draw_ids(n: int) -> list[str]:
    """Return ids that nobody can guess, later ones greater.

    So a table of them grows at its end: ids in no order would touch a page each.
    """
    now, drawn = time.time_ns() >> 20, secrets.token_hex(n * RANDOM)
    return [
        f"{now:012x}{drawn[at : at + 2 * RANDOM]}"
        for at in range(0, len(drawn), 2 * RANDOM)
    ]

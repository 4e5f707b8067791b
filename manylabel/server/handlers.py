"""What is done for each request: plain functions of a model and a schema.

Nothing here knows of HTTP or of an event loop.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from math import isfinite
from typing import Any

from manylabel.server.answers import Predictions
from manylabel.server.errors import BadItem
from manylabel.server.events import Appended
from manylabel.server.items import FeedbackIn
from manylabel.server.jobs import Job
from manylabel.server.replica import Replica
from manylabel.server.schemas import (
    ExplainRequest,
    FeedbackRequest,
    Item,
    PredictRequest,
    RetrainRequest,
)
from manylabel.server.subscription import Update

BEGINNING = 300  # characters of a text in a list of corrections
SMALL_ITEMS, SMALL_TEXT = 8, 10_000  # up to which an answer takes no thread


def write_json(content: Any) -> bytes:
    """Return content as JSON, in which figures that are not finite are null."""
    try:
        return _dump(content)
    except ValueError:
        # Once more through text, which gives every number one place to be looked at.
        loose = json.dumps(content, default=_plain)
        return _dump(json.loads(loose, parse_constant=lambda _: None))


def _dump(content: Any) -> bytes:
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, default=_plain)
    return text.encode()


def is_small(asked: PredictRequest) -> bool:
    """Return whether a prediction takes less time than a change of threads."""
    if len(asked.items) > SMALL_ITEMS:
        return False
    return (
        sum(len(item.text or item.features or "") for item in asked.items) < SMALL_TEXT
    )


def predict(replica: Replica, asked: Sequence[PredictRequest]) -> list[bytes]:
    """Return the best labels of items as JSON, for requests that wish the same."""
    wish = asked[0]
    found = replica.predict(
        [as_item(item) for each in asked for item in each.items],
        k=wish.k,
        allow=wish.allow,
        deny=wish.deny,
        proba=wish.proba,
        remember=wish.remember,
    )
    answers, stop = [], 0
    for each in asked:
        start, stop = stop, stop + len(each.items)
        part = found._replace(
            ids=found.ids[start:stop], labels=found.labels[start:stop]
        )
        items = [item.id for item in each.items]
        answers.append(write_predictions(replica.name, part, items))
    return answers


def write_predictions(
    model: str, found: Predictions, items: Sequence[str | None]
) -> bytes:
    """Return predictions as JSON; ``items`` are the ids that the items came with.

    It is put together from parts that are already JSON, four times as fast as from
    dicts: there are thousands of labels in an answer.
    """
    rows = zip(found.ids, items, found.labels, strict=True)
    parts = [
        f'{{"id":"{prediction}","item":{"null" if item is None else json.dumps(item)},'
        f'"labels":[{_write_labels(best)}]}}'
        for prediction, item, best in rows
    ]
    text = (
        f'{{"model":{_quote(model)},"version":{_quote(found.version)},'
        f'"applied":{found.applied},"predictions":[{",".join(parts)}]}}'
    )
    return text.encode()


def _write_labels(best: Iterable[tuple[str, float]]) -> str:
    return ",".join(
        [
            f'{{"label":{_quote(name)},"score":{score if isfinite(score) else "null"}}}'
            for name, score in best
        ]
    )


@lru_cache(maxsize=1 << 17)
def _quote(name: str) -> str:
    """Return the name of a label as JSON; there are many, and they come again."""
    return json.dumps(name)


def scored(best: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return labels with their scores as the API has them."""
    return [{"label": name, "score": score} for name, score in best]


def queue(replica: Replica, limit: int, items: Sequence[Item] | None = None) -> bytes:
    """Return items to label next, as JSON: of some, or of those that are remembered."""
    among = None if items is None else [as_item(item) for item in items]
    found = [
        {
            "prediction_id": each.prediction_id,
            "item": each.item,
            "labels": scored(each.labels),
            "priority": each.priority,
        }
        for each in replica.queue(limit, among)
    ]
    return write_json({"items": found})


def as_feedback(given: FeedbackRequest) -> FeedbackIn:
    """Return feedback as the core takes it."""
    return FeedbackIn(
        prediction_id=given.prediction_id,
        item=None if given.item is None else as_item(given.item),
        accepted=given.accepted,
        rejected=given.rejected,
        complete=given.complete,
        at=given.at,
    )


def record(
    replica: Replica, pairs: Sequence[tuple[FeedbackIn, str | None]], who: str
) -> tuple[list["Future[Appended]"], list[str]]:
    """Record feedbacks with their keys; return also which labels are new with them."""
    new_labels = replica.find_new_labels(given for given, _ in pairs)
    return replica.feedbacks(pairs, who), new_labels


def corrections(replica: Replica, before: int, limit: int) -> bytes:
    """Return the last feedback before a number as JSON, of texts their beginnings."""
    found = []
    for event, state in replica.corrections(before, limit):
        body, text = event.body, event.body["item"].get("text")
        found.append(
            {
                "sequence": event.sequence,
                "at": event.at,
                "who": body["who"],
                "text": None if text is None else text[:BEGINNING],
                "state": state,
                **{name: body[name] for name in ("accepted", "rejected", "complete")},
            }
        )
    return write_json({"corrections": found})


def as_item(item: Item) -> dict[str, Any]:
    """Return an item as the core takes it: what it has, nothing else."""
    found: dict[str, Any] = (
        {"features": item.features} if item.text is None else {"text": item.text}
    )
    if item.id is not None:
        found["id"] = item.id
    return found


def explain(replica: Replica, asked: ExplainRequest) -> bytes:
    """Return why an item gets its labels, as JSON."""
    with refusing():
        found = replica.explain(as_item(asked.item), labels=asked.labels, k=asked.k)
    return write_json(
        {
            "model": replica.name,
            "version": replica.version,
            "reasons": [
                {
                    "label": reason.tag,
                    "score": reason.score,
                    "rank": reason.rank,
                    "words": [
                        {"word": word, "weight": weight}
                        for word, weight in reason.words
                    ],
                }
                for reason in found.reasons
            ],
        }
    )


def labels(replica: Replica, prefix: str, limit: int) -> bytes:
    """Return labels that begin so, as JSON."""
    found = replica.labels(prefix, limit)
    return write_json({"labels": [{"label": name, "count": n} for name, n in found]})


def retrain(replica: Replica, asked: RetrainRequest, who: str) -> Job:
    """Begin to learn a new version."""
    with refusing():
        return replica.retrain(learner=asked.learner, quality=asked.quality, who=who)


def write_job(job: Job) -> bytes:
    """Return how far a job is, as JSON."""
    told = ("id", "model", "state", "share", "message", "version")
    return write_json({name: getattr(job, name) for name in told})


@contextmanager
def refusing() -> Iterator[None]:
    """Tell wrong arguments, which the library refuses so, from faults."""
    try:
        yield
    except ValueError as error:
        raise BadItem(str(error)) from error


def key_of(key: str | None, place: int) -> str | None:
    """Return the key of one of several feedbacks that came with one key."""
    return None if key is None else f"{key}/{place}"


def write_update(update: Update) -> bytes:
    """Return news of a model, as server-sent events are written."""
    facts = write_json(update._asdict())
    return b"id: %d\nevent: applied\ndata: %s\n\n" % (update.applied, facts)


def _plain(value: Any) -> Any:
    """Return what JSON does not hold as something that it does: numbers of NumPy."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    return str(value)

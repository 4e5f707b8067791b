"""What the log holds: events in one order, each sealed by those before it."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from manylabel.server.errors import BadItem, KeyReused, LogDamaged

FEEDBACK, VERSION, ACTIVATE = "feedback", "version", "activate"
ROLLBACK, RETRACT, SHADOW = "rollback", "retract", "shadow"
KINDS = (FEEDBACK, VERSION, ACTIVATE, ROLLBACK, RETRACT, SHADOW)
# What the service adds to a request: it may differ when the request is sent again.
ADDED = ("predicted",)
LONGEST_KEY = 255
COLUMNS = "sequence, model, kind, key, at, body, digest"
FIRST_DIGEST = ""
# Made once: it takes longer to make one than to write an event.
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


class Draft(NamedTuple):
    """An event before the log has given it its place."""

    model: str
    kind: str
    body: dict[str, Any]
    key: str | None = None


class Appended(NamedTuple):
    """Where a draft stands in the log, and whether it was not there before."""

    sequence: int
    is_new: bool


class Event(NamedTuple):
    """An event of the log.

    ``at`` is what the clock said, in ISO 8601 and UTC; only ``sequence`` orders.
    """

    sequence: int
    model: str
    kind: str
    key: str | None
    at: str
    body: dict[str, Any]
    digest: str


class Remembered(NamedTuple):
    """A prediction that feedback may refer to; ``at`` is in seconds."""

    id: str
    model: str
    version: str
    item: dict[str, Any]
    labels: list[tuple[str, float]]
    at: float
    is_settled: bool = False


def write_json(value: Any) -> str:
    """Return the one text of a value, in ASCII, so that equal values are equal texts.

    Examples
    --------
    >>> write_json({"b": 1, "a": ["x"]})
    '{"a":["x"],"b":1}'
    """
    try:
        return ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise BadItem(f"An event must be plain JSON: {error}.") from None


def seal(before: str, event: Event) -> str:
    """Return the digest of an event that follows one of digest ``before``."""
    fields = write_json([*event[:5], event.body])
    return hashlib.sha256(f"{before}{fields}".encode()).hexdigest()


def arrange(
    drafts: Sequence[Draft],
    last: tuple[int, str],
    find: Callable[[str, str, str], Event | None],
) -> tuple[list[Appended], list[Event]]:
    """Return the places of drafts after the last number and digest, and what is new.

    ``find`` looks up the key of a model's events of a kind. The key of another request
    raises KeyReused.
    """
    sequence, digest = last
    places: list[Appended] = []
    new: list[Event] = []
    fresh: dict[tuple[str, str, str], Event] = {}
    for draft in drafts:
        name = (draft.model, draft.kind, draft.key or "")
        known = (fresh.get(name) or find(*name)) if draft.key else None
        if known is None:
            known = _place(draft, sequence + 1, digest)
            sequence, digest = known.sequence, known.digest
            new.append(known)
            fresh[name] = known
            places.append(Appended(sequence, is_new=True))
        elif asks_the_same(draft, known):
            places.append(Appended(known.sequence, is_new=False))
        else:
            raise KeyReused(*name)
    return places, new


def check_chain(events: Iterable[Event], last: tuple[int, str]) -> tuple[int, str]:
    """Return the last number and digest after events that follow the last ones.

    Raises LogDamaged at the first that is missing, was changed or does not follow.
    """
    sequence, digest = last
    for event in events:
        if event.sequence != sequence + 1:
            what = f"event {sequence + 1} is missing: {event.sequence} comes after it"
            raise LogDamaged(f"The log is damaged: {what}.")
        sequence, digest = event.sequence, seal(digest, event)
        if digest != event.digest:
            what = f"event {sequence} is not as it was written, or one before it is not"
            raise LogDamaged(f"The log is damaged: {what}.")
    return sequence, digest


def event_row(event: Event) -> tuple[Any, ...]:
    """Return an event as a row of a table."""
    return (*event[:5], write_json(event.body), event.digest)


def select_events(
    table: str, mark: str, after: int, limit: int, model: str | None, controls: bool
) -> tuple[str, list[Any]]:
    """Return the query of events after a number, and what stands for its marks.

    Examples
    --------
    >>> select_events("events", "?", 3, 10, None, True)[1]
    [3, 10]
    """
    query = f"SELECT {COLUMNS} FROM {table} WHERE sequence > {mark}"
    given: list[Any] = [after]
    if model is not None:
        query, given = f"{query} AND model = {mark}", [*given, model]
    if controls:
        query += " AND kind <> 'feedback'"
    return f"{query} ORDER BY sequence LIMIT {mark}", [*given, limit]


def select_latest(
    table: str, mark: str, model: str, before: int, limit: int
) -> tuple[str, list[Any]]:
    """Return the query of a model's last feedback before a number, and its values."""
    query = (
        f"SELECT {COLUMNS} FROM {table} WHERE model = {mark} AND sequence < {mark} "
        f"AND kind = 'feedback' ORDER BY sequence DESC LIMIT {mark}"
    )
    return query, [model, before, limit]


def read_events(rows: Iterable[Any]) -> list[Event]:
    """Return the events of rows; to parse all bodies at once takes half of the time."""
    found = list(rows)
    bodies = json.loads(f"[{','.join([row[5] for row in found])}]")
    return [
        Event(n, model, kind, key, at, body, digest)
        for (n, model, kind, key, at, _, digest), body in zip(
            found, bodies, strict=True
        )
    ]


def digest_item(item: Mapping[str, Any]) -> str:
    """Return what equal items have in common, whatever ids they came with.

    Examples
    --------
    >>> digest_item({"text": "a", "id": "1"}) == digest_item({"text": "a"})
    True
    """
    content = {name: it for name, it in item.items() if name != "id"}
    return hashlib.sha256(write_json(content).encode()).hexdigest()


def prediction_row(found: Remembered) -> tuple[Any, ...]:
    """Return a prediction as a row of a table."""
    item, labels = write_json(found.item), write_json(found.labels)
    return (*found[:3], item, labels, *found[5:])


def read_prediction(row: Any) -> Remembered:
    """Return the prediction of a row."""
    labels = [(name, score) for name, score in json.loads(row[4])]
    return Remembered._make(
        (*row[:3], json.loads(row[3]), labels, row[5], bool(row[6]))
    )


def asks_the_same(draft: Draft, event: Event) -> bool:
    """Tell whether a draft repeats the request that an event records."""
    return draft.kind == event.kind and _given(draft.body) == _given(event.body)


def check(draft: Draft) -> None:
    """Refuse a draft that no log should hold, before any is written."""
    if draft.kind not in KINDS:
        raise BadItem(f"kind must be one of {', '.join(KINDS)}. Got {draft.kind!r}.")
    key = draft.key
    if key is not None and not (
        0 < len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()
    ):
        rule = f"1 to {LONGEST_KEY} printable ASCII characters"
        raise BadItem(f"key must be {rule}. Got {key!r:.80}.")
    write_json(draft.body)


def _given(body: Mapping[str, Any]) -> str:
    return write_json({name: it for name, it in body.items() if name not in ADDED})


def _place(draft: Draft, sequence: int, before: str) -> Event:
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    event = Event(sequence, draft.model, draft.kind, draft.key, at, draft.body, "")
    return event._replace(digest=seal(before, event))

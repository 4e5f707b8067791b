"""Logs as JSON lines: written out, read in, verified."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from manylabel.server.errors import LogDamaged, LogError
from manylabel.server.events import FIRST_DIGEST, Event, check_chain, write_json
from manylabel.server.log import Log

AT_ONCE = 1000  # events in memory
TYPES: tuple[Any, ...] = (int, str, str, (str, type(None)), str, dict, str)


def read_all(log: Log, model: str | None = None) -> Iterator[Event]:
    """Yield all events of a log, or those of one model."""
    after = 0
    while found := log.read(after, AT_ONCE, model):
        yield from found
        after = found[-1].sequence


def export_lines(log: Log, model: str | None = None) -> Iterator[str]:
    """Yield each event as a line of JSON.

    Those of one model alone cannot be imported: their chain has gaps.
    """
    for event in read_all(log, model):
        yield write_json(event._asdict())


def import_lines(log: Log, lines: Iterable[str]) -> int:
    """Append the events of lines that follow what the log has; return how many.

    Events that are in the log already are skipped, so an import that was interrupted
    can be repeated. Raises LogDamaged where a line is not what was exported.
    """
    events = (
        read_line(line, n) for n, line in enumerate(lines, start=1) if line.strip()
    )
    n_new = 0
    while chunk := list(islice(events, AT_ONCE)):
        new = list(_unknown(log, chunk))
        log.restore(new)
        n_new += len(new)
    return n_new


def verify(log: Log) -> int:
    """Return how many events a log has, or raise LogDamaged at the first wrong one."""
    return check_chain(read_all(log), (0, FIRST_DIGEST))[0]


def read_line(line: str, number: int) -> Event:
    """Return the event of a line."""
    try:
        fields: Any = json.loads(line)
        event = Event(**fields)
    except (ValueError, TypeError, RecursionError):
        raise LogDamaged(f"Line {number} is not an event of a log.") from None
    if any(not isinstance(it, kind) for it, kind in zip(event, TYPES, strict=True)):
        raise LogDamaged(f"Line {number} is not an event of a log.")
    return event


def _unknown(log: Log, events: list[Event]) -> Iterator[Event]:
    """Yield those that the log does not have; it must agree on the others."""
    known = {e.sequence: e for e in log.read(events[0].sequence - 1, len(events))}
    for event in events:
        here = known.get(event.sequence)
        if here is None:
            yield event
        elif here.digest != event.digest:
            raise LogError(f"The log has another event {event.sequence} already.")

"""Which version a model is at, and which feedback it has learnt: a function of events.

Feedback is most of a log and changes nothing here: it is learnt unless it is left out.
Only the other events, the controls, are kept, and a log has few of them.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple

from manylabel.server.events import (
    ACTIVATE,
    FEEDBACK,
    RETRACT,
    ROLLBACK,
    SHADOW,
    VERSION,
    Event,
)

FOREVER = 1 << 62
LEARNT, CONTAINED, LEFT_OUT = "learnt", "contained", "left out"
Spans = tuple[tuple[int, int], ...]


class Lineage(NamedTuple):
    """A version, and the feedback learnt on top of it.

    The version contains the log up to the number ``contains``. What it learns after
    that is the feedback whose numbers are in ``spans``: after the first, up to and
    with the second.
    """

    version: str
    contains: int
    spans: Spans

    def has(self, sequence: int) -> bool:
        """Tell whether feedback of this number is learnt, unless it was retracted."""
        for after, upto in self.spans:  # most have one: quicker than any()
            if after < sequence <= upto:
                return sequence > self.contains
        return False

    def until(self, sequence: int) -> "Lineage":
        """Return the lineage without what came after a number."""
        spans = ((after, min(upto, sequence)) for after, upto in self.spans)
        return self._replace(spans=tuple(span for span in spans if span[0] < span[1]))


NOTHING = Lineage("", 0, ((0, FOREVER),))


class History:
    """The lineage of one model after each of its controls.

    Parameters
    ----------
    events : iterable of Event, default=()
        The events of the model, in order; feedback may be left out.

    Examples
    --------
    >>> def event(n, kind, **body):
    ...     return Event(n, "debtags", kind, None, "", body, "")
    >>> history = History([
    ...     event(1, "version", version="a", contains=0),
    ...     event(2, "activate", version="a"),
    ...     event(5, "rollback", sequence=3),
    ... ])
    >>> history.version, [n for n in (3, 4, 6) if history.has(n)]
    ('a', [3, 6])
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.versions: dict[str, Event] = {}
        self.shadows: dict[str, int] = {}
        self.retracted: dict[int, int] = {}  # feedback -> the event that retracted it
        self._numbers = [0]
        self._lineages = [NOTHING]
        for event in events:
            self.add(event)

    @property
    def lineage(self) -> Lineage:
        """The lineage after the last event."""
        return self._lineages[-1]

    @property
    def version(self) -> str:
        """The active version, empty before the first."""
        return self.lineage.version

    @property
    def last(self) -> int:
        """The number of the last control, 0 before the first."""
        return self._numbers[-1]

    def at(self, sequence: int) -> Lineage:
        """Return the lineage as it was after the event of a number."""
        return self._lineages[max(bisect_right(self._numbers, sequence) - 1, 0)]

    def has(self, sequence: int) -> bool:
        """Tell whether the model has learnt the feedback of this number."""
        return sequence not in self.retracted and self.lineage.has(sequence)

    def state(self, sequence: int) -> str:
        """Return whether feedback is ``learnt``, ``contained`` or ``left out``.

        The active version contains what it was trained on: that is taken back by the
        next training only.
        """
        counts = self.lineage._replace(contains=0).has(sequence)
        if sequence in self.retracted or not counts:
            return LEFT_OUT
        return LEARNT if self.lineage.has(sequence) else CONTAINED

    def select(self, events: Iterable[Event]) -> list[Event]:
        """Return those of some events that are feedback which the model has learnt."""
        lineage, retracted = self.lineage, self.retracted
        return [
            event
            for event in events
            if event.kind == FEEDBACK
            and event.sequence not in retracted
            and lineage.has(event.sequence)
        ]

    def add(self, event: Event) -> bool:
        """Take the next event; return whether what was learnt is no longer right."""
        if event.kind == FEEDBACK:
            return False
        before = self.lineage
        had = event.kind == RETRACT and self.has(event.body["sequence"])
        after = self._apply(event, before)
        self._numbers.append(event.sequence)
        self._lineages.append(after)
        return had or after != before

    def continues(self, version: str, sequence: int) -> bool:
        """Tell whether what a version was at a number is a beginning of what it is."""
        then, now = self.at(sequence).until(sequence), self.lineage.until(sequence)
        return (
            then.version == version
            and then == now
            and not any(
                when > sequence and then.has(number)
                for number, when in self.retracted.items()
            )
        )

    def _apply(self, event: Event, now: Lineage) -> Lineage:
        body = event.body
        if event.kind == VERSION:
            self.versions.setdefault(body["version"], event)
        elif event.kind == ACTIVATE:
            known = self.versions.get(body["version"])
            contains = known.body["contains"] if known else 0
            return now._replace(version=body["version"], contains=contains)
        elif event.kind == RETRACT:
            self.retracted.setdefault(body["sequence"], event.sequence)
        elif event.kind == SHADOW:
            self._shadow(event.sequence, body)
        elif event.kind == ROLLBACK:
            then = self.at(body["sequence"]).until(body["sequence"])
            return then._replace(spans=(*then.spans, (event.sequence, FOREVER)))
        return now

    def _shadow(self, sequence: int, body: dict[str, Any]) -> None:
        if body["is_on"]:
            self.shadows[body["version"]] = sequence
        else:
            self.shadows.pop(body["version"], None)

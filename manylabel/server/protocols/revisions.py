"""What another program says of a document: its last word counts, and counts once.

Such a program names a document and sends it again when it has changed. Its words are
kept in the log under the keys NAME/1, NAME/2, ..., and what takes one back has the same
key. So the log alone tells what stands, whichever worker is asked.
"""

from bisect import bisect_left

from manylabel.server.errors import Busy, KeyReused
from manylabel.server.events import RETRACT, Event
from manylabel.server.items import FeedbackIn, is_blank
from manylabel.server.replica import Replica

ATTEMPTS = 8  # while others revise the same document at the same moment


def revise(replica: Replica, name: str, given: FeedbackIn, who: str) -> None:
    """Record what is said of a document now, and take back what was said before.

    It returns after the commit. What was said last already is not recorded again, and
    neither is what is said of a blank text, which teaches nothing.

    Parameters
    ----------
    replica : Replica
        The model.
    name : str
        The name of the document, in printable ASCII.
    given : FeedbackIn
        What is said of it, with its item.
    who : str
        By whom.
    """
    if is_blank(given.item or {}):
        withdraw(replica, name, who)
        return
    for _ in range(ATTEMPTS):
        count, last = _find_last(replica, name)
        if last is not None and _says(last, given):
            return
        # What was said before goes first: after a crash between the two, the request
        # is sent again, and finds what it still has to do.
        if last is not None:
            _take_back(replica, last, who)
        try:
            replica.feedback(given, f"{name}/{count + 1}", who).result()
        except KeyReused:
            continue  # somebody else has just revised it
        return
    raise Busy("The document is being changed by others; try again.")


def withdraw(replica: Replica, name: str, who: str) -> None:
    """Take back what was last said of a document, if anything stands."""
    _, last = _find_last(replica, name)
    if last is not None:
        _take_back(replica, last, who)


def _find_last(replica: Replica, name: str) -> tuple[int, Event | None]:
    """Return how often something was said, and what was last, unless it is taken back.

    It takes few looks at the log, however often something was said.
    """
    high = 1
    while replica.find(f"{name}/{high}") is not None:
        high *= 2
    low = high // 2
    count = low + bisect_left(
        range(low + 1, high),
        True,
        key=lambda number: replica.find(f"{name}/{number}") is None,
    )
    key = f"{name}/{count}"
    stands = count and replica.find(key, RETRACT) is None
    return count, replica.find(key) if stands else None


def _says(event: Event, given: FeedbackIn) -> bool:
    """Tell whether an event of the log says the same."""
    said = [event.body[name] for name in ("item", "accepted", "rejected", "complete")]
    now = [given.item, list(given.accepted), list(given.rejected), given.complete]
    return said == now


def _take_back(replica: Replica, event: Event, who: str) -> None:
    try:
        replica.retract(event.sequence, who, event.key).result()
    except KeyReused:
        return  # somebody else has just done so

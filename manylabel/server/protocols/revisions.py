"""What another program says of a document: its last word counts, and counts once.

Such a program names a document and sends it again when it has changed. Its words are
kept in the log under the keys NAME/1, NAME/2, ..., so the log alone tells what was said
last, whichever worker is asked.
"""

from bisect import bisect_left

from manylabel.server.errors import Busy, KeyReused
from manylabel.server.events import Event
from manylabel.server.items import FeedbackIn
from manylabel.server.replica import Replica

ATTEMPTS = 8  # while others revise the same document at the same moment


def revise(replica: Replica, name: str, given: FeedbackIn, who: str) -> None:
    """Record what is said of a document now, and take back what was said before.

    It returns after the commit. What was said last already is not recorded again.

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
    for _ in range(ATTEMPTS):
        count, last = _last(replica, name)
        if last is not None and _says(last, given):
            return
        # What was said before goes first: after a crash between the two, the request
        # is sent again, and finds what it still has to do.
        if last is not None:
            replica.retract(last.sequence, who).result()
        try:
            replica.feedback(given, f"{name}/{count + 1}", who).result()
        except KeyReused:
            continue  # somebody else has just revised it
        return
    raise Busy("The document is being changed by others; try again.")


def withdraw(replica: Replica, name: str, who: str) -> None:
    """Take back what was last said of a document, if anything was."""
    _, last = _last(replica, name)
    if last is not None:
        replica.retract(last.sequence, who).result()


def _last(replica: Replica, name: str) -> tuple[int, Event | None]:
    """Return how often something was said of a document, and what was said last."""
    high = 1
    while replica.find(f"{name}/{high}") is not None:
        high *= 2
    low = high // 2
    count = low + bisect_left(
        range(low + 1, high),
        True,
        key=lambda number: replica.find(f"{name}/{number}") is None,
    )
    return count, replica.find(f"{name}/{count}") if count else None


def _says(event: Event, given: FeedbackIn) -> bool:
    """Tell whether an event of the log says the same."""
    said = [event.body[name] for name in ("item", "accepted", "rejected", "complete")]
    now = [given.item, list(given.accepted), list(given.rejected), given.complete]
    return said == now

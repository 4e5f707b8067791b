"""What another program says of a document: its last word counts, and counts once.

Such a program names a document and sends it again when it has changed. Its words are kept
in the log under the keys NAME/1, NAME/2, ..., so the log alone tells what was said last,
whichever worker is asked.
"""

from bisect import bisect_left

from manylabel.server.errors import Busy, KeyReused
from manylabel.server.events import Event
from manylabel.server.log import Log
from manylabel.server.replica import FeedbackIn
from manylabel.server.service import Service

ATTEMPTS = 8  # while others revise the same document at the same moment


def revise(
    service: Service, model: str, name: str, given: FeedbackIn, who: str
) -> None:
    """Record what is said of a document now, and take back what was said before.

    It returns after the commit. What was said last already is not recorded again.

    Parameters
    ----------
    service : Service
        The models.
    model : str
        The name of one.
    name : str
        The name of the document, in printable ASCII.
    given : FeedbackIn
        What is said of it, with its item.
    who : str
        By whom.
    """
    replica = service.replica(model)
    for _ in range(ATTEMPTS):
        count = _count(service.log, model, name)
        last = service.log.find(model, f"{name}/{count}") if count else None
        if last is not None and _says(last, given):
            return
        # What was said before goes first: after a crash between the two, the request
        # is sent again, and finds what it still has to do.
        if last is not None:
            _retract(service, model, last, who)
        try:
            replica.feedback(given, f"{name}/{count + 1}", who).result()
        except KeyReused:
            continue  # somebody else has just revised it
        return
    raise Busy("The document is being changed by others; try again.")


def withdraw(service: Service, model: str, name: str, who: str) -> None:
    """Take back what was last said of a document, if anything was."""
    count = _count(service.log, model, name)
    last = service.log.find(model, f"{name}/{count}") if count else None
    if last is not None:
        _retract(service, model, last, who)


def _count(log: Log, model: str, name: str) -> int:
    """Return how often something was said of a document, by few looks at the log."""
    high = 1
    while log.find(model, f"{name}/{high}") is not None:
        high *= 2
    low = high // 2
    return low + bisect_left(
        range(low + 1, high),
        True,
        key=lambda number: log.find(model, f"{name}/{number}") is None,
    )


def _says(event: Event, given: FeedbackIn) -> bool:
    """Tell whether an event of the log says the same."""
    body = event.body
    return (
        body["item"] == given.item
        and body["accepted"] == list(given.accepted)
        and body["rejected"] == list(given.rejected)
        and body["complete"] == given.complete
    )


def _retract(service: Service, model: str, event: Event, who: str) -> None:
    try:
        service.replica(model).retract(event.sequence, who).result()
    except KeyReused:
        return  # somebody else has taken it back already

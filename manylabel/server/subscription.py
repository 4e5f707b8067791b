"""News of a model for those who watch it."""

from queue import Empty, Full, Queue
from typing import Any, NamedTuple

MOST = 100  # updates that wait for a slow reader; the oldest are dropped


class Update(NamedTuple):
    """What has been learnt, and what predictions cost."""

    applied: int
    costs: dict[str, Any]


class Subscription:
    """Updates of one model, to be read by one thread."""

    def __init__(self, among: "set[Subscription]") -> None:
        self._queue: Queue[Update] = Queue(MOST)
        self._among = among
        self.is_closed = False
        among.add(self)

    def put(self, update: Update) -> None:
        """Keep an update, and drop the oldest if there is no room."""
        while True:
            try:
                return self._queue.put_nowait(update)
            except Full:
                try:
                    self._queue.get_nowait()
                except Empty:
                    continue

    def get(self, timeout: float) -> Update | None:
        """Return the next update, None if none comes in time."""
        try:
            return self._queue.get(timeout=timeout)
        except Empty:
            return None

    def close(self) -> None:
        """Hear no more."""
        self.is_closed = True
        self._among.discard(self)

"""Predictions that are remembered, written by a thread so that nobody waits for it."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from threading import Condition, Thread

from manylabel.exceptions import ManylabelError
from manylabel.server.events import Remembered, digest_item
from manylabel.server.items import Item
from manylabel.server.log import Log

PAUSE = 0.02  # seconds in which predictions gather before they are written
LAG = 0.25  # seconds after which what another process remembers is surely there
FORGET_EVERY = 600.0  # seconds
logger = logging.getLogger(__name__)


class Memory:
    """Keeps predictions in the log's own table; those too many to write are dropped.

    Parameters
    ----------
    log : Log
        Where they are kept.
    most_waiting : int, default=100000
        How many may wait to be written.
    age : float, default=604800
        Seconds after which they are forgotten.
    most : int, default=1000000
        How many are kept; a tenth more may be there for a while.
    """

    def __init__(
        self,
        log: Log,
        *,
        most_waiting: int = 100_000,
        age: float = 604_800.0,
        most: int = 1_000_000,
    ) -> None:
        self._log, self._age, self._most = log, age, most
        self._n_written = 0  # since some were forgotten
        self._waiting: deque[Remembered] = deque(maxlen=most_waiting)
        self._settled: deque[tuple[str, str]] = deque(maxlen=most_waiting)
        self._recent: dict[str, Remembered] = {}  # waiting, by id
        self._changed = Condition()
        self._is_stopped = False
        self._forgotten = 0.0
        self._thread = Thread(target=self._run, name="memory", daemon=True)
        self._thread.start()

    def remember(self, predictions: Sequence[Remembered]) -> None:
        """Keep predictions soon."""
        with self._changed:
            self._waiting.extend(predictions)
            self._recent.update((found.id, found) for found in predictions)
            self._changed.notify()

    def recall(self, prediction_id: str) -> Remembered | None:
        """Return a prediction of this or another process, None if there is none."""
        found = self._recent.get(prediction_id) or self._log.recall(prediction_id)
        if found is None:
            time.sleep(LAG)
            found = self._log.recall(prediction_id)
        return found

    def settle(self, model: str, item: Item) -> None:
        """Note soon that an item has had its feedback."""
        with self._changed:
            self._settled.append((model, digest_item(item)))
            self._changed.notify()

    def unsettled(self, model: str, limit: int) -> list[Remembered]:
        """Return predictions of a model, of the newest, whose items had no feedback.

        Those whose items had some are settled once they are met here: so predictions
        need no index by item, and what came after the feedback is found too.
        """
        while found := self._log.unsettled(model, limit):
            digests = {each.id: digest_item(each.item) for each in found}
            done = self._log.settled_items(model, set(digests.values()))
            late = [name for name, digest in digests.items() if digest in done]
            if late:
                self._log.settle(late)
            if len(late) < len(found):
                return [each for each in found if digests[each.id] not in done]
        return []

    def stop(self) -> None:
        """Write what waits, then end the thread."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        trouble = ""  # is said once
        while True:
            with self._changed:
                while not (self._waiting or self._settled or self._is_stopped):
                    self._changed.wait()
                is_last = self._is_stopped
            if not is_last:
                time.sleep(PAUSE)
            try:
                self._write()
                trouble = ""
            except ManylabelError as error:
                if str(error) != trouble:
                    logger.warning("predictions are not remembered: %s", error)
                trouble = str(error)
            if is_last:
                return

    def _write(self) -> None:
        with self._changed:
            predictions, settled = list(self._waiting), list(self._settled)
            self._waiting.clear()
            self._settled.clear()
        try:
            if predictions:
                self._log.remember(predictions)
            if settled:
                self._log.settle_items(settled, time.time())
        finally:
            with self._changed:
                waiting = {found.id: found for found in self._waiting}
                self._recent = waiting
        self._n_written += len(predictions)
        is_late = time.monotonic() - self._forgotten > FORGET_EVERY
        if is_late or self._n_written > self._most / 10:
            self._forgotten, self._n_written = time.monotonic(), 0
            self._log.forget(time.time() - self._age, self._most)

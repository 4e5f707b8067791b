"""The thread that follows the log for one model."""

import logging
import time
from collections.abc import Callable
from threading import Event as Flag
from threading import Thread

from manylabel.exceptions import ManylabelError
from manylabel.server.following import Following
from manylabel.server.snapshots import Snapshots

LEAST_PAUSE = 0.05  # seconds between steps, in which feedback gathers
LONGEST_PAUSE = 1.0  # seconds after which it looks by itself
logger = logging.getLogger(__name__)


class FollowingThread:
    """Brings a model forward whenever it hears that the log has grown.

    Learning takes half of the time at most and rests after each step, so that feedback
    is learnt in runs and what is published is copied once for many. The first feedback
    after a rest is learnt at once.

    Parameters
    ----------
    following : Following
        The model.
    snapshots : Snapshots
        What may have to be saved after each step.
    tell : callable
        Called after each step.
    """

    def __init__(
        self, following: Following, snapshots: Snapshots, tell: Callable[[], None]
    ) -> None:
        self.last = 0  # the last event of the log that is known
        self._following, self._snapshots, self._tell = following, snapshots, tell
        self._wake, self._is_stopped = Flag(), Flag()
        name = f"follow {following.name}"
        self._thread = Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Load the model, then follow."""
        self._thread.start()

    def stop(self) -> None:
        """Stop following, and wait for a snapshot that is being written."""
        self._is_stopped.set()
        self._wake.set()
        self._thread.join()
        self._snapshots.stop()

    def notice(self, last: int) -> None:
        """Hear that the log has events up to a number."""
        self.last = max(self.last, last)
        self._wake.set()

    def _run(self) -> None:
        begin: Callable[[], bool] | None = self._begin
        while not self._is_stopped.is_set():
            self._wake.clear()
            start = time.monotonic()
            try:
                more = begin() if begin else self._following.step(self.last)
                begin = None
                self._snapshots.consider()
                self._tell()
            except ManylabelError as error:
                more = False
                self._following.say(str(error))
            except Exception as error:
                more = False
                logger.exception("model %s", self._following.name)
                self._following.say(f"The log cannot be followed: {error!r:.200}.")
            if not more:
                took = time.monotonic() - start
                self._is_stopped.wait(min(max(took, LEAST_PAUSE), LONGEST_PAUSE))
                self._wake.wait(LONGEST_PAUSE)

    def _begin(self) -> bool:
        self._following.start()
        return True

"""Group commit: what waits is written in one transaction."""

from collections.abc import Sequence
from concurrent.futures import Future
from queue import Empty, Full, Queue
from threading import Thread

from manylabel.server.errors import Busy, KeyReused, LogError
from manylabel.server.events import Appended, Draft
from manylabel.server.log import Log

MOST_AT_ONCE = 1000  # drafts of one transaction
Waiting = tuple[Draft, "Future[Appended]"]


class GroupWriter:
    """A thread that appends drafts; those that come during a commit share the next.

    Parameters
    ----------
    log : Log
        Where to write.
    most_waiting : int, default=10000
        How many drafts may wait; one more raises :class:`Busy`.

    Examples
    --------
    >>> import tempfile
    >>> from manylabel.server.log import open_log
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = open_log(f"sqlite:///{folder.name}/log.db")
    >>> writer = GroupWriter(log)
    >>> writer.submit(Draft("debtags", "feedback", {"accepted": ["game"]})).result()
    Appended(sequence=1, is_new=True)
    >>> writer.stop(); log.close(); folder.cleanup()
    """

    def __init__(self, log: Log, *, most_waiting: int = 10_000) -> None:
        self._log = log
        self._queue: Queue[Waiting | None] = Queue(most_waiting)
        self._is_stopped = False
        self._thread = Thread(target=self._run, name="log writer", daemon=True)
        self._thread.start()

    def submit(self, draft: Draft) -> "Future[Appended]":
        """Return a future that is done when the draft is on the disk."""
        future: Future[Appended] = Future()
        if self._is_stopped:
            raise LogError("The log is closed: the service has stopped.")
        try:
            self._queue.put_nowait((draft, future))
        except Full:
            n = self._queue.maxsize
            raise Busy(f"{n} events wait to be written; try again later.") from None
        return future

    def stop(self) -> None:
        """Write what waits, then end the thread."""
        if not self._is_stopped:
            self._is_stopped = True
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        is_open = True
        while is_open:
            waiting = [self._queue.get()]
            while len(waiting) < MOST_AT_ONCE and waiting[-1] is not None:
                try:
                    waiting.append(self._queue.get_nowait())
                except Empty:
                    break
            is_open = waiting[-1] is not None
            # A future that was cancelled is not written.
            batch = [each for each in waiting if each is not None]
            self._write([b for b in batch if b[1].set_running_or_notify_cancel()])

    def _write(self, batch: Sequence[Waiting]) -> None:
        while batch:
            try:
                places = self._log.append([draft for draft, _ in batch])
            except KeyReused as error:
                batch = self._refuse(batch, error)
                continue
            except Exception as error:
                for _, future in batch:
                    future.set_exception(error)
                return
            for (_, future), place in zip(batch, places, strict=True):
                future.set_result(place)
            return

    def _refuse(self, batch: Sequence[Waiting], error: KeyReused) -> list[Waiting]:
        """Fail the drafts of a key that was used; return the others, to be written."""
        kept = []
        for draft, future in batch:
            if (draft.model, draft.kind, draft.key) == error.place:
                self._answer_alone(draft, future)
            else:
                kept.append((draft, future))
        return kept

    def _answer_alone(self, draft: Draft, future: "Future[Appended]") -> None:
        # One of several drafts of that key may be the request that is in the log.
        try:
            future.set_result(self._log.append([draft])[0])
        except Exception as error:
            future.set_exception(error)

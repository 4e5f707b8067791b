"""Snapshots, written by a thread while the model goes on learning."""

import logging
from threading import Lock, Thread

from manylabel.exceptions import ManylabelError
from manylabel.server.following import Following
from manylabel.server.settings import Settings
from manylabel.server.store import Store

logger = logging.getLogger(__name__)


class Snapshots:
    """Takes a snapshot of a model once it has learnt enough since the last one.

    Of processes that follow one log beside the same folders, one writes it.

    Parameters
    ----------
    following : Following
        The model; it is asked by the thread that follows the log.
    store : Store
        Where snapshots are.
    settings : Settings
        How often, and how many are kept.
    """

    def __init__(self, following: Following, store: Store, settings: Settings) -> None:
        self._following, self._store, self._settings = following, store, settings
        self._busy = Lock()
        self._thread: Thread | None = None

    def consider(self) -> None:
        """Begin a snapshot if one is due; return at once."""
        following, due = self._following, self._settings.snapshot_every
        if following.n_unsaved < due or following.published is None:
            return
        if not self._busy.acquire(blocking=False):
            return
        following.n_unsaved = 0
        now, name = following.published, following.name
        known = self._store.snapshots(name)
        if known and known[0].sequence > now.applied - due // 2:
            self._busy.release()  # another process was before us
            return
        facts = following.facts()

        def write() -> None:
            try:
                self._store.take_snapshot(
                    name, now.version, now.applied, now.model.save, facts
                )
                self._prune(name)
            except (ManylabelError, OSError) as error:
                logger.warning("model %s has no new snapshot: %s", name, error)
            finally:
                self._busy.release()

        self._thread = Thread(target=write, name=f"snapshot {name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Wait for the snapshot that is being written."""
        if self._thread is not None:
            self._thread.join()

    def _prune(self, name: str) -> None:
        settings = self._settings
        self._store.prune(
            name, keep=settings.keep_snapshots, max_age=settings.snapshot_age
        )

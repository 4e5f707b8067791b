"""The service: every model below a folder, and the log that they follow."""

import logging
from contextlib import suppress
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread

from manylabel.exceptions import ManylabelError
from manylabel.server.errors import KeyReused, NotReady, UnknownModel
from manylabel.server.events import ACTIVATE, VERSION, Draft
from manylabel.server.follower import load_model
from manylabel.server.following import read_history
from manylabel.server.log import Log
from manylabel.server.memory import Memory
from manylabel.server.replica import Parts, Replica
from manylabel.server.settings import Settings
from manylabel.server.store import SEQUENCE, Store, check_name
from manylabel.server.writer import GroupWriter
from manylabel.text import Corrected

PATIENCE = 0.25  # seconds between looks at whether to stop
FOLDER = "folder"  # who logs what was found in a folder
logger = logging.getLogger(__name__)


class Service:
    """Serves the model folders below a folder, and follows one log.

    Parameters
    ----------
    models : str or Path
        The folder with model folders; what the service keeps is in ``.serve`` below it.
    log : Log
        The log; it is closed by whoever opened it.
    settings : Settings or None, default=None
        How the service is run; None is the defaults.

    Examples
    --------
    >>> import tempfile
    >>> import manylabel as ml
    >>> from manylabel.server.items import FeedbackIn
    >>> from manylabel.server.log import open_log
    >>> folder = tempfile.TemporaryDirectory()
    >>> tagger = ml.Tagger().fit(["red wine", "rye bread"], [["drink"], ["food"]])
    >>> tagger.save(f"{folder.name}/menu")
    >>> log = open_log(f"sqlite:///{folder.name}/log.db")
    >>> service = Service(folder.name, log).start()
    >>> menu = service.replica("menu")
    >>> menu.wait(1, timeout=60)
    True
    >>> found = menu.predict([{"text": "white wine"}], k=1)
    >>> [name for name, score in found.labels[0]]
    ['drink']
    >>> given = FeedbackIn(accepted=["cheap"], prediction_id=found.ids[0])
    >>> menu.feedback(given, key=None, who="me").result()
    Appended(sequence=3, is_new=True)
    >>> service.stop(); log.close(); folder.cleanup()
    """

    def __init__(
        self, models: str | Path, log: Log, *, settings: Settings | None = None
    ) -> None:
        settings = settings or Settings()
        writer = GroupWriter(log, most_waiting=settings.most_waiting)
        memory = Memory(
            log,
            most_waiting=settings.most_remembering,
            age=settings.memory,
            most=settings.most_remembered,
        )
        self._parts = Parts(log, Store(models), writer, memory, settings)
        self._replicas: dict[str, Replica] = {}
        self._troubles: dict[str, str] = {}  # of folders that cannot be taken over
        self._lock = Lock()
        self._has_looked = False
        self._is_stopped = Flag()
        self._threads = [
            Thread(target=self._watch_log, name="watch log", daemon=True),
            Thread(target=self._watch_folders, name="watch folders", daemon=True),
        ]

    def start(self) -> "Service":
        """Serve what is in the folder, and follow the log."""
        self.look()
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        """Write what waits, and stop following."""
        self._is_stopped.set()
        for thread in self._threads:
            thread.join()
        for replica in self._replicas.values():
            replica.stop()
        self._parts.writer.stop()
        self._parts.memory.stop()

    def is_ready(self) -> bool:
        """Tell whether all models can be read."""
        return all(replica.is_ready() for replica in list(self._replicas.values()))

    def names(self) -> list[str]:
        """Return the names of the models."""
        return sorted(self._replicas)

    def replica(self, name: str) -> Replica:
        """Return one model, or raise UnknownModel, or NotReady if it may yet come."""
        found = self._replicas.get(name)
        if found is None:
            self.check_looked()
            raise UnknownModel(name)
        return found

    def check_looked(self) -> None:
        """Refuse to say which models there are before all folders were looked at."""
        if not self._has_looked:
            raise NotReady("Models are being loaded.")

    def look(self) -> None:
        """Take over model folders that are new or were changed."""
        with self._lock:
            for name in self._parts.store.names():
                try:
                    self._take_over(name)
                    self._troubles.pop(name, None)
                except ManylabelError as error:
                    if self._troubles.get(name) != str(error):
                        logger.warning("model %s: %s", name, error)
                    self._troubles[name] = str(error)
                # What the log knows is served even if the folder is damaged now.
                if name not in self._replicas:
                    self._follow(name)
            self._has_looked = True

    def _take_over(self, name: str) -> None:
        """Log what a folder holds if it is new."""
        check_name(name)
        store, seen = self._parts.store, self._parts.store.seen(name)
        if store.look(name) == seen:
            return
        version, history = store.adopt(name), read_history(self._parts.log, name)
        if version not in history.versions:
            self._append(_found(name, version, store))
        # The first is served at once, and so is what the user put in its place.
        if version != history.version and (seen or not history.version):
            # Another process that sees the same change has the same key.
            key = f"{FOLDER} {version} after {history.last}"
            body = {"version": version, "who": FOLDER}
            self._append(Draft(name, ACTIVATE, body, key))
        store.note_seen(name, version)

    def _follow(self, name: str) -> None:
        if read_history(self._parts.log, name).version:
            replica = Replica(name, self._parts)
            replica.notice(self._parts.log.last())
            replica.start()
            self._replicas[name] = replica

    def _append(self, draft: Draft) -> None:
        # Another process that logged it in other words was as right.
        with suppress(KeyReused):
            self._parts.log.append([draft])

    def _watch_log(self) -> None:
        """Tell the models when the log has grown."""
        last, trouble = 0, ""  # what is wrong is said once
        while not self._is_stopped.is_set():
            try:
                if self._parts.log.wait(last, PATIENCE):
                    last = self._parts.log.last()
                    for replica in list(self._replicas.values()):
                        replica.notice(last)
                trouble = ""
            except ManylabelError as error:
                if str(error) != trouble:
                    logger.warning("the log cannot be followed: %s", error)
                trouble = str(error)
                self._is_stopped.wait(PATIENCE)

    def _watch_folders(self) -> None:
        while not self._is_stopped.wait(self._parts.settings.poll):
            try:
                self.look()
            except (ManylabelError, OSError) as error:
                logger.warning("folders cannot be looked at: %s", error)


def _found(name: str, version: str, store: Store) -> Draft:
    """Return the event of a version that was found in a user's folder.

    Feedback that the log has is learnt on top of it, unless it says that it knows that.
    """
    found = load_model(store.find(name, version))
    tagger = found.tagger if isinstance(found, Corrected) else found
    contains = tagger.provenance_.get(SEQUENCE, 0)
    about = f"{type(tagger.ranker_).__name__} of {len(tagger.label_names_):,} labels"
    body = {"version": version, "contains": contains, "about": about, "who": FOLDER}
    return Draft(name, VERSION, body, f"version {version}")

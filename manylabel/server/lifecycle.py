"""The life of a service behind an application: started aside, ready, stopped."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from manylabel.exceptions import ManylabelError
from manylabel.server.errors import NotReady
from manylabel.server.items import Item
from manylabel.server.service import Service

LOOK = 0.02  # seconds between looks at models that are being loaded
# A model reads one of these.
TRIALS: tuple[Item, ...] = ({"text": "a"}, {"features": {}})
log = logging.getLogger("manylabel.server")


class Life:
    """Loads models while the server already answers that it lives.

    Parameters
    ----------
    service : Service
        The models.
    is_patient : bool, default=False
        Answer nothing before the models are loaded.
    early : Path or None, default=None
        A file that is there as long as a worker answers that is not ready: one that is
        patient waits for its end, one that is not removes it.

    Attributes
    ----------
    is_ready : bool
        Whether the log was replayed and all kernels are compiled.
    is_stopping : bool
        Whether the server is about to end.
    error : Exception or None
        Why the service could not be started.
    give_up : callable
        Called if it could not.
    settle : callable
        Called when all is loaded, before the service is ready.
    tell_ready : callable
        Called when the service is ready.
    """

    def __init__(
        self, service: Service, *, is_patient: bool = False, early: Path | None = None
    ) -> None:
        self.service = service
        self.is_patient = is_patient
        self.early = early
        self.is_ready = False
        self.is_stopping = False
        self.error: Exception | None = None
        self.give_up: Callable[[], None] = lambda: None
        self.settle: Callable[[], None] = lambda: None
        self.tell_ready: Callable[[], None] = lambda: None
        self._thread = Thread(target=self._start, name="start", daemon=True)

    async def start(self) -> None:
        """Begin to load the models; wait for them if that is how it is."""
        self._thread.start()
        while self._waits() and not self.is_stopping:
            await asyncio.sleep(LOOK)

    async def stop(self) -> None:
        """Write what waits, and end."""
        self.is_stopping = True
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._thread.join)
        if self.error is None:
            await loop.run_in_executor(None, self.service.stop)

    def check_ready(self) -> None:
        """Refuse as long as models are being loaded."""
        if not (self.is_ready and self.service.is_ready()):
            raise NotReady("Models are being loaded.")

    def _waits(self) -> bool:
        others = self.early is not None and self.early.exists()
        return self.is_patient and (self._thread.is_alive() or others)

    def _start(self) -> None:
        try:
            self.service.start()
        except Exception as error:
            self.error = error
            self.give_up()
            return
        while not (self.service.is_ready() or self.is_stopping):
            time.sleep(LOOK)
        if not self.is_stopping:
            self._warm()
            self.settle()
            self.is_ready = True
            if self.early is not None and not self.is_patient:
                self.early.unlink(missing_ok=True)
            self.tell_ready()

    def _warm(self) -> None:
        """Let each model predict once, which compiles what it needs."""
        for name in self.service.names():
            for item in TRIALS:
                with suppress(ManylabelError):
                    self.service.replica(name).predict([item], remember=False)
                    break

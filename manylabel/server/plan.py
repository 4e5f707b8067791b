"""What is to be served, where, and by how many."""

import json
import os
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from manylabel.persistence.folder import MANIFEST
from manylabel.server.security import Guard, Tokens, is_loopback
from manylabel.server.settings import WINDOWS
from manylabel.server.store import SERVE

BACKLOG = 1024  # connections that wait to be accepted
FEW = 5  # models that are named


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be served.

    Parameters
    ----------
    models : str
        The folder of model folders.
    log : str or None, default=None
        The address of the log; None is a file below ``models``.
    host : str, default="127.0.0.1"
        Where to listen.
    port : int, default=8000
        Where to listen; 0 for any that is free.
    n_workers : int, default=1
        How many processes.
    worker : int, default=0
        Which of them.
    counts : str or None, default=None
        The folder in which workers share their counts.
    is_patient : bool, default=False
        Take no requests before the models are loaded, because others take them.

    Examples
    --------
    >>> Plan(models="models").log_url
    'sqlite:///models/.serve/log.db'
    """

    models: str
    log: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    n_workers: int = 1
    worker: int = 0
    counts: str | None = None
    is_patient: bool = False

    @property
    def folder(self) -> Path:
        """Where the server keeps what is its own."""
        return Path(self.models, SERVE)

    @property
    def log_url(self) -> str:
        """The address of the log."""
        return self.log or f"sqlite:///{self.folder / 'log.db'}"

    @property
    def guard(self) -> Guard:
        """Who may do what."""
        return Guard(Tokens(self.folder), may_be_open=is_loopback(self.host))

    @property
    def early(self) -> Path | None:
        """The file that is there as long as a worker answers that is not ready."""
        return None if self.counts is None else Path(self.counts, "early")

    @property
    def ready(self) -> Path | None:
        """The file by which one of several workers tells that it is ready."""
        return (
            None if self.counts is None else Path(self.counts, f"{self.worker}.ready")
        )

    def check(self) -> None:
        """Refuse what is no folder of models, and to be open to others."""
        if not Path(self.models).is_dir():
            raise ValueError(f"MODELS must be a folder. Got {self.models!r}.")
        if Path(self.models, MANIFEST).is_file():
            parent = os.path.normpath(Path(self.models, os.pardir))
            raise ValueError(
                f"MODELS must be a folder of model folders. {self.models} is a model; "
                f"serve the folder that it is in (manylabel serve {parent})."
            )
        if WINDOWS and self.n_workers > 1:
            raise ValueError(
                "--workers must be 1 on Windows, where processes share no socket. "
                f"Got {self.n_workers}."
            )
        if not (is_loopback(self.host) or self.guard.tokens.all()):
            raise ValueError(
                f"--host must be a loopback address as long as there are no tokens "
                f"(manylabel token add). Got {self.host!r}."
            )

    def listen(self) -> socket.socket:
        """Return a socket that listens."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            if not WINDOWS:  # there, it would let another program take the port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.host, self.port))
            listener.listen(BACKLOG)
        except OSError as error:
            listener.close()
            place = f"{self.host}:{self.port}"
            raise OSError(error.errno, error.strerror, place) from None
        listener.set_inheritable(True)
        return listener

    def say_ready(self, names: Sequence[str]) -> str:
        """Return what people are told once models of some names are loaded.

        Examples
        --------
        >>> Plan(models="models").say_ready(["menu", "shop"])
        'Ready: 2 models are loaded: menu, shop.'
        """
        if not names:
            return (
                f"Ready: no models yet; one that is saved in {self.models} is noticed."
            )
        verb = "model is" if len(names) == 1 else "models are"
        by = f" by all {self.n_workers} workers" if self.n_workers > 1 else ""
        named = f": {', '.join(names)}" if len(names) <= FEW else ""
        return f"Ready: {len(names):,} {verb} loaded{by}{named}."

    def of_worker(self, number: int, counts: str) -> "Plan":
        """Return the plan of one of several workers."""
        return replace(self, worker=number, counts=counts)

    def to_json(self, handle: int) -> str:
        """Return the plan for another process, with the handle of its socket."""
        return json.dumps({"plan": asdict(self), "handle": handle})

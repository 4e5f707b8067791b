"""A process that serves: ``python -m manylabel.server.worker``, told by its parent."""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import uvicorn

from manylabel.server.app import create_app
from manylabel.server.collecting import collect_less
from manylabel.server.connections import bounded
from manylabel.server.lifecycle import Life
from manylabel.server.limits import Limits
from manylabel.server.log import open_log
from manylabel.server.metrics import Metrics
from manylabel.server.plan import Plan
from manylabel.server.security import make_private
from manylabel.server.service import Service
from manylabel.server.store import replace_text

GRACE = 10  # seconds for requests to be answered when the server ends
KEPT = 60  # seconds for which a connection without requests is kept
TURN = 0.00005  # seconds that a thread which learns may keep those waiting who answer


class Server(uvicorn.Server):
    """Ends quietly: a signal that was obeyed is not raised again.

    Parameters
    ----------
    config : uvicorn.Config
        How to serve.
    life : Life
        Of what is served.
    """

    def __init__(self, config: uvicorn.Config, life: Life) -> None:
        super().__init__(config)
        self.life = life
        life.give_up = self.stop

    def stop(self) -> None:
        """End soon."""
        self.life.is_stopping = True
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End because of a signal."""
        self.life.is_stopping = True
        super().handle_exit(sig, frame)

    async def serve_until(
        self, listener: socket.socket, parent: int | None = None
    ) -> None:
        """Serve until a signal comes, or the file ``parent`` is at its end."""
        loop = asyncio.get_running_loop()

        def look() -> None:
            if parent is not None and not os.read(parent, 1):
                loop.remove_reader(parent)
                if not self.life.is_ready:  # nothing was begun that could be lost
                    os._exit(1)
                self.stop()

        if parent is not None:
            loop.add_reader(parent, look)
        await self.serve([listener])


def serve(
    plan: Plan,
    listener: socket.socket,
    *,
    parent: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> None:
    """Serve until a signal comes, or whoever started this process is gone.

    Parameters
    ----------
    plan : Plan
        What to serve.
    listener : socket
        Bound and listening.
    parent : int or None, default=None
        A file whose end says that whoever started this process is gone.
    tell : callable or None, default=None
        Is told when all models are loaded.
    """
    make_private(plan.folder)
    log = open_log(plan.log_url)
    life = Life(Service(plan.models, log), is_patient=plan.is_patient, early=plan.early)
    life.settle = collect_less
    if tell is None and plan.ready is not None:
        tell = partial(replace_text, plan.ready)
    if tell is not None:
        life.tell_ready = lambda: tell(plan.say_ready(life.service.names()))
    config = _configure(plan, life)
    collect_less()
    sys.setswitchinterval(TURN)
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: None)  # the server has obeyed when it is raised
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(Server(config, life).serve_until(listener, parent))
    log.close()
    if life.error is not None:
        raise life.error


def _configure(plan: Plan, life: Life) -> uvicorn.Config:
    """Return how to serve a plan."""
    limits = Limits()
    counts = None if plan.counts is None else Path(plan.counts)
    app = create_app(
        life.service,
        plan.guard,
        folder=Path(plan.models),
        limits=limits,
        metrics=Metrics(counts, plan.worker),
        life=life,
    )
    return uvicorn.Config(
        app,
        http=bounded(limits),
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=KEPT,
        timeout_graceful_shutdown=GRACE,
    )


def main() -> None:
    """Read a plan from standard input and serve it."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    told = json.loads(_first_line(sys.stdin.fileno()))
    listener = socket.socket(fileno=told["handle"])
    serve(Plan(**told["plan"]), listener, parent=sys.stdin.fileno())


def _first_line(handle: int) -> bytes:
    """Return a line; what comes after it is left unread."""
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(handle, 1)
        if not part:
            break
        line += part
    return line


if __name__ == "__main__":
    main()

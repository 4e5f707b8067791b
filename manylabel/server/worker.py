"""A process that serves: ``python -m manylabel.server.worker``, told by its parent."""

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from manylabel.server.app import create_app
from manylabel.server.connections import bounded
from manylabel.server.limits import Limits
from manylabel.server.log import open_log
from manylabel.server.metrics import Metrics
from manylabel.server.plan import Plan
from manylabel.server.service import Service

GRACE = 10  # seconds for requests to be answered when the server ends
KEPT = 60  # seconds for which a connection without requests is kept


class Server(uvicorn.Server):
    """Ends quietly: a signal that was obeyed is not raised again."""

    def obey(self) -> None:
        """Let ``SIGINT`` and ``SIGTERM`` end the server, with status 0."""
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, lambda *_: None)

    def watch(self, handle: int) -> None:
        """End when a file is at its end: whoever holds the other end is gone."""

        def look() -> None:
            if not os.read(handle, 1):
                self.should_exit = True
                asyncio.get_running_loop().remove_reader(handle)

        asyncio.get_running_loop().add_reader(handle, look)


def serve(plan: Plan, listener: socket.socket, *, parent: int | None = None) -> None:
    """Serve until a signal comes, or the parent is gone.

    Parameters
    ----------
    plan : Plan
        What to serve.
    listener : socket
        Bound and listening.
    parent : int or None, default=None
        A file whose end says that whoever started this process is gone.
    """
    limits = Limits()
    log = open_log(plan.log_url)
    service = Service(Path(plan.models), log)
    counts = None if plan.counts is None else Path(plan.counts)
    app = create_app(
        service,
        plan.guard,
        folder=Path(plan.models),
        limits=limits,
        metrics=Metrics(counts, plan.worker),
        is_stopping=lambda: server.should_exit,
    )
    config = uvicorn.Config(
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
    server = Server(config)
    server.obey()
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        runner.run(_run(server, listener, parent))


async def _run(server: Server, listener: socket.socket, parent: int | None) -> None:
    if parent is not None:
        server.watch(parent)
    await server.serve([listener])


def main() -> None:
    """Read a plan from standard input and serve it."""
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
    told = json.loads(sys.stdin.buffer.raw.readline())
    listener = socket.socket(fileno=told["handle"])
    serve(Plan(**told["plan"]), listener, parent=sys.stdin.fileno())


if __name__ == "__main__":
    main()

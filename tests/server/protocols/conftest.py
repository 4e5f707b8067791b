"""A service with one small model, behind the routes of the application."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

import manylabel as ml
from manylabel.server.app import create_app
from manylabel.server.log import Log, open_log
from manylabel.server.replica import Replica
from manylabel.server.security import Guard, Tokens
from manylabel.server.service import Service

MENU = "menu"
TEXTS = ["red wine", "white wine", "rye bread", "white bread", "wine and bread"] * 4
TAGS = [["drink", "red"], ["drink"], ["food"], ["food"], ["drink", "food"]] * 4
JSON = {"content-type": "application/json"}


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Return the body as what its JSON says."""
        return json.loads(self.body)


class Served(NamedTuple):
    """A running service, and requests to its application without a network."""

    app: Any
    replica: Replica
    log: Log
    tokens: Tokens

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        """Send a request without a body."""
        return asyncio.run(self._ask("GET", path, b"", headers or {}))

    def post(
        self, path: str, body: Any, headers: dict[str, str] | None = None
    ) -> Answer:
        """Send a body, as JSON unless it is bytes."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return asyncio.run(self._ask("POST", path, sent, {**JSON, **(headers or {})}))

    def kinds(self) -> list[str]:
        """Return what kinds of events are in the log, but for versions."""
        skipped = ("version", "activate")
        return [e.kind for e in self.log.read(0, 10_000) if e.kind not in skipped]

    def last(self) -> dict[str, Any]:
        """Return the body of the last event."""
        return self.log.read(self.log.last() - 1, 1)[0].body

    async def _ask(
        self, method: str, url: str, body: bytes, headers: dict[str, str]
    ) -> Answer:
        path, _, query = url.partition("?")
        named = {"host": "localhost", "content-length": str(len(body)), **headers}
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(k.lower().encode(), v.encode()) for k, v in named.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        pairs = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
        content = b"".join(part.get("body", b"") for part in sent[1:])
        return Answer(sent[0]["status"], pairs, content)


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> Path:
    """Return the folder of a fitted model."""
    folder = tmp_path_factory.mktemp("saved") / MENU
    ml.Tagger(ml.OneVsRest()).fit(TEXTS, TAGS).save(folder)
    return folder


@pytest.fixture(scope="module")
def served(saved, tmp_path_factory) -> Iterator[Served]:
    """Serve the model as long as a file of tests runs."""
    folder = tmp_path_factory.mktemp("models")
    (folder / MENU).symlink_to(saved)
    log = open_log(f"sqlite:///{folder}/log.db")
    service = Service(folder, log).start()
    tokens = Tokens(folder / ".serve")
    app = create_app(service, Guard(tokens), folder=folder)
    replica = service.replica(MENU)
    assert replica.wait(1, timeout=60)
    yield Served(app, replica, log, tokens)
    service.stop()
    log.close()

"""A service with one small model, behind the routes of the application."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from fastapi.testclient import TestClient

import manylabel as ml
from manylabel.server.app import create_app
from manylabel.server.log import Log, open_log
from manylabel.server.replica import Replica
from manylabel.server.security import Guard, Tokens
from manylabel.server.service import Service

MENU = "menu"
TEXTS = ["red wine", "white wine", "rye bread", "white bread", "wine and bread"] * 4
TAGS = [["drink", "red"], ["drink"], ["food"], ["food"], ["drink", "food"]] * 4


class Served(NamedTuple):
    """A running service and a client of it."""

    client: TestClient
    replica: Replica
    log: Log
    tokens: Tokens

    def kinds(self) -> list[str]:
        """Return what is in the log, but for versions."""
        skipped = ("version", "activate")
        return [e.kind for e in self.log.read(0, 10_000) if e.kind not in skipped]

    def last(self):
        """Return the body of the last event."""
        return self.log.read(self.log.last() - 1, 1)[0].body


@pytest.fixture(scope="session")
def saved(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / MENU
    ml.Tagger(ml.OneVsRest()).fit(TEXTS, TAGS).save(folder)
    return folder


@pytest.fixture(scope="module")
def served(saved, tmp_path_factory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("models")
    (folder / MENU).symlink_to(saved)
    log = open_log(f"sqlite:///{folder}/log.db")
    service = Service(folder, log)
    tokens = Tokens(folder / ".serve")
    app = create_app(service, Guard(tokens), folder=folder)
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        yield Served(client, _wait(service), log, tokens)
    log.close()


def _wait(service: Service) -> Replica:
    for _ in range(6000):
        if MENU in service.names() and service.replica(MENU).wait(1, timeout=60):
            return service.replica(MENU)
    raise AssertionError("The model was not loaded.")

"""What a service answers that has just been started."""

from threading import Event

import pytest
from starlette.testclient import TestClient

from manylabel.server.app import create_app
from manylabel.server.log import open_log
from manylabel.server.security import Guard
from manylabel.server.service import Service


@pytest.fixture
def starting(models, tokens, monkeypatch):
    """Return a client of a service that has not looked at its folder yet."""
    go, look = Event(), Service.look
    monkeypatch.setattr(Service, "look", lambda self: go.wait(60) and look(self))
    tokens.path.parent.mkdir()
    log = open_log(f"sqlite:///{models / 'log.db'}")
    app = create_app(Service(models, log), Guard(tokens), folder=models)
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        client.go = go.set
        yield client
        go.set()
    log.close()


def test_no_model_is_missing_before_the_folder_was_looked_at(starting, wait_for):
    asked = {"items": [{"text": "red wine"}]}
    for name in ("menu", "nosuch"):
        answer = starting.post(f"/v1/models/{name}/predict", json=asked)
        assert answer.status_code == 503
        assert answer.json()["type"] == "urn:manylabel:not-ready"
    assert starting.get("/v1/models").status_code == 503
    assert starting.get("/v1/projects").status_code == 503
    starting.go()
    wait_for(lambda: starting.get("/health/ready").status_code == 200)
    assert starting.get("/v1/models").json() == {"models": ["menu", "rows"]}
    assert starting.get("/v1/models/nosuch").status_code == 404

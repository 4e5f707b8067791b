"""The description of the API holds for whatever is sent."""

import socket
import threading
from contextlib import suppress

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from manylabel.server.app import OPERATIONS, TAGGING
from manylabel.server.security import SCOPES, Tokens

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# The first does not end, each of the second would start a process, and no schema tells
# what an archive is.
LEFT_OUT = ["events", "retrain", "upload"]


@pytest.fixture(scope="module")
def secret(shared):
    return Tokens(shared / ".serve").add("fuzz", scopes=SCOPES, models=[])


@pytest.fixture(scope="module")
def api(secret, running, shared):
    """Return the description, read from a server on loopback in a thread."""
    patch = pytest.MonkeyPatch()
    patch.setattr("manylabel.server.api.HEARSAY", 0.0)
    with running(shared) as client, socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(client.app, lifespan="off", log_config=None)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/openapi.json"
        yield schemathesis.openapi.from_url(url).exclude(operation_id=LEFT_OUT)
        server.should_exit = True
        thread.join()
    patch.undo()


@pytest.mark.slow
def test_no_request_breaks_the_server_or_its_description(api, secret):
    tried = set()
    for operation in api.get_all_operations():
        send(operation.ok(), secret, tried)
    assert len(tried) == len(list(api.get_all_operations()))


def send(operation, secret, tried):
    """Send what fits an operation's description, and what does not."""
    token = {"Authorization": f"Bearer {secret}"}
    for mode in GenerationMode:

        @given(operation.as_strategy(generation_mode=mode))
        @settings(max_examples=25, suppress_health_check=list(HealthCheck))
        def once(case):
            if "model" in (case.path_parameters or {}) and case.method != "PUT":
                case.path_parameters["model"] = "menu"
            case.call_and_validate(checks=CHECKS, headers=token)
            tried.add(operation.label)

        with suppress(Unsatisfiable):  # there is nothing that would not fit
            once()


def test_every_route_has_a_summary_and_an_example_of_its_body(http):
    document = http.get("/openapi.json").json()
    for route in (*TAGGING, *OPERATIONS):
        described = document["paths"][route.path][route.method.lower()]
        assert described["description"]
        for status in ("401", "403", "404", "422", "503"):
            content = described["responses"][status]["content"]
            assert list(content) == ["application/problem+json"]
        for body in described.get("requestBody", {}).get("content", {}).values():
            form = body["schema"]
            name = form.get("$ref", "").rpartition("/")[2]
            if name:
                form = document["components"]["schemas"][name]
            assert "example" in body or "examples" in form or form["type"] == "string"

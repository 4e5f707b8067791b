"""What is too much is refused, and the server goes on."""

import gzip
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from manylabel.server.limits import Limits
from manylabel.server.replica import Replica

MENU = "/v1/models/menu"
ITEMS = {"items": [{"text": "wine"}]}
JSON = {"content-type": "application/json"}


def test_long_bodies_are_refused_with_and_without_a_length(models, running):
    limits = Limits(body_bytes=2000, upload_bytes=5000)
    with running(models, limits=limits) as client:
        whole = client.post(f"{MENU}/predict", content=b" " * 2001, headers=JSON)
        parts = (b" " * 1000 for _ in range(3))
        chunked = client.post(f"{MENU}/predict", content=parts, headers=JSON)
        parts = (b" " * 1000 for _ in range(3))
        parsed = client.post(f"{MENU}/explain", content=parts, headers=JSON)
        tar = {"content-type": "application/x-tar"}
        upload = client.put(MENU, content=b" " * 5001, headers=tar)
        for answer in (whole, chunked, parsed, upload):
            assert (answer.status_code, answer.json()["title"]) == (
                413,
                "Body too large",
            )
        assert client.post(f"{MENU}/predict", json=ITEMS).status_code == 200


def test_compressed_bodies_are_refused_unread(http):
    bomb = gzip.compress(b" " * 10_000_000)
    headers = {**JSON, "content-encoding": "gzip"}
    answer = http.post(f"{MENU}/predict", content=bomb, headers=headers)
    assert (answer.status_code, answer.json()["title"]) == (415, "Encoded body")


def test_too_many_requests_are_told_when_to_come_again(models, running):
    with running(models, limits=Limits(in_flight=0)) as client:
        answer = client.post(f"{MENU}/predict", json=ITEMS)
        assert answer.status_code == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert client.get("/health/live").status_code == 200


def test_a_client_with_more_than_its_share_is_told_so(models, running):
    with running(models, limits=Limits(in_flight_of_one=0)) as client:
        answer = client.post(f"{MENU}/predict", json=ITEMS)
        assert (answer.status_code, answer.json()["title"]) == (
            429,
            "Too many requests",
        )
        assert int(answer.headers["retry-after"]) >= 1
        assert client.get("/health/live").status_code == 200


def test_a_token_that_has_its_share_leaves_others_theirs(
    models, tokens, running, monkeypatch
):
    first, second = (
        {"authorization": f"Bearer {tokens.add(name, scopes=['read'], models=[])}"}
        for name in ("ann", "bob")
    )
    guess = {"authorization": "Bearer guess"}
    begun, goes_on, card = Event(), Event(), Replica.card

    def dawdle(replica):
        begun.set()
        goes_on.wait(20)
        return card(replica)

    monkeypatch.setattr(Replica, "card", dawdle)
    with running(models, limits=Limits(in_flight_of_one=1)) as client:
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(client.get, MENU, headers=first)
            assert begun.wait(20)
            refused = client.post(f"{MENU}/predict", json=ITEMS, headers=first)
            answered = client.post(f"{MENU}/predict", json=ITEMS, headers=second)
            unknown = client.post(f"{MENU}/predict", json=ITEMS, headers=guess)
            goes_on.set()
        again = client.post(f"{MENU}/predict", json=ITEMS, headers=first)
    found = [each.status_code for each in (refused, answered, unknown, again)]
    assert found == [429, 200, 401, 200]
    assert waiting.result().status_code == 200


def test_too_many_streams_are_refused(models, running):
    with running(models, limits=Limits(streams=0)) as client:
        answer = client.get(f"{MENU}/events")
        assert (answer.status_code, answer.json()["title"]) == (503, "Busy")


def test_an_answer_that_takes_too_long_is_given_up(models, running, monkeypatch):
    monkeypatch.setattr("manylabel.server.api.HEARSAY", 60.0)
    with running(models, limits=Limits(request_seconds=0.2)) as client:
        answer = client.post(f"{MENU}/predict", json=ITEMS, params={"after": 10**6})
        assert (answer.status_code, answer.json()["title"]) == (504, "Took too long")


def test_a_request_with_two_hosts_is_refused(http):
    hosts = [("host", "localhost"), ("host", "example.org")]
    for headers in (hosts, hosts[::-1]):
        answer = http.get("/v1/models", headers=headers)
        assert (answer.status_code, answer.json()["title"]) == (400, "Two hosts")


def test_few_large_predictions_run_at_a_time_and_small_ones_do_not_wait(
    http, monkeypatch
):
    running, most, predict = [], [0], Replica.predict

    def dawdle(replica, items, **options):
        running.append(len(items))
        most[0] = max(most[0], sum(n > 1 for n in running))
        time.sleep(0.1 if len(items) > 1 else 0.0)
        running.remove(len(items))
        return predict(replica, items, **options)

    monkeypatch.setattr(Replica, "predict", dawdle)
    large = {"items": ITEMS["items"] * 50}
    with ThreadPoolExecutor(6) as pool:
        waiting = [
            pool.submit(http.post, f"{MENU}/predict", json=large) for _ in range(6)
        ]
        while not running:
            time.sleep(0.001)
        assert http.post(f"{MENU}/predict", json=ITEMS).status_code == 200
        assert not all(each.done() for each in waiting)
        assert {each.result().status_code for each in waiting} == {200}
    assert most == [2]


@pytest.mark.parametrize("verb", ["predict", "feedback", "explain"])
def test_a_client_that_breaks_off_is_no_fault_of_the_server(http, caplog, verb):
    scope = {
        **{"type": "http", "method": "POST", "path": f"{MENU}/{verb}"},
        **{"query_string": b"", "http_version": "1.1", "scheme": "http"},
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
    }
    parts = [{"type": "http.request", "body": b"[", "more_body": True}]
    answers = []

    async def receive():
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(message):
        answers.append(message)

    http.portal.call(http.app, scope, receive, send)
    assert answers[0]["status"] == 400
    assert not caplog.records


class Raw:
    """A connection on which bytes are sent as they are."""

    def __init__(self, served):
        self.socket = socket.create_connection((served.host, served.port), timeout=30)

    def send(self, content):
        """Send bytes."""
        self.socket.sendall(content)

    def read(self):
        """Return all that comes until the other end closes."""
        parts = []
        try:
            while part := self.socket.recv(1 << 16):
                parts.append(part)
        except ConnectionResetError:
            pass
        self.socket.close()
        return b"".join(parts)


@pytest.mark.slow
def test_what_is_wrong_on_the_wire_is_refused(serve, models):
    served = serve().wait()
    _refuses_a_head_without_end(served)
    _refuses_a_body_that_does_not_come(served)
    _refuses_what_is_not_http(served)
    assert served.wait()  # it still answers
    assert served.end()[0] == 0


def _refuses_a_head_without_end(served):
    raw = Raw(served)
    raw.send(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    try:
        for _ in range(100):
            raw.send(b"X-Long: " + b"a" * 10_000 + b"\r\n")
    except OSError:
        pass  # it was closed while we were sending
    answer = raw.read()  # nothing, if it was closed before all was read
    assert not answer or answer.startswith(b"HTTP/1.1 431")
    for size, status in ((100_000, b"431"), (60_000, b"200")):
        raw = Raw(served)
        one = b"X-One: " + b"a" * size
        raw.send(
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n%b\r\n\r\n"
            % one
        )
        assert raw.read().startswith(b"HTTP/1.1 " + status)
    raw = Raw(served)
    try:
        raw.send(b"GET / HTTP/1.1\r\nX-One: ")
        for _ in range(20):
            raw.send(b"a" * 10_000)
            time.sleep(0.01)
    except OSError:
        pass
    assert b"200 OK" not in raw.read()


def _refuses_a_body_that_does_not_come(served):
    raw = Raw(served)
    start = time.monotonic()
    raw.send(
        b"POST /v1/models/menu/predict HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    )
    assert raw.read().startswith(b"HTTP/1.1 408")
    assert time.monotonic() - start < 2 * Limits().body_seconds


def _refuses_what_is_not_http(served):
    raw = Raw(served)
    raw.send(b"\x16\x03\x01 nonsense\r\n\r\n")
    assert raw.read().startswith(b"HTTP/1.1 400")


@pytest.mark.slow
def test_a_head_that_does_not_come_is_not_waited_for(serve):
    served = serve().wait()
    raw = Raw(served)
    start = time.monotonic()
    raw.send(b"GET / HTTP/1.1\r\nHo")
    assert raw.read() == b""
    assert time.monotonic() - start < 2 * Limits().header_seconds

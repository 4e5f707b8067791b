"""Requests over HTTP/1.1, sent again where that is safe."""

import json
import random
import threading
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from manylabel._escapes import escape_line
from manylabel.client._records import RequestFailed

AGAIN = (408, 429, 502, 503, 504)  # statuses after which a request is sent again
REFUSED = (429, 503)  # of these, nothing was done
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0  # seconds between attempts
SHOWN = 200  # characters of an answer that is no problem details


class Call(NamedTuple):
    """A request."""

    method: str
    path: str
    query: Mapping[str, Any] = {}
    body: Any = None
    headers: Mapping[str, str] = {}
    repeatable: bool = True  # to do it twice is to do it once


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: bytes
    retry_after: float | None

    def json(self) -> Any:
        """Return its content, or raise what went wrong."""
        try:
            content = json.loads(self.body) if self.body else {}
        except ValueError:
            content = {"detail": self.body[:SHOWN].decode("utf-8", "replace")}
        if self.status < 400:  # noqa: PLR2004
            return content
        about = content if isinstance(content, dict) else {}
        detail = str(about.get("detail") or f"The server answered {self.status}.")
        raise RequestFailed(self.status, escape_line(detail), about)


class Transport:
    """Sends calls to one server, by one connection for each thread.

    Parameters
    ----------
    url : str
        Of the server.
    token : str or None
        Sent with each request.
    timeout : float
        Seconds to wait for an answer.
    retries : int
        How often a call is sent again.
    """

    def __init__(
        self, url: str, token: str | None, timeout: float, retries: int
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must be http://host or https://host. Got {url!r}.")
        self.url = url.rstrip("/")
        self._parts = parts
        self._headers = {"Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout
        self._retries = retries
        self._local = threading.local()
        self._opened: list[HTTPConnection] = []

    def send(self, call: Call) -> Any:
        """Send a call, again and again if need be, and return what was answered."""
        for attempt in range(self._retries + 1):
            is_last = attempt == self._retries
            try:
                answer = self._send_once(call)
            except (OSError, HTTPException) as error:
                self._drop()
                if is_last or not call.repeatable:
                    reason = str(error) or type(error).__name__
                    raise RequestFailed(
                        0, f"{self.url} did not answer: {escape_line(reason)}."
                    ) from error
                pause = None
            else:
                again = AGAIN if call.repeatable else REFUSED
                if answer.status not in again or is_last:
                    return answer.json()
                pause = answer.retry_after
            time.sleep(_pause(attempt) if pause is None else pause)
        raise AssertionError("unreachable")  # the last attempt returns or raises

    def close(self) -> None:
        """Close all connections."""
        while self._opened:
            self._opened.pop().close()
        self._local = threading.local()

    def _send_once(self, call: Call) -> Answer:
        headers, body = {**self._headers, **call.headers}, None
        if call.body is not None:
            body = json.dumps(call.body).encode()
            headers["Content-Type"] = "application/json"
        given = {name: it for name, it in call.query.items() if it is not None}
        query = f"?{urlencode(given)}" if given else ""
        path = f"{self._parts.path.rstrip('/')}{call.path}{query}"
        connection = self._connection()
        connection.request(call.method, path, body, headers)
        with connection.getresponse() as response:
            after = response.headers.get("Retry-After", "")
            seconds = min(float(after), LONGEST_PAUSE) if after.isdecimal() else None
            return Answer(response.status, response.read(), seconds)

    def _connection(self) -> HTTPConnection:
        found: HTTPConnection | None = getattr(self._local, "connection", None)
        if found is None:
            kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
            host = self._parts.hostname or ""
            found = kind(host, self._parts.port, timeout=self._timeout)
            self._local.connection = found
            self._opened.append(found)
        return found

    def _drop(self) -> None:
        """Begin anew: the connection is in no known state."""
        found = getattr(self._local, "connection", None)
        if found is not None:
            found.close()
            self._local.connection = None
            if found in self._opened:
                self._opened.remove(found)


def _pause(attempt: int) -> float:
    """Return how long to wait: twice as long each time, and never all at once."""
    longest = min(FIRST_PAUSE * 2.0**attempt, LONGEST_PAUSE)
    return longest * random.uniform(0.5, 1.0)

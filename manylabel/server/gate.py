"""What every request passes: limits, headers, counts, and one answer to all errors."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from manylabel.server.errors import Busy
from manylabel.server.limits import (
    BodyBrokenOff,
    BodyTooLarge,
    BodyTooSlow,
    EncodedBody,
    Limits,
    TookTooLong,
    TooManyRequests,
    TwoHosts,
)
from manylabel.server.metrics import Metrics
from manylabel.server.problems import MEDIA_TYPE, UNEXPECTED, tell
from manylabel.server.security import Guard

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

HEALTH = "/health/"  # is answered however busy the server is
DECODED = "manylabel.headers"  # in the scope: the headers as strings
DEADLINE = "manylabel.deadline"  # in the scope: what a stream of events lifts
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
log = logging.getLogger("manylabel.server")


class Gate:
    """The outermost layer of the application.

    Parameters
    ----------
    app : callable
        What answers, as ASGI has it.
    guard : Guard
        Who refuses what comes from other sites.
    limits : Limits
        How much a request may ask for.
    metrics : Metrics
        Where requests are counted.
    """

    def __init__(
        self, app: App, *, guard: Guard, limits: Limits, metrics: Metrics
    ) -> None:
        self.app = app
        self.guard = guard
        self.limits = limits
        self.metrics = metrics
        self.n_in_flight = 0
        self.in_flight: dict[str, int] = {}  # by client

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        answer = Answer(send)
        headers = scope[DECODED] = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        client = self.guard.tell_client(headers, scope.get("client"))
        self.in_flight[client] = self.in_flight.get(client, 0) + 1
        self.n_in_flight += 1
        try:
            self._check(scope, headers, client)
            await self._pass(scope, receive, answer)
        except Exception as error:
            await self._refuse(scope, answer, error)
        finally:
            self.n_in_flight -= 1
            self.in_flight[client] -= 1
            if not self.in_flight[client]:
                del self.in_flight[client]
            route = getattr(scope.get("route"), "path", "other")
            seconds = time.perf_counter() - start
            self.metrics.observe(scope["method"], route, answer.status, seconds)

    def _check(self, scope: Message, headers: Mapping[str, str], client: str) -> None:
        """Refuse what can be told to be wrong, or too much, by its head."""
        if sum(name == b"host" for name, _ in scope["headers"]) > 1:
            raise TwoHosts("The request must have one header Host.")
        if not scope["path"].startswith(HEALTH):
            if self.n_in_flight > self.limits.in_flight:
                raise Busy("More requests are in flight than may be; try again.")
            share = self.limits.in_flight_of_one
            if self.in_flight[client] > share:
                what = f"At most {share} requests of one client may be in flight"
                raise TooManyRequests(f"{what}; try again.")
        self.guard.check_origin(headers)
        if headers.get("content-encoding", "identity") != "identity":
            raise EncodedBody("The body must not be compressed.")
        length, most = headers.get("content-length", ""), self._most(scope)
        if length.isdecimal() and int(length) > most:
            raise _too_large(most)

    async def _pass(self, scope: Message, receive: Receive, answer: "Answer") -> None:
        """Let the application answer, in time."""
        is_upload = scope["method"] == "PUT"
        seconds = None if is_upload else self.limits.request_seconds
        body = None
        try:
            async with asyncio.timeout(seconds) as deadline:
                scope[DEADLINE] = deadline
                if scope["method"] not in ("GET", "HEAD"):
                    patience = None if is_upload else self.limits.body_seconds
                    body = Body(receive, self._most(scope), patience, deadline)
                await self.app(scope, body or receive, answer)
        except TimeoutError:
            if not deadline.expired():
                raise
            if body is not None and body.is_awaited:
                patience = self.limits.body_seconds
                raise BodyTooSlow(
                    f"The body must come within {patience:g} s."
                ) from None
            raise TookTooLong(f"No answer was ready within {seconds:g} s.") from None

    def _most(self, scope: Message) -> int:
        return self.limits.bytes_of(scope["method"])

    async def _refuse(self, scope: Message, answer: "Answer", error: Exception) -> None:
        problem = tell(error)
        if problem.kind is UNEXPECTED:
            log.error("%s %r failed", scope["method"], scope["path"], exc_info=error)
        if answer.is_whole:  # the framework has answered, and then raised
            return
        if answer.status:  # it has begun: all that is left is to break it off
            raise error
        body = problem.body(scope["path"])
        await answer(
            {
                "type": "http.response.start",
                "status": problem.kind.status,
                "headers": [
                    (b"content-type", MEDIA_TYPE.encode()),
                    (b"content-length", str(len(body)).encode()),
                    *(
                        (name.lower().encode(), it.encode())
                        for name, it in problem.kind.headers
                    ),
                ],
            }
        )
        await answer({"type": "http.response.body", "body": body})


class Answer:
    """Sends an answer on, with the headers that every answer has."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0  # nothing is sent yet
        self.is_whole = False

    async def __call__(self, message: Message) -> None:
        """Send a part of it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *HEADERS]
        else:
            self.is_whole = not message.get("more_body", False)
        await self._send(message)


class Body:
    """Receives a body as long as it is short and quick enough.

    Parameters
    ----------
    receive : callable
        What receives the parts.
    most : int
        Bytes that it may have.
    seconds : float or None
        In which it must come, once it is asked for; None for as long as it takes.
    deadline : Timeout
        Of the request, brought forward as long as the body is awaited.

    Attributes
    ----------
    is_awaited : bool
        Whether some of it was asked for, and not all has come.
    """

    def __init__(
        self,
        receive: Receive,
        most: int,
        seconds: float | None,
        deadline: asyncio.Timeout,
    ) -> None:
        self._receive = receive
        self._most = most
        self._size = 0
        self._seconds = seconds
        self._deadline = deadline
        self._until = deadline.when()
        self._whole = False
        self.is_awaited = False

    async def __call__(self) -> Message:
        """Receive a part of it, or that nobody waits for the answer any more."""
        if self._whole:
            return await self._receive()
        if not self.is_awaited:
            self.is_awaited = True
            self._hurry()
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise BodyBrokenOff("The body must come whole.")
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > self._most:
            raise _too_large(self._most)
        if self._whole:
            self.is_awaited = False
            self._deadline.reschedule(self._until)
        return message

    def _hurry(self) -> None:
        if self._seconds is not None and self._until is not None:
            soon = asyncio.get_running_loop().time() + self._seconds
            self._deadline.reschedule(min(soon, self._until))


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body must have at most {most:,} bytes.")

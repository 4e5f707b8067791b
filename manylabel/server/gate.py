"""What every request passes: limits, headers, counts, and one answer to all errors."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from manylabel.server.errors import Busy
from manylabel.server.limits import (
    BodyBrokenOff,
    BodyTooLarge,
    BodyTooSlow,
    EncodedBody,
    Limits,
    TookTooLong,
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
        self.in_flight = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        answer = Answer(send)
        self.in_flight += 1
        try:
            await self._pass(scope, receive, answer)
        except Exception as error:
            await self._refuse(scope, answer, error)
        finally:
            self.in_flight -= 1
            route = getattr(scope.get("route"), "path", "other")
            seconds = time.perf_counter() - start
            self.metrics.observe(scope["method"], route, answer.status, seconds)

    async def _pass(self, scope: Message, receive: Receive, answer: "Answer") -> None:
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        if sum(name == b"host" for name, _ in scope["headers"]) > 1:
            raise TwoHosts("The request must have one header Host.")
        most = self.limits.bytes_of(scope["method"])
        if self.in_flight > self.limits.in_flight and not scope["path"].startswith(
            HEALTH
        ):
            raise Busy("More requests are in flight than may be; try again.")
        self.guard.check_origin(headers)
        if headers.get("content-encoding", "identity") != "identity":
            raise EncodedBody("The body must not be compressed.")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > most:
            raise _too_large(most)
        is_upload = scope["method"] == "PUT"
        patience = None if is_upload else self.limits.body_seconds
        body = (
            receive
            if scope["method"] in ("GET", "HEAD")
            else Body(receive, most, patience)
        )
        try:
            async with asyncio.timeout(
                None if is_upload else self.limits.request_seconds
            ) as deadline:
                scope[DEADLINE] = deadline
                await self.app(scope, body, answer)
        except TimeoutError:
            if not deadline.expired():
                raise
            seconds = self.limits.request_seconds
            raise TookTooLong(f"No answer was ready within {seconds:g} s.") from None

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
    """Receives a body as long as it is short and quick enough."""

    def __init__(self, receive: Receive, most: int, seconds: float | None) -> None:
        self._receive = receive
        self._most = most
        self._size = 0
        self._seconds = seconds
        self._until = (
            None if seconds is None else asyncio.get_running_loop().time() + seconds
        )
        self._whole = False

    async def __call__(self) -> Message:
        """Receive a part of it, or that nobody waits for the answer any more."""
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise BodyTooSlow(
                f"The body must come within {self._seconds:g} s."
            ) from None
        if message["type"] == "http.disconnect":
            raise BodyBrokenOff("The body must come whole.")
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > self._most:
            raise _too_large(self._most)
        return message


def _too_large(most: int) -> BodyTooLarge:
    return BodyTooLarge(f"The body must have at most {most:,} bytes.")

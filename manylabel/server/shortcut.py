"""A way around the framework for single predictions.

Routing, solving of parameters and exit stacks of the framework take longer than a small
prediction. What is asked most often, and in the plainest form, goes straight to the
method that the route names; all else takes the route.
"""

import re

from manylabel.server.api import JSON, Tagging
from manylabel.server.gate import DECODED, App, Message, Receive, Send

PATH = re.compile(r"/v1/models/([^/]+)/predict")
AFTER = re.compile(rb"(?:after=(\d{1,15}))?")


class Route:
    """What requests that take the shortcut are counted as."""

    path = "/v1/models/{model}/predict"


class Sent:
    """A request, as far as it is read.

    Parameters
    ----------
    headers : dict
        By names in lower case.
    receive : callable
        What receives the body, as ASGI has it.
    """

    def __init__(self, headers: dict[str, str], receive: Receive) -> None:
        self.headers = headers
        self._receive = receive

    async def body(self) -> bytes:
        """Return the body once it has come."""
        parts, more = [], True
        while more:
            message = await self._receive()
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
        return b"".join(parts)


class Shortcut:
    """Answers predictions, and hands all else on.

    Parameters
    ----------
    app : callable
        What answers all else, as ASGI has it.
    tagging : Tagging
        Whose ``predict`` answers.
    """

    def __init__(self, app: App, *, tagging: Tagging) -> None:
        self.app = app
        self.tagging = tagging

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            path = PATH.fullmatch(scope["path"])
            query = AFTER.fullmatch(scope["query_string"])
            if path and query:
                scope["route"] = Route
                after = None if query[1] is None else int(query[1])
                sent = Sent(scope[DECODED], receive)
                await _answer(await self.tagging.tag(sent, path[1], after), send)
                return
        await self.app(scope, receive, send)


async def _answer(content: bytes, send: Send) -> None:
    length = (b"content-length", str(len(content)).encode())
    kind = (b"content-type", JSON.encode())
    headers = [length, kind]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": content})

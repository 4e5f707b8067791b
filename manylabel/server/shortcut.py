"""A way around the framework for single predictions.

Routing, solving of parameters and exit stacks of the framework take longer than a small
prediction. What is asked most often, and in the plainest form, goes straight to the
method that the route names; all else takes the route.
"""

import re

from fastapi import Request

from manylabel.server.api import Tagging
from manylabel.server.gate import App, Message, Receive, Send

PATH = re.compile(r"/v1/models/([^/]+)/predict")
AFTER = re.compile(rb"(?:after=(\d{1,15}))?")


class Route:
    """What requests that take the shortcut are counted as."""

    path = "/v1/models/{model}/predict"


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
                answer = await self.tagging.predict(
                    Request(scope, receive), path[1], after
                )
                await answer(scope, receive, send)
                return
        await self.app(scope, receive, send)

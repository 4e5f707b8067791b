"""Small predictions that are asked for at the same time, made in one go.

To tag one text takes ten times as long as each of many does. So what the event loop
reads in one turn is tagged together, and under load, when a turn had several requests,
the next waits a moment for more. One client that asks, waits and asks never waits more.
"""

import asyncio
from collections import defaultdict
from typing import NamedTuple

from manylabel.exceptions import ManylabelError
from manylabel.server import handlers
from manylabel.server.replica import Replica
from manylabel.server.schemas import PredictRequest

PAUSE = 0.004  # seconds in which requests gather under load
MOST = 64  # requests of one go, so that the event loop has its turns


class Waiting(NamedTuple):
    """A request, and the future of its answer."""

    replica: Replica
    asked: PredictRequest
    answer: "asyncio.Future[bytes]"


class Gathering:
    """Gathers small predictions on an event loop."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []
        self._is_crowded = False

    async def predict(self, replica: Replica, asked: PredictRequest) -> bytes:
        """Return the labels of items as JSON, soon."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[bytes] = loop.create_future()
        if not self._waiting:
            self._call(loop)
        self._waiting.append(Waiting(replica, asked, answer))
        return await answer

    def _call(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._is_crowded:
            loop.call_later(PAUSE, self._answer, loop)
        else:
            loop.call_soon(self._answer, loop)

    def _answer(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer those who wait, the first of them if they are many."""
        taken, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
        self._is_crowded = len(taken) > 1
        if self._waiting:
            loop.call_soon(self._answer, loop)
        groups = defaultdict(list)
        for each in taken:
            if not each.answer.done():  # else nobody waits any more
                groups[_wish(each)].append(each)
        for group in groups.values():
            _answer_group(group)


def _wish(each: Waiting) -> tuple[object, ...]:
    """Return what those have in common that can be answered together."""
    asked = each.asked
    if asked.allow is None and asked.deny is None:
        return each.replica.name, asked.k, asked.proba, asked.remember
    return (id(each),)


def _answer_group(group: list[Waiting]) -> None:
    try:
        found = handlers.predict(group[0].replica, [each.asked for each in group])
    except Exception as error:
        if len(group) == 1 or not isinstance(error, ManylabelError):
            for each in group:
                each.answer.set_exception(error)
            return
        for each in group:  # one of them is wrong, and the others are not to suffer
            _answer_group([each])
        return
    for each, content in zip(group, found, strict=True):
        each.answer.set_result(content)

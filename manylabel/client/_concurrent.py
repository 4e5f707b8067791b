"""The client for programs on an event loop: the same verbs, each to be awaited."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from manylabel.client._client import Client

P = ParamSpec("P")
R = TypeVar("R")
Verb = Callable[Concatenate[Client, P], R]
AsyncVerb = Callable[Concatenate["AsyncClient", P], Coroutine[Any, Any, R]]


def _awaited(verb: Verb[P, R]) -> AsyncVerb[P, R]:
    """Return a verb of the client that runs on a thread of the asynchronous one."""

    @wraps(verb)
    async def run(self: "AsyncClient", *args: P.args, **kwargs: P.kwargs) -> R:
        call = partial(verb, self.client, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    return run  # type: ignore[return-value]  # the first argument by its place


class AsyncClient:
    """The verbs of :class:`Client` on an event loop: each is awaited.

    Each call runs on one of a few threads, so as many calls are under way at a time.

    Parameters
    ----------
    url : str
        Of the server.
    n_connections : int, default=16
        How many calls are under way at a time.
    token, timeout, retries : object
        As of :class:`Client`.

    Attributes
    ----------
    client : Client
        What sends the calls.

    Examples
    --------
    >>> async def ask():
    ...     async with AsyncClient("http://127.0.0.1:9", retries=0) as client:
    ...         await client.predict("tags", ["red wine"])
    >>> asyncio.run(ask())
    Traceback (most recent call last):
    manylabel.client._records.RequestFailed: http://127.0.0.1:9 did not answer: ...
    """

    def __init__(
        self,
        url: str,
        *,
        n_connections: int = 16,
        token: str | None = None,
        timeout: float = 60.0,
        retries: int = 5,
    ) -> None:
        self.client = Client(url, token=token, timeout=timeout, retries=retries)
        self._threads = ThreadPoolExecutor(n_connections, "manylabel-client")

    predict = _awaited(Client.predict)
    feedback = _awaited(Client.feedback)
    feedback_many = _awaited(Client.feedback_many)
    retract = _awaited(Client.retract)
    explain = _awaited(Client.explain)
    labels = _awaited(Client.labels)
    models = _awaited(Client.models)
    card = _awaited(Client.card)
    figures = _awaited(Client.figures)
    queue = _awaited(Client.queue)
    versions = _awaited(Client.versions)
    activate = _awaited(Client.activate)
    rollback = _awaited(Client.rollback)
    retrain = _awaited(Client.retrain)
    job = _awaited(Client.job)
    wait = _awaited(Client.wait)

    async def close(self) -> None:
        """Close the connections."""
        self.client.close()
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

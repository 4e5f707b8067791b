"""Threads for what takes long: so few at a time that the event loop has its turns."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

AT_ONCE = 2  # large requests that are worked at; the others wait without a thread
P = ParamSpec("P")
R = TypeVar("R")
_limiter: RunVar[CapacityLimiter] = RunVar("large requests")  # one for each event loop


async def run_large(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Return what work returns that may take seconds, done in a thread."""
    try:
        limiter = _limiter.get()
    except LookupError:
        limiter = CapacityLimiter(AT_ONCE)
        _limiter.set(limiter)
    return await to_thread.run_sync(lambda: work(*args, **kwargs), limiter=limiter)

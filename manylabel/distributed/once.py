"""What the threads of a worker read once."""

from collections.abc import Callable
from functools import lru_cache, wraps
from threading import Lock
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
_reading = Lock()


def read_once(most: int) -> Callable[[F], F]:
    """Return a decorator that keeps what a function read, of so many arguments.

    A thread that asks meanwhile waits, and reads nothing: ``lru_cache`` alone would
    let both read.
    """

    def decorate(function: F) -> F:
        cached = lru_cache(most)(function)

        @wraps(function)
        def ask(*given: Any) -> Any:
            with _reading:
                return cached(*given)

        return cast(F, ask)

    return decorate

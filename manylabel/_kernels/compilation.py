"""Who is told when a kernel is compiled; to be imported without a compiler."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

watchers: list[Callable[[], None]] = []


@contextmanager
def watching(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` whenever a function begins to be compiled, from any thread."""
    watchers.append(tell)
    try:
        yield
    finally:
        watchers.remove(tell)

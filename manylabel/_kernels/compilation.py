"""Who is told when a kernel is compiled; to be imported without a compiler."""

from collections.abc import Callable

# Called whenever a function begins to be compiled, from any thread.
watchers: list[Callable[[], None]] = []
seconds = [0.0]  # that have been spent on it so far

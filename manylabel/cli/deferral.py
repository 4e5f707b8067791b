"""A quick start: modules that wait until they are used, and no search for garbage."""

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType


def defer(*names: str) -> None:
    """Let modules be loaded only when something in them is asked for.

    Examples
    --------
    >>> defer("wave")
    >>> import wave
    >>> wave.WAVE_FORMAT_PCM
    1
    """
    known = [finder for finder in sys.meta_path if isinstance(finder, Deferral)]
    if not known:
        sys.meta_path.insert(0, Deferral(names))
    for finder in known:
        finder.names.update(names)


class Deferral:
    """Finds modules as ever, and loads some of them late."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = set(names)

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Return how to load one of the modules, None for all others."""
        spec = PathFinder.find_spec(name, path) if name in self.names else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


@contextmanager
def starting() -> Iterator[None]:
    """Collect no garbage: what is loaded at the start is much, and all of it stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()

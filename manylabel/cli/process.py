"""What the command line does to its process: a quick start, and a Ctrl-C that is heard.

Modules wait until they are used, and no garbage is searched for at the start.
"""

import _thread
import gc
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import FrameType, ModuleType, TracebackType
from typing import Any, Self

PAUSE = 0.05  # seconds, to be out of a callback of the compiler


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


class Interrupts:
    """Note every Ctrl-C while a block runs.

    One that comes while a callback of the compiler runs is swallowed there. It is sent
    again, unless the compiler fails before with an error of its own: whoever sees that
    error looks here for its cause.
    """

    seen = False

    def __enter__(self) -> Self:
        self._handler = signal.signal(signal.SIGINT, self._note)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._pass_over
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        signal.signal(signal.SIGINT, self._handler)
        sys.unraisablehook = self._hook

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.seen = True
        raise KeyboardInterrupt

    def _pass_over(self, unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._hook(unraisable)
            return
        again = threading.Timer(PAUSE, _thread.interrupt_main)
        again.daemon = True
        again.start()

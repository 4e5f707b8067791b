"""Ctrl-C that is not lost in a compiler."""

import _thread
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, Self

PAUSE = 0.05  # seconds, to be out of the callback


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

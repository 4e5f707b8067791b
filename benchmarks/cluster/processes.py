"""Processes below this one: what they compute, and the end of one of them."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

TICKS = os.sysconf("SC_CLK_TCK")  # of a second
PAUSE = 0.5  # seconds between two looks


class Process(NamedTuple):
    """What the kernel knows of a process."""

    pid: int
    parent: int
    command: str
    seconds: float  # computed


def family() -> list[Process]:
    """Return this process and all below it."""
    found = {process.pid: process for process in _all()}
    return [each for each in found.values() if os.getpid() in _line(each, found)]


class Meter:
    """Counts the seconds that this process and all below it compute, while entered.

    It looks at them twice a second: not every parent is told what a child computed that
    has ended, and Ray's is not.
    """

    def __init__(self) -> None:
        self._before: dict[int, float] = {}
        self._last: dict[int, float] = {}
        self._looking = 0.0  # seconds, which do not count
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    @property
    def seconds(self) -> float:
        """What was computed."""
        total = sum(self._last.values()) - sum(self._before.values())
        return total - self._looking

    def __enter__(self) -> Self:
        self._look()
        self._before = dict(self._last)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._stop.wait(PAUSE):
            self._look()
        self._looking = time.thread_time()

    def _look(self) -> None:
        self._last |= {process.pid: process.seconds for process in family()}


@contextmanager
def losing(words: str, seconds: float | None) -> Iterator[list[int]]:
    """Kill one process of ours whose command has some words, after some seconds.

    None kills nobody.
    """
    lost: list[int] = []
    if seconds is None:
        yield lost
        return

    def kill() -> None:
        for process in [each for each in family() if words in each.command][:1]:
            os.kill(process.pid, signal.SIGKILL)
            lost.append(process.pid)

    timer = threading.Timer(seconds, kill)
    timer.start()
    try:
        yield lost
    finally:
        timer.cancel()


def _all() -> Iterator[Process]:
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
        except OSError:  # it has ended
            continue
        seconds = sum(map(int, stat[11:13])) / TICKS
        yield Process(int(entry.name), int(stat[1]), command, seconds)


def _line(process: Process, known: dict[int, Process]) -> Iterator[int]:
    """Yield a process and those above it."""
    while True:
        yield process.pid
        if process.parent not in known:
            return
        process = known[process.parent]

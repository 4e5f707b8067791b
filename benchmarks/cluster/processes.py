"""Processes below this one: what they compute, and the end of one of them."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")  # of a second


class Process(NamedTuple):
    """What the kernel knows of a process."""

    pid: int
    parent: int
    command: str
    seconds: float  # computed, also by its children that have ended


def family() -> list[Process]:
    """Return this process and all below it."""
    found = {process.pid: process for process in _all()}
    return [each for each in found.values() if os.getpid() in _line(each, found)]


def cpu_seconds() -> float:
    """Return the seconds that this process and all below it have computed.

    Those of a process that was orphaned are lost.
    """
    return sum(process.seconds for process in family())


@contextmanager
def losing(words: str, seconds: float) -> Iterator[list[int]]:
    """Kill one process of ours whose command has some words, after some seconds."""
    lost: list[int] = []

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
        seconds = sum(map(int, stat[11:15])) / TICKS
        yield Process(int(entry.name), int(stat[1]), command, seconds)


def _line(process: Process, known: dict[int, Process]) -> Iterator[int]:
    """Yield a process and those above it."""
    while True:
        yield process.pid
        if process.parent not in known:
            return
        process = known[process.parent]

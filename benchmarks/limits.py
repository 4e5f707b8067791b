"""Programs that are ended when their time is over."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from benchmarks.peers.programme import PeerError

PATIENCE = 4  # times the limit, on the clock: other work slows a program, and some hang
PAUSE = 0.1  # seconds between two looks at it


def run_limited(
    command: Sequence[str], limit: float, *, stderr: IO[bytes], env: dict[str, str]
) -> int:
    """Run a program; return its exit status. It is ended if we are.

    The limit is watched from here: a limit that the system watches (``RLIMIT_CPU``)
    makes Linux count CPU time in ticks, too coarse to time anything by.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    limit : float
        CPU seconds; on the clock, four times as many.
    stderr : file
        Where its errors go. What else it says is lost.
    env : dict
        Its environment.

    Raises
    ------
    TimeoutError
        If its CPU time was over.
    PeerError
        If it did not come to an end for other reasons, such as other work.
    """
    start = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=stderr, env=env
    ) as process:
        try:
            while True:
                try:
                    return process.wait(PAUSE)
                except subprocess.TimeoutExpired:
                    _check(process.pid, time.monotonic() - start, limit)
        except BaseException:
            process.kill()
            raise


def _check(pid: int, clock: float, limit: float) -> None:
    if _cpu_seconds(pid) > limit:
        raise TimeoutError
    if clock > PATIENCE * limit:
        minutes = PATIENCE * limit / 60
        raise PeerError(f"did not end within {minutes:g} minutes on a busy machine")


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has had, 0 where that cannot be told."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    # The name of the program, in brackets, may have spaces.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

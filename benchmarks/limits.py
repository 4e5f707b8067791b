"""Programs that run on their own and are ended when their time is over."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile

from benchmarks.runner import Failure

PATIENCE = 4  # times the limit, on the clock: other work slows a program, and some hang
PAUSE = 0.1  # seconds between two looks at it


def run_limited(command: Sequence[str], limit: float, env: dict[str, str]) -> None:
    """Run a program to its end. It is ended if we are.

    The limit is watched from here: a limit that the system watches (``RLIMIT_CPU``)
    makes Linux count CPU time in ticks, too coarse to time anything by.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments. What it prints is lost.
    limit : float
        CPU seconds; on the clock, four times as many.
    env : dict
        Its environment.

    Raises
    ------
    Failure
        If it did not end well, or not in time.
    """
    with TemporaryFile() as said:
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=said, env=env
        ) as process:
            status = _wait(process, limit)
        if status < 0:
            raise Failure(f"was ended by signal {-status}")
        if status:
            said.seek(0)
            raise Failure(f"failed: {last_line(said.read().decode(errors='replace'))}")


def last_line(text: str) -> str:
    r"""Return the last thing that a program said, without a full stop.

    Examples
    --------
    >>> last_line("Traceback\n  more\nERROR: No luck.\n")
    'No luck'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else "it said nothing"
    return last.removeprefix("ERROR: ").rstrip(".")


def _wait(process: subprocess.Popen[bytes], limit: float) -> int:
    start = time.monotonic()
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
        reason = f"took over {limit / 60:g} minutes of CPU time"
        raise Failure(reason, limit=limit)
    if clock > PATIENCE * limit:
        minutes = PATIENCE * limit / 60
        raise Failure(f"did not end within {minutes:g} minutes on a busy machine")


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has had, 0 where that cannot be told."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    # The name of the program, in brackets, may have spaces.
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

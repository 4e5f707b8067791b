"""Several processes on one socket: started, watched, started again, ended together.

A worker is told what to do by one line on its standard input, which then stays open:
when it closes, whoever started the worker is gone, and the worker ends too. Linux tells
it so by a signal as well, even while it is still being imported.
"""

import ctypes
import logging
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FrameType

from manylabel.server.plan import Plan

LOOK = 0.2  # seconds between looks at the workers
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # before a worker that died is started again
SETTLED = 60.0  # seconds after which a worker's death is not the fault of its start
PATIENCE = 20.0  # seconds for a worker to end before it is killed
TELL_OF_DEATH = 1  # PR_SET_PDEATHSIG of prctl
log = logging.getLogger("manylabel.server")


class Worker:
    """A process that serves, by its number.

    Parameters
    ----------
    plan : Plan
        What to serve.
    listener : socket
        That all workers share.
    """

    def __init__(self, plan: Plan, listener: socket.socket) -> None:
        self.plan = plan
        self.listener = listener
        self.n_deaths = 0
        self.begin_at = 0.0
        self.process: subprocess.Popen[str] | None = None

    def tend(self) -> None:
        """Start the process if there is none and it is time to."""
        now = time.monotonic()
        if self.process is not None:
            if self.process.poll() is None:
                return
            self._mourn(now)
        elif now >= self.begin_at:
            self._start(now)

    def said(self) -> str:
        """Return what the process, or one before it, said when it was ready."""
        if self.plan.ready is None or not self.plan.ready.exists():
            return ""
        return self.plan.ready.read_text("utf-8")

    def ask_to_end(self) -> None:
        """Tell the process to end what it has begun, and then itself."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def wait(self, until: float) -> None:
        """Wait until the process has ended; kill it if it does not."""
        if self.process is None:
            return
        try:
            self.process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            log.error("worker %d did not end and is killed", self.plan.worker)
            self.process.kill()
            self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def _start(self, now: float) -> None:
        # Only the first of all answers before it is ready: that it lives.
        is_first = self.plan.worker == 0 and not self.n_deaths
        if is_first and self.plan.early is not None:
            self.plan.early.touch()
        handle = self.listener.fileno()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "manylabel.server.worker"],
            stdin=subprocess.PIPE,
            text=True,
            pass_fds=[handle],
            start_new_session=True,  # Ctrl-C reaches whoever started it, and only that
            preexec_fn=_die_with_parent(),
        )
        self.begin_at = now
        assert self.process.stdin is not None
        plan = replace(self.plan, is_patient=not is_first)
        self.process.stdin.write(plan.to_json(handle) + "\n")
        self.process.stdin.flush()

    def _mourn(self, now: float) -> None:
        assert self.process is not None
        lasted = now - self.begin_at
        self.n_deaths = 1 if lasted > SETTLED else self.n_deaths + 1
        pause = min(FIRST_PAUSE * 2 ** (self.n_deaths - 1), LONGEST_PAUSE)
        log.error(
            "worker %d ended with status %d and is started again in %.1f s",
            *(self.plan.worker, self.process.returncode, pause),
        )
        if self.plan.worker == 0 and self.plan.early is not None:
            self.plan.early.unlink(missing_ok=True)
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process, self.begin_at = None, now + pause


def _die_with_parent() -> Callable[[], object] | None:
    """Return what asks the kernel to end a process with its parent."""
    if sys.platform != "linux":
        return None
    # Found here and not after the fork, where no lock may be taken.
    ask = ctypes.CDLL(None).prctl
    return partial(ask, TELL_OF_DEATH, int(signal.SIGTERM))


def supervise(plan: Plan, listener: socket.socket, tell: Callable[[str], None]) -> None:
    """Keep as many workers running as a plan says, until a signal comes.

    Parameters
    ----------
    plan : Plan
        What to serve.
    listener : socket
        Bound and listening.
    tell : callable
        Is told what people should know.
    """
    stopping: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.append(number)

    before = {
        each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)
    }
    with tempfile.TemporaryDirectory(prefix="manylabel-counts-") as counts:
        workers = [
            Worker(plan.of_worker(number, counts), listener)
            for number in range(plan.n_workers)
        ]
        try:
            is_told = False
            while not stopping:
                for worker in workers:
                    worker.tend()
                if not is_told and all(worker.said() for worker in workers):
                    is_told = True
                    tell(workers[0].said())
                time.sleep(LOOK)
            tell(f"Ending {plan.n_workers} workers.")
        finally:
            for worker in workers:
                worker.ask_to_end()
            until = time.monotonic() + PATIENCE
            for worker in workers:
                worker.wait(until)
            for each, handler in before.items():
                signal.signal(each, handler)

"""Jobs in the background: a process of its own learns a model anew."""

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from manylabel._validation import choice
from manylabel.learners import LEARNERS
from manylabel.server.errors import Busy, UnknownJob
from manylabel.server.settings import WINDOWS
from manylabel.server.store import Store, replace_text
from manylabel.text import QUALITIES

RUNNING, DONE, FAILED = "running", "done", "failed"
ID = re.compile(r"[0-9a-f]{32}")


class Job(NamedTuple):
    """A job: its ``state`` is running, done or failed, ``share`` is how much is done.

    Once it is done, ``version`` is what it made.
    """

    id: str
    model: str
    state: str
    share: float
    message: str
    version: str | None
    process: int


class Order(NamedTuple):
    """What is to be learnt: a model's data and log, by a learner or at a quality."""

    models: str
    log: str
    model: str
    job: str
    learner: str | None
    quality: str
    data: str | None
    who: str


class Jobs:
    """The jobs of a service, known to all processes that share its folders.

    Parameters
    ----------
    store : Store
        How far each job is stands in a file below its folder.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def start(self, order: Order) -> Job:
        """Start a process, unless the model has one already."""
        choice(order.quality, "quality", QUALITIES)
        if order.learner is not None:
            choice(order.learner, "learner", tuple(LEARNERS))
        if any(job.state == RUNNING for job in self.of(order.model)):
            raise Busy(f"Model {order.model!r} is being retrained already.")
        order = order._replace(job=uuid.uuid4().hex)
        self.write(Job(order.job, order.model, RUNNING, 0.0, "starting", None, 0))
        with open(self._path(order.job).with_suffix(".txt"), "wb") as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "manylabel.server.retraining"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        job = self.get(order.job)._replace(process=process.pid)
        self.write(job)
        Thread(target=self._await, args=(process, order), daemon=True).start()
        return job

    def get(self, job_id: str) -> Job:
        """Return how far a job is, or raise UnknownJob."""
        if not ID.fullmatch(job_id):
            raise UnknownJob(job_id)
        try:
            job = Job(**json.loads(self._path(job_id).read_bytes()))
        except FileNotFoundError:
            raise UnknownJob(job_id) from None
        if job.state == RUNNING and job.process and not _is_alive(job.process):
            return job._replace(state=FAILED, message="Its process has ended.")
        return job

    def of(self, model: str) -> list[Job]:
        """Return the jobs of a model."""
        paths = self._path("").parent.glob("*.json")
        jobs = (self.get(path.stem) for path in paths if ID.fullmatch(path.stem))
        return [job for job in jobs if job.model == model]

    def write(self, job: Job) -> None:
        """Note how far a job is."""
        replace_text(self._path(job.id), json.dumps(job._asdict()))

    def _path(self, job_id: str) -> Path:
        return self._store.kept / "jobs" / f"{job_id}.json"

    def _await(self, process: "subprocess.Popen[bytes]", order: Order) -> None:
        """Hand the order over, and note if the process fails without a word."""
        process.communicate(json.dumps(order._asdict()).encode())
        job = self.get(order.job)
        if process.returncode and job.version is None:
            said = self._path(order.job).with_suffix(".txt")
            words = said.read_text("utf-8", errors="replace").split("\n")
            why = next((line for line in reversed(words) if line.strip()), "")
            message = why or f"Its process ended with status {process.returncode}."
            self.write(job._replace(state=FAILED, message=message))


def _is_alive(process: int) -> bool:
    if WINDOWS:  # there, to ask is to interrupt; whoever started it notes its end
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def as_order(given: Any) -> Order:
    """Return the order that a process was handed."""
    return Order(**json.loads(given))

"""How fast the service answers under load, from a second process on loopback.

A tagger of Debian packages (596 labels) is fitted, or taken from a folder, and served.
Then, one after another: single texts at a rate, with feedback learnt meanwhile; single
texts as fast as they are answered; batches of texts. Requests of the first load are
sent when they are due, whether or not those before are answered, and their times count
from then: so a server that falls behind cannot hide it.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import manylabel as ml
from benchmarks.service.sender import Lane, Sender, post

MODEL = "debtags"
N_CONNECTIONS = 16
WARMING, PATIENCE = 2.0, 120.0  # seconds
BATCH = 1000
SHORT = 200  # characters of a short text


def measure_load(
    data: Path, models: Path, seconds: float, rate: float, feedback: float, workers: int
) -> dict[str, Any]:
    """Serve a model of a folder, which is fitted if it is not there, and load it."""
    test = ml.read(data / "text" / "debtags" / "test.jsonl.gz")
    if not (models / MODEL).is_dir():
        train = ml.read(data / "text" / "debtags" / "train.jsonl.gz")
        ml.Tagger().fit(train).save(models / MODEL)
    with served(models, workers) as (process, host, port):
        return Load(process, host, port, test).run(seconds, rate, feedback)


@contextmanager
def served(models: Path, workers: int) -> Iterator[tuple[int, str, int]]:
    """Serve a folder of models on a free port until the block ends."""
    command = (sys.executable, "-m", "manylabel.cli.start", "serve", str(models))
    options = ("--port", "0", "--workers", str(workers))
    with subprocess.Popen(
        [*command, *options], stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stderr is not None
        try:
            place = None
            while place is None:
                line = server.stderr.readline()
                assert line, "the server has ended"
                place = re.search(r"http://([\d.]+):(\d+)/", line)
            yield server.pid, place[1], int(place[2])
        finally:
            server.terminate()
            print(server.communicate()[1].strip(), file=sys.stderr)


class Load:
    """Requests of some kinds to one server.

    Parameters
    ----------
    process : int
        Of the server.
    host : str
        Of the server.
    port : int
        Of the server.
    test : Dataset
        Texts with labels, to ask about and to teach.
    """

    def __init__(self, process: int, host: str, port: int, test: ml.Dataset) -> None:
        self.process, self.host, self.port = process, host, port
        items = [{"text": text[:SHORT]} for text in test.texts or ()]
        names = test.labels.decode(test.Y)
        self.singles = [self.ask({"items": [item]}) for item in items]
        self.batches = [
            self.ask({"items": items[start : start + BATCH], "remember": False})
            for start in range(0, len(items) - BATCH, BATCH)
        ]
        self.feedbacks = [
            self.teach({"item": item, "accepted": labels, "complete": True})
            for item, labels in zip(items, names, strict=True)
            if labels
        ]

    def run(self, seconds: float, rate: float, feedback: float) -> dict[str, Any]:
        """Run all loads and return what they took."""
        self._ready()
        asking = Lane(self.singles, N_CONNECTIONS, rate)
        teaching = Lane(self.feedbacks, N_CONNECTIONS, feedback)
        self.send([Lane(self.singles, 2), Lane(self.feedbacks, 2, 20.0)], WARMING)
        used, (asked, taught) = self.send([asking, teaching], seconds)
        found = {
            "single texts": describe(asked, used),
            "feedback meanwhile": describe(taught, used),
        }
        used, (asked,) = self.send([asking._replace(rate=None)], seconds)
        found["all it can"] = describe(asked, used)
        used, (asked,) = self.send([Lane(self.batches, 2)], seconds)
        return found | {"batches": describe(asked, used, each=BATCH)}

    def ask(self, content: Any) -> bytes:
        """Return a request for labels."""
        return post(self.host, self.port, f"/v1/models/{MODEL}/predict", content)

    def teach(self, content: Any) -> bytes:
        """Return a request that teaches labels."""
        return post(self.host, self.port, f"/v1/models/{MODEL}/feedback", content)

    def send(
        self, lanes: list[Lane], seconds: float
    ) -> tuple["Used", list[list[float]]]:
        """Send for some seconds; return what it took, and the times of the answers."""
        start, before = time.perf_counter(), cpu_seconds(self.process)
        own = time.process_time()
        times = Sender(self.host, self.port, lanes).run(seconds)
        wall = time.perf_counter() - start
        cpu = cpu_seconds(self.process) - before
        return Used(wall, cpu, time.process_time() - own), times

    def _ready(self) -> None:
        """Wait until the model answers."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                Sender(self.host, self.port, [Lane(self.singles, 1)]).run(0.01)
                return
            except (OSError, RuntimeError):
                time.sleep(0.2)
        raise RuntimeError("the server does not become ready")


class Used(NamedTuple):
    """Seconds that a load took: of the clock, of the server's CPU, and of its own."""

    wall: float
    cpu: float
    own: float


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process and of those that it has started."""
    return sum(_own_seconds(each) for each in processes(process))


def processes(process: int) -> list[int]:
    """Return a process and those that it has started."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(each for child in listed for each in processes(int(child)))]


def _own_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def describe(times: list[float], used: Used, each: int = 1) -> dict[str, float]:
    """Return percentiles in ms, texts a second, and CPU time in ms for each text.

    The CPU time is that of all that was sent in the time; of the load itself beside it.
    """
    p50, p99, most = np.percentile(np.array(times) * 1000, [50, 99, 100])
    n_texts = len(times) * each
    return {
        "p50": round(float(p50), 2),
        "p99": round(float(p99), 2),
        "most": round(float(most), 2),
        "per_second": round(n_texts / used.wall),
        "cpu_milliseconds": round(1000 * used.cpu / n_texts, 3),
        "own_cpu_milliseconds": round(1000 * used.own / n_texts, 3),
    }

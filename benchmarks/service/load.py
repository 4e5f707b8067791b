"""How fast the service answers under load, from a second process on loopback.

    python -m benchmarks.service.load --data ../shared/data

A tagger of Debian packages (596 labels) is fitted, or taken from --models, and served.
Then, one after another: single texts at --rate requests a second with --feedback
feedbacks a second learnt meanwhile; single texts as fast as they are answered; batches
of texts. Requests of the first load are sent when they are due, whether or not those
before are answered, and their times count from then: so a server that falls behind
cannot hide it.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import manylabel as ml
from benchmarks.annotations import FOLDER
from benchmarks.service.sender import Lane, Sender, post

MODEL = "debtags"
N_CONNECTIONS = 16
WARMING, PATIENCE = 2.0, 120.0  # seconds
BATCH = 1000
SHORT = 200  # characters of a short text


def main() -> None:
    """Serve, load, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--models", type=Path, help="a folder with debtags/ in it")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--feedback", type=float, default=50.0)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    test = ml.read(given.data / "text" / "debtags" / "test.jsonl.gz")
    with tempfile.TemporaryDirectory() as folder:
        models = given.models or Path(folder)
        if not (models / MODEL).is_dir():
            train = ml.read(given.data / "text" / "debtags" / "train.jsonl.gz")
            ml.Tagger().fit(train).save(models / MODEL)
        with served(models, given.workers) as (process, host, port):
            load = Load(process, host, port, test)
            load.run(given.seconds, given.rate, given.feedback)


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
            print(server.communicate()[1].strip())


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

    def run(self, seconds: float, rate: float, feedback: float) -> None:
        """Run all loads and print what they took."""
        self._ready()
        asking = Lane(self.singles, N_CONNECTIONS, rate)
        teaching = Lane(self.feedbacks, N_CONNECTIONS, feedback)
        self.send([Lane(self.singles, 2), Lane(self.feedbacks, 2, 20.0)], WARMING)
        used, (asked, taught) = self.send([asking, teaching], seconds)
        tell("single texts", asked, used)
        tell("feedback meanwhile", taught)
        used, (asked,) = self.send([asking._replace(rate=None)], seconds)
        tell("single texts, all it can", asked, used)
        used, (asked,) = self.send([Lane(self.batches, 2)], seconds)
        tell(f"batches of {BATCH}", asked, used, each=BATCH)

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


def tell(
    what: str, times: list[float], used: Used | None = None, each: int = 1
) -> None:
    """Print rate, percentiles, and the CPU time of the server for each text."""
    p50, p99, most = np.percentile(np.array(times) * 1000, [50, 99, 100])
    line = f"{what:26} p50 {p50:8.2f} ms  p99 {p99:8.2f} ms  most {most:8.2f} ms"
    if used is not None:
        n_texts = len(times) * each
        line += f"  {n_texts / used.wall:7,.0f}/s  "
        line += f"{1000 * used.cpu / n_texts:.3f} ms CPU each"
        line += f" (the load itself {1000 * used.own / n_texts:.3f})"
    print(line, flush=True)


if __name__ == "__main__":
    main()

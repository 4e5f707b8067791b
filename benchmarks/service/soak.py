"""Whether the memory of a server stays as it is, under a modest load for long.

A model is served that learns from feedback, and is taught until what corrections may
fill is full: 64 MB, after some 5,000 feedbacks. Then single texts are asked for at a
rate, feedback is sent at another, and the resident memory of each process of the server
is read every second. The slope is that of a straight line through the second half, and
its interval is 1.96 standard errors, from the steps between the means of ten parts.
"""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.service.load import processes, served
from benchmarks.service.models import NAME, draw, make_tagger
from benchmarks.service.sender import Lane, Sender, post

N_LABELS, N_TEXTS, N_CONNECTIONS, N_PARTS = 500, 20_000, 4, 10
N_TAUGHT, AT_ONCE = 10_000, 1000
LOOK = 1.0  # seconds between looks at the memory
HOUR, MB = 3600.0, 1 << 20


def soak(folder: Path, minutes: float, rate: float, feedback: float) -> dict[str, Any]:
    """Return the memory of each process of a server, and how it grew."""
    make_tagger("one-vs-rest", N_LABELS).save(folder / NAME)
    pairs = list(draw(np.random.default_rng(1), N_TEXTS, N_LABELS))
    with served(folder, 1) as (process, host, port):
        path = f"/v1/models/{NAME}"
        asked = [
            post(host, port, f"{path}/predict", {"items": [{"text": text}]})
            for text, _ in pairs
        ]
        taught = [post(host, port, f"{path}/feedback", say(*pair)) for pair in pairs]
        lanes = [
            Lane(asked, N_CONNECTIONS, rate),
            Lane(taught, N_CONNECTIONS, feedback),
        ]
        wait_until_ready(host, port, lanes[:1])
        teach(host, port, path, pairs)
        watch = Watch(process)
        times = Sender(host, port, lanes).run(60 * minutes)
        seen = watch.stop()
    return {
        "minutes": minutes,
        "requests": len(times[0]),
        "feedbacks": len(times[1]),
        "p99_milliseconds": [
            round(1000 * float(np.percentile(t, 99)), 1) for t in times
        ],
        "processes": {str(n): describe(rows) for n, rows in seen.items()},
    }


def say(text: str, labels: list[str]) -> dict[str, Any]:
    """Return feedback that says all of a text."""
    return {"item": {"text": text}, "accepted": labels, "complete": True}


def teach(host: str, port: int, path: str, pairs: Sequence[Any]) -> None:
    """Send much feedback at once, and wait until it is learnt."""
    for start in range(0, N_TAUGHT, AT_ONCE):
        some = [say(*pair) for pair in pairs[start : start + AT_ONCE]]
        request = post(host, port, f"{path}/feedback?wait=applied", some)
        Sender(host, port, [Lane([request], 1, 1.0)]).run(0.1)


def wait_until_ready(host: str, port: int, lanes: Sequence[Lane]) -> None:
    """Wait until a server answers."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            Sender(host, port, lanes).run(1.0)
            return
        except (OSError, RuntimeError):
            time.sleep(0.2)
    raise RuntimeError("the server does not become ready")


class Watch:
    """Reads the memory of a process and of those that it started, again and again."""

    def __init__(self, process: int) -> None:
        self.process = process
        self._seen: dict[int, list[tuple[float, int]]] = {}
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> dict[int, list[tuple[float, int]]]:
        """Return seconds and bytes for each process."""
        self._is_stopped.set()
        self._thread.join()
        return self._seen

    def _run(self) -> None:
        start = time.monotonic()
        while not self._is_stopped.wait(LOOK):
            for each in processes(self.process):
                rows = self._seen.setdefault(each, [])
                rows.append((time.monotonic() - start, resident(each)))


def resident(process: int) -> int:
    """Return the bytes of memory that a process has."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    return 0


def describe(rows: list[tuple[float, int]]) -> dict[str, Any]:
    """Return what memory was at first and at last, and the slope of the second half."""
    at, size = np.array(rows, np.float64).T
    size /= MB
    half, tenths = len(at) // 2, np.array_split(size, 10)
    parts = np.array_split(np.arange(half, len(at)), N_PARTS)
    slope = HOUR * float(np.polyfit(at[half:], size[half:], 1)[0])
    means = np.array([[at[p].mean(), size[p].mean()] for p in parts])
    steps = HOUR * np.diff(means[:, 1]) / np.diff(means[:, 0])
    error = 1.96 * float(np.std(steps, ddof=1)) / np.sqrt(len(steps))
    return {
        "mb_at_first": round(float(size[:10].mean()), 1),
        "mb_at_half": round(float(size[half : half + 10].mean()), 1),
        "mb_at_last": round(float(size[-10:].mean()), 1),
        "mb_an_hour": round(slope, 2),
        "mb_each_tenth": [round(float(part.mean()), 1) for part in tenths],
        "interval": [round(slope - error, 2), round(slope + error, 2)],
    }

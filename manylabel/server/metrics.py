"""Counts and times of requests, in the text format of Prometheus 0.0.4.

Each worker is a process with counts of its own. It writes them to a file every second,
and whoever is asked adds up the files: so a scrape sees all workers, whichever of them
answers. A worker that is started again goes on from its file, so no count falls.
"""

import json
import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

TYPE = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
SUFFIX = ".counts.json"


class Sample(NamedTuple):
    """A figure of a family, with its labels."""

    value: float
    labels: Mapping[str, str] = {}
    suffix: str = ""  # of a histogram


class Family(NamedTuple):
    """Figures of one name."""

    name: str
    kind: str
    about: str
    samples: Iterable[Sample]

    def lines(self) -> Iterator[str]:
        """Yield it as Prometheus reads it."""
        yield f"# HELP {self.name} {self.about}"
        yield f"# TYPE {self.name} {self.kind}"
        for value, labels, suffix in self.samples:
            inner = ",".join(f'{key}="{_quote(it)}"' for key, it in labels.items())
            braces = f"{{{inner}}}" if inner else ""
            yield f"{self.name}{suffix}{braces} {value:.17g}"


class Metrics:
    """The counts of a worker, and with a folder those of all workers.

    Parameters
    ----------
    folder : Path or None, default=None
        Where workers put their counts; None for a worker that is alone.
    worker : int, default=0
        The number of this worker.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.observe("GET", "/v1/models", 200, 0.002)
    >>> [line for line in metrics.lines([]) if "_count" in line]
    ['manylabel_request_seconds_count{route="/v1/models"} 1']
    """

    def __init__(self, folder: Path | None = None, worker: int = 0) -> None:
        self.folder, self.worker = folder, worker
        self._requests: dict[tuple[str, str, int], int] = defaultdict(int)
        self._seconds: dict[str, list[float]] = defaultdict(_no_times)
        if folder is not None and self._file(folder).exists():
            self._add(_read(self._file(folder)))

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests[method, route, status] += 1
        times = self._seconds[route]
        times[bisect_left(BOUNDS, seconds)] += 1
        times[-1] += seconds

    def share(self) -> None:
        """Put the counts where the other workers find them, whole at every moment."""
        if self.folder is None:
            return
        rows = [[*key, count] for key, count in self._requests.items()]
        draft = self.folder / f".{self.worker}.draft"
        draft.write_text(json.dumps({"requests": rows, "seconds": self._seconds}))
        os.replace(draft, self._file(self.folder))

    def lines(self, families: Iterable[Family]) -> Iterator[str]:
        """Yield all counts and further families as lines of text."""
        total = self._total()
        requests = (
            Sample(count, {"method": method, "route": route, "status": str(status)})
            for (method, route, status), count in sorted(total._requests.items())
        )
        yield from Family(
            "manylabel_requests_total", "counter", "Requests answered.", requests
        ).lines()
        yield from Family(
            "manylabel_request_seconds",
            "histogram",
            "From the head of a request to the end of its answer.",
            (s for name, times in total._seconds.items() for s in _times(name, times)),
        ).lines()
        for family in families:
            yield from family.lines()

    def _total(self) -> "Metrics":
        """Return the counts of all workers."""
        if self.folder is None:
            return self
        self.share()
        total = Metrics()
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            total._add(_read(path))
        return total

    def _add(self, counts: Mapping[str, Any]) -> None:
        for method, route, status, count in counts["requests"]:
            self._requests[method, route, status] += count
        for route, times in counts["seconds"].items():
            both = zip(self._seconds[route], times, strict=True)
            self._seconds[route] = [a + b for a, b in both]

    def _file(self, folder: Path) -> Path:
        return folder / f"{self.worker}{SUFFIX}"


def _no_times() -> list[float]:
    """Return the counts of each bucket, of longer times, and the sum of seconds."""
    return [0.0] * (len(BOUNDS) + 2)


def _times(route: str, times: list[float]) -> Iterator[Sample]:
    """Yield the samples of a histogram: counts up to each bound."""
    count = 0.0
    for bound, n in zip((*map(str, BOUNDS), "+Inf"), times[:-1], strict=True):
        count += n
        yield Sample(count, {"route": route, "le": bound}, "_bucket")
    yield Sample(times[-1], {"route": route}, "_sum")
    yield Sample(count, {"route": route}, "_count")


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def _quote(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

"""How time and memory grow with rows, with features and with labels.

One size grows at a time, the words and labels of a row stay as many. Every point is
measured in a process of its own, one after another, and is a line of JSON in a file: a
point that is there is not measured again. ``growth_page`` shows the lines.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from benchmarks.growth.point import LEARNERS, write_corpus
from benchmarks.ledger import Ledger, Record
from benchmarks.limits import run_limited
from benchmarks.machine import commit, machine
from manylabel._version import __version__

USUAL = {"rows": 16_000, "features": 20_000, "labels": 1_000}
SIZES = {
    "rows": (4_000, 16_000, 64_000, 256_000),
    "features": (1_000, 10_000, 100_000, 1_000_000),
    "labels": (1_000, 10_000, 100_000, 1_000_000),
}
QUICK_SIZES = {
    "rows": (4_000, 16_000),
    "features": (1_000, 100_000),
    "labels": (1_000, 100_000),
}
# Where labels grow, these have fewer rows: each row costs them as much as all labels.
FEWER_ROWS = {"OneVsRest": 4_000, "CSDPP": 1_000}
MOST_SECONDS = 1_200  # CPU time of a point; a curve ends with one that takes longer
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def measure(
    out: Path, *, quick: bool = False, tell: Callable[[str], None] = lambda _: None
) -> list[Record]:
    """Measure the points that a file does not have yet; return all lines.

    Parameters
    ----------
    out : Path
        The file of JSON lines; made when the first point is measured.
    quick : bool, default=False
        Take two small sizes of each kind.
    tell : callable, default=silent
        Called with a sentence after each point.

    Returns
    -------
    list of dict
        For each point the learner, what grows, the sizes and the figures, or the
        ``reason`` why there are none.
    """
    ledger = Ledger(out)
    with TemporaryDirectory() as folder:
        for curve in curves(QUICK_SIZES if quick else SIZES):
            for point in curve:
                if point["key"] not in ledger.records:
                    ledger.append(_measured(point, Path(folder)))
                    tell(_sentence(ledger.records[point["key"]]))
                if "reason" in ledger.records[point["key"]]:
                    break
    return list(ledger.records.values())


def curves(sizes: Mapping[str, Sequence[int]]) -> Iterator[list[Record]]:
    """Return the points of each curve, by what grows and by learner.

    Examples
    --------
    >>> [point["key"] for point in next(curves({"rows": (10, 20)}))]
    ['OneVsRest rows 10 20000 1000', 'OneVsRest rows 20 20000 1000']
    """
    for grows, values in sizes.items():
        for learner in LEARNERS:
            usual = dict(USUAL)
            if grows == "labels":
                usual["rows"] = FEWER_ROWS.get(learner, usual["rows"])
            yield [_point(learner, grows, usual | {grows: value}) for value in values]


def _point(learner: str, grows: str, sizes: Mapping[str, int]) -> Record:
    key = " ".join([learner, grows, *map(str, sizes.values())])
    return {"key": key, "learner": learner, "grows": grows, **sizes}


def _measured(point: Record, folder: Path) -> Record:
    """Return a point with its figures, or the reason why there are none."""
    data = folder / "-".join(str(point[name]) for name in USUAL)
    if not data.exists():
        write_corpus(point, data)
    made_by = {"version": __version__, "commit": commit(), "machine": machine()}
    return point | _run(point, data, folder / "figures.json") | made_by


def _run(point: Record, data: Path, figures: Path) -> Record:
    """Return what a process of its own found, or why it did not."""
    command = [sys.executable, "-m", "benchmarks.growth.point"]
    with TemporaryFile() as told:
        try:
            status = run_limited(
                [*command, json.dumps(point), str(data), str(figures)],
                MOST_SECONDS,
                stderr=told,
                env=os.environ | ONE_THREAD,
            )
        except TimeoutError:
            return {"reason": f"more than {MOST_SECONDS} s"}
        told.seek(0)
        said = told.read().decode(errors="replace").strip().splitlines()
    if status:
        return {"reason": said[-1] if said else f"ended with {status}"}
    found: Record = json.loads(figures.read_text())
    return found


def _sentence(line: Record) -> str:
    sizes = ", ".join(f"{line[name]:,} {name}" for name in USUAL)
    if "reason" in line:
        return f"{line['learner']}, {sizes}: {line['reason']}"
    return (
        f"{line['learner']}, {sizes}: {line['fit_seconds']:.2f} s, "
        f"{line['rank_microseconds']:.1f} us a row, {line['fit_megabytes']:.0f} MB"
    )

"""What is measured: curves, each of one learner while one size grows.

The words and labels of a row stay as many. Every point is measured in a process of its
own, one after another.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.growth.point import LEARNERS, write_corpus
from benchmarks.ledger import Ledger, Record
from benchmarks.limits import run_limited
from benchmarks.runner import Watch, run

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


@dataclass(frozen=True)
class Point:
    """A learner at one size.

    Parameters
    ----------
    learner : str
        The class.
    grows : str
        Which of the sizes grows along its curve.
    rows, features, labels : int
        The sizes.
    """

    learner: str
    grows: str
    rows: int
    features: int
    labels: int

    @property
    def key(self) -> str:
        """What tells a finished run from others."""
        return " ".join(["growth", *map(str, vars(self).values())])

    @property
    def group(self) -> tuple[str, str]:
        """Its curve, which ends with a point that fails."""
        return self.learner, self.grows

    @property
    def about(self) -> Record:
        """What was measured."""
        return dict(vars(self))


def measure(
    ledger: Ledger,
    learners: Sequence[str] | None = None,
    *,
    quick: bool = False,
    watch: Watch | None = None,
) -> list[Record]:
    """Measure the points that are not finished yet; return all lines.

    Parameters
    ----------
    ledger : Ledger
        The finished points, among other runs.
    learners : sequence of str or None, default=None
        The classes that are measured; None is all of them.
    quick : bool, default=False
        Take two small sizes of each kind.
    watch : callable or None, default=None
        Called after each point, as by ``runner.run``.

    Returns
    -------
    list of dict
        For each point the learner, what grows, the sizes, and the ``values`` or the
        ``failure`` why there are none.
    """
    sizes = QUICK_SIZES if quick else SIZES
    wanted = LEARNERS if learners is None else learners
    points = [p for curve in curves(sizes) for p in curve if p.learner in wanted]
    with TemporaryDirectory() as folder:
        task = partial(perform, folder=Path(folder))
        failed = run(points, task, ledger, limit=MOST_SECONDS, watch=watch)
    lines = {line["key"]: line for line in failed} | ledger.records
    return [line for line in lines.values() if "grows" in line]


def curves(sizes: Mapping[str, Sequence[int]]) -> Iterator[list[Point]]:
    """Return the points of each curve, by what grows and by learner.

    Examples
    --------
    >>> [point.key for point in next(curves({"rows": (10, 20)}))]
    ['growth OneVsRest rows 10 20000 1000', 'growth OneVsRest rows 20 20000 1000']
    """
    for grows, values in sizes.items():
        for learner in LEARNERS:
            usual = dict(USUAL)
            if grows == "labels":
                usual["rows"] = FEWER_ROWS.get(learner, usual["rows"])
            yield [Point(learner, grows, **usual | {grows: size}) for size in values]


def perform(point: Point, folder: Path) -> Record:
    """Return what a process of its own found; the corpora stay in the folder."""
    data = folder / f"{point.rows}-{point.features}-{point.labels}"
    if not data.exists():
        write_corpus(point.about, data)
    figures = folder / "figures.json"
    program = [sys.executable, "-m", "benchmarks.growth.point"]
    job = [json.dumps(point.about), str(data), str(figures)]
    run_limited([*program, *job], MOST_SECONDS, os.environ | ONE_THREAD)
    return {"values": json.loads(figures.read_text())}

"""``python -m benchmarks growth``: how our cost grows with the size of the data."""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import options
from benchmarks.console import note, say
from benchmarks.growth import curves, report
from manylabel.evaluation.plots import check_matplotlib

Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Where growth.md goes, and beside it the plots and growth.jsonl.",
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Two small sizes of each kind, in minutes.")
]


def growth(out: Out = Path("results"), *, quick: Quick = False) -> None:
    """Measure how our cost grows with rows, features and labels, which takes hours.

    Every point is measured in a process of its own, and is a line of
    results/growth.jsonl: stop when you like and go on with the same command.

    Example: python -m benchmarks growth --quick
    """
    check_matplotlib()
    options.check_out(out)
    lines = curves.measure(out / "growth.jsonl", quick=quick, tell=note)
    say(report.write_targets(lines))
    note(f"note: wrote {report.publish(lines, out, quick=quick)}.")

"""``python -m benchmarks growth``: how our cost grows with the size of the data."""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import options, page
from benchmarks.console import note, say
from benchmarks.growth import curves, report
from benchmarks.growth.point import LEARNERS
from benchmarks.ledger import Ledger, Record
from benchmarks.plots import check_matplotlib

Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Where growth.md goes, and beside it the plots and runs.jsonl.",
    ),
]
Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--learner",
        metavar="CLASS",
        help="A learner, as LabelTree; may be given several times. All if none is.",
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Two small sizes of each kind, in minutes.")
]


def growth(
    out: Out = Path("results"),
    *,
    learner: Learners = None,
    quick: Quick = False,
    publish: options.Publish = False,
) -> None:
    """Measure how our cost grows with rows, features and labels, which takes hours.

    A finished point is a line of results/runs.jsonl and is never repeated: stop when
    you like and go on with the same command.

    Example: python -m benchmarks growth --quick
    """
    check_matplotlib()
    options.check_out(out)
    _check_known(learner or [])
    ledger = Ledger(out / "runs.jsonl")
    lines = curves.measure(ledger, learner, quick=quick, watch=_tell)
    say(report.write_targets(lines))
    folder = page.PUBLISHED if publish else out
    note(f"note: wrote {report.write_pages(lines, folder, quick=quick)}.")


def _check_known(names: list[str]) -> None:
    for name in names:
        if name not in LEARNERS:
            known = ", ".join(LEARNERS)
            raise ValueError(f"--learner must be one of {known}. Got {name!r}.")


def _tell(done: int, total: int, line: Record) -> None:
    """Say what a point takes, as it ends."""
    sizes = ", ".join(f"{line[name]:,} {name}" for name in curves.USUAL)
    where = f"{done} of {total}, {line['learner']}, {sizes}"
    if "failure" in line:
        note(f"note: {where}: {line['failure']}.")
        return
    values = line["values"]
    note(
        f"{where}: {values['fit_seconds']:.2f} s, {values['rank_microseconds']:.1f} us "
        f"a row, {values['fit_megabytes']:.0f} MB"
    )

"""``python -m benchmarks learners``: which learner for which data."""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import options, page
from benchmarks.catalogue import Catalogue
from benchmarks.console import note, print_json, say
from benchmarks.learners.comparison import Comparison
from benchmarks.learners.programme import Programme, read_programme
from benchmarks.learners.report import write_choices, write_pages, write_set
from benchmarks.learners.results import by_set
from benchmarks.ledger import KEPT, Ledger, Record
from benchmarks.plots import check_matplotlib

Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR",
        help="Where which-learner.md goes, and beside it the picture and runs.jsonl.",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="SET", help="A data set, as yeast; may be given several times."
    ),
]
Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--learner", metavar="NAME", help="A learner, as FastXML; may be given so, too."
    ),
]
Minutes = Annotated[
    float | None,
    typer.Option(metavar="N", help="CPU minutes that a run has; 4 if it is not told."),
]
Jobs = Annotated[int, typer.Option(help="Runs at a time, each in its process.")]
Quick = Annotated[bool, typer.Option("--quick", help="Two small sets, in minutes.")]


def learners(
    *,
    data: options.DataFolder,
    out: Out = Path("results"),
    sets: Sets = None,
    learner: Learners = None,
    minutes: Minutes = None,
    jobs: Jobs = 1,
    quick: Quick = False,
    publish: options.Publish = False,
    json: options.Json = False,
) -> None:
    """Run all learners on all data sets, which takes hours: quality, time and memory.

    A finished run is a line of results/runs.jsonl and is never repeated: stop when you
    like and go on with the same command. One that fails or exceeds its time is a row
    that says so. With --publish the page is docs/explanation/which-learner.md.

    Example: python -m benchmarks learners --quick --data ~/data
    """
    check_matplotlib()
    options.check_data_folder(data)
    options.check_out(out)
    programme = read_programme()
    known = {each.name for each in programme.learners}
    _check_known("--set", sets or [], programme.sets)
    _check_known("--learner", learner or [], sorted(known))
    limit = programme.minutes if minutes is None else minutes
    if limit <= 0:
        raise ValueError(f"--minutes must be above 0. Got {limit:g}.")
    kept = KEPT / "learners.jsonl.gz" if publish else None
    ledger = Ledger(out / "runs.jsonl", kept)
    comparison = Comparison(programme, Catalogue(data), ledger, limit)
    _name_missing(comparison)
    chosen = sets or (programme.quick if quick else programme.sets)
    runs = comparison.runs(chosen, learner or known)
    lines = comparison.measure(runs, n_jobs=jobs, watch=_tell)
    shown = [line for line in lines if line["data"] in chosen]
    _show(shown, programme, json=json)
    folder = page.PUBLISHED.parent / "explanation" if publish else out
    command = f"python -m benchmarks learners{' --quick' if quick else ''} --data DATA"
    written = write_pages(
        *(lines, programme, comparison.missing, folder),
        command=command,
        minutes=limit,
    )
    if kept is not None:
        ledger.keep(kept, ledger.records)
    note(f"note: wrote {written}.")


def _check_known(
    option: str, names: list[str], known: tuple[str, ...] | list[str]
) -> None:
    for name in names:
        if name not in known:
            raise ValueError(
                f"{option} must be one of {', '.join(known)}. Got {name!r}."
            )


def _name_missing(comparison: Comparison) -> None:
    for source in comparison.missing:
        files = " and ".join(source.missing)
        note(f"note: {source.name} is skipped: no {files} ({source.publisher}).")


def _show(lines: list[Record], programme: Programme, *, json: bool) -> None:
    """Print the figures of the sets that were chosen."""
    groups = by_set(lines)
    if json:
        kept = ("data", "learner", "class", "parameters", "values", "failure")
        print_json([{k: line[k] for k in kept if k in line} for line in lines])
        return
    for data, group in groups.items():
        say(f"{data}\n\n{write_set(group)}\n")
    say(write_choices(groups, programme))


def _tell(done: int, total: int, line: Record) -> None:
    """Say what a run took, as it ends."""
    where = f"{done} of {total}, {line['learner']} on {line['data']}"
    if "failure" in line:
        note(f"note: {where}: {line['failure']}.")
        return
    values = line["values"]
    note(f"{where}: P@1 {values['P@1']:.1f}, {values['fit_seconds']:.2f} s")

"""``python -m benchmarks reproduce``: the tables and figures of the papers."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import options, page, toml_files
from benchmarks.console import note, print_json, progress, say
from benchmarks.plots import check_matplotlib
from benchmarks.reproduce.report import Section, count, rows_of, write_cells
from benchmarks.reproduce.reproduction import Reproduction
from benchmarks.reproduce.trial import Trial
from benchmarks.reproduce.verdict import UNEXPLAINED, VERDICTS

Paper = Annotated[
    str | None,
    typer.Argument(
        metavar="[PAPER", help="cs-dpp, pfastrexml-supplement or budgeted-trees; all."
    ),
]
Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[TABLE]]", help="A table or figure of it, as table-12 or figure-2."
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        metavar="DIR", help="Where papers.md goes, and beside it the figures and runs."
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A reduced version, in under ten minutes.")
]
Jobs = Annotated[
    int, typer.Option(help="Runs at a time, each in its process; -1 for all cores.")
]


def reproduce(
    paper: Paper = None,
    table: Name = None,
    *,
    data: options.DataFolder,
    out: Out = Path("results"),
    quick: Quick = False,
    jobs: Jobs = -1,
    publish: options.Publish = False,
    json: options.Json = False,
) -> None:
    """Run the tables and figures of the papers again, beside what was published.

    A finished run is a line of results/runs.jsonl and is never repeated: stop when you
    like and go on with the same command. Data sets that are not there are named, with
    where their publishers have them, and skipped.

    Example: python -m benchmarks reproduce cs-dpp table-12 --data ~/data
    """
    _check(paper, table, toml_files.papers())
    check_matplotlib()
    options.check_data_folder(data)
    options.check_out(out)
    pages = page.PUBLISHED if publish else out
    reproduction = Reproduction(data, out, pages, quick=quick)
    chosen = reproduction.select(paper, table)
    _name_missing(reproduction, chosen)
    trials = reproduction.trials(chosen)
    failed = _run(reproduction, trials, jobs)
    written = reproduction.write()
    sections = [reproduction.section(spec) for spec in chosen]
    if json:
        print_json([_figures(section) for section in sections])
    else:
        _show(sections, in_full=table is not None)
    note(f"note: wrote {written}.")
    _name_unexplained(sections)
    for error in dict.fromkeys(each["failure"] for each in failed):
        note(f"note: {sum(e['failure'] == error for e in failed)} runs failed: {error}")
    if failed:
        raise typer.Exit(1)


def _check(paper: str | None, name: str | None, papers: dict[str, list[str]]) -> None:
    if paper is not None and paper not in papers:
        raise ValueError(f"PAPER must be one of {', '.join(papers)}. Got {paper!r}.")
    if name is not None and name not in papers[str(paper)]:
        known = ", ".join(papers[str(paper)])
        raise ValueError(f"TABLE must be one of {known}. Got {name!r}.")


def _name_missing(reproduction: Reproduction, chosen: list[Any]) -> None:
    """Say which data sets are not there, and where they can be had."""
    for source in reproduction.missing(chosen):
        files = " and ".join(source.missing)
        note(f"note: {source.name} is skipped: no {files} ({source.publisher}).")


def _run(
    reproduction: Reproduction, trials: list[Trial], jobs: int
) -> list[dict[str, Any]]:
    """Run what is not finished, shown as it goes; return what failed."""
    start = time.perf_counter()
    with progress() as show:

        def tell(done: int, total: int, record: dict[str, Any]) -> None:
            left = (time.perf_counter() - start) / done * (total - done)
            what = f"{record['learner']} on {record['data']}"
            show(f"{done:,} of {total:,} runs, about {left:,.0f} s left; {what}")

        return reproduction.run(trials, n_jobs=jobs, watch=tell)


def _name_unexplained(sections: list[Section]) -> None:
    """Say where a learner is worse than published for no known reason."""
    for section in sections:
        found = [cell for cell in section.cells if cell.reason == UNEXPLAINED]
        for cell in found:
            what = f"{cell.row} on {cell.data}, {cell.metric}"
            note(f"note: {section.spec.name}: {what} is worse and has no reason.")


def _figures(section: Section) -> dict[str, Any]:
    spec = section.spec
    return {
        "paper": spec.paper,
        "name": spec.name,
        "title": spec.title,
        "picture": section.picture,
        "cells": list(rows_of(section.cells)),
    }


def _show(sections: list[Section], *, in_full: bool) -> None:
    """Print the verdicts of each table, or all cells of a single one."""
    if in_full and sections[0].cells:
        say(write_cells(sections[0].cells))
        return
    rows = (
        [f"{s.spec.paper} {s.spec.name}", *map(str, count(s.cells).values())]
        for s in sections
        if s.cells
    )
    head = ["table", *(verdict or "nothing published" for verdict in VERDICTS)]
    say(f"Cells of the tables by verdict\n\n{page.table(head, rows)}")

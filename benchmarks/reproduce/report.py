"""A table with ours, theirs and a verdict, or a figure, as a part of the page."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import page
from benchmarks.reproduce.figure import Figure
from benchmarks.reproduce.table import Table
from benchmarks.reproduce.verdict import VERDICTS, Cell, title

HEAD = ("data", "learner", "metric", "ours", "published", "difference", "verdict")

SMALL = 0.001  # less is of times alone, and has more digits than papers print


@dataclass(frozen=True)
class Section:
    """A table with its cells, or a figure with its picture.

    Parameters
    ----------
    spec : Table or Figure
        What it is.
    cells : list of Cell
        The values of a table.
    picture : str or None
        The file of a figure, as seen from the page.
    """

    spec: Table | Figure
    cells: list[Cell]
    picture: str | None = None


def write_cells(cells: Iterable[Cell]) -> str:
    """Return the cells of a table as Markdown, with the reasons beneath."""
    shown = [cell for cell in cells if cell.values]
    reasons = dict.fromkeys(cell.reason for cell in shown if cell.reason)
    marks = {reason: str(number) for number, reason in enumerate(reasons, start=1)}
    table = page.table(HEAD, (_row(cell, marks) for cell in shown))
    notes = [f"{mark}. {reason}" for reason, mark in marks.items()]
    return page.join(table, "\n".join(notes))


def count(cells: Iterable[Cell]) -> dict[str, int]:
    """Return how many cells have each verdict."""
    found = Counter(cell.verdict for cell in cells)
    return {verdict: found[verdict] for verdict in VERDICTS}


def figure(value: float, scale: float | None = None, sign: str = "") -> str:
    """Return a value with as many digits as papers print for one of that ``scale``."""
    if math.isnan(value):
        return ""
    size = abs(value if scale is None else scale)
    if 0 < size < SMALL:
        return f"{value:{sign},.6f}"
    digits = next((d for most, d in ((1, 4), (100, 2), (10_000, 1)) if size < most), 0)
    return f"{value:{sign},.{digits}f}"


def _row(cell: Cell, marks: Mapping[str, str]) -> list[str]:
    ours = figure(cell.mean)
    if not math.isnan(cell.stderr):
        ours += f" ± {figure(cell.stderr, cell.mean)}"
    gap = figure(cell.mean - cell.published, cell.mean, "+")
    mark = f" ({marks[cell.reason]})" if cell.reason else ""
    theirs = figure(cell.published)
    if not math.isnan(cell.spread):
        theirs += f" ± {figure(cell.spread, cell.published)}"
    told = [cell.data, cell.row, cell.metric, ours, theirs, gap]
    return [*told, f"{cell.verdict}{mark}".strip()]


def write_section(section: Section, command: str) -> str:
    """Return a table or a figure as Markdown, with the command that runs it."""
    spec = section.spec
    parts = [f"### {title(spec.name)}: {spec.title}"]
    parts.append(f"`{command.format(f' {spec.paper} {spec.name}')}`")
    parts.append(spec.notes)
    if isinstance(spec, Table):
        parts.append(_conditions(spec))
        any_run = any(cell.values for cell in section.cells)
        parts.append(write_cells(section.cells) if any_run else _why_empty(section))
    elif section.picture is None:
        parts.append("No run of it is finished.")
    else:
        parts.append(page.picture(spec.title, section.picture))
    return page.join(*parts)


def _conditions(table: Table) -> str:
    settings = "".join(f", {name} = {value}" for name, value in table.settings.items())
    limits = [f"{name}: {_range(table.seeds_of(name))}" for name in table.limits]
    seeds = _range(table.seeds) + (f" ({', '.join(limits)})" if limits else "")
    seeds += "".join(
        f"; {row.name} on {name} {_range(table.seeds_of(name, row))}"
        for row in table.entrants
        for name in row.first_seed
        if name in table.data
    )
    return (
        f"Protocol {table.protocol}{settings}; seeds {seeds}; tolerance "
        f"{table.tolerance:.0%}."
    )


def _range(seeds: Sequence[int]) -> str:
    return str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"


def _why_empty(section: Section) -> str:
    reasons = dict.fromkeys(cell.reason for cell in section.cells)
    return f"Not run: {'; '.join(reasons)}."


def rows_of(cells: Iterable[Cell]) -> Iterator[dict[str, object]]:
    """Yield cells for other programs."""
    for cell in cells:
        published = None if math.isnan(cell.published) else cell.published
        yield {
            "data": cell.data,
            "learner": cell.row,
            "metric": cell.metric,
            "ours": cell.mean if cell.values else None,
            "stderr": None if math.isnan(cell.stderr) else cell.stderr,
            "published": published,
            "role": cell.role,
            "verdict": cell.verdict,
            "reason": cell.reason,
        }

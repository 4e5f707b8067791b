"""The page of the papers: every table with ours, theirs and a verdict, every figure."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from benchmarks import page
from benchmarks.ledger import Record
from benchmarks.reproduce.figure import Figure
from benchmarks.reproduce.table import Table
from benchmarks.reproduce.verdict import NOT_RUN, VERDICTS, Cell
from benchmarks.source import Source

TITLES = {
    "cs-dpp": "Dynamic principal projection for cost-sensitive online multi-label "
    "classification (Chu, Huang & Lin 2019)",
    "pfastrexml-supplement": "Extreme multi-label loss functions, supplementary "
    "material (Jain, Prabhu & Varma 2016)",
    "budgeted-trees": "Making decision trees feasible in ultrahigh feature and label "
    "dimensions (Liu & Tsang 2017)",
}
HEAD = ("data", "learner", "metric", "ours", "published", "difference", "verdict")
INTRODUCTION = """\
Every table and figure of the three papers that can be run on the data at hand, run
again and put beside what was published. This page is written by the command below from
one line of JSON for each run; what is finished is not run again.

A verdict is *matched* if our mean is within the tolerance that a table names (a share
of the published value), else *better* or *worse*; *not comparable* has its reason
beneath the table. The figure after ± is the standard error over repetitions.
"""


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


def write_page(
    sections: Sequence[Section],
    runs: Sequence[Record],
    lost: Sequence[Source],
    *,
    quick: bool,
) -> str:
    """Return the page as Markdown."""
    hurry = " --quick" if quick else ""
    command = f"python -m benchmarks reproduce{{}}{hurry} --data DATA"
    tables = [each for each in sections if isinstance(each.spec, Table)]
    parts = [_summary(tables), _absent(lost)]
    for paper, group in groupby(sections, key=lambda each: each.spec.paper):
        parts.append(f"## {paper}\n\n{TITLES.get(paper, '')}.")
        parts += [_section(each, command) for each in group]
    title = "The papers, run again"
    return page.compose(title, INTRODUCTION, command.format(""), runs, parts)


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
    digits = next((d for most, d in ((1, 4), (100, 2), (10_000, 1)) if size < most), 0)
    return f"{value:{sign},.{digits}f}"


def _row(cell: Cell, marks: Mapping[str, str]) -> list[str]:
    ours = figure(cell.mean)
    if not math.isnan(cell.stderr):
        ours += f" ± {figure(cell.stderr, cell.mean)}"
    gap = figure(cell.mean - cell.published, cell.mean, "+")
    mark = f" ({marks[cell.reason]})" if cell.reason else ""
    told = [cell.data, cell.row, cell.metric, ours, figure(cell.published), gap]
    return [*told, cell.verdict + mark]


def _section(section: Section, command: str) -> str:
    spec = section.spec
    parts = [f"### {spec.name.replace('-', ' ').capitalize()}: {spec.title}"]
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
    seeds = _range(table.seeds) + "".join(
        f" ({name}: {_range(table.seeds[:most])})"
        for name, most in table.limits.items()
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


def _summary(sections: Iterable[Section]) -> str:
    """Return the verdicts of each table, those of sets that were not found left out."""
    rows, total = [], Counter[str]()
    for each in sections:
        found = count(cell for cell in each.cells if cell.values)
        total.update(found)
        rows.append([f"{each.spec.paper}, {each.spec.name}", *_counts(found)])
    rows.append(["all", *_counts(total)])
    return "## Verdicts\n\n" + page.table(["table", *VERDICTS[:-1]], rows)


def _counts(found: Mapping[str, int]) -> list[str]:
    return [str(found[verdict]) for verdict in VERDICTS if verdict != NOT_RUN]


def _absent(lost: Sequence[Source]) -> str:
    """Name the data sets that were not found, and where their publishers have them."""
    if not lost:
        return ""
    rows = [[each.name, ", ".join(each.missing), each.publisher] for each in lost]
    return (
        "## Data sets that were not found\n\nTheir part of each table was skipped.\n\n"
        + page.table(["data", "files looked for", "publisher"], rows)
    )


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
            "verdict": cell.verdict,
            "reason": cell.reason,
        }

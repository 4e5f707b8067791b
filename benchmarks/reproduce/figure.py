"""A figure of a paper: which runs of which tables it draws."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import toml_files
from benchmarks.reproduce.table import Entrant, Place, Table, read_table
from manylabel.exceptions import DataError

KINDS = ("curves", "points", "sizes", "groups", "frequencies", "tree")
FIGURE: dict[str, Any] = {"title": ..., "kind": ..., "panels": ..., "notes": ""}
PANEL: dict[str, Any] = {
    "table": ...,
    "data": ...,
    "metric": "",
    "x": "",
    "title": "",
    "learners": None,
}


@dataclass(frozen=True)
class Panel:
    """A part of a figure.

    Parameters
    ----------
    table : Table
        Whose runs are drawn.
    data : tuple of str
        Of which data sets.
    metric, x : str
        What is drawn, against what.
    title : str
        What stands above it.
    learners : tuple of str or None
        Lines to draw; None draws all.
    """

    table: Table
    data: tuple[str, ...]
    metric: str
    x: str
    title: str
    learners: tuple[str, ...] | None

    def lines(self) -> dict[str, list[Entrant]]:
        """Return the rows of the table by the line that they are points of."""
        lines: dict[str, list[Entrant]] = {}
        for entrant in self.table.entrants:
            if self.learners is None or entrant.line in self.learners:
                lines.setdefault(entrant.line, []).append(entrant)
        return lines


@dataclass(frozen=True)
class Figure:
    """What a file of ``papers/<paper>/`` says of a figure.

    Parameters
    ----------
    paper, name, title, notes : str
        Which figure it is and what it shows.
    kind : {"curves", "points", "sizes", "groups", "frequencies", "tree"}
        How it is drawn.
    panels : tuple of Panel
        Its parts.
    """

    paper: str
    name: str
    title: str
    notes: str
    kind: str
    panels: tuple[Panel, ...]

    def cells(self) -> Iterator[Place]:
        """Yield the table, data set, row and metric of each cell that is drawn."""
        if self.kind == "frequencies":  # of the data, not of runs
            return
        for panel in self.panels:
            for place in panel.table.cells():
                _, data, entrant, metric = place
                drawn = data in panel.data and entrant.line in panel.lines()
                if drawn and metric == panel.metric:
                    yield place


def is_figure(paper: str, name: str, *, home: Path = toml_files.HOME) -> bool:
    """Tell a figure from a table."""
    return "panels" in toml_files.read(home / paper / f"{name}.toml")


def read_figure(
    paper: str, name: str, *, quick: bool = False, home: Path = toml_files.HOME
) -> Figure:
    """Return a figure of a paper."""
    path = home / paper / f"{name}.toml"
    given = toml_files.take(path, toml_files.read(path), FIGURE)
    if given["kind"] not in KINDS:
        known = ", ".join(KINDS)
        raise DataError(path, f"expected kind = {known}, found {given['kind']!r}.")
    panels = [toml_files.take(path, panel, PANEL) for panel in given["panels"]]
    tables = {
        table: read_table(paper, table, quick=quick, home=home)
        for table in {panel["table"] for panel in panels}
    }
    return Figure(
        paper,
        name,
        given["title"],
        given["notes"].strip(),
        given["kind"],
        tuple(
            Panel(
                tables[panel["table"]],
                tuple([data] if isinstance(data := panel["data"], str) else data),
                panel["metric"],
                panel["x"],
                panel["title"],
                None if panel["learners"] is None else tuple(panel["learners"]),
            )
            for panel in panels
        ),
    )

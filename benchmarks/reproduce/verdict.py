"""Ours beside the published: matched, better, worse, or not to be compared.

A published number is judged once, in the first table that has it. What has no published
number has no verdict.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.catalogue import Catalogue
from benchmarks.ledger import Record, digest
from benchmarks.reproduce.table import OWN, Entrant, Place, Table

VERDICTS = ("matched", "better", "worse", "not comparable", "repeated", "not run", "")
MATCHED, BETTER, WORSE, NOT_COMPARABLE, REPEATED, NOT_RUN, NONE = VERDICTS
JUDGED = (MATCHED, BETTER, WORSE)
UNEXPLAINED = "Not explained."
# The first label has the same gain by either.
SAME = {"nDCG@1": "P@1", "PSnDCG@1": "PSP@1"}

Where = tuple[str, str, str, str, str]  # paper, table, data, row, metric
Repeats = Mapping[Where, str]


@dataclass(frozen=True)
class Cell:
    """A value of a table, run again.

    Parameters
    ----------
    data, row, metric : str
        Which one.
    values : tuple of float
        Ours, one for each repetition.
    published : float
        Theirs, or NaN.
    verdict : str
        One of ``VERDICTS``; empty if nothing was published.
    reason : str
        Why it is worse or not comparable, was not run, or where it is judged.
    role : str
        Whose row it is; one of ``table.ROLES``.
    spread : float
        The standard error of the published value, or NaN.
    """

    data: str
    row: str
    metric: str
    values: tuple[float, ...]
    published: float
    verdict: str
    reason: str = ""
    role: str = OWN
    spread: float = math.nan

    @property
    def mean(self) -> float:
        """The mean of ours."""
        return float(np.mean(self.values)) if self.values else math.nan

    @property
    def stderr(self) -> float:
        """The standard error of that mean, or NaN."""
        n = len(self.values)
        return float(np.std(self.values, ddof=1) / math.sqrt(n)) if n > 1 else math.nan


def judge(
    table: Table,
    records: Mapping[str, Record],
    catalogue: Catalogue,
    repeats: Repeats | None = None,
) -> list[Cell]:
    """Return the cells of a table, each with its verdict.

    Parameters
    ----------
    table : Table
        The table.
    records : mapping of str to dict
        Finished runs by key.
    catalogue : Catalogue
        The data sets.
    repeats : mapping or None, default=None
        What ``find_repeats`` found: cells that are judged elsewhere.
    """
    return [
        _cell(place, records, catalogue[place[1]].missing, repeats or {})
        for place in table.cells()
    ]


def find_repeats(tables: Iterable[Table]) -> dict[Where, str]:
    """Return where each cell that repeats an earlier one is judged.

    A cell repeats another if the paper prints the same number, of the same metric on
    the same data, and both are of the same learner, run in the same way.
    """
    homes: dict[str, tuple[Where, str]] = {}
    repeats = {}
    for table in tables:
        for _, data, entrant, metric in table.cells():
            if math.isnan(table.aim(data, entrant, metric)):
                continue
            where = _where(table, data, entrant, metric)
            told = f"{title(table.name)}, {entrant.name}"
            home, name = homes.setdefault(
                _identity(table, data, entrant, metric), (where, told)
            )
            if home != where:
                repeats[where] = name
    return repeats


def title(name: str) -> str:
    """Return the name of a table as papers write it.

    Examples
    --------
    >>> title("table-12")
    'Table 12'
    """
    return name.replace("-", " ").capitalize()


def _where(table: Table, data: str, entrant: Entrant, metric: str) -> Where:
    return table.paper, table.name, data, entrant.name, metric


def _identity(table: Table, data: str, entrant: Entrant, metric: str) -> str:
    """Return what is the same of two cells that are one published number."""
    about: dict[str, Any] = table.trials(data, entrant, metric)[0].about
    of_all = {k: v for k, v in about.items() if k not in ("seed", "metrics")}
    published = table.aim(data, entrant, metric)
    return digest(table.paper, of_all, SAME.get(metric, metric), published)


def _cell(
    where: Place,
    records: Mapping[str, Record],
    missing: tuple[str, ...],
    repeats: Repeats,
) -> Cell:
    table, data, entrant, metric = where
    trials = table.trials(data, entrant, metric)
    done = [records[trial.key] for trial in trials if trial.key in records]
    values = tuple(record["values"][metric] for record in done)
    cell = Cell(
        *(data, entrant.name, metric, values, table.aim(data, entrant, metric), NONE),
        role=entrant.role,
        spread=table.stderr(data, entrant, metric),
    )
    if len(done) < len(trials):
        gap = f"{len(done)} of {len(trials)} runs finished"
        lost = f"{' and '.join(missing)} not found"
        verdict, reason = NOT_RUN, lost if missing else gap
    else:
        home = repeats.get(_where(table, data, entrant, metric))
        verdict, reason = _judge(where, cell, home)
    return Cell(**vars(cell) | {"verdict": verdict, "reason": reason})


def _judge(where: Place, cell: Cell, home: str | None) -> tuple[str, str]:
    """Return the verdict of a cell that was run, and the reason."""
    table, data, entrant, metric = where
    if math.isnan(cell.published):
        return NONE, ""
    obstacle = table.obstacle(data, entrant, metric)
    if home is not None:
        return REPEATED, f"Judged in {home}."
    if obstacle:
        return NOT_COMPARABLE, obstacle
    slack = 0.0 if math.isnan(cell.spread) else cell.spread + np.nan_to_num(cell.stderr)
    verdict = compare(cell.mean, cell.published, table, slack)
    if verdict == BETTER and _is_chance(cell, table):
        return MATCHED, ""
    if verdict != WORSE:
        return verdict, ""
    return verdict, table.why(data, entrant, metric) or UNEXPLAINED


def _is_chance(cell: Cell, table: Table) -> bool:
    """Tell whether chance or the digits in print may have made a cell better."""
    gain = abs(cell.mean - cell.published)
    rounding = table.units.get(cell.metric, 0.0) / 2
    lead = gain - rounding - table.tolerance * abs(cell.published)
    return bool(lead <= 0 or gain <= np.nan_to_num(cell.stderr))


def compare(ours: float, published: float, table: Table, slack: float = 0.0) -> str:
    """Return the verdict of two values that can be compared.

    Parameters
    ----------
    ours, published : float
        The values.
    table : Table
        Which has the tolerance, and says what is better.
    slack : float, default=0.0
        The standard errors of both, which a difference may come to as well.
    """
    if abs(ours - published) <= max(table.tolerance * abs(published), slack):
        return MATCHED
    return BETTER if (ours < published) == table.lower_is_better else WORSE

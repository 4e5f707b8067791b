"""Ours beside the published: matched, better, worse, or not to be compared."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.catalogue import Catalogue
from benchmarks.ledger import Record
from benchmarks.reproduce.table import Place, Table

VERDICTS = ("matched", "better", "worse", "not comparable", "not run")
MATCHED, BETTER, WORSE, NOT_COMPARABLE, NOT_RUN = VERDICTS


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
        One of ``VERDICTS``.
    reason : str
        Why it is not comparable, or was not run.
    """

    data: str
    row: str
    metric: str
    values: tuple[float, ...]
    published: float
    verdict: str
    reason: str = ""

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
    table: Table, records: Mapping[str, Record], catalogue: Catalogue
) -> list[Cell]:
    """Return the cells of a table, each with its verdict."""
    return [
        _cell(place, records, catalogue[place[1]].missing) for place in table.cells()
    ]


def _cell(
    where: Place, records: Mapping[str, Record], missing: tuple[str, ...]
) -> Cell:
    table, data, entrant, metric = where
    trials = table.trials(data, entrant, metric)
    done = [records[trial.key] for trial in trials if trial.key in records]
    values = tuple(record["values"][metric] for record in done)
    published = table.aim(data, entrant, metric)
    place = data, entrant.name, metric, values, published
    if len(done) < len(trials):
        gap = f"{len(done)} of {len(trials)} runs finished"
        lost = f"{' and '.join(missing)} not found"
        return Cell(*place, NOT_RUN, lost if missing else gap)
    reason = table.incomparable.get(metric) or entrant.reason
    if reason is None and math.isnan(published):
        reason = "nothing published"
    if reason is not None:
        return Cell(*place, NOT_COMPARABLE, reason)
    return Cell(*place, compare(float(np.mean(values)), published, table))


def compare(ours: float, published: float, table: Table) -> str:
    """Return the verdict of two values that can be compared."""
    if abs(ours - published) <= table.tolerance * abs(published):
        return MATCHED
    return BETTER if (ours < published) == table.lower_is_better else WORSE

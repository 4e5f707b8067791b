"""Whether what a paper claims in words holds in our runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from benchmarks.ledger import Record
from benchmarks.reproduce.claim import RULES, Claim
from benchmarks.reproduce.table import Entrant, Table

FINDINGS = ("holds", "holds in part", "does not hold", "not run")
HOLDS, IN_PART, FAILS, NOT_RUN = FINDINGS
ERRORS = 2  # standard errors of a difference that count
MOST_RIVALS = 5  # that a rule names


@dataclass(frozen=True)
class Case:
    """One comparison that speaks for a claim, or against it.

    Parameters
    ----------
    data, metric, row, rival : str
        What was compared; there may be no rival.
    ours, theirs : float
        The mean of the row and that of its rival.
    holds : bool
        Whether the claim is true of it.
    """

    data: str
    metric: str
    row: str
    rival: str
    ours: float
    theirs: float
    holds: bool


@dataclass(frozen=True)
class Finding:
    """A claim with what our runs say of it.

    Parameters
    ----------
    claim : Claim
        The claim.
    cases : list of Case
        The comparisons that were run.
    """

    claim: Claim
    cases: list[Case]

    @property
    def verdict(self) -> str:
        """One of ``FINDINGS``."""
        if not self.cases:
            return NOT_RUN
        share = float(np.mean([case.holds for case in self.cases]))
        if self.claim.generally:
            return HOLDS if share > 1 / 2 else FAILS
        return HOLDS if share == 1 else IN_PART if share > 0 else FAILS

    @property
    def rule(self) -> str:
        """The rule in words."""
        rivals = list(dict.fromkeys(rival for _, rival in self.claim.pairs))
        few = len(rivals) <= MOST_RIVALS
        rival = ", ".join(rivals) if few else "the row beside it"
        told = RULES[self.claim.rule].format(rival=rival, bound=self.claim.bound)
        return f"{told}, in most cases" if self.claim.generally else told


def find(claim: Claim, records: Mapping[str, Record]) -> Finding:
    """Return what finished runs say of a claim; what is not finished is left out."""
    cases = []
    for table, data, metric, row, rival in claim.cases():
        ours = _values(table, data, row, metric, records)
        theirs = _values(table, data, rival, metric, records) if rival else ours
        if not len(ours) or not len(theirs):
            continue
        cases.append(
            Case(
                *(data, metric, row.name, rival.name if rival else ""),
                *(float(ours.mean()), float(theirs.mean())),
                decide(claim, ours, theirs, table, metric),
            )
        )
    return Finding(claim, _together(cases) if claim.of_all else cases)


def _together(cases: list[Case]) -> list[Case]:
    """Return a case for each data set, metric and row: one against it, if there is."""
    groups = groupby(cases, key=lambda case: (case.data, case.metric, case.row))
    return [min(group, key=lambda case: case.holds) for _, group in groups]


def _values(
    table: Table, data: str, row: Entrant, metric: str, records: Mapping[str, Record]
) -> np.ndarray:
    """Return the values of a cell by seed, or none if a run is to come."""
    keys = [trial.key for trial in table.trials(data, row, metric)]
    if any(metric not in records.get(key, {}).get("values", {}) for key in keys):
        return np.empty(0)
    return np.array([records[key]["values"][metric] for key in keys])


def decide(
    claim: Claim, ours: np.ndarray, theirs: np.ndarray, table: Table, metric: str
) -> bool:
    """Tell whether a claim is true of two rows, given their values by seed."""
    if claim.rule == "at most":
        return bool(ours.mean() <= claim.bound)
    if claim.rule == "at least":
        return bool(ours.mean() >= claim.bound)
    if claim.rule == "steady":
        return bool(_deviation(ours) <= claim.bound)
    if claim.rule == "times":
        return bool(theirs.mean() >= claim.bound * ours.mean())
    sign = 1 if table.is_lower_better(metric) else -1
    gains = sign * (theirs - ours)
    error = ERRORS * _deviation(gains) / math.sqrt(len(gains))
    tolerance = table.tolerance * abs(theirs.mean())
    if claim.rule == "better":
        return bool(gains.mean() > (error if len(gains) > 1 else tolerance))
    return bool(-gains.mean() <= max(error, tolerance))


def _deviation(values: Sequence[float] | np.ndarray) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

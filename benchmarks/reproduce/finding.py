"""Whether what a paper claims in words holds in our runs."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

import numpy as np

from benchmarks.ledger import Record
from benchmarks.reproduce.claim import BETTER, RULES, TIMES, Claim
from benchmarks.reproduce.table import Entrant, Table

FINDINGS = ("holds", "holds in part", "does not hold", "not decided", "not run")
HOLDS, IN_PART, FAILS, UNDECIDED, NOT_RUN = FINDINGS
ERRORS = 2  # standard errors of a difference that count
MOST_RIVALS = 5  # that a rule names
DAY = timedelta(days=1)


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
    decided : bool, default=True
        Whether it is true or false beyond chance.
    """

    data: str
    metric: str
    row: str
    rival: str
    ours: float
    theirs: float
    holds: bool
    decided: bool = True


@dataclass(frozen=True)
class Finding:
    """A claim with what our runs say of it.

    Parameters
    ----------
    claim : Claim
        The claim.
    cases : list of Case
        The comparisons that were run.
    apart : list of str
        Those whose rows were not run together, and so decide nothing.
    """

    claim: Claim
    cases: list[Case]
    apart: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """One of ``FINDINGS``."""
        if not self.cases:
            return UNDECIDED if self.apart else NOT_RUN
        if not any(case.decided for case in self.cases):
            return UNDECIDED
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
        told += " in each repetition" if self.claim.each else ""
        return f"{told}, in most cases" if self.claim.generally else told


def find(claim: Claim, records: Mapping[str, Record]) -> Finding:
    """Return what finished runs say of a claim; what is not finished is left out."""
    cases, apart = [], []
    for table, data, metric, row, rival in claim.cases():
        ours = _runs(table, data, row, metric, records)
        theirs = _runs(table, data, rival, metric, records) if rival else ours
        if not ours or not theirs:
            continue
        pairs = list(_pairs(ours, theirs, together=claim.rule == TIMES))
        names = row.name, rival.name if rival else ""
        if not pairs:
            apart.append(f"{data}, {metric}: {' and '.join(names)}")
            continue
        found = np.array([[run["values"][metric] for run in pair] for pair in pairs])
        cases += _cases(claim, (table, data, metric), names, found)
    return Finding(claim, _together(cases) if claim.of_all else cases, apart)


def _cases(
    claim: Claim,
    place: tuple[Table, str, str],
    names: tuple[str, str],
    found: np.ndarray,
) -> Iterator[Case]:
    """Yield the comparison of two rows, or one for each of their repetitions."""
    table, data, metric = place
    for some in found[:, None] if claim.each else [found]:
        ours, theirs = some.T
        yield Case(
            *(data, metric, *names, float(ours.mean()), float(theirs.mean())),
            decide(claim, ours, theirs, table, metric),
            decided=_is_decided(claim, ours, theirs, table, metric),
        )


def _together(cases: list[Case]) -> list[Case]:
    """Return a case for each data set, metric and row: one against it, if there is."""
    groups = groupby(cases, key=lambda case: (case.data, case.metric, case.row))
    # What speaks against it comes before what decides nothing.
    return [min(group, key=lambda c: (c.holds, not c.decided)) for _, group in groups]


def _runs(
    table: Table, data: str, row: Entrant, metric: str, records: Mapping[str, Record]
) -> dict[int, Record]:
    """Return the runs of a cell by seed, or none if one is to come."""
    trials = table.trials(data, row, metric)
    if any(metric not in records.get(t.key, {}).get("values", {}) for t in trials):
        return {}
    return {trial.seed: records[trial.key] for trial in trials}


def _pairs(
    ours: Mapping[int, Record], theirs: Mapping[int, Record], *, together: bool
) -> Iterator[tuple[Record, Record]]:
    """Yield the runs of two rows by seed; ``together`` if their times are compared."""
    for seed, run in ours.items():
        if seed in theirs and not (together and not _are_together(run, theirs[seed])):
            yield run, theirs[seed]


def _are_together(one: Record, other: Record) -> bool:
    """Tell whether two runs are of one commit, on one machine, within a day."""
    if any(one[name] != other[name] for name in ("version", "commit", "machine")):
        return False
    ends = (datetime.fromisoformat(run["finished"]) for run in (one, other))
    return abs(next(ends) - next(ends)) <= DAY


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
    if claim.rule == TIMES:
        return bool(theirs.mean() >= claim.bound * ours.mean())
    gain, error, tolerance = _gain(ours, theirs, table, metric)
    if claim.rule == BETTER:
        return bool(gain > (error if len(ours) > 1 else tolerance))
    return bool(-gain <= max(error, tolerance))


def _is_decided(
    claim: Claim, ours: np.ndarray, theirs: np.ndarray, table: Table, metric: str
) -> bool:
    """Tell whether a claim is true of two rows, or its contrary is."""
    if claim.rule != BETTER:
        return True
    pair = (ours, theirs), (theirs, ours)
    return any(decide(claim, *each, table, metric) for each in pair)


def _gain(
    ours: np.ndarray, theirs: np.ndarray, table: Table, metric: str
) -> tuple[float, float, float]:
    """Return by how much ours are better, what chance may do, and what is tolerated."""
    sign = 1 if table.is_lower_better(metric) else -1
    gains = sign * (theirs - ours)
    error = ERRORS * _deviation(gains) / math.sqrt(len(gains))
    return float(gains.mean()), error, table.tolerance * abs(float(theirs.mean()))


def _deviation(values: Sequence[float] | np.ndarray) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0

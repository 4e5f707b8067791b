"""A table of a paper: what to run, and what was published."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import toml_files
from benchmarks.reproduce.trial import Trial
from manylabel.exceptions import DataError

TABLE: dict[str, Any] = {
    "title": ...,
    "protocol": ...,
    "data": ...,
    "metrics": ...,
    "better": ...,
    "tolerance": ...,
    "learners": ...,
    "repetitions": 1,
    "seeds": None,
    "limits": {},
    "notes": "",
    "settings": {},
    "incomparable": {},
    "units": {},
    "published": {},
    "spread": {},
    "spread_of": "mean",
    "reasons": [],
    "quick": {},
}
REASON: dict[str, Any] = {
    "why": ...,
    "data": None,
    "rows": None,
    "metrics": None,
    "comparable": True,
}
# Whose row it is: only the first are what a paper proposes.
ROLES = ("own", "comparator", "ablation", "variant")
OWN, COMPARATOR, ABLATION, VARIANT = ROLES
LEARNER: dict[str, Any] = {
    "name": ...,
    "class": ...,
    "parameters": {},
    "without": [],  # parameters that are None, for which TOML has no word
    "choices": [],
    "sweep": {},
    "on": {},
    "optimises": False,
    "reason": None,
    "against": None,
    "only": None,
    "first_seed": {},
    "role": None,
}


@dataclass(frozen=True)
class Entrant:
    """A row of the table: a learner as it is to be run.

    Parameters
    ----------
    name : str
        The name of the row.
    line : str
        The line of a figure that it is a point of.
    learner : str
        The class.
    parameters : mapping
        Its parameters.
    on : mapping
        More of them, by data set.
    choices : tuple of mappings
        Parameters to choose from on training rows.
    optimises : bool
        Whether it is run once for each metric, with that metric as its cost.
    reason : str or None
        Why its rows cannot be compared, if they cannot.
    against : str
        The row whose published values it is compared with.
    only : tuple of str or None
        The data sets that it is run on; None for all.
    first_seed : mapping
        Where its seeds begin, by data set, if not where those of the table do: beyond
        those by which its parameters were chosen.
    role : {"own", "comparator", "ablation", "variant"}
        Whether the paper proposes it, compares with it, or takes a part of its own
        away to show what that is good for; or whether it is a variant of ours.
    """

    name: str
    line: str
    learner: str
    parameters: Mapping[str, Any]
    on: Mapping[str, Mapping[str, Any]]
    choices: tuple[Mapping[str, Any], ...]
    optimises: bool
    reason: str | None
    against: str
    only: tuple[str, ...] | None
    first_seed: Mapping[str, int]
    role: str


@dataclass(frozen=True)
class Reason:
    """Why cells of a table are worse than published, or cannot be compared.

    Parameters
    ----------
    why : str
        The reason.
    data, rows, metrics : tuple of str or None
        Of which cells; None for all.
    comparable : bool
        Whether they can be compared.
    """

    why: str
    data: tuple[str, ...] | None
    rows: tuple[str, ...] | None
    metrics: tuple[str, ...] | None
    comparable: bool

    def covers(self, data: str, row: str, metric: str) -> bool:
        """Tell whether it is the reason of a cell."""
        chosen = (self.data, data), (self.rows, row), (self.metrics, metric)
        return all(names is None or name in names for names, name in chosen)


@dataclass(frozen=True)
class Table:
    """What a file of ``papers/<paper>/`` says, ``quick`` or in full.

    Parameters
    ----------
    paper, name, title, notes : str
        Which table it is, what it shows, and which errata were applied.
    protocol : str
        How learners are run.
    data, metrics : tuple of str
        The data sets and the columns.
    lower_is_better : bool
        Whether less is better.
    tolerance : float
        Share of the published value by which ours may differ and match it.
    seeds : tuple of int
        A repetition each.
    limits : mapping
        How many repetitions a data set gets at most, by data set.
    settings : mapping
        Arguments of the protocol.
    incomparable : mapping
        Why a metric cannot be compared, by metric.
    units : mapping
        What the last printed digit of a metric counts, by metric, where that matters.
    entrants : tuple of Entrant
        The rows.
    published : mapping
        Values by data set and row, in the order of the metrics.
    spread : mapping
        What the paper prints after ±, likewise.
    spread_of : int or "mean"
        What that is: the standard error of the mean, or the standard deviation of as
        many values.
    reasons : tuple of Reason
        Why cells are worse than published, if they are.
    """

    paper: str
    name: str
    title: str
    notes: str
    protocol: str
    data: tuple[str, ...]
    metrics: tuple[str, ...]
    lower_is_better: bool
    tolerance: float
    seeds: tuple[int, ...]
    limits: Mapping[str, int]
    settings: Mapping[str, Any]
    incomparable: Mapping[str, str]
    units: Mapping[str, float]
    entrants: tuple[Entrant, ...]
    published: Mapping[str, Mapping[str, list[float]]]
    spread: Mapping[str, Mapping[str, list[float]]]
    spread_of: int | str
    reasons: tuple[Reason, ...]

    def trials(self, data: str, entrant: Entrant, metric: str) -> list[Trial]:
        """Return the runs that a cell of the table is the mean of."""
        parameters = {**entrant.parameters, **entrant.on.get(data, {})}
        metrics = self.metrics
        if entrant.optimises:
            parameters["cost"], metrics = metric, (metric,)
        return [
            Trial(
                self.protocol,
                data,
                entrant.learner,
                parameters,
                entrant.choices,
                self.settings,
                metrics,
                seed,
            )
            for seed in self.seeds_of(data, entrant)
        ]

    def seeds_of(self, data: str, entrant: Entrant | None = None) -> Sequence[int]:
        """Return the seeds of a data set, or those of a row, which may have its own."""
        seeds = self.seeds[: self.limits.get(data)]
        if entrant is None or data not in entrant.first_seed:
            return seeds
        first = entrant.first_seed[data]
        return range(first, first + len(seeds))

    def cells(self) -> Iterator["Place"]:
        """Yield the table, data set, row and metric of each cell."""
        for data, entrant, metric in product(self.data, self.entrants, self.metrics):
            if entrant.only is None or data in entrant.only:
                yield self, data, entrant, metric

    def aim(self, data: str, entrant: Entrant, metric: str) -> float:
        """Return what was published, or NaN."""
        return self._printed(self.published, data, entrant, metric)

    def stderr(self, data: str, entrant: Entrant, metric: str) -> float:
        """Return the standard error of what was published, or NaN."""
        spread = self._printed(self.spread, data, entrant, metric)
        if isinstance(self.spread_of, int):
            return spread / math.sqrt(self.spread_of)
        return spread

    def _printed(
        self,
        figures: Mapping[str, Mapping[str, list[float]]],
        data: str,
        entrant: Entrant,
        metric: str,
    ) -> float:
        row = figures.get(data, {}).get(entrant.against)
        return math.nan if row is None else row[self.metrics.index(metric)]

    def is_lower_better(self, metric: str) -> bool:
        """Tell whether less of a metric is better, as of time it always is."""
        return self.lower_is_better or metric.endswith("seconds")

    def why(self, data: str, entrant: Entrant, metric: str) -> str:
        """Return why a cell is worse than published, as far as it is known."""
        return self._reason(data, entrant, metric, comparable=True)

    def obstacle(self, data: str, entrant: Entrant, metric: str) -> str:
        """Return why a cell cannot be compared, if it cannot."""
        known = self.incomparable.get(metric) or entrant.reason
        return known or self._reason(data, entrant, metric, comparable=False)

    def _reason(
        self, data: str, entrant: Entrant, metric: str, *, comparable: bool
    ) -> str:
        place = data, entrant.name, metric
        chosen = (each for each in self.reasons if each.comparable == comparable)
        return next((each.why for each in chosen if each.covers(*place)), "")


Place = tuple[Table, str, Entrant, str]


def read_table(
    paper: str, name: str, *, quick: bool = False, home: Path = toml_files.HOME
) -> Table:
    """Return a table of a paper; ``quick`` takes what is to be run in a hurry."""
    path = home / paper / f"{name}.toml"
    given = toml_files.take(path, toml_files.read(path), TABLE)
    if quick:
        given = toml_files.take(path, given["quick"], given)
    if given["better"] not in ("lower", "higher"):
        found = given["better"]
        raise DataError(path, f"expected better = lower or higher, found {found!r}.")
    seeds = given["seeds"]
    return Table(
        paper=paper,
        name=name,
        title=given["title"],
        notes=given["notes"].strip(),
        protocol=given["protocol"],
        data=tuple(given["data"]),
        metrics=tuple(given["metrics"]),
        lower_is_better=given["better"] == "lower",
        tolerance=given["tolerance"],
        seeds=tuple(range(given["repetitions"]) if seeds is None else seeds),
        limits=given["limits"],
        settings=given["settings"],
        incomparable=given["incomparable"],
        units=given["units"],
        entrants=tuple(_entrants(path, given["learners"])),
        published=given["published"],
        spread=given["spread"],
        spread_of=given["spread_of"],
        reasons=tuple(_reasons(path, given["reasons"])),
    )


def _reasons(path: Path, reasons: list[dict[str, Any]]) -> Iterator[Reason]:
    for each in reasons:
        given = toml_files.take(path, each, REASON)
        chosen = (given[name] for name in ("data", "rows", "metrics"))
        yield Reason(
            given["why"],
            *(None if names is None else tuple(names) for names in chosen),
            comparable=given["comparable"],
        )


def _entrants(path: Path, learners: list[dict[str, Any]]) -> Iterator[Entrant]:
    """Yield the rows of the table; a sweep is a row for each of its values."""
    for each in learners:
        learner = toml_files.take(path, each, LEARNER)
        swept = learner["sweep"]
        only = learner["only"]
        for values in product(*swept.values()):
            point = dict(zip(swept, values, strict=True))
            told = "".join(f", {name} = {value}" for name, value in point.items())
            name = learner["name"] + told
            yield Entrant(
                name,
                learner["name"],
                learner["class"],
                {**learner["parameters"], **dict.fromkeys(learner["without"]), **point},
                learner["on"],
                tuple(learner["choices"]),
                learner["optimises"],
                learner["reason"],
                learner["against"] or name,
                None if only is None else tuple(only),
                learner["first_seed"],
                _role(path, learner),
            )


def _role(path: Path, learner: dict[str, Any]) -> str:
    """Return whose row it is: of the paper, or ours if it stands beside another."""
    role: str = learner["role"] or (VARIANT if learner["against"] else OWN)
    if role not in ROLES:
        known = ", ".join(ROLES)
        raise DataError(path, f"expected role = {known}, found {role!r}.")
    return role

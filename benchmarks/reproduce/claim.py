"""What a paper claims in words, as data: the cells to compare, and by which rule."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import toml_files
from benchmarks.reproduce.table import Entrant, Table, read_table
from manylabel.exceptions import DataError

BETTER, TIMES = "better", "times"
# How cells decide a claim. Differences of two rows are those of the same seeds.
RULES = {
    BETTER: "better than {rival} by over two standard errors of the difference, or "
    "of a single run by over the tolerance",
    "as good": "not worse than {rival} by over the tolerance or two standard errors",
    TIMES: "at least {bound:g} times as much for {rival}, of runs by one commit on one "
    "machine within a day",
    "at most": "at most {bound:g}",
    "at least": "at least {bound:g}",
    "steady": "standard deviation over repetitions at most {bound:g}",
}
OF_TWO = (BETTER, "as good", TIMES)
OF_EACH = ("at most", "at least")
# Whose sentence it is: only the first are what a paper says of what it proposes.
ROLES = ("own", "comparator", "ours")
OWN, COMPARATOR, OURS = ROLES
FILE: dict[str, Any] = {"topics": {}, "claims": ...}
TOPIC: dict[str, Any] = {"title": ..., "why": ""}
CLAIM: dict[str, Any] = {
    "topic": ...,
    "says": ...,
    "where": ...,
    "rule": ...,
    "tables": ...,
    "metrics": ...,
    "data": None,
    "rows": [],
    "than": [],
    "pairs": [],
    "bound": 1.0,
    "generally": False,
    "of_all": False,
    "each": False,
    "role": OWN,
    "why": "",
}


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that our runs can decide.

    Parameters
    ----------
    paper, topic, says, where : str
        Whose it is, what it is about, what it says and in which place.
    rule : str
        How cells decide it; one of ``RULES``.
    tables : tuple of Table
        Whose runs decide it.
    metrics : tuple of str
        By which figures of a run.
    data : tuple of str or None
        On which data sets; None for all of the tables.
    pairs : tuple of (str, str)
        The rows that are compared; of a rule about one row, the second is empty.
    bound : float
        What the rule compares with.
    generally : bool
        Whether it claims most cases only, not all.
    of_all : bool
        Whether a row has to be ahead of all its rivals at once: a case a data set.
    each : bool
        Whether each repetition is a case, where a mean would hide those that fail.
    role : {"own", "comparator", "ours"}
        Whether the paper says it of what it proposes or of what it compares with, or
        whether it is a sentence of ours.
    why : str
        Why it does not hold, if it does not.
    """

    paper: str
    topic: str
    says: str
    where: str
    rule: str
    tables: tuple[Table, ...]
    metrics: tuple[str, ...]
    data: tuple[str, ...] | None
    pairs: tuple[tuple[str, str], ...]
    bound: float
    generally: bool
    of_all: bool
    each: bool
    role: str
    why: str

    def cases(self) -> Iterator[tuple[Table, str, str, Entrant, Entrant | None]]:
        """Yield table, data set, metric and rows of each comparison."""
        for table in self.tables:
            rows = {entrant.name: entrant for entrant in table.entrants}
            chosen = [d for d in table.data if self.data is None or d in self.data]
            for data, metric, (row, rival) in product(chosen, self.metrics, self.pairs):
                both = rows[row], rows[rival] if rival else None
                if all(e is None or e.only is None or data in e.only for e in both):
                    yield table, data, metric, *both


@dataclass(frozen=True)
class Topic:
    """What several claims of a paper are about.

    Parameters
    ----------
    title : str
        It, in a few words.
    why : str
        Why what does not hold does not, in a sentence or two.
    """

    title: str
    why: str


def read_claims(
    paper: str, *, quick: bool = False, home: Path = toml_files.HOME
) -> tuple[dict[str, Topic], list[Claim]]:
    """Return the topics of a paper and its claims; nothing if it has no file of them.

    The tables of a claim are read from the same folder, ``quick`` or in full.
    """
    path = home / paper / f"{toml_files.CLAIMS}.toml"
    if not path.exists():
        return {}, []
    given = toml_files.take(path, toml_files.read(path), FILE)
    topics = {
        name: Topic(**toml_files.take(path, each, TOPIC))
        for name, each in given["topics"].items()
    }
    claims = [toml_files.take(path, each, CLAIM) for each in given["claims"]]
    names = {name for claim in claims for name in claim["tables"]}
    tables = {n: read_table(paper, n, quick=quick, home=home) for n in sorted(names)}
    return topics, [_claim(path, each, tables, topics) for each in claims]


def _claim(
    path: Path,
    given: dict[str, Any],
    tables: Mapping[str, Table],
    topics: Mapping[str, Topic],
) -> Claim:
    _check(path, given["rule"], RULES, "rule")
    _check(path, given["topic"], topics, "topic")
    _check(path, given["role"], ROLES, "role")
    if given["each"]:
        _check(path, given["rule"], OF_EACH, "rule of each repetition")
    chosen = tuple(tables[name] for name in given["tables"])
    rivals = given["than"] if given["rule"] in OF_TWO else [""]
    pairs = tuple(map(tuple, given["pairs"])) or tuple(product(given["rows"], rivals))
    for table in chosen:
        known = [entrant.name for entrant in table.entrants]
        for row in {name for pair in pairs for name in pair if name}:
            _check(path, row, known, "row")
    return Claim(
        *(path.parent.name, given["topic"], given["says"], given["where"]),
        rule=given["rule"],
        tables=chosen,
        metrics=tuple(given["metrics"]),
        data=None if given["data"] is None else tuple(given["data"]),
        pairs=pairs,
        bound=given["bound"],
        generally=given["generally"],
        of_all=given["of_all"],
        each=given["each"],
        role=given["role"],
        why=given["why"],
    )


def _check(path: Path, name: str, known: Any, what: str) -> None:
    if name not in known:
        raise DataError(path, f"expected {what} = {', '.join(known)}, found {name!r}.")

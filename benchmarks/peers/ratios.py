"""The figures of all entrants for a data set, and the ratios of the peers' to ours."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks import page
from benchmarks.ledger import Record
from benchmarks.peers.contest import Bout
from benchmarks.peers.judging import METRICS

MEGABYTE = 1e6
SLOWER = 1.5  # times a peer's time from which on we call it a loss
EQUAL = 0.01  # of P@1 and PSP@5, that a peer may have less
TIMES = {"train": "training", "batch": "batch prediction", "single": "single rows"}
HEAD = (
    *("entrant", "train s", "ratio", "batch µs a row", "ratio", "one row ms", "ratio"),
    *("model MB", "peak MB", *METRICS),
)


@dataclass(frozen=True)
class Result:
    """The figures of an entrant for a data set: medians over its runs.

    Parameters
    ----------
    name : str
        The entrant.
    peer : str
        Its library.
    data : str
        The data set.
    beside : str or None
        The entrant of ours that its ratios are to.
    runs : tuple of dict
        The records of its runs; empty if there are none.
    failure : str or None
        Why there are none, in a sentence.
    """

    name: str
    peer: str
    data: str
    beside: str | None
    runs: tuple[Record, ...]
    failure: str | None

    def __getitem__(self, name: str) -> float:
        return float(median(run["values"][name] for run in self.runs))

    @property
    def times(self) -> dict[str, float]:
        """CPU seconds of training all rows, and of a row in a batch and on its own."""
        return {
            "train": self["train_cpu"] / self.share,
            "batch": self["batch_cpu"] / self["batch_rows"],
            "single": self["single_ms"] / 1000,
        }

    @property
    def share(self) -> float:
        """The part of the training rows that it learnt before its time was over."""
        return self["train_rows"] / self["given_rows"]


def gather(
    bouts: Iterable[Bout], records: Mapping[str, Record], failed: Iterable[Record]
) -> dict[str, list[Result]]:
    """Return the figures of each data set, in the order of the runs."""
    reasons = {(each["entrant"], each["data"]): each["failure"] for each in failed}
    found: dict[tuple[str, str], list[Bout]] = {}
    for bout in bouts:
        found.setdefault(bout.group, []).append(bout)
    results: dict[str, list[Result]] = {}
    for pair, group in found.items():
        done = (records.get(bout.key, {}) for bout in group)
        runs = tuple(record for record in done if "values" in record)
        first = group[0]
        results.setdefault(first.data, []).append(
            Result(
                first.entrant.name,
                first.peer.name,
                first.data,
                first.entrant.beside,
                runs,
                None if runs else reasons.get(pair, "was not run"),
            )
        )
    return results


def compare(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """Return, for each peer's entrant, its times over those of the one beside it.

    Above 1, ours is the quicker.
    """
    by_name = {result.name: result for result in results if result.runs}
    return {
        name: {
            kind: theirs / by_name[result.beside].times[kind]
            for kind, theirs in result.times.items()
        }
        for name, result in by_name.items()
        if result.beside in by_name
    }


def losses(results: Sequence[Result]) -> list[tuple[Result, str, float]]:
    """Return where a peer is much quicker and no worse: who, in what, by how much."""
    by_name = {result.name: result for result in results}
    found = []
    for name, ratios in compare(results).items():
        theirs = by_name[name]
        ours = by_name[str(theirs.beside)]
        if all(theirs[key] >= ours[key] - EQUAL for key in ("P@1", "PSP@5")):
            slow = ((kind, 1 / each) for kind, each in ratios.items())
            found += [(theirs, kind, by) for kind, by in slow if by > SLOWER]
    return found


def write_table(results: Sequence[Result]) -> str:
    """Return the figures of a data set as Markdown, failures and notes beneath."""
    ratios = compare(results)
    table = page.table(
        HEAD, (_row(each, ratios.get(each.name, {})) for each in results if each.runs)
    )
    notes = [f"- {each.name}: {each.failure}." for each in results if each.failure]
    notes += [f"- {each.name}: {_cut_short(each)}." for each in results if _cut(each)]
    return page.join(table, "\n".join(notes))


def figures(result: Result, ratios: Mapping[str, float]) -> dict[str, Any]:
    """Return what there is about an entrant, for other programs."""
    about = {"entrant": result.name, "peer": result.peer, "data": result.data}
    if not result.runs:
        return about | {"failure": result.failure}
    return about | {
        "version": result.runs[0]["version"],
        "runs": len(result.runs),
        "beside": result.beside,
        "ratios": dict(ratios),
        "values": {name: result[name] for name in _numbers(result)},
    }


def _numbers(result: Result) -> list[str]:
    return list(result.runs[0]["values"])


def _row(result: Result, ratios: Mapping[str, float]) -> list[str]:
    times = result.times
    return [
        result.name,
        ("~" if result.share < 1 else "") + short(times["train"]),
        _ratio(ratios, "train"),
        short(1e6 * times["batch"]),
        _ratio(ratios, "batch"),
        short(1e3 * times["single"]),
        _ratio(ratios, "single"),
        short(result["model_bytes"] / MEGABYTE),
        short(result["peak_bytes"] / MEGABYTE),
        *(f"{100 * result[key]:.1f}" for key in METRICS),
    ]


def _ratio(ratios: Mapping[str, float], kind: str) -> str:
    return short(ratios[kind]) if kind in ratios else ""


def short(value: float) -> str:
    """Return a number of two or three digits.

    Examples
    --------
    >>> [short(value) for value in (0.0123, 0.62, 4.567, 45.67, 4567.8)]
    ['0.012', '0.62', '4.6', '46', '4,568']
    """
    for least, digits in ((10, 0), (1, 1)):
        if value >= least:
            return f"{value:,.{digits}f}"
    return f"{value:.2g}"


def _cut(result: Result) -> bool:
    return bool(result.runs) and (
        result.share < 1 or result["batch_rows"] < result["test_rows"]
    )


def _cut_short(result: Result) -> str:
    """Say what it learnt and predicted, if not all rows."""
    test = f"{result['batch_rows']:,.0f} of {result['test_rows']:,.0f} test rows"
    if result.share == 1:
        return f"judged on {test}"
    rows = f"{result['train_rows']:,.0f} of {result['given_rows']:,.0f} rows"
    pace = result["train_rows"] / result["train_cpu"]
    return (
        f"learnt {rows} in {result['train_cpu']:.0f} s, {pace:,.0f} a second, from "
        f"which the time for all is reckoned; judged on {test}"
    )

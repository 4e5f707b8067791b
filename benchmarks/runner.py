"""Runs jobs; what is finished is written down and never run again."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed

import manylabel
from benchmarks.ledger import Ledger, Record
from benchmarks.machine import commit, machine

Watch = Callable[[int, int, Record], None]


class Failure(Exception):
    """Why a run has no figures, in a sentence.

    Parameters
    ----------
    reason : str
        The sentence.
    limit : float or None, default=None
        The CPU seconds that it had, if they were not enough.
    """

    def __init__(self, reason: str, limit: float | None = None) -> None:
        super().__init__(reason)
        self.limit = limit


class Job(Protocol):
    """What can be run."""

    @property
    def key(self) -> str:
        """What tells its run from others."""

    @property
    def group(self) -> Hashable:
        """What it shares with jobs that are left out once it has failed."""

    @property
    def about(self) -> Record:
        """What its line says of it beside the figures."""


J = TypeVar("J", bound=Job)


def run(
    jobs: Iterable[J],
    perform: Callable[[J], Record],
    ledger: Ledger,
    *,
    limit: float = 0,
    n_jobs: int | None = 1,
    watch: Watch | None = None,
) -> list[Record]:
    """Run what is not finished yet; return the runs that failed.

    Parameters
    ----------
    jobs : iterable of Job
        What to run, in this order; what occurs twice is run once.
    perform : callable
        Takes a job; returns its ``values`` and what else is to be kept, or raises
        Failure.
    ledger : Ledger
        What is finished, and where more is written down.
    limit : float, default=0
        The CPU seconds that a job has: one that had as many before is not tried again.
        Other failures are not written down, so they are tried again the next time.
    n_jobs : int or None, default=1
        Processes at a time.
    watch : callable or None, default=None
        Called after each run with how many are done, how many there are, and the run.

    Returns
    -------
    list of dict
        The first failure of each group, with its sentence as ``failure``.
    """
    once = {job.key: job for job in jobs}
    waiting = {
        key: job
        for key, job in once.items()
        if not _is_settled(ledger.records.get(key, {}), limit)
    }
    failed: dict[Hashable, Record] = {}
    left_out: list[str] = []

    def still_open() -> Iterator[Any]:
        for key, job in once.items():
            if key not in waiting:
                if "failure" in ledger.records[key]:
                    failed.setdefault(job.group, ledger.records[key])
            elif job.group in failed:
                left_out.append(key)
            else:
                yield delayed(_record)(job, perform)

    team = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for number, record in enumerate(team(still_open()), start=1):
        if "failure" in record:
            failed.setdefault(waiting[record["key"]].group, record)
        if "values" in record or "limit" in record:
            ledger.append(record)
        if watch is not None:
            watch(number + len(left_out), len(waiting), record)
    return list(failed.values())


def _is_settled(record: Record, limit: float) -> bool:
    """Tell whether a run is finished, or was ended by a limit that was no shorter."""
    return "values" in record or record.get("limit", -1) >= limit


def _record(job: J, perform: Callable[[J], Record]) -> Record:
    """Return the line of a run, whatever becomes of it."""
    try:
        outcome = perform(job)
    except Failure as failure:
        outcome = {"failure": str(failure)}
        if failure.limit is not None:
            outcome["limit"] = failure.limit
    return {
        "key": job.key,
        **job.about,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": manylabel.__version__,
        "commit": commit(),
        "machine": machine(),
        **outcome,
    }

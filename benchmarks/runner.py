"""Runs trials side by side; what is finished is written down and never run again."""

import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.catalogue import Catalogue, source
from benchmarks.ledger import Ledger, Record
from benchmarks.machine import commit, machine
from benchmarks.reproduce.protocols import PROTOCOLS
from benchmarks.reproduce.trial import Trial
from benchmarks.source import few_rows
from manylabel._version import __version__

Watch = Callable[[int, int, Record], None]
STAGE = few_rows()
_rehearsed: set[str] = set()  # in this process


def run(
    trials: Iterable[Trial],
    ledger: Ledger,
    *,
    catalogue: Catalogue,
    n_jobs: int | None = None,
    watch: Watch | None = None,
) -> list[Record]:
    """Run what is not finished yet; return the runs that failed.

    Parameters
    ----------
    trials : iterable of Trial
        What to run. Trials that several tables share are run once.
    ledger : Ledger
        What is finished, and where more is written down.
    catalogue : Catalogue
        The data sets.
    n_jobs : int or None, default=None
        Processes at a time.
    watch : callable or None, default=None
        Called after each run with how many are done, how many there are, and the run.

    Returns
    -------
    list of dict
        Runs that ended in an error, which has a sentence in each. They are not written
        down, so they are tried again the next time.
    """
    waiting = {trial.key: trial for trial in trials if trial.key not in ledger.records}
    # One data set after the other, so that each worker reads it once.
    order = sorted(waiting.values(), key=lambda trial: trial.data)
    team = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    failed: list[Record] = []
    place = catalogue.folder, catalogue.path
    ended = team(delayed(perform)(trial, *place) for trial in order)
    for number, record in enumerate(ended, start=1):
        if "error" in record:
            failed.append(record)
        else:
            ledger.append(record)
        if watch is not None:
            watch(number, len(order), record)
    return failed


def rehearse(trial: Trial) -> None:
    """Run a trial on a few rows, so that no run is timed with compiling its kernels."""
    if trial.key not in _rehearsed:
        _rehearsed.add(trial.key)
        with suppress(Exception), warnings.catch_warnings():  # few rows may be too few
            warnings.simplefilter("ignore")
            PROTOCOLS[trial.protocol](trial, STAGE)


def perform(trial: Trial, folder: Path, path: Path) -> Record:
    """Return the record of one run on data of a folder, catalogued in a file."""
    record = {"key": trial.key} | asdict(trial)
    rehearse(replace(trial, data=STAGE.name, seed=0))
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of labels that no row has, and the like
            data = source(folder, path, trial.data)
            outcome = PROTOCOLS[trial.protocol](trial, data)
    except Exception as error:
        return record | {"error": f"{type(error).__name__}: {error}"}
    return record | {
        "values": {name: float(value) for name, value in outcome.values.items()},
        "curves": outcome.curves,
        "seconds": round(time.perf_counter() - start, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": __version__,
        "commit": commit(),
        "machine": machine(),
    }

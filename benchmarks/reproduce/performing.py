"""One trial, on data of a folder, by its protocol."""

import time
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchmarks.catalogue import source
from benchmarks.ledger import Record
from benchmarks.reproduce.protocols import PROTOCOLS
from benchmarks.reproduce.trial import Trial
from benchmarks.runner import Failure
from benchmarks.source import few_rows

STAGE = few_rows()
_rehearsed: set[str] = set()  # in this process


def perform(trial: Trial, folder: Path, path: Path) -> Record:
    """Return what a trial found on data of a folder, catalogued in a file."""
    _rehearse(replace(trial, data=STAGE.name, seed=0))
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of labels that no row has, and the like
            data = source(folder, path, trial.data)
            outcome = PROTOCOLS[trial.protocol](trial, data)
    except Exception as error:
        raise Failure(f"{type(error).__name__}: {error}") from error
    return {
        "values": {name: float(value) for name, value in outcome.values.items()},
        "curves": outcome.curves,
        "seconds": round(time.perf_counter() - start, 3),
    }


def _rehearse(trial: Trial) -> None:
    """Run a trial on a few rows, so that no run is timed with compiling its kernels."""
    if trial.key not in _rehearsed:
        _rehearsed.add(trial.key)
        with suppress(Exception), warnings.catch_warnings():  # few rows may be too few
            warnings.simplefilter("ignore")
            PROTOCOLS[trial.protocol](trial, STAGE)

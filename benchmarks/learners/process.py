"""One learner on one set, in a process of its own.

``python -m benchmarks.learners.process RUN FOLDER FILE``: memory that a process once
had is seldom given back, and one that takes too long or too much can be ended.
"""

import inspect
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

import manylabel as ml
from benchmarks.ledger import Record
from benchmarks.memory import forget_peak, megabytes

T = TypeVar("T")
FEW = 100  # rows that touch each kernel, so that no compiling is timed
DEPTHS = (1, 3, 5)


def measure(run: Record, folder: Path) -> dict[str, float]:
    """Return quality in percent, CPU seconds and megabytes."""
    X, Y, test_X, test_Y = (
        sp.csr_array(sp.load_npz(folder / f"{part}.npz"))
        for part in ("train_X", "train_Y", "test_X", "test_Y")
    )
    if run["order"] is not None:
        drawn = np.random.default_rng(run["order"]).permutation(X.shape[0])
        X, Y = X[drawn], Y[drawn]
    _warm(run, X, Y)
    idle = megabytes("VmRSS")
    forget_peak()
    model, fit = _timed(lambda: _make(run).fit(X, Y))
    best, rank = _timed(lambda: model.predict_topk(test_X, k=max(DEPTHS)))
    sets, decide = _timed(lambda: model.predict(test_X))
    peak = megabytes("VmHWM") - idle
    figures = _quality(Y, test_Y, best, sets)
    return figures | {
        "fit_seconds": fit,
        "rank_seconds": rank,
        "predict_seconds": decide,
        "peak_megabytes": max(peak, 0.0),
        "model_megabytes": _size(model),
        "rows": X.shape[0],
        "test_rows": test_X.shape[0],
        "features": X.shape[1],
        "labels": Y.shape[1],
    }


def _make(run: Record) -> Any:
    kind = getattr(ml, run["class"])
    known = inspect.signature(kind).parameters
    seed = {"random_state": 0} if "random_state" in known else {}
    return kind(**seed | run["parameters"])


def _warm(run: Record, X: Any, Y: Any) -> None:
    """Fit few rows and predict them; whatever fails here fails again, and is told."""
    with suppress(Exception):
        few = _make(run).fit(X[:FEW], Y[:FEW])
        few.predict_topk(X[:FEW], k=max(DEPTHS))
        few.predict(X[:FEW])


def _quality(Y: Any, test_Y: Any, best: Any, sets: Any) -> dict[str, float]:
    """Return P@k, PSP@k and the F1 of rows, labels that nobody could learn included."""
    n_labels = max(Y.shape[1], test_Y.shape[1])
    truth, best, sets = (_widen(each, n_labels) for each in (test_Y, best, sets))
    propensity = ml.Propensity().fit(_widen(Y, n_labels))
    ranks = ml.evaluate(truth, best, k=DEPTHS, propensity=propensity)
    names = [f"{metric}@{k}" for metric in ("P", "PSP") for k in DEPTHS]
    f1 = 1 - ml.evaluate(truth, sets, costs=("f1",))["f1"]
    return {name: 100 * ranks[name] for name in names} | {"F1": 100 * f1}


def _widen(matrix: Any, n_labels: int) -> sp.csr_array:
    wide = sp.csr_array(matrix)
    wide.resize((wide.shape[0], n_labels))
    return wide


def _size(model: Any) -> float:
    """Return the megabytes of the saved model."""
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        files = Path(folder, "model").rglob("*")
        return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def _timed(task: Callable[[], T]) -> tuple[T, float]:
    start = time.process_time()
    result = task()
    return result, time.process_time() - start


def main(run: str, folder: str, file: str) -> None:
    """Measure a run within its memory, and write what was found."""
    job = json.loads(run)
    most = int(job["gigabytes"] * 1e9)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    warnings.simplefilter("ignore")  # of labels that no row has, and the like
    Path(file).write_text(json.dumps(measure(job, Path(folder))))


if __name__ == "__main__":
    main(*sys.argv[1:])

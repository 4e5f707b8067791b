"""Measure one entrant, in the environment of its peer: ``python -P contract.py JOB``.

JOB is a JSON file (see ``Job``). The file of a peer in this folder has an ``Entrant``:

- ``Entrant(job)`` brings the training rows into the form that the peer's calls take;
- ``train()`` learns them; returns how many, if it did not come to the end;
- ``save()`` writes the model to ``job.model``: as data, never as code;
- ``rows(X)`` brings rows to predict into the form that the peer's calls take;
- ``predict(rows)`` returns the best ``job.k`` labels: a sparse matrix of scores, or a
  list of pairs (label, score) for each row;
- ``warm()``, if there is one, loads what is only loaded when first used.

Only ``train`` and ``predict`` are timed. Times are CPU seconds of all threads of the
process, with clock seconds beside them. ``peak_bytes`` is how much larger the process
was at its largest moment in ``train`` than just before, when the library and the
training rows were loaded. NumPy and SciPy are all that is needed here, and -P keeps
``import river`` from finding the file of that name in this folder.
"""

import importlib.metadata
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp

NOTHING = -1  # in place of a label, where a row has fewer than k
MEMORY = Path("/proc/self")


class Job:
    """What to measure.

    Parameters
    ----------
    path : Path
        A JSON file of ``name`` (of the distribution), ``peer`` (its file beside this
        one), ``parameters``, ``data`` (a folder of ``train.txt`` and of X and Y of
        train and test as ``.npz``), ``unit`` (whether rows are scaled to unit length),
        ``model`` (a folder), ``out`` (a file without suffix), ``k``, ``singles`` (how
        many rows to predict one by one), ``test_rows`` (at most, or null) and ``seed``.
    """

    def __init__(self, path: Path) -> None:
        given = SimpleNamespace(**json.loads(path.read_text(encoding="utf-8")))
        self.name, self.peer = given.name, Path(given.peer)
        self.parameters = given.parameters
        self.data, self.unit = Path(given.data), given.unit
        self.model, self.out = Path(given.model), Path(given.out)
        self.k, self.singles, self.test_rows = given.k, given.singles, given.test_rows
        self.seed = given.seed
        self.text = self.data / "train.txt"
        self.X, self.Y = self._rows("train_X"), self._read("train_Y")
        self.n_rows = self.X.shape[0]

    def test(self) -> sp.csr_matrix:
        """Return the test rows."""
        return self._rows("test_X")

    def keep(self, **arrays: Any) -> None:
        """Write the arrays of a model, for peers whose own way to save is pickle."""
        np.savez(self.model / "model.npz", **arrays)

    def best(self, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return pairs of label and score from the scores of all labels."""
        top = np.argpartition(scores, -self.k, axis=1)[:, -self.k :]
        return np.stack([labels[top], np.take_along_axis(scores, top, axis=1)], axis=2)

    def _rows(self, name: str) -> sp.csr_matrix:
        X = self._read(name)
        if self.unit:
            lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
            X.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(X.indptr))
        return X

    def _read(self, name: str) -> sp.csr_matrix:
        return sp.csr_matrix(sp.load_npz(self.data / f"{name}.npz"))


def measure(job: Job) -> None:
    """Write the figures of an entrant, and the labels that it gave to the test rows."""
    entrant = _entrant(job)
    start = time.process_time()
    if hasattr(entrant, "warm"):
        entrant.warm()
    values = {"version": _version(job), "warm_cpu": time.process_time() - start}
    before = _reset_peak()
    learnt = _timed("train", entrant.train, values)
    values["peak_bytes"] = _peak() - before
    values["train_rows"], values["given_rows"] = learnt or job.n_rows, job.n_rows
    values["features"], values["labels"] = job.X.shape[1], job.Y.shape[1]
    entrant.save()
    files = (path for path in job.model.rglob("*") if path.is_file())
    values["model_bytes"] = sum(path.stat().st_size for path in files)
    X = job.test()
    values["test_rows"] = X.shape[0]
    X = X[: job.test_rows]
    picked = np.linspace(0, X.shape[0] - 1, job.singles).astype(int)
    singles = [entrant.rows(X[i : i + 1]) for i in picked]
    entrant.predict(singles[0])  # some load their model now
    batch = entrant.rows(X)
    found = _timed("batch", lambda: entrant.predict(batch), values)
    values["batch_rows"] = X.shape[0]
    values["single_ms"] = 1000 * _median(entrant, singles)
    labels, scores = _ranked(found, job.k)
    np.savez(job.out.with_suffix(".npz"), labels=labels, scores=scores)
    job.out.with_suffix(".json").write_text(json.dumps(values), encoding="utf-8")


def _entrant(job: Job) -> Any:
    spec = importlib.util.spec_from_file_location("entrant", job.peer)
    if spec is None or spec.loader is None:
        raise ValueError(f"{job.peer} must be a file of Python.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Entrant(job)


def _version(job: Job) -> str | None:
    try:
        return importlib.metadata.version(job.name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _timed(what: str, task: Callable[[], Any], values: dict[str, Any]) -> Any:
    clock, cpu = time.perf_counter(), time.process_time()
    result = task()
    values[f"{what}_cpu"] = time.process_time() - cpu
    values[f"{what}_clock"] = time.perf_counter() - clock
    return result


def _median(entrant: Any, singles: list[Any]) -> float:
    seconds = []
    for row in singles:
        start = time.process_time()
        entrant.predict(row)
        seconds.append(time.process_time() - start)
    return float(np.median(seconds))


def _reset_peak() -> int:
    """Forget how large the process has been; return how large it is, in bytes."""
    with suppress(OSError):
        (MEMORY / "clear_refs").write_text("5")
    return _size("VmRSS")


def _peak() -> int:
    return _size("VmHWM")


def _size(field: str) -> int:
    try:
        status = (MEMORY / "status").read_text()
    except OSError:  # not Linux
        return 0
    line = next(line for line in status.splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


def _ranked(found: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores, the best first, of shape (n_rows, k)."""
    if sp.issparse(found):
        found = found.tocsr()
        spans = zip(found.indptr[:-1], found.indptr[1:], strict=True)
        found = [
            list(zip(found.indices[a:b], found.data[a:b], strict=True))
            for a, b in spans
        ]
    labels = np.full((len(found), k), NOTHING)
    scores = np.full((len(found), k), -np.inf)
    for i, pairs in enumerate(found):
        best = sorted(pairs, key=lambda pair: -pair[1])[:k]
        for j, (label, score) in enumerate(best):
            labels[i, j], scores[i, j] = label, score
    return labels, scores


if __name__ == "__main__":
    measure(Job(Path(sys.argv[1])))

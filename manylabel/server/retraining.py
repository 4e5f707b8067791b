"""The process that learns a model anew, from its data and the log."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import scipy.sparse as sp

from manylabel import data, learners, parallel
from manylabel._plural import counted
from manylabel.data import Dataset, LabelSpace, ReadOptions
from manylabel.exceptions import ManylabelError
from manylabel.server.errors import NoData
from manylabel.server.events import FEEDBACK, VERSION, Draft, Event, write_json
from manylabel.server.follower import load_model
from manylabel.server.following import read_chunks, read_history
from manylabel.server.history import History
from manylabel.server.items import as_rows
from manylabel.server.jobs import DONE, FAILED, Job, Jobs, Order, as_order
from manylabel.server.log import Log, open_log
from manylabel.server.store import SEQUENCE, Store
from manylabel.text import Corrected, Tagger, kept_columns

NICE = 10  # serving comes first
EVERY = 0.5  # seconds between notes of how far it is
READ, LEARNT = 0.1, 0.9  # shares of the job


class Progress:
    """Notes how far a job is."""

    def __init__(self, jobs: Jobs, job: Job) -> None:
        self._jobs, self.job, self._noted = jobs, job, 0.0

    def tell(self, message: str, share: float) -> None:
        """Note it, at most twice a second."""
        if time.monotonic() - self._noted > EVERY:
            self._noted = time.monotonic()
            self.finish(message=message, share=share)

    def finish(self, **facts: Any) -> None:
        """Note facts at once."""
        self.job = self.job._replace(**facts)
        self._jobs.write(self.job)


def retrain(order: Order, log: Log) -> str:
    """Learn a new version, log it and return it."""
    store = Store(order.models)
    jobs = Jobs(store)
    progress = Progress(jobs, jobs.get(order.job)._replace(process=os.getpid()))
    try:
        version = _retrain(order, log, store, progress)
    except (ManylabelError, ValueError, OSError, MemoryError) as error:
        progress.finish(state=FAILED, message=str(error) or "Not enough memory.")
        raise
    progress.finish(state=DONE, share=1.0, message="done", version=version)
    return version


def _retrain(order: Order, log: Log, store: Store, progress: Progress) -> str:
    upto = log.last()
    history = read_history(log, order.model, upto)
    found = load_model(store.find(order.model, history.version))
    now = found.tagger if isinstance(found, Corrected) else found
    progress.tell("reading", 0.0)
    path = _source(order, now)
    whole = _read(path, now)
    kept = _kept(log, order.model, history, upto)
    whole = _join(whole, _labelled(now, kept), now)
    tagger = Tagger(
        _learner(order.learner), vectorizer=now.vectorizer_, quality=order.quality
    )
    with parallel.watched(lambda what, done: progress.tell(what, READ + LEARNT * done)):
        tagger.fit(whole)
    facts = {"source": str(path), "date": date.today().isoformat(), SEQUENCE: upto}
    columns = kept_columns(now) or None
    tagger.annotate(**facts, columns=columns, feedbacks=len(kept))
    return _register(order, tagger, store, log, upto, len(kept))


def _source(order: Order, now: Tagger) -> Path:
    """Return the file that the model was learnt from."""
    given = order.data or now.provenance_.get("source")
    if given is None:
        raise NoData("data must name the file to learn from: the model does not say.")
    if not Path(given).is_file():
        raise NoData(f"data must be a file that is there. Got {str(given)!r:.120}.")
    return Path(given)


def _read(path: Path, now: Tagger) -> Dataset:
    if now.reads_texts_:
        return data.read(path, **cast(ReadOptions, kept_columns(now)))
    return data.read(path, n_features=int(now.n_features_))


def _kept(log: Log, model: str, history: History, upto: int) -> list[Event]:
    """Return the feedback that counts, contained in a version or not."""
    lineage = history.lineage._replace(contains=0)
    return [
        event
        for events in read_chunks(log, model, 0, upto)
        for event in events
        if event.kind == FEEDBACK
        and lineage.has(event.sequence)
        and event.sequence not in history.retracted
    ]


def _labelled(now: Tagger, kept: Iterable[Event]) -> tuple[list[Any], list[list[str]]]:
    """Return the items of feedback and their labels; what was said last counts."""
    wanted = "text" if now.reads_texts_ else "features"
    items: dict[str, Any] = {}
    labels: dict[str, dict[str, None]] = {}
    for event in kept:
        body = event.body
        if wanted not in body["item"]:
            continue
        name = write_json(body["item"][wanted])
        items[name] = body["item"]
        known = {} if body["complete"] else labels.get(name, {})
        known = {each: None for each in known if each not in body["rejected"]}
        labels[name] = known | dict.fromkeys(body["accepted"])
    return list(items.values()), [list(each) for each in labels.values()]


def _join(
    whole: Dataset, given: tuple[list[Any], list[list[str]]], now: Tagger
) -> Dataset:
    """Return the data with the items of feedback as further rows."""
    items, labels = given
    if not items:
        return whole
    rows = as_rows(now, items)
    names = dict.fromkeys(whole.labels) | dict.fromkeys(
        name for each in labels for name in each
    )
    space = LabelSpace(names)
    wide = (whole.Y.shape[0], len(space))
    old = sp.csr_array((whole.Y.data, whole.Y.indices, whole.Y.indptr), shape=wide)
    Y = sp.vstack([old, space.encode(labels)], format="csr")
    if now.reads_texts_:
        return Dataset(
            None, Y, label_names=space.names, texts=(*(whole.texts or ()), *rows)
        )
    X = sp.vstack([whole.X, rows], format="csr")
    return Dataset(X, Y, whole.feature_names, space.names)


def _learner(name: str | None) -> Any:
    if name is None:
        return None
    kind = getattr(import_module("manylabel"), learners.LEARNERS[name])
    return kind()


def _register(
    order: Order, tagger: Tagger, store: Store, log: Log, upto: int, n: int
) -> str:
    """Save a tagger as a version, and log it."""
    store.kept.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=".draft-", dir=store.kept))
    try:
        tagger.save(folder / "model")
        version = store.add(order.model, folder / "model")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    kind = type(tagger.ranker_).__name__
    rows, feedbacks = counted(tagger.n_rows_, "row"), counted(n, "feedback")
    about = f"{kind}, retrained on {rows}, {feedbacks}"
    body = {"version": version, "contains": upto, "about": about, "who": order.who}
    log.append([Draft(order.model, VERSION, body, f"version {version}")])
    return version


def main() -> None:
    """Retrain as the order on standard input says."""
    order = as_order(sys.stdin.read())
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICE)
    log = open_log(order.log)
    try:
        retrain(order, log)
    except (ManylabelError, ValueError, OSError, MemoryError) as error:
        sys.exit(str(error))
    finally:
        log.close()


if __name__ == "__main__":
    main()

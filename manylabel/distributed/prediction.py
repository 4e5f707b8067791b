"""One function from Arrow batches to Arrow batches, for every engine."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from manylabel import persistence
from manylabel._typing import CSR
from manylabel.data.dataset import best_first
from manylabel.distributed.columns import FOUND, Columns
from manylabel.distributed.once import read_once
from manylabel.distributed.versions import check_versions, versions
from manylabel.exceptions import ArchiveError, MissingExtra
from manylabel.text import Tagger

MODELS = 4  # that a process keeps mapped


@dataclass(frozen=True)
class BatchPredictor:
    """A function from Arrow batches to Arrow batches: rows in, their best labels out.

    Made by :func:`predict_batches`. It is pickled as a path and a few words; a process
    that calls it maps the model once.

    Parameters
    ----------
    model : str
        The folder, where each worker finds it.
    seal : str
        The checksum of the manifest that the driver saw.
    columns, keep, k, proba, allow, deny, n_jobs : see :func:`predict_batches`
        What is asked.
    versions : dict
        Those of what the driver has.
    """

    model: str
    seal: str
    columns: tuple[str, ...] | None = None
    keep: tuple[str, ...] | None = None
    k: int | None = 5
    proba: bool = False
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] | None = None
    n_jobs: int | None = 1
    versions: dict[str, str] = field(default_factory=versions)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield an answer for each batch, as it comes."""
        return map(self.predict, batches)

    def predict(self, batch: Any) -> Any:
        """Return the columns that are kept, ``labels`` and ``scores``, best first.

        Parameters
        ----------
        batch : pyarrow.RecordBatch or pyarrow.Table
            Rows.

        Returns
        -------
        pyarrow.RecordBatch or pyarrow.Table
            As many rows, of the kind that was given.
        """
        pa, tagger = _arrow(), self.tagger
        if isinstance(batch, pa.Table):
            parts = batch.combine_chunks().to_batches() or [_no_rows(batch.schema)]
            return pa.Table.from_batches([self.predict(part) for part in parts])
        columns = self.choose(batch.schema.names)
        items = columns.items(batch, tagger)
        best = tagger.predict_topk(items, self.k, self.allow, self.deny, self.proba)
        found = _listed(best, _names(tagger))
        kept = [batch.column(name) for name in columns.keep]
        fields = [batch.schema.field(name) for name in columns.keep]
        answer = pa.schema([*fields, *answer_fields()])
        return pa.RecordBatch.from_arrays([*kept, *found], schema=answer)

    def check(self) -> None:
        """Refuse what the model cannot be asked, whatever the rows."""
        tagger = self.tagger
        nothing = [] if tagger.reads_texts_ else sp.csr_array((0, tagger.n_features_))
        tagger.predict_topk(nothing, self.k, self.allow, self.deny, self.proba)

    def choose(self, names: Sequence[str]) -> Columns:
        """Return the columns to read and to keep, or raise ValueError."""
        return Columns.of(names, self.tagger, self.columns, self.keep)

    @property
    def tagger(self) -> Tagger:
        """The model, mapped once in this process."""
        # Not where it is unpickled: an engine may wait for ever for what fails there.
        check_versions(self.versions)
        return map_model(self.model, self.seal, self.n_jobs)


def predict_batches(
    model: str | Path,
    columns: Sequence[str] | str | None = None,
    k: int | None = 5,
    *,
    keep: Sequence[str] | None = None,
    proba: bool = False,
    allow: Iterable[str] | None = None,
    deny: Iterable[str] | None = None,
    n_jobs: int | None = 1,
) -> BatchPredictor:
    """Return a function from Arrow batches to Arrow batches that predicts labels.

    It takes an iterator of ``pyarrow.RecordBatch`` and returns one, as Spark's
    ``mapInArrow`` wants it; :func:`predict` hands it to the engine of a frame. Workers
    get a path: each process maps the model into memory once, and its checksum is
    verified once on each machine.

    Parameters
    ----------
    model : str or Path
        A model's folder, at the same place on every machine.
    columns : str, sequence of str or None, default=None
        What the model reads: the columns of the text, or of features. Features are two
        columns of lists, of indices and of values; or one of lists that have a value
        for each feature; or a column of numbers for each feature. None is what
        :func:`manylabel.read` would take for the text, or ``indices`` and ``values``,
        or the names of the features.
    k : int or None, default=5
        How many labels; None gives sets, as ``Tagger.predict``.
    keep : sequence of str or None, default=None
        Columns that are copied to the answer; None is ``id`` or ``uid``, if there is
        one. The answer also has ``labels``, names, and ``scores``, the best first.
    proba : bool, default=False
        Return probabilities in place of scores, if the model was calibrated.
    allow, deny : iterable of str or None, default=None
        Names of the labels that may, or may not, be returned.
    n_jobs : int or None, default=1
        Threads of each process; engines run a process for each core. None is what the
        model was saved with.

    Returns
    -------
    BatchPredictor
        The function. One that finds another model at its path than the driver saw, or
        another version of the library, says so and stops.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> tagger = Tagger().fit(["red wine", "rye bread"], [["drink"], ["food"]])
    >>> rows = pa.RecordBatch.from_pylist([{"id": 7, "text": "a glass of wine"}])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tagger.save(f"{folder}/model")
    ...     answers = predict_batches(f"{folder}/model", k=1)([rows])
    ...     [(row["id"], row["labels"]) for row in next(answers).to_pylist()]
    [(7, ['drink'])]
    """
    folder = str(Path(model).absolute())
    read = (columns,) if isinstance(columns, str) else columns
    return BatchPredictor(
        folder,
        persistence.seal(folder),
        columns=None if read is None else tuple(read),
        keep=None if keep is None else tuple(keep),
        k=int(k) if isinstance(k, np.integer) else k,  # for JSON
        proba=proba,
        allow=None if allow is None else tuple(allow),
        deny=None if deny is None else tuple(deny),
        n_jobs=n_jobs,
    )


def answer_fields() -> list[Any]:
    """Return the columns that every answer has."""
    pa = _arrow()
    kinds = pa.list_(pa.string()), pa.list_(pa.float32())
    return [pa.field(name, kind) for name, kind in zip(FOUND, kinds, strict=True)]


@read_once(MODELS)
def map_model(model: str, seal: str, n_jobs: int | None) -> Tagger:
    """Return a model, which must be the one that the driver saw."""
    if persistence.seal(model) != seal:
        reason = "expected the model that the driver has, found another of its name."
        raise ArchiveError(model, reason)
    return Tagger.load(model, mmap=True, n_jobs=n_jobs, verify_once=True)


@lru_cache(MODELS)
def _names(tagger: Tagger) -> Any:
    """Return the names of a model's labels as Arrow has them."""
    return _arrow().array(tagger.label_names_.tolist(), _arrow().string())


def _listed(best: CSR, names: Any) -> list[Any]:
    """Return labels and scores as lists, a list a row, the best first."""
    pa, order = _arrow(), best_first(best)
    labels = names.take(pa.array(best.indices[order].astype(np.int32, copy=False)))
    scores = pa.array(best.data[order].astype(np.float32, copy=False))
    offsets = pa.array(best.indptr.astype(np.int32, copy=False))
    return [pa.ListArray.from_arrays(offsets, part) for part in (labels, scores)]


def _no_rows(schema: Any) -> Any:
    return _arrow().RecordBatch.from_pylist([], schema)


def _arrow() -> Any:
    """Return pyarrow, or say how to get it."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("Prediction of batches", "pyarrow", "parquet") from None
    return pa

"""Figures over shards, judged where they lie and added without rounding."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from manylabel import _validation, persistence
from manylabel.data import Dataset, iter_chunks
from manylabel.data.arrow import files_of
from manylabel.data.formats import READERS, tell_format
from manylabel.data.source import Source
from manylabel.distributed.engines import connect
from manylabel.distributed.prediction import map_model
from manylabel.distributed.shards import FILE as SHARDS
from manylabel.distributed.shards import iter_shards, read_manifest
from manylabel.distributed.versions import check_versions, versions
from manylabel.evaluation import Evaluation, Report
from manylabel.exceptions import DataError
from manylabel.propensity import Propensity
from manylabel.text import Tagger

N_ROWS = 10_000  # rows in memory at a time


@dataclass(frozen=True)
class Shard:
    """A file to judge a model by, and how: what a worker is sent."""

    path: str
    number: int | None  # of a shard, if the path is that of a sharded folder
    model: str
    seal: str
    k: tuple[int, ...]
    propensity: Propensity
    reading: dict[str, Any]
    n_jobs: int
    names: tuple[str, ...] | None = None  # all labels, once they are known
    versions: dict[str, str] = field(default_factory=versions)

    @property
    def tagger(self) -> Tagger:
        """The model, mapped once in this process."""
        check_versions(self.versions)
        return map_model(self.model, self.seal, self.n_jobs)

    def chunks(self) -> Iterator[Dataset]:
        """Yield the rows, a chunk at a time."""
        if self.number is not None:
            numbers = [self.number]
            return iter_shards(self.path, numbers, label_names=self.names)
        source = Source(self.path)
        known = READERS[self.reading.get("format") or tell_format(source)].OPTIONS
        options, tagger = dict(self.reading), self.tagger
        if not tagger.reads_texts_ and "n_features" in known:
            options |= {"n_features": int(tagger.n_features_)}
            options |= {"n_labels": len(tagger.label_names_)}
        if self.names is not None and "label_names" in known:
            options["label_names"] = self.names
        return iter_chunks(self.path, n_rows=N_ROWS, **options)

    def evaluation(self) -> Evaluation:
        """Return an evaluation that has seen no rows."""
        n_labels = len(self.tagger.label_names_ if self.names is None else self.names)
        values = self.tagger.propensities(self.propensity, n_labels)
        return Evaluation(k=self.k, propensity=values)


def evaluate(
    model: str | Path,
    paths: str | Path | Sequence[str | Path],
    *,
    client: Any = None,
    k: int | tuple[int, ...] = (1, 3, 5),
    propensity: Propensity | None = None,
    n_jobs: int = 1,
    **reading: Any,
) -> Report:
    """Judge a model by files of rows, each judged where an engine sees fit.

    A worker gets a path and sends back sums, which have no rounding: the report has the
    bits of one pass over all rows, however they are cut into files, in whatever order
    and on whatever machines these are judged.

    Parameters
    ----------
    model : str or Path
        A model's folder, at the same place on every machine.
    paths : str, Path or sequence of them
        Data files of labelled rows, in any format that :func:`manylabel.read` knows,
        folders of such files, or sharded folders (:func:`write_shards`).
    client : distributed.Client, SparkSession, the module ray, str or None, default=None
        Who runs it, or its address, as :func:`fit` takes it; None is this process.
    k : int or tuple of int, default=(1, 3, 5)
        Ranking depths.
    propensity : Propensity or None, default=None
        The law of missing labels; see ``Tagger.evaluate``. None is ``Propensity()``.
    n_jobs : int, default=1
        Threads of each process.
    **reading
        How to read the files; see :func:`manylabel.read`.

    Returns
    -------
    Report
        See :func:`manylabel.evaluate`; without intervals, which need all rows at once.

    Examples
    --------
    >>> import json, tempfile
    >>> tagger = Tagger().fit(["red wine", "rye bread"], [["drink"], ["food"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tagger.save(f"{folder}/model")
    ...     for day, text in enumerate(["old wine", "bread"]):
    ...         row = {"text": text, "labels": ["drink"]}
    ...         size = Path(f"{folder}/{day}.jsonl").write_text(json.dumps(row))
    ...     files = [f"{folder}/{day}.jsonl" for day in range(2)]
    ...     evaluate(f"{folder}/model", files, k=1)["P@1"]
    0.5
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise ValueError("paths must name at least one file. Got none.")
    folder = str(Path(model).absolute())
    law = Propensity() if propensity is None else propensity
    asked = (_validation.depths(k), law, reading, n_jobs)
    seal = persistence.seal(folder)
    files = [file for path in given for file in _files(Path(path).absolute())]
    shards = [Shard(file, n, folder, seal, *asked) for file, n in files]
    with connect(client) as engine:
        found = engine.run(find_names, [(shard,) for shard in shards])
        names = _all_names(shards[0].tagger, found)
        shards = [replace(shard, names=names) for shard in shards]
        new, total = shards[0].evaluation(), shards[0].evaluation()
        for written in engine.run(judge_shard, [(shard,) for shard in shards]):
            total.merge(new.restored(written))
    if not total.n_rows:
        raise DataError(shards[0].path, "expected rows, found none.")
    return total.report()


def _files(path: Path) -> list[tuple[str, int | None]]:
    """Return a file, the files of a folder, or a sharded one and numbers of shards."""
    if (path / SHARDS).exists():
        n_shards = len(read_manifest(path).shards)
        return [(str(path), number) for number in range(n_shards)]
    return [(str(file), None) for file in files_of(path)]


def find_names(shard: Shard) -> tuple[str, ...] | None:
    """Return the names of labels in a file that its model never learnt, or None."""
    chunk = next(shard.chunks())  # it knows the names of the whole file
    if chunk.label_names is None:
        return None
    known = set(shard.tagger.label_names_.tolist())
    return tuple(name for name in chunk.label_names if name not in known)


def judge_shard(shard: Shard) -> str:
    """Return the sums over the rows of a file, as JSON."""
    evaluation, depth = shard.evaluation(), max(shard.k)
    for chunk in shard.chunks():
        if len(chunk):
            _, Y, scores, sets, proba = shard.tagger.judge(chunk, k=depth)
            evaluation.update(Y, scores, sets, proba)
    return evaluation.to_json()


def _all_names(
    tagger: Tagger, found: Iterable[tuple[str, ...] | None]
) -> tuple[str, ...] | None:
    """Return the model's labels, then those that only files have; None without any."""
    parts = list(found)
    if all(part is None for part in parts):
        return None
    new = {name for part in parts for name in part or ()}
    return (*tagger.label_names_.tolist(), *sorted(new))

"""Data as a folder of shards: files of some rows each, and a manifest."""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import scipy.sparse as sp

from manylabel import _validation
from manylabel._version import __version__
from manylabel.data import Dataset, read, write
from manylabel.data.writing import replacing
from manylabel.exceptions import DataError, MissingExtra

FILE = "shards.json"
SUFFIXES = {"xc": ".txt", "jsonl": ".jsonl", "parquet": ".parquet"}


class Shard(NamedTuple):
    """A file of some rows."""

    name: str
    rows: int
    sha256: str


class Manifest(NamedTuple):
    """What a sharded folder holds."""

    folder: Path
    format: str
    n_labels: int
    n_features: int | None  # None for texts
    label_names: list[str] | None
    shards: list[Shard]


def write_shards(
    chunks: Iterable[Dataset], out: str | Path, *, format: str = "xc"
) -> Manifest:
    """Write the chunks of a data set as files of a new folder, a shard each.

    Parameters
    ----------
    chunks : iterable of Dataset
        All of the same columns, as :func:`manylabel.iter_chunks` yields them.
    out : str or path-like
        The folder, which must not hold shards already.
    format : {"xc", "jsonl", "parquet"}, default="xc"
        Of the files: features by the first, texts by the others.

    Returns
    -------
    Manifest
        What the folder holds, which is written last.

    Examples
    --------
    >>> import tempfile
    >>> import manylabel as ml
    >>> corpus = ml.make_corpus(n_rows=30, n_labels=4, random_state=0)
    >>> data = ml.Dataset(corpus.X, corpus.Y)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     found = write_shards([data[:20], data[20:]], out)
    ...     len(read_shards(out, [1]))
    10
    """
    _validation.choice(format, "format", SUFFIXES)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / FILE).exists():
        raise DataError(folder, "this folder holds shards already: name another.")
    found, first = [], None
    for number, chunk in enumerate(chunks):
        first = chunk if first is None else first
        path = folder / f"{number:05}{SUFFIXES[format]}"
        if format == "parquet":
            _write_parquet(chunk, path)
        else:
            write(chunk, path, format=format)
        found.append(Shard(path.name, len(chunk), _checksum(path)))
    if first is None:
        raise ValueError("chunks must be at least one. Got none.")
    names = None if first.label_names is None else list(first.label_names)
    n_features = None if format != "xc" else first.n_features
    manifest = Manifest(folder, format, first.n_labels, n_features, names, found)
    facts = {"manylabel": __version__, **manifest._asdict()}
    facts |= {"folder": None, "shards": [shard._asdict() for shard in found]}
    with replacing(folder / FILE) as file:
        file.write(json.dumps(facts, indent=1).encode())
    return manifest


def read_manifest(path: str | Path) -> Manifest:
    """Return what a sharded folder holds."""
    file = Path(path) / FILE
    try:
        facts = json.loads(file.read_bytes())
        listed = [Shard(**shard) for shard in facts["shards"]]
        given = {name: facts[name] for name in Manifest._fields}
    except FileNotFoundError:
        raise DataError(path, f"expected a sharded folder, found no {FILE}.") from None
    except (ValueError, KeyError, TypeError):
        raise DataError(file, "this is not the manifest of shards.") from None
    return Manifest(**given | {"folder": Path(path), "shards": listed})


def read_shards(path: str | Path, numbers: Sequence[int] | None = None) -> Dataset:
    """Read the rows of some shards, which must be as they were written.

    Parameters
    ----------
    path : str or path-like
        The sharded folder.
    numbers : sequence of int or None, default=None
        Which shards; None is all.

    Returns
    -------
    Dataset
        The rows in the order of the shards asked for, in columns that are the same
        whichever they are.
    """
    manifest = read_manifest(path)
    chosen = range(len(manifest.shards)) if numbers is None else numbers
    return joined([_read(manifest, manifest.shards[number]) for number in chosen])


def joined(chunks: Sequence[Dataset]) -> Dataset:
    """Return chunks of the same columns as one data set."""
    first = chunks[0]
    texts, ids = ([getattr(c, name) for c in chunks] for name in ("texts", "ids"))
    return Dataset(
        None if first.X is None else sp.vstack([c.X for c in chunks], format="csr"),
        sp.vstack([chunk.Y for chunk in chunks], format="csr"),
        first.feature_names,
        first.label_names,
        None if first.ids is None else sum(ids, ()),
        None if first.texts is None else sum(texts, ()),
    )


def _read(manifest: Manifest, shard: Shard) -> Dataset:
    path = manifest.folder / os.path.basename(shard.name)
    if not path.exists():
        raise DataError(path, "this shard is missing: write the shards again.")
    if _checksum(path) != shard.sha256:
        reason = "the checksum is wrong, so the shard is damaged: write it again."
        raise DataError(path, reason)
    if manifest.format == "xc":
        return read(path, format="xc")
    names = manifest.label_names
    if names is None:
        return read(path, format=manifest.format, n_labels=manifest.n_labels)
    return read(path, format=manifest.format, label_names=names)


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_parquet(data: Dataset, path: Path) -> None:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("Parquet", "pyarrow", "parquet") from None
    if data.texts is None:
        raise ValueError('format="parquet" needs texts. Got features.')
    columns: dict[str, Any] = {"text": list(data.texts)}
    columns["labels"] = data.labels.decode(data.Y)
    if data.ids is not None:
        columns["id"] = list(data.ids)
    kinds = {"labels": pa.list_(pa.string())}
    fields = [pa.field(name, kinds.get(name, pa.string())) for name in columns]
    with replacing(path) as file:
        parquet.write_table(pa.table(columns, schema=pa.schema(fields)), file)

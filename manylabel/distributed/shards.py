"""Data as a folder of shards: files of some rows each, and a manifest."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import _validation
from manylabel._typing import Ints
from manylabel._version import __version__
from manylabel.data import Dataset, ReadOptions, iter_chunks, write
from manylabel.data.arrow import files_of
from manylabel.data.writing import replacing
from manylabel.distributed.row_tables import read_tables, write_table
from manylabel.exceptions import DataError

FILE = "shards.json"
N_ROWS = 10_000  # in memory at a time
SUFFIXES = {"xc": ".txt", "jsonl": ".jsonl", "parquet": ".parquet"}
SHARD = re.compile(r"\d{5,}\.(txt|jsonl|parquet).*")  # perhaps of a run that broke


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
    feature_names: list[str] | None = None  # of older folders, too


def write_shards(
    chunks: Iterable[Dataset], out: str | Path, *, format: str = "xc"
) -> Manifest:
    """Write the chunks of a data set as files of a new folder, a shard each.

    Parameters
    ----------
    chunks : iterable of Dataset
        All of the same columns, as :func:`manylabel.iter_chunks` yields them. The
        manifest keeps their names.
    out : str or path-like
        The folder, which must not hold shards already.
    format : {"xc", "jsonl", "parquet"}, default="xc"
        Of the files: features by "xc", texts by "jsonl", either by "parquet", features
        as the columns ``indices`` and ``values``.

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
    if any(not SHARD.fullmatch(path.name) for path in folder.iterdir()):
        raise DataError(folder, "this folder holds other files: name an empty one.")
    found, first = [], None
    for number, chunk in enumerate(chunks):
        first = chunk if first is None else first
        _check_columns(first, chunk, number)
        path = folder / f"{number:05}{SUFFIXES[format]}"
        if format == "parquet":
            write_table(chunk, path)
        else:
            write(chunk, path, format=format)
        found.append(Shard(path.name, len(chunk), _checksum(path)))
    if first is None:
        raise ValueError("chunks must be at least one. Got none.")
    n_features = None if format != "xc" and first.texts else first.n_features
    manifest = Manifest(
        folder,
        format,
        first.n_labels,
        n_features,
        None if first.label_names is None else list(first.label_names),
        found,
        None if first.feature_names is None else list(first.feature_names),
    )
    facts = {"manylabel": __version__, **manifest._asdict()}
    facts |= {"folder": None, "shards": [shard._asdict() for shard in found]}
    with replacing(folder / FILE) as file:
        file.write(json.dumps(facts, indent=1).encode())
    return manifest


def _check_columns(first: Dataset, chunk: Dataset, number: int) -> None:
    """Refuse a chunk whose columns are not those of the first."""
    for name in ("n_labels", "n_features", "label_names", "feature_names"):
        one, other = getattr(first, name), getattr(chunk, name)
        if one != other:
            found = "others" if name.endswith("names") else f"{one} and {other}"
            raise ValueError(
                f"chunks must have the same {name}. Got {found} in chunks 0 and "
                f"{number}."
            )


def read_manifest(path: str | Path) -> Manifest:
    """Return what a sharded folder holds."""
    file = Path(path) / FILE
    try:
        facts = json.loads(file.read_bytes())
        listed = [Shard(**shard) for shard in facts["shards"]]
        given = {name: facts[name] for name in Manifest._fields if name in facts}
        found = Manifest(**given | {"folder": Path(path), "shards": listed})
    except FileNotFoundError:
        raise DataError(path, f"expected a sharded folder, found no {FILE}.") from None
    except (ValueError, KeyError, TypeError):
        raise DataError(file, "this is not the manifest of shards.") from None
    return found


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
    most = max((shard.rows for shard in manifest.shards), default=1)
    return joined(list(iter_shards(path, numbers, n_rows=max(1, most))))


def iter_shards(
    path: str | Path,
    numbers: Sequence[int] | None = None,
    *,
    n_rows: int = N_ROWS,
    label_names: Sequence[str] | None = None,
) -> Iterator[Dataset]:
    """Yield the rows of some shards in chunks of the same columns.

    A shard must be as it was written, which is verified before it is read. If none has
    rows, there is one chunk without any. ``label_names`` are the columns of texts and
    of labels with names, where these are not to be those of the manifest.
    """
    manifest = read_manifest(path)
    names = manifest.label_names if label_names is None else label_names
    asked = range(len(manifest.shards)) if numbers is None else numbers
    shards = [manifest.shards[number] for number in asked]
    for shard in shards:
        file = manifest.folder / os.path.basename(shard.name)
        verify(file, shard.sha256)
        if shard.rows:  # JSON lines of none have no columns
            yield from _chunks(manifest, file, n_rows, names)
    if not any(shard.rows for shard in shards):
        yield _no_rows(manifest, names)


def count_labels(path: str | Path) -> tuple[Ints, int]:
    """Return how many rows of all shards have each label, and how many rows there are.

    A chunk is in memory at a time.
    """
    manifest = read_manifest(path)
    counts = np.zeros(manifest.n_labels, np.int64)
    for chunk in iter_shards(path):
        counts += np.bincount(chunk.Y.indices, minlength=len(counts))
    return counts, sum(shard.rows for shard in manifest.shards)


def files_with_checksums(path: str | Path) -> list[tuple[Path, str | None]]:
    """Return a file, or those of a folder: of a sharded one each with its checksum."""
    if not Path(path, FILE).exists():
        return [(file, None) for file in files_of(path)]
    manifest = read_manifest(path)
    files = [manifest.folder / os.path.basename(s.name) for s in manifest.shards]
    for file in files:
        _refuse_missing(file)
    return [(f, s.sha256) for f, s in zip(files, manifest.shards, strict=True)]


def verify(path: Path, checksum: str) -> None:
    """Refuse a shard that is not as it was written."""
    _refuse_missing(path)
    if _checksum(path) != checksum:
        reason = "the checksum is wrong, so the shard is damaged: write it again."
        raise DataError(path, reason)


def _refuse_missing(path: Path) -> None:
    if not path.exists():
        raise DataError(path, "this shard is missing: write the shards again.")


def joined(chunks: Sequence[Dataset]) -> Dataset:
    """Return chunks of the same columns as one data set."""
    first = chunks[0]
    if len(chunks) == 1:
        return first
    return Dataset(
        None if first.X is None else sp.vstack([c.X for c in chunks], format="csr"),
        sp.vstack([chunk.Y for chunk in chunks], format="csr"),
        first.feature_names,
        first.label_names,
        _chained([chunk.ids for chunk in chunks]),
        _chained([chunk.texts for chunk in chunks]),
    )


def _chained(parts: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    found = [part for part in parts if part is not None]
    return tuple(chain(*found)) if found else None


def _chunks(
    manifest: Manifest, file: Path, n_rows: int, names: Sequence[str] | None
) -> Iterator[Dataset]:
    """Yield the rows of a shard."""
    format, n_features = manifest.format, manifest.n_features
    if format == "parquet" and n_features is not None:
        names = None if manifest.label_names is None else names
        sizes = (n_features, manifest.n_labels)
        for chunk in read_tables(file, n_rows, *sizes, names):
            yield replace(chunk, feature_names=_fixed(manifest.feature_names))
        return
    if format == "xc":
        for chunk in iter_chunks(file, n_rows=n_rows, format=format):
            yield _named(chunk, manifest, names)
        return
    options: ReadOptions = {"format": format}
    if names is None:
        options["n_labels"] = manifest.n_labels
    else:
        options["label_names"] = names
    yield from iter_chunks(file, n_rows=n_rows, **options)


def _no_rows(manifest: Manifest, names: Sequence[str] | None) -> Dataset:
    """Return a chunk without rows."""
    n_features = manifest.n_features
    n_labels = manifest.n_labels if names is None else len(names)
    return Dataset(
        None if n_features is None else sp.csr_array((0, n_features), dtype=np.float32),
        sp.csr_array((0, n_labels), dtype=np.float32),
        None if n_features is None else _fixed(manifest.feature_names),
        _fixed(names),
        texts=() if n_features is None else None,
    )


def _named(chunk: Dataset, manifest: Manifest, names: Sequence[str] | None) -> Dataset:
    """Return rows of repository text, which has no names, with those of a manifest.

    Columns of labels go where ``names`` has them.
    """
    Y, known = chunk.Y, manifest.label_names
    if known is None:
        names = None
    elif names is not None and list(names) != known:
        places = {name: column for column, name in enumerate(names)}
        moved = np.array([places[name] for name in known], np.int32)[Y.indices]
        Y = sp.csr_array((Y.data, moved, Y.indptr), (len(chunk), len(names)))
        Y.sort_indices()
    features = _fixed(manifest.feature_names)
    return replace(chunk, Y=Y, label_names=_fixed(names), feature_names=features)


def _fixed(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

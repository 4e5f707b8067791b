"""Data sets to text files, whole or not at all."""

import gzip
import io
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from manylabel import _validation
from manylabel._paths import as_path
from manylabel.data import arff, sparse_rows, text_files
from manylabel.data.dataset import Dataset
from manylabel.data.source import suffix

WRITERS: Mapping[str, Callable[[Dataset], Iterator[str]]] = {
    "xc": sparse_rows.xc_lines,
    "svmlight": sparse_rows.svmlight_lines,
    "meka": arff.meka_lines,
    "jsonl": text_files.jsonl_lines,
    "csv": text_files.csv_lines,
    "tsv": text_files.tsv_lines,
}
TABLES: Mapping[str, Callable[[Dataset, str | None], Iterator[str]]] = {
    "csv": text_files.csv_lines,
    "tsv": text_files.tsv_lines,
}
SUFFIXES = {
    ".txt": "xc",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".arff": "meka",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
}


def write(
    dataset: Dataset,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    label_separator: str | None = None,
) -> None:
    """Write a data set as text.

    The file appears whole or, after an error, not at all; one of that name is
    replaced. :func:`manylabel.read` gives the same float32 values back.

    Parameters
    ----------
    dataset : Dataset
        What to write.
    path : str or path-like
        The file; gzipped if its name ends with ``.gz``.
    format : {"xc", "svmlight", "meka", "jsonl", "csv", "tsv"} or None, default=None
        None chooses by the suffix before ``.gz``: ``.txt`` (xc), ``.svm`` or
        ``.svmlight``, ``.arff`` (meka), ``.jsonl``, ``.csv``, ``.tsv``.
    label_separator : str or None, default=None
        What stands between labels (csv, tsv); None is a comma.

    Notes
    -----
    Each format holds what it can: xc and svmlight the numbers without any names, meka
    the numbers and the names of columns, jsonl, csv and tsv ``ids``, ``texts`` and
    labels. In csv and tsv, labels with a comma, semicolon, ``|``, tab or the separator
    in them are written as a JSON list, which is read back as one. svmlight tells no
    widths: read it with ``n_features`` and ``n_labels`` where the last columns may be
    empty.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> data = Dataset([[0.5, 0.0]], [[0, 1]])
    >>> with TemporaryDirectory() as folder:
    ...     write(data, f"{folder}/data.txt")
    ...     print(Path(folder, "data.txt").read_text(), end="")
    1 2 2
    1 0:0.5
    """
    if not isinstance(dataset, Dataset):
        kind = type(dataset).__name__
        raise TypeError(f"dataset must be a Dataset, as read returns. Got a {kind}.")
    chosen = choose_format(as_path(path), format)
    if label_separator is not None and chosen not in TABLES:
        raise ValueError(f"label_separator must be left out for {chosen} files.")
    lines = format_lines(dataset, chosen, label_separator)
    with replacing_text(path) as text:
        text.writelines(f"{line}\n" for line in lines)


def format_lines(
    dataset: Dataset, format: str, label_separator: str | None = None
) -> Iterator[str]:
    """Return the lines of a data set in a format; a separator is for tables only."""
    if format not in TABLES:
        return WRITERS[format](dataset)
    if label_separator == "":
        raise ValueError("label_separator must be at least one character. Got ''.")
    return TABLES[format](dataset, label_separator)


def choose_format(path: str | os.PathLike[str], format: str | None) -> str:
    """Return the format asked for, or the one that the suffix of a file tells."""
    if format is not None:
        _validation.choice(format, "format", WRITERS)
        return format
    if suffix(Path(path)) not in SUFFIXES:
        raise ValueError(
            f"path must end with one of {', '.join(SUFFIXES)}, perhaps with .gz, or "
            f"format be given. Got {Path(path).name!r}."
        )
    return SUFFIXES[suffix(Path(path))]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a sibling that takes the place of ``path`` when all went well."""
    # A link is followed: replacing it would leave the file it points to as it was.
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        raise ValueError(f"path must name a regular file. Got {str(path)!r}.")
    sibling = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with sibling.open("xb") as raw:
            yield raw
        os.replace(sibling, target)
    except BaseException as error:
        sibling.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(sibling)):
            error.filename = os.fspath(path)  # the name that the caller knows
        raise


@contextmanager
def replacing_text(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """Open a sibling for text, gzipped if the name of ``path`` says so."""
    with replacing(path) as raw, _compressed(raw, Path(path)) as binary:
        with io.TextIOWrapper(binary, encoding="utf-8", newline="\n") as text:
            yield text


def _compressed(raw: IO[bytes], path: Path) -> IO[bytes]:
    """Compress if the name says so; without a time stamp, so equal data stay equal."""
    if path.suffix != ".gz":
        return raw
    return cast(IO[bytes], gzip.GzipFile("", "wb", fileobj=raw, mtime=0))

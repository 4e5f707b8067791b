"""What the readers of all formats have in common: options, bad lines, pieces."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, Literal, TypeAlias, TypedDict, TypeVar

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Array
from manylabel._warning import warn
from manylabel.data.dataset import Dataset
from manylabel.data.source import Source, decode
from manylabel.exceptions import DataError, SkippedLines

Names: TypeAlias = Sequence[str] | str | os.PathLike[str]
Group = TypeVar("Group")  # rows without columns, as a reader has them

MAX_COLUMNS = 2**31 - 1  # columns are numbered by int32
ALWAYS = frozenset(
    {"format", "encoding", "skip_bad_lines", "max_line_bytes"}
)  # taken by all formats
N_SHOWN = 5  # bad lines in a warning
SKIP = "; skip_bad_lines leaves such rows out"  # in a reason, as a way out


class ReadOptions(TypedDict, total=False):
    """How to read a file; :func:`manylabel.read` says what each option means.

    An option that is None is as good as left out.

    Examples
    --------
    >>> options: ReadOptions = {"labels_column": "tags", "label_separator": ";"}
    """

    format: str | None
    encoding: str | None
    label_names: Names | None
    feature_names: Names | None
    n_labels: int | None
    n_features: int | None
    zero_based: bool | Literal["auto"] | None
    labels_from: str | os.PathLike[str] | None
    id_column: str | None
    text_columns: str | Sequence[str] | None
    labels_column: str | Sequence[str] | Literal[False] | None
    labels_columns: str | Sequence[str] | None
    label_separator: str | None
    skip_bad_lines: bool | None
    max_line_bytes: int | None


class Reader(ABC, Generic[Group]):
    """One file in one format.

    A subclass parses rows as they come and knows, after they all came, what columns
    they have. If it knows that before, it is ``settled`` and chunks need one pass.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset()
    settled = True

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source = source
        self.bad_lines = BadLines(source.path, bool(options.get("skip_bad_lines")))

    @abstractmethod
    def groups(self, n_rows: int | None) -> Iterator[Group]:
        """Parse the file from its start, ``n_rows`` rows at a time, None all at once.

        There is at least one group, so that a file without rows has its columns.
        """

    @abstractmethod
    def dataset(self, group: Group) -> Dataset:
        """Give columns to some of the rows, when all columns are known."""

    def chunks(self, n_rows: int | None = None) -> Iterator[Dataset]:
        """Yield the file in pieces of ``n_rows`` rows with the same columns, or whole.

        Warns after the last if something was odd.
        """
        if n_rows is not None and not self.settled:
            for _ in self.groups(n_rows):
                pass
            self.bad_lines = BadLines(self.source.path, self.bad_lines.skip)
        for group in self.groups(n_rows):
            yield self.dataset(group)
        self.warn()

    def warn(self) -> None:
        """Warn of lines that were skipped."""
        bad = self.bad_lines
        if bad.count:
            warn(SkippedLines(bad.path, bad.count, bad.first))

    def fault(self, reason: str, line: int | None = None) -> DataError:
        """Return an error about this file."""
        return DataError(self.source.path, reason, line)


@dataclass
class BadLines:
    """Raises the first bad line, or counts them all if they are to be skipped.

    Attributes
    ----------
    count, last : int
        How many were skipped, and the number of the last of them; 0 before any.
    first : list of DataError
        What is wrong with the first few.
    """

    path: Path
    skip: bool
    count: int = 0
    last: int = 0
    first: list[DataError] = field(default_factory=list)

    def add(self, reason: str, line: int) -> None:
        """Raise, or count the line and return."""
        if not self.skip:
            raise DataError(self.path, reason, line) from None
        self.count += 1
        self.last = line
        if self.count <= N_SHOWN:
            self.first.append(DataError(self.path, reason.replace(SKIP, ""), line))


def check_options(options: ReadOptions, format: str, taken: Set[str]) -> None:
    """Refuse options that nobody knows, and those that a format has no use for."""
    known = ReadOptions.__annotations__
    for name, value in options.items():
        if name not in known:
            raise TypeError(f"options must be among {', '.join(known)}. Got {name!r}.")
        if name not in taken | ALWAYS and value is not None:
            raise ValueError(
                f"{name} must be left out for {format} files. Got a value."
            )


def read_names(names: Names | None) -> tuple[str, ...] | None:
    """Return names given as a sequence, or as the path of a file with one a line."""
    if names is None or not isinstance(names, str | os.PathLike):
        return None if names is None else tuple(names)
    source = Source(names)
    try:
        return tuple(decode(line).rstrip("\r") for line in source.lines())
    except ValueError as error:
        raise DataError(source.path, str(error)) from None


def width(
    n_columns: int | None, names: tuple[str, ...] | None, name: str
) -> int | None:
    """Return the number of columns asked for, which the names must agree with."""
    if n_columns is None:
        return None if names is None else len(names)
    if not 0 < n_columns <= MAX_COLUMNS:
        raise ValueError(f"{name} must be from 1 to {MAX_COLUMNS}. Got {n_columns}.")
    if names is not None and len(names) != n_columns:
        raise ValueError(f"{name} must be {len(names)}, one per name. Got {n_columns}.")
    return n_columns


@dataclass(frozen=True)
class Rows:
    """Some rows as flat arrays: CSR without a width.

    Offsets are int64, columns int32, values float32. The arrays may be views of a
    parser's scratch space, valid until its next rows.
    """

    y_indptr: Array
    y_indices: Array
    x_indptr: Array
    x_indices: Array
    x_data: Array

    def __len__(self) -> int:
        return len(self.y_indptr) - 1

    def __getitem__(self, rows: slice) -> "Rows":
        """Return a run of rows; the arrays are views where they can be."""
        start, stop, _ = rows.indices(len(self))
        y_first, y_last = self.y_indptr[[start, stop]]
        x_first, x_last = self.x_indptr[[start, stop]]
        return Rows(
            self.y_indptr[start : stop + 1] - y_first,
            self.y_indices[y_first:y_last],
            self.x_indptr[start : stop + 1] - x_first,
            self.x_indices[x_first:x_last],
            self.x_data[x_first:x_last],
        )

    def features(self, n_features: int) -> CSR:
        """Return the features as a CSR array."""
        return make_csr(self.x_data, self.x_indices, self.x_indptr, n_features)

    def labels(self, n_labels: int) -> CSR:
        """Return the labels as a CSR array of ones."""
        ones = np.ones(len(self.y_indices), np.float32)
        return make_csr(ones, self.y_indices, self.y_indptr, n_labels)


class RowReader(Reader[Rows]):
    """Reads rows of features and labels, in parts of any size."""

    @abstractmethod
    def parts(self) -> Iterator[Rows]:
        """Parse the file from its start."""

    def groups(self, n_rows: int | None) -> Iterator[Rows]:
        """Regroup the parts into groups of ``n_rows``, or into one."""
        buffer, any_full = RowBuffer(), False
        for part in self.parts():
            start = 0
            while start < len(part):
                room = len(part) if n_rows is None else n_rows - buffer.n_rows
                stop = min(len(part), start + room)
                buffer.extend(part[start:stop])
                start = stop
                if buffer.n_rows == n_rows:
                    yield buffer.rows()
                    buffer, any_full = RowBuffer(), True
        if buffer.n_rows or not any_full:
            yield buffer.rows()


class RowBuffer:
    """Rows that grow at the end; bytearrays, because they grow in place."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._y_indptr, self._x_indptr = bytearray(8), bytearray(8)
        self._y_indices, self._x_indices = bytearray(), bytearray()
        self._x_data = bytearray()

    def extend(self, rows: Rows) -> None:
        """Append a copy of ``rows``."""
        self._y_indptr.extend(rows.y_indptr[1:] + len(self._y_indices) // 4)
        self._x_indptr.extend(rows.x_indptr[1:] + len(self._x_indices) // 4)
        self._y_indices.extend(rows.y_indices)
        self._x_indices.extend(rows.x_indices)
        self._x_data.extend(rows.x_data)
        self.n_rows += len(rows)

    def rows(self) -> Rows:
        """Return what was gathered, without copying it."""
        return Rows(
            np.frombuffer(self._y_indptr, np.int64),
            np.frombuffer(self._y_indices, np.int32),
            np.frombuffer(self._x_indptr, np.int64),
            np.frombuffer(self._x_indices, np.int32),
            np.frombuffer(self._x_data, np.float32),
        )


def make_csr(data: Array, indices: Array, indptr: Array, n_columns: int) -> CSR:
    """Return a CSR array whose indices are int32 where they fit."""
    # SciPy copies the indices to int64 if the offsets are.
    small = len(data) <= np.iinfo(np.int32).max
    offsets = indptr.astype(np.int32) if small else indptr
    return sp.csr_array((data, indices, offsets), shape=(len(indptr) - 1, n_columns))

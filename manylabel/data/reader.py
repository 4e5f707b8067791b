"""What the readers of all formats have in common: rows on their way to data sets."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Array
from manylabel.data.dataset import Dataset
from manylabel.data.options import ReadOptions
from manylabel.data.source import Source
from manylabel.exceptions import DataError, SkippedLines

N_SHOWN = 5  # bad lines in a warning


class Reader(ABC):
    """One file in one format.

    A subclass parses rows as they come and knows, after they all came, what columns
    they have. If it knows that before, it is ``settled`` and chunks need one pass.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset()
    settled = True

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source = source
        skip = bool(options.get("skip_bad_lines"))
        self.bad_lines = BadLines(source, skip=skip)

    @abstractmethod
    def rows(self) -> Iterator["Rows"]:
        """Parse the file from its start, in parts of any size."""

    @abstractmethod
    def dataset(self, rows: "Rows") -> Dataset:
        """Give columns to some of the rows, when all columns are known."""

    def read(self) -> Dataset:
        """Return the whole file."""
        (rows,) = gather(self.rows())
        self.bad_lines.report()
        return self._checked(rows)

    def chunks(self, n_rows: int) -> Iterator[Dataset]:
        """Yield the file in pieces of ``n_rows`` rows with the same columns."""
        if not self.settled:
            for _ in self.rows():
                pass
            self.bad_lines.clear()
        for rows in gather(self.rows(), n_rows):
            yield self._checked(rows)
        self.bad_lines.report()

    def fault(self, reason: str, line: int | None = None) -> DataError:
        """Return an error about this file."""
        return DataError(self.source.path, reason, line)

    def _checked(self, rows: "Rows") -> Dataset:
        if not np.isfinite(rows.x_data).all():
            raise self.fault("expected repeated features to add up to a float32.")
        return self.dataset(rows)


class BadLines:
    """Raises the first bad line, or counts them all if they are to be skipped.

    Attributes
    ----------
    count, last : int
        How many were skipped, and the number of the last of them; 0 before any.
    """

    def __init__(self, source: Source, *, skip: bool) -> None:
        self._path, self._skip = source.path, skip
        self.clear()

    def clear(self) -> None:
        """Forget what was counted, before another pass over the file."""
        self.count = self.last = 0
        self._first: list[DataError] = []

    def add(self, reason: str, line: int) -> None:
        """Raise, or count the line and return."""
        error = DataError(self._path, reason, line)
        if not self._skip:
            raise error from None
        self.count += 1
        self.last = line
        if self.count <= N_SHOWN:
            self._first.append(error)

    def report(self) -> None:
        """Warn if lines were skipped."""
        if self.count:
            warning = SkippedLines(self._path, self.count, self._first)
            warnings.warn(warning, stacklevel=4)


@dataclass(frozen=True)
class Rows:
    """Some rows as flat arrays: CSR without a width, ids and texts if there are any.

    Offsets are int64, columns int32, values float32. The arrays may be views of a
    parser's scratch space, valid until its next rows.
    """

    y_indptr: Array
    y_indices: Array
    x_indptr: Array
    x_indices: Array
    x_data: Array
    ids: Sequence[str] = ()
    texts: Sequence[str] = ()

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
            self.ids[start:stop],
            self.texts[start:stop],
        )

    def features(self, n_features: int) -> CSR:
        """Return the features as a CSR array."""
        return _csr(self.x_data, self.x_indices, self.x_indptr, n_features)

    def labels(self, n_labels: int) -> CSR:
        """Return the labels as a CSR array of ones."""
        ones = np.ones(len(self.y_indices), np.float32)
        return _csr(ones, self.y_indices, self.y_indptr, n_labels)


class RowBuffer:
    """Rows that grow at the end; bytearrays, because they grow in place."""

    def __init__(self) -> None:
        self.n_rows = 0
        self._y_indptr, self._x_indptr = bytearray(8), bytearray(8)
        self._y_indices, self._x_indices = bytearray(), bytearray()
        self._x_data = bytearray()
        self._ids: list[str] = []
        self._texts: list[str] = []

    def extend(self, rows: Rows) -> None:
        """Append a copy of ``rows``."""
        self._y_indptr.extend(rows.y_indptr[1:] + len(self._y_indices) // 4)
        self._x_indptr.extend(rows.x_indptr[1:] + len(self._x_indices) // 4)
        self._y_indices.extend(rows.y_indices)
        self._x_indices.extend(rows.x_indices)
        self._x_data.extend(rows.x_data)
        self._ids.extend(rows.ids)
        self._texts.extend(rows.texts)
        self.n_rows += len(rows)

    def rows(self) -> Rows:
        """Return what was gathered, without copying it."""
        return Rows(
            np.frombuffer(self._y_indptr, np.int64),
            np.frombuffer(self._y_indices, np.int32),
            np.frombuffer(self._x_indptr, np.int64),
            np.frombuffer(self._x_indices, np.int32),
            np.frombuffer(self._x_data, np.float32),
            self._ids,
            self._texts,
        )


def gather(parts: Iterable[Rows], n_rows: int | None = None) -> Iterator[Rows]:
    """Regroup parts of any size into groups of ``n_rows``, or into one.

    There is at least one group, so that a file without rows has its columns.
    """
    buffer, any_full = RowBuffer(), False
    for part in parts:
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


def _csr(data: Array, indices: Array, indptr: Array, n_columns: int) -> CSR:
    # SciPy copies the indices to int64 if the offsets are.
    small = len(data) <= np.iinfo(np.int32).max
    offsets = indptr.astype(np.int32) if small else indptr
    return sp.csr_array((data, indices, offsets), shape=(len(indptr) - 1, n_columns))

"""What the readers of all formats have in common."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from manylabel.data.dataset import Dataset
from manylabel.data.options import ReadOptions
from manylabel.data.rows import Rows, gather
from manylabel.data.source import Source
from manylabel.exceptions import DataError, SkippedLines

N_SHOWN = 5


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
    def rows(self) -> Iterator[Rows]:
        """Parse the file from its start, in parts of any size."""

    @abstractmethod
    def dataset(self, rows: Rows) -> Dataset:
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

    def _checked(self, rows: Rows) -> Dataset:
        if not np.isfinite(rows.x_data).all():
            raise self.fault("expected repeated features to add up to a float32.")
        return self.dataset(rows)

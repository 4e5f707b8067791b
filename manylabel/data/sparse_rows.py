"""Sparse rows as text: the Extreme Classification Repository's, and svmlight."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from manylabel._kernels.parsing import rows as kernel
from manylabel._typing import Array
from manylabel.data.dataset import Dataset
from manylabel.data.reader import (
    MAX_COLUMNS,
    ReadOptions,
    RowReader,
    Rows,
    read_names,
    width,
)
from manylabel.data.source import Source
from manylabel.exceptions import DataError

HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n")


class SparseReader(RowReader):
    """Read rows of ``label,label feature:value ...``."""

    LOOSE = False  # without svmlight's liberties; see the kernel
    FIRST_LINE = 1

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._label_names = read_names(options.get("label_names"))
        self._feature_names = read_names(options.get("feature_names"))

    def parse(
        self, labels: tuple[int, int], features: tuple[int, int], offset: int = 0
    ) -> Iterator[Rows]:
        """Yield the rows of each block of lines, those before an error first.

        Allowed are columns from the first to the last of ``labels`` and ``features``.
        """
        scratch, first_line = Scratch(), self.FIRST_LINE
        for text in self.source.blocks(offset):
            scratch.load(text)
            while not scratch.done:
                verdict = kernel.parse_rows(
                    *(scratch.text, self.LOOSE, *labels, *features),
                    *(*scratch.arrays, scratch.progress),
                )
                if verdict != kernel.FINE:
                    token = first_token(text[scratch.fault : scratch.fault + 200])
                    reason = _reason(verdict, token, labels, features)
                    try:
                        self.bad_lines.add(reason, first_line + scratch.n_lines)
                    except DataError:
                        yield scratch.rows()
                        raise
                    scratch.skip_line()
            first_line += scratch.n_lines
            yield scratch.rows()

    def named(self, rows: Rows, n_features: int, n_labels: int) -> Dataset:
        """Return the rows with the names that were given."""
        if not np.isfinite(rows.x_data).all():
            raise self.fault("expected repeated features to add up to a float32.")
        X, Y = rows.features(n_features), rows.labels(n_labels)
        return Dataset(X, Y, self._feature_names, self._label_names)


class XCReader(SparseReader):
    """Read ``n_rows n_features n_labels``, then ``label,label feature:value ...``.

    Columns count from 0. A row without labels starts with a blank or with its first
    feature; an empty line is a row with nothing in it. Features may stand in any
    order, repeated ones are added up. Blank lines after the last row do not count.
    """

    OPTIONS = frozenset({"label_names", "feature_names"})
    FIRST_LINE = 2

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        header = HEADER.match(source.head + b"\n")
        if header is None:
            raise self.fault(
                "expected a header of three counts, 'rows features labels', "
                f"found {first_token(source.head)!r}.",
                line=1,
            )
        self._offset = header.end()
        self.n_rows, self.n_features, self.n_labels = map(int, header.groups())
        if max(self.n_features, self.n_labels) > MAX_COLUMNS:
            raise self.fault(f"expected at most {MAX_COLUMNS} columns.", line=1)

    def parts(self) -> Iterator[Rows]:
        """Parse the lines after the header and hold their number against it."""
        n_seen, columns = 0, ((0, self.n_labels - 1), (0, self.n_features - 1))
        for part in self.parse(*columns, self._offset):
            if self.bad_lines.last >= self.FIRST_LINE + self.n_rows:
                raise self._too_many()
            room = self.n_rows - self.bad_lines.count - n_seen
            n_seen += min(len(part), room)
            yield part[:room]
            rest = part[room:]  # blank lines do not count
            if len(rest.y_indices) or len(rest.x_indices):
                raise self._too_many()
        if n_seen + self.bad_lines.count < self.n_rows:
            raise self.fault(f"expected {self.n_rows} rows, found {n_seen}.")

    def dataset(self, group: Rows) -> Dataset:
        """Give the rows the columns of the header."""
        return self.named(group, self.n_features, self.n_labels)

    def _too_many(self) -> DataError:
        return self.fault(
            f"expected {self.n_rows} rows as the header says, found more.",
            line=self.FIRST_LINE + self.n_rows,
        )


class SvmlightReader(SparseReader):
    """Read ``label,label feature:value ...  # comment``.

    Labels are whole numbers, columns counted from 0; ``1.0`` is 1. In a file with a
    label -1, or read with ``n_labels=1``, every label must be +1 or -1 and there is
    one column: +1 is relevant. Features count from 1 unless a feature 0 occurs or the
    caller says so. ``qid:`` is ignored, as are lines that are blank or hold a comment
    only.
    """

    OPTIONS = frozenset(
        {"label_names", "feature_names", "n_labels", "n_features", "zero_based"}
    )
    LOOSE = True

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        zero_based = options.get("zero_based")
        if zero_based not in (True, False, "auto", None):
            raise ValueError(
                f"zero_based must be True, False or 'auto'. Got {zero_based!r}."
            )
        self._zero_based = None if zero_based == "auto" else zero_based
        n_labels, n_features = options.get("n_labels"), options.get("n_features")
        self._n_labels = width(n_labels, self._label_names, "n_labels")
        self._n_features = width(n_features, self._feature_names, "n_features")
        given = (self._zero_based, self._n_labels, self._n_features)
        self.settled = None not in given
        self._labels, self._features = Span(), Span()

    @property
    def _signed(self) -> bool:
        return self._n_labels == 1 or self._labels.low < 0

    @property
    def _first_feature(self) -> int:
        zero_based = self._zero_based
        return int(self._features.low > 0 if zero_based is None else not zero_based)

    def parts(self) -> Iterator[Rows]:
        """Parse the file, noting which columns occur."""
        labels = (-1, MAX_COLUMNS - 1)
        if self._n_labels is not None:
            labels = (-1, 1) if self._signed else (0, self._n_labels - 1)
        # While it is not known where features start, allow both ways of counting.
        most = MAX_COLUMNS - 1 if self._n_features is None else self._n_features
        features = (int(self._zero_based is False), most - (self._zero_based is True))
        for part in self.parse(labels, features):
            self._labels.widen(part.y_indices)
            self._features.widen(part.x_indices)
            yield part

    def dataset(self, group: Rows) -> Dataset:
        """Give the rows the columns that occur in the file or that were asked for."""
        n_features = max(self._features.high + 1 - self._first_feature, 0)
        if self._n_features is not None:
            if n_features > self._n_features:
                raise self.fault(
                    f"expected {self._n_features} features counted from 0, "
                    f"found feature {self._features.high}."
                )
            n_features = self._n_features
        n_labels = self._labels.high + 1
        rows = replace(group, x_indices=group.x_indices - self._first_feature)
        if self._signed:
            rows, n_labels = self._without_negatives(rows), 1
        elif self._n_labels is not None:
            n_labels = self._n_labels
        return self.named(rows, n_features, n_labels)

    def _without_negatives(self, rows: Rows) -> Rows:
        """Turn +1 into column 0 and leave -1 out."""
        other = rows.y_indices[abs(rows.y_indices) != 1]
        if len(other):
            raise self.fault(f"expected labels +1 and -1 only, found {other[0]}.")
        places = np.concatenate([[0], np.cumsum(rows.y_indices == 1)])
        zeros = np.zeros(places[-1], np.int32)
        return replace(rows, y_indptr=places[rows.y_indptr], y_indices=zeros)


class Span:
    """The lowest and the highest column that occurred."""

    def __init__(self) -> None:
        self.low, self.high = MAX_COLUMNS, -1

    def widen(self, columns: Array) -> None:
        """Take in some more columns."""
        self.low = min(self.low, int(columns.min(initial=MAX_COLUMNS)))
        self.high = max(self.high, int(columns.max(initial=-1)))


class Scratch:
    """The arrays that the rows of one block fill, and how far they are filled."""

    def __init__(self) -> None:
        self.progress = np.zeros(8, np.int64)
        self._reserve(size=0, n_lines=0)

    def load(self, text: bytes) -> None:
        """Start with a block of whole lines; what was there before is lost."""
        self._bytes = text
        self.text = np.frombuffer(text, np.uint8)
        self.progress[:] = 0
        size, n_lines = len(text), text.count(b"\n")
        if size > self._size or n_lines > self._n_lines:
            # The next blocks are about as long: with room, none needs new arrays.
            self._reserve(size + size // 4, n_lines + n_lines // 4)

    def _reserve(self, size: int, n_lines: int) -> None:
        # The shortest label, cell and number in need of a second look take 2, 2 and 5
        # bytes with what parts them from the next.
        self._size, self._n_lines = size, n_lines
        self.arrays = (
            np.zeros(n_lines + 1, np.int64),
            np.empty(size // 2 + 1, np.int32),
            np.zeros(n_lines + 1, np.int64),
            np.empty(size // 2 + 1, np.int32),
            np.empty(size // 2 + 1, np.float32),
            np.empty((size // 5 + 1, 3), np.int64),
        )

    @property
    def done(self) -> bool:
        """Whether all lines are parsed."""
        return bool(self.progress[kernel.AT] >= len(self.text))

    @property
    def n_lines(self) -> int:
        """Number of lines parsed so far."""
        return int(self.progress[kernel.N_LINES])

    @property
    def fault(self) -> int:
        """Where the kernel found something wrong."""
        return int(self.progress[kernel.FAULT])

    def skip_line(self) -> bytes:
        """Step over the line that comes next and return it."""
        at = int(self.progress[kernel.AT])
        end = self._bytes.index(b"\n", at)
        self.progress[kernel.AT] = end + 1
        self.progress[kernel.N_LINES] += 1
        return self._bytes[at:end]

    def rows(self) -> Rows:
        """Return the rows so far, sorted, without repeats, every value exact."""
        n_rows, n_labels, n_values, n_unsure, untidy = self.progress[
            kernel.N_ROWS : kernel.UNTIDY + 1
        ]
        y_indptr, y_indices, x_indptr, x_indices, x_data, unsure = self.arrays
        for place, start, end in unsure[:n_unsure].tolist():
            x_data[place] = float(self._bytes[start:end])
        rows = Rows(
            y_indptr[: n_rows + 1],
            y_indices[:n_labels],
            x_indptr[: n_rows + 1],
            x_indices[:n_values],
            x_data[:n_values],
        )
        return tidy(rows) if untidy else rows

    def restart(self) -> None:
        """Forget the rows so far, but not how many lines they took."""
        self.progress[kernel.N_ROWS :] = 0


def tidy(rows: Rows) -> Rows:
    """Sort each row; add up repeated features, count repeated labels once."""
    X, Y = rows.features(MAX_COLUMNS).copy(), rows.labels(MAX_COLUMNS).copy()
    X.sum_duplicates()
    Y.sum_duplicates()
    return replace(
        rows,
        y_indptr=Y.indptr.astype(np.int64),
        y_indices=Y.indices,
        x_indptr=X.indptr.astype(np.int64),
        x_indices=X.indices,
        x_data=X.data,
    )


def xc_lines(dataset: Dataset) -> Iterator[str]:
    """Write a data set as text, the header first."""
    yield f"{len(dataset)} {dataset.n_features} {dataset.n_labels}"
    for labels, features in row_tokens(dataset):
        yield " ".join([",".join(labels), *features])


def svmlight_lines(dataset: Dataset) -> Iterator[str]:
    """Write a data set as text: labels from 0, features from 1, as LIBSVM's sets do.

    A single label is written as +1 or -1. A row with nothing in it gets a feature of
    value 0, because readers skip blank lines.
    """
    for labels, features in row_tokens(dataset, first_feature=1):
        if dataset.n_labels == 1:
            labels = ["+1"] if labels else ["-1"]
        yield " ".join([",".join(labels), *(features or (() if labels else ["1:0"]))])


def row_tokens(
    dataset: Dataset, first_feature: int = 0
) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the labels and the ``feature:value`` of each row as text.

    A value has the fewest digits that read as the same float32.
    """
    X, Y = dataset.X, dataset.Y
    if X is None:
        raise ValueError("dataset must have features for this format. Got texts only.")
    for row in range(len(dataset)):
        x, y = slice(*X.indptr[row : row + 2]), slice(*Y.indptr[row : row + 2])
        values = [str(value).removesuffix(".0") for value in X.data[x]]
        columns = (X.indices[x].astype(np.int64) + first_feature).tolist()
        yield (
            [str(label) for label in Y.indices[y].tolist()],
            [
                f"{column}:{value}"
                for column, value in zip(columns, values, strict=True)
            ],
        )


def first_token(text: bytes) -> str:
    """Return what stands before the first blank, fit for a message."""
    found = re.match(rb"[^\s#]*", text)
    token = found[0] if found else b""
    return token[:40].decode("ascii", "backslashreplace")


def _reason(
    verdict: int, token: str, labels: tuple[int, int], features: tuple[int, int]
) -> str:
    """Say what is wrong at a token."""
    if verdict == kernel.BAD_LABEL:
        return (
            f"expected a label from {labels[0]} to {labels[1]}, "
            f"found {token.split(',')[0]!r}."
        )
    if verdict == kernel.BAD_FEATURE:
        return (
            f"expected feature:value with a feature from {features[0]} to "
            f"{features[1]}, found {token!r}."
        )
    return f"expected a finite float32 after the feature, found {token!r}."

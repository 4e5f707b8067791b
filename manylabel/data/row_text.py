"""Blocks of ``label,label index:value ...`` text to rows, by the kernel."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from manylabel._kernels.parsing import rows as kernel
from manylabel.data.dataset import Dataset
from manylabel.data.options import MAX_COLUMNS
from manylabel.data.reader import BadLines
from manylabel.data.rows import Rows
from manylabel.exceptions import DataError


@dataclass(frozen=True)
class RowText:
    """The grammar of a file of such rows.

    Parameters
    ----------
    labels, features : tuple of two int
        The first and the last column allowed.
    loose : bool
        Whether svmlight's liberties are taken; see the kernel.
    """

    labels: tuple[int, int]
    features: tuple[int, int]
    loose: bool

    def parse(
        self, blocks: Iterable[bytes], bad_lines: BadLines, first_line: int
    ) -> Iterator[Rows]:
        """Yield the rows of each block of whole lines, those before an error first."""
        scratch = Scratch()
        for text in blocks:
            scratch.load(text)
            while not scratch.done:
                verdict = kernel.parse_rows(
                    scratch.text, self.loose, *self.labels, *self.features,
                    *scratch.arrays, scratch.progress,
                )  # fmt: skip
                if verdict != kernel.FINE:
                    line = first_line + scratch.n_lines
                    try:
                        bad_lines.add(self._reason(verdict, text, scratch.fault), line)
                    except DataError:
                        yield scratch.rows()
                        raise
                    scratch.skip_line()
            first_line += scratch.n_lines
            yield scratch.rows()

    def _reason(self, verdict: int, text: bytes, at: int) -> str:
        token = first_token(text[at : at + 200])
        if verdict == kernel.BAD_LABEL:
            low, high = self.labels
            label = token.split(",")[0]
            return f"expected a label from {low} to {high}, found {label!r}."
        if verdict == kernel.BAD_FEATURE:
            low, high = self.features
            return (
                f"expected feature:value with a feature from {low} to {high}, "
                f"found {token!r}."
            )
        return f"expected a finite float32 after the feature, found {token!r}."


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

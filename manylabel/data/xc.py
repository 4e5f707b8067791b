"""The text of the Extreme Classification Repository: a header, then one row a line."""

import re
from collections.abc import Iterator

from manylabel.data.dataset import Dataset
from manylabel.data.options import MAX_COLUMNS, ReadOptions, read_names
from manylabel.data.reader import Reader
from manylabel.data.row_text import RowText, first_token, row_tokens
from manylabel.data.rows import Rows
from manylabel.data.source import Source
from manylabel.exceptions import DataError

HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n")
FIRST_LINE = 2


class XCReader(Reader):
    """Read ``n_rows n_features n_labels``, then ``label,label feature:value ...``.

    Columns count from 0. A row without labels starts with a blank or with its first
    feature; an empty line is a row with nothing in it. Features may stand in any
    order, repeated ones are added up. Blank lines after the last row do not count.
    """

    OPTIONS = frozenset({"label_names", "feature_names"})

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
        self._label_names = read_names(options.get("label_names"))
        self._feature_names = read_names(options.get("feature_names"))

    def rows(self) -> Iterator[Rows]:
        """Parse the lines after the header and hold their number against it."""
        grammar = RowText((0, self.n_labels - 1), (0, self.n_features - 1), loose=False)
        blocks = self.source.blocks(self._offset)
        n_seen = 0
        for part in grammar.parse(blocks, self.bad_lines, FIRST_LINE):
            if self.bad_lines.last >= FIRST_LINE + self.n_rows:
                raise self._too_many()
            room = self.n_rows - self.bad_lines.count - n_seen
            n_seen += min(len(part), room)
            yield part[:room]
            rest = part[room:]  # blank lines do not count
            if len(rest.y_indices) or len(rest.x_indices):
                raise self._too_many()
        if n_seen + self.bad_lines.count < self.n_rows:
            raise self.fault(f"expected {self.n_rows} rows, found {n_seen}.")

    def dataset(self, rows: Rows) -> Dataset:
        """Give the rows the columns of the header."""
        return Dataset(
            rows.features(self.n_features),
            rows.labels(self.n_labels),
            self._feature_names,
            self._label_names,
        )

    def _too_many(self) -> DataError:
        return self.fault(
            f"expected {self.n_rows} rows as the header says, found more.",
            line=FIRST_LINE + self.n_rows,
        )


def lines(dataset: Dataset) -> Iterator[str]:
    """Write a data set as text, the header first."""
    yield f"{len(dataset)} {dataset.n_features} {dataset.n_labels}"
    for labels, features in row_tokens(dataset):
        yield " ".join([",".join(labels), *features])

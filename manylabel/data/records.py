"""Records with a text and its labels, whatever file they come from."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any, ClassVar, TypeAlias

import numpy as np

from manylabel._typing import Array
from manylabel.data.dataset import Dataset
from manylabel.data.layout import Layout
from manylabel.data.options import MAX_COLUMNS, ReadOptions, read_names, width
from manylabel.data.reader import Reader
from manylabel.data.rows import Rows
from manylabel.data.source import Source
from manylabel.exceptions import DataError

Row: TypeAlias = tuple[str, str, list[int]]  # identifier, text and columns of labels


class RecordReader(Reader):
    """Read texts with labels, one record a row.

    The first record tells which fields there are; see :class:`Layout`. Labels that are
    strings are names, and the columns are the names in sorted order or those of
    ``label_names``. Labels that are integers are columns counted from 0. A file has one
    kind of labels.
    """

    OPTIONS = frozenset(
        {"label_names", "n_labels", "text_columns", "labels_column", "label_separator"}
    )
    SEPARATOR: ClassVar[str | None] = None  # of labels in a string

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        if options.get("label_separator") == "":
            raise ValueError("label_separator must be at least one character. Got ''.")
        names = read_names(options.get("label_names"))
        self._given_labels = width(options.get("n_labels"), names, "n_labels")
        self._vocabulary = Vocabulary(names)
        self.settled = names is not None or options.get("labels_column") is False
        self._options = options
        self._layout: Layout | None = None

    @abstractmethod
    def batches(self) -> Iterator[Iterable[tuple[int, Mapping[str, Any]]]]:
        """Yield records with their line numbers, some at a time, without bad lines."""

    def rows(self) -> Iterator[Rows]:
        """Turn records into rows, those before an error first.

        New label names get columns as they come.
        """
        for batch in self.batches():
            rows: list[Row] = []
            try:
                for line, record in batch:
                    rows.extend(self._row(line, record))
            except DataError:
                yield self._flat(rows)
                raise
            yield self._flat(rows)

    def dataset(self, rows: Rows) -> Dataset:
        """Give the rows the columns of the names or numbers in the file."""
        names, found = self._vocabulary.names, self._vocabulary.n_labels
        n_labels = found if self._given_labels is None else self._given_labels
        if found > n_labels or (names is not None and found < n_labels):
            raise self.fault(f"expected {n_labels} labels, found {found}.")
        rows = replace(rows, y_indices=self._vocabulary.order(rows.y_indices))
        ids = tuple(rows.ids) if len(rows.ids) else None
        return Dataset(None, rows.labels(n_labels), None, names, ids, tuple(rows.texts))

    def lay_out(self, fields: Iterable[str]) -> Layout:
        """Choose among the fields of the file, or raise ValueError."""
        self._layout = Layout.of(fields, self._options, self.SEPARATOR)
        return self._layout

    def _flat(self, rows: list[Row]) -> Rows:
        y_indptr = [0, *accumulate(len(labels) for _, _, labels in rows)]
        y_indices = [column for _, _, labels in rows for column in labels]
        has_ids = self._layout is not None and self._layout.id is not None
        return Rows(
            np.array(y_indptr, np.int64),
            np.array(y_indices, np.int32),
            np.zeros(len(rows) + 1, np.int64),
            np.empty(0, np.int32),
            np.empty(0, np.float32),
            [identity for identity, _, _ in rows] if has_ids else (),
            [text for _, text, _ in rows],
        )

    def _row(self, line: int, record: Mapping[str, Any]) -> Iterator[Row]:
        """Yield the identifier, text and columns of a record unless it is bad."""
        try:
            layout = self._layout or self.lay_out(record)
            identity, text = layout.identity(record), layout.text(record)
            yield identity, text, self._vocabulary.columns(layout.label_list(record))
        except ValueError as error:
            self.bad_lines.add(str(error), line)


class Vocabulary:
    """The columns of labels: given, or handed out to names as they come."""

    def __init__(self, names: tuple[str, ...] | None) -> None:
        self._given = names
        self._columns = {name: column for column, name in enumerate(names or ())}
        self._kind: type | None = None
        self._sorted: tuple[str, ...] = ()
        self._ranks: Array = np.empty(0, np.int32)
        self.n_labels = len(names or ())

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names in the order of the columns; None if labels are numbers only."""
        if not self._found_names:
            return self._given
        if len(self._sorted) < len(self._columns):
            self._sorted = tuple(sorted(self._columns))
            self._ranks = np.empty(len(self._sorted), np.int32)
            places = [self._columns[name] for name in self._sorted]
            self._ranks[places] = np.arange(len(places))
        return self._sorted

    def columns(self, labels: list[Any]) -> list[int]:
        """Return the columns of one row's labels, or raise ValueError."""
        if not labels:
            return []
        kind = self._kind or type(labels[0])
        if kind not in (str, int) or any(type(label) is not kind for label in labels):
            raise ValueError(
                "expected labels that are all strings or all integers in the whole "
                f"file, found {labels!r:.40}."
            )
        columns = self._numbers(labels) if kind is int else self._named(labels)
        self._kind = kind
        self.n_labels = max(self.n_labels, *(column + 1 for column in columns))
        return sorted(columns)

    def order(self, columns: Array) -> Array:
        """Turn columns in order of appearance into those of the sorted names."""
        return self._ranks[columns] if self._found_names and self.names else columns

    @property
    def _found_names(self) -> bool:
        return self._given is None and self._kind is str

    def _numbers(self, labels: list[int]) -> set[int]:
        limit = MAX_COLUMNS if self._given is None else len(self._given)
        for label in labels:
            if not 0 <= label < limit:
                raise ValueError(
                    f"expected a label from 0 to {limit - 1}, found {label!r:.40}."
                )
        return set(labels)

    def _named(self, labels: list[str]) -> set[int]:
        for label in labels:
            if self._given is None:
                self._columns.setdefault(label, len(self._columns))
            elif label not in self._columns:
                known = len(self._given)
                raise ValueError(f"expected one of {known} names, found {label!r:.60}.")
        return {self._columns[label] for label in labels}

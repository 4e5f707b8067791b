"""Records with a text and its labels, whatever file they come from."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from manylabel._typing import Array
from manylabel._warning import warn
from manylabel.data.dataset import Dataset
from manylabel.data.layout import Layout, is_number, tell_flag
from manylabel.data.reader import (
    ALWAYS,
    MAX_COLUMNS,
    Reader,
    ReadOptions,
    make_csr,
    read_names,
    width,
)
from manylabel.data.separators import (
    doubt,
    empty_name,
    half_bracket,
    similar_names,
    tell_separator,
)
from manylabel.data.source import Source
from manylabel.exceptions import DataError, DoubtfulLabels

N_AHEAD = 1000  # records that tell how labels are written
MAX_AHEAD = 1 << 20  # letters of their labels
FEW = 2  # kinds of odd cells of a column that may be a label, and nothing else is
MANY = 20  # rows with a label of their own, to be no accident


class Records(NamedTuple):
    """Some rows: identifiers if there are any, texts, and the columns of labels."""

    ids: list[str]
    texts: list[str]
    columns: list[int]
    offsets: list[int]  # where the columns of each row begin, and the end


class RecordReader(Reader[Records]):
    """Read texts with labels, one record a row.

    The first record tells which fields there are; see :class:`Layout`. The first
    thousand tell what separates labels in a string, and which fields are flags, where
    nobody says so. Labels that are strings are names, and the columns are the names in
    sorted order or those of ``label_names``. Labels that are integers are columns
    counted from 0. A file has one kind of labels.
    """

    OPTIONS = frozenset(
        {
            *("label_names", "n_labels", "id_column", "text_columns"),
            *("labels_column", "labels_columns", "label_separator"),
        }
    )
    SEPARATOR: ClassVar[str] = ","  # of labels in a string, where none tells

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        if options.get("label_separator") == "":
            raise ValueError("label_separator must be at least one character. Got ''.")
        names = read_names(options.get("label_names"))
        names = names and tuple(name.strip() for name in names)  # as those of rows
        self._given_labels = width(options.get("n_labels"), names, "n_labels")
        self._vocabulary = Vocabulary(names)
        self.settled = names is not None or options.get("labels_column") is False
        self._options = options
        self._layout: Layout | None = None
        self._is_separated = True  # whether anything stands between labels
        self._n_given = 0  # labels of the rows that were handed out

    @abstractmethod
    def items(self) -> Iterator[tuple[int, Any]]:
        """Yield the lines, or whatever has a record, with their numbers."""

    def record(self, item: Any) -> Mapping[str, Any]:
        """Return the fields of an item, or raise ValueError."""
        return cast(Mapping[str, Any], item)

    def groups(self, n_rows: int | None) -> Iterator[Records]:
        """Read the records; new label names get columns as they come."""
        group, any_full = Records([], [], [], [0]), False
        for number, item in self.items():
            try:
                self._add(group, self.record(item))
            except DataError:  # the file itself is damaged
                raise
            except ValueError as error:
                self.bad_lines.add(str(error), number)
            if len(group.texts) == n_rows:
                yield group
                group, any_full = Records([], [], [], [0]), True
        if group.texts or not any_full:
            yield group

    def dataset(self, group: Records) -> Dataset:
        """Give the rows the columns of the names or numbers in the file."""
        self._n_given += len(group.columns)
        names, columns = self._vocabulary.order(group.columns)
        found = self._vocabulary.n_labels
        n_labels = found if self._given_labels is None else self._given_labels
        if found > n_labels or (names is not None and found < n_labels):
            raise self.fault(f"expected {n_labels} labels, found {found}.")
        ones = np.ones(len(columns), np.float32)
        Y = make_csr(ones, columns, np.array(group.offsets), n_labels)
        ids = tuple(group.ids) if group.ids else None
        texts = tuple(group.texts)
        return Dataset(None, Y, None, names, ids, texts, read_as=self._read_as())

    def lay_out(self, fields: Iterable[str]) -> Layout:
        """Choose among the fields of the file, or of a record, or raise ValueError."""
        if self._layout is None:
            layout = Layout.of(fields, self._options, self._find_flags)
            is_list = isinstance(fields, Mapping) and all(
                isinstance(fields.get(name), list) for name in layout.labels
            )
            if layout.labels and layout.separator is None and not is_list:
                layout = layout.split_by(self.tell_separator(layout.labels))
            if layout.flags and self._options.get("label_names") is None:
                self._vocabulary = Vocabulary(layout.flags)
            self._layout = layout
        return self._layout

    def tell_separator(self, columns: tuple[str, ...]) -> str | None:
        """Return what separates labels; None where they are lists. Warn in doubt."""
        strings = self._label_strings(columns)
        found = tell_separator(strings)
        if found.other is not None:
            listed = ", ".join(map(repr, columns))
            message = (
                f"labels in {listed} are separated by {found.separator!r}, though "
                f"many have {found.other!r} in them: label_separator says which."
            )
            warn(DoubtfulLabels(self.source.path, message))
        self._is_separated = found.separator is not None
        return found.separator or (self.SEPARATOR if strings else None)

    def ahead(self, columns: list[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the first good records, of which only some columns matter, numbered."""
        unlabelled: ReadOptions = {**self._options, "labels_column": False}
        for name in ("labels_columns", "label_names", "n_labels"):
            unlabelled.pop(name, None)  # type: ignore[misc]
        reader = type(self)(self.source, unlabelled)
        for number, item in islice(reader.items(), N_AHEAD):
            try:
                record = reader.record(item)
            except DataError:
                raise
            except ValueError:
                continue  # told when it is met again
            yield number, record

    def warn(self) -> None:
        """Warn of lines that were skipped, and of labels that may be something else."""
        super().warn()
        doubts = (self._doubt(), *self._vocabulary.doubt_names())
        for message in filter(None, doubts):
            warn(DoubtfulLabels(self.source.path, message))

    def _doubt(self) -> str | None:
        """Return what labels look like, if no row has several, and the way out."""
        if doubtful := self._vocabulary.doubt():
            name, mark = doubtful
            return (
                f"every row has one label at most, and {name!r:.60} looks like "
                f"several: label_separator {mark!r} makes it so."
            )
        if self._n_given >= MANY and self._vocabulary.are_unique(self._n_given):
            return (
                "every row has a label of its own, as if they were identifiers: "
                "labels_column says which column has the labels."
            )
        return None

    def _find_flags(self, columns: list[str]) -> tuple[str, ...]:
        """Return the columns that say yes or no, as 0 and 1 do, and nothing else."""
        odd: dict[str, dict[str, int]] = {name: {} for name in columns}
        told = Counter[str]()
        try:
            for number, record in self.ahead(columns):
                for name, cells in list(odd.items()):
                    value = record.get(name)
                    if tell_flag(value) is None:
                        cells.setdefault(str(value), number)
                        if len(cells) > FEW or is_number(value):
                            del odd[name]
                    elif value not in ("", None):
                        told[name] += 1
        except DataError:
            pass  # told when it is met again
        for name, cells in odd.items():
            if cells and told[name]:
                cell, line = next(iter(cells.items()))
                message = (
                    f"column {name!r:.60} is not taken for a label, as line {line} has "
                    f"{cell!r:.40}, not 0 or 1: labels_columns says which are labels."
                )
                warn(DoubtfulLabels(self.source.path, message))
        return tuple(name for name in odd if told[name] and not odd[name])

    def _label_strings(self, columns: tuple[str, ...]) -> list[str]:
        """Return the first labels that are strings; never many letters."""
        strings, n_letters = [], 0
        try:
            for _, record in self.ahead([*columns]):
                cells = [record.get(name) for name in columns]
                found = [cell.strip() for cell in cells if isinstance(cell, str)]
                strings += found
                n_letters += sum(map(len, found))
                if n_letters > MAX_AHEAD:
                    break
        except DataError:
            pass  # told when it is met again
        return strings

    def _read_as(self) -> dict[str, Any]:
        """Return the options that read this file without a guess."""
        layout = self._layout or Layout(None, ())
        labels = layout.labels if len(layout.labels) > 1 else "".join(layout.labels)
        options = {
            "format": self._options.get("format"),
            "encoding": self.source.encoding,
            "text_columns": layout.texts,
            "labels_column": labels or (False if not layout.flags else None),
            "labels_columns": layout.flags or None,
            "label_separator": layout.separator if self._is_separated else None,
        }
        taken = ALWAYS | self.OPTIONS
        return {name: it for name, it in options.items() if it and name in taken}

    def _add(self, group: Records, record: Mapping[str, Any]) -> None:
        """Append a record, or raise ValueError and leave the group as it was."""
        layout = self._layout or self.lay_out(record)
        identity, text, labels = layout.read(record)
        group.columns.extend(self._vocabulary.columns(labels))
        group.offsets.append(len(group.columns))
        group.texts.append(text)
        if layout.id is not None:
            group.ids.append(identity)


class Vocabulary:
    """The columns of labels: given, or handed out to names as they come."""

    def __init__(self, names: tuple[str, ...] | None) -> None:
        self._given = names
        self._columns = {name: column for column, name in enumerate(names or ())}
        self._kind: type | None = None
        self._sorted: tuple[str, ...] = ()
        self._ranks: Array = np.empty(0, np.int32)
        self._most = 0  # labels of one row
        self.n_labels = len(names or ())

    def columns(self, labels: list[Any]) -> list[int]:
        """Return the columns of one row's labels, or raise ValueError."""
        if not labels:
            return []
        kind = self._kind or type(labels[0])
        if kind not in (str, int) or any(type(label) is not kind for label in labels):
            way = "; labels_column may be a path, as 'tags.name'" * (kind is dict)
            raise ValueError(
                "expected labels that are all strings or all integers in the whole "
                f"file, found {labels!r:.40}{way}."
            )
        columns = self._numbers(labels) if kind is int else self._named(labels)
        self._kind = kind
        self._most = max(self._most, len(columns))
        self.n_labels = max(self.n_labels, *(column + 1 for column in columns))
        return sorted(columns)

    def order(self, columns: list[int]) -> tuple[tuple[str, ...] | None, Array]:
        """Return the names, and columns in their order: sorted, unless they were given.

        There are no names if labels are numbers only.
        """
        found = np.array(columns, np.int32)
        if self._given is not None or self._kind is not str:
            return self._given, found
        if len(self._sorted) < len(self._columns):
            self._sorted = tuple(sorted(self._columns))
            self._ranks = np.empty(len(self._sorted), np.int32)
            places = [self._columns[name] for name in self._sorted]
            self._ranks[places] = np.arange(len(places))
        return self._sorted, self._ranks[found]

    def doubt(self) -> tuple[str, str] | None:
        """Return a name that looks like several and why, if no row has several."""
        return None if self._given or self._most > 1 else doubt(self._columns)

    def doubt_names(self) -> Iterator[str]:
        """Yield what is odd about names: some mean nothing, or two look like one."""
        names = () if self._given else self._columns
        if nothing := empty_name(names):
            yield (
                f"{nothing!r} is taken for a label, though it may stand for none: an "
                "empty cell or list says that there is none."
            )
        if half := half_bracket(names):
            yield (
                f"{half!r:.60} is taken for a label, though a list seems to begin or "
                "end there: names in a list have quotes, as in ['a', 'b']."
            )
        if twins := similar_names(names):
            one, other = twins
            yield (
                f"labels {one!r:.60} and {other!r:.60} differ only in case or in how "
                "letters are encoded, and count as two: one spelling makes them one."
            )

    def are_unique(self, n_given: int) -> bool:
        """Return whether each of so many labels is that of one row, its only one."""
        return not self._given and self._most == 1 and n_given == self.n_labels

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

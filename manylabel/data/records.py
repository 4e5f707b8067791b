"""Records with a text and its labels, whatever file they come from."""

import ast
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from manylabel._typing import Array
from manylabel.data.dataset import Dataset
from manylabel.data.reader import (
    MAX_COLUMNS,
    Reader,
    ReadOptions,
    make_csr,
    read_names,
    width,
)
from manylabel.data.source import Source
from manylabel.exceptions import DataError

IDS = ("id", "uid")
BODIES = ("content", "description", "body")
LABELS = ("labels", "tags", "target_ind")


class Records(NamedTuple):
    """Some rows: identifiers if there are any, texts, and the columns of labels."""

    ids: list[str]
    texts: list[str]
    columns: list[int]
    offsets: list[int]  # where the columns of each row begin, and the end


class RecordReader(Reader[Records]):
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
        names, columns = self._vocabulary.order(group.columns)
        found = self._vocabulary.n_labels
        n_labels = found if self._given_labels is None else self._given_labels
        if found > n_labels or (names is not None and found < n_labels):
            raise self.fault(f"expected {n_labels} labels, found {found}.")
        ones = np.ones(len(columns), np.float32)
        Y = make_csr(ones, columns, np.array(group.offsets), n_labels)
        ids = tuple(group.ids) if group.ids else None
        return Dataset(None, Y, None, names, ids, tuple(group.texts))

    def lay_out(self, fields: Iterable[str]) -> "Layout":
        """Choose among the fields of the file, or raise ValueError."""
        self._layout = Layout.of(fields, self._options, self.SEPARATOR)
        return self._layout

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
        self.n_labels = len(names or ())

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


@dataclass(frozen=True)
class Layout:
    r"""The fields of a record that are read.

    Parameters
    ----------
    id : str or None
        The field of the identifier, if there is one.
    texts : tuple of str
        The fields of the text, whose parts are joined by a newline.
    labels : str or None
        The field of the labels; None reads none.
    separator : str or None
        What separates labels in a string; None takes lists only.

    Examples
    --------
    >>> layout = Layout.of(["title", "body", "tags"], {"label_separator": ","})
    >>> record = {"title": "One", "body": "two", "tags": "a, b"}
    >>> layout.read(record)
    ('', 'One\ntwo', ['a', 'b'])
    """

    id: str | None
    texts: tuple[str, ...]
    labels: str | None
    separator: str | None = None

    @classmethod
    def of(
        cls,
        fields: Iterable[str],
        options: ReadOptions,
        separator: str | None = None,
    ) -> "Layout":
        """Choose by the names of the fields and what was asked for, or ValueError.

        ``separator`` is that of the format, where no other is asked for.
        """
        names = list(fields)
        found = f"found {names!r:.200}."
        by_case = {name.lower(): name for name in reversed(names)}  # the first of each
        bodies = [name for name in BODIES if name in by_case]
        usual = ["text"] if "text" in by_case else ["title", *bodies[:1]]
        texts = options.get("text_columns")
        texts = (texts,) if isinstance(texts, str) else texts
        chosen = tuple(texts or [by_case[name] for name in usual if name in by_case])
        if not chosen:
            raise ValueError(
                "expected the text in a field 'text', or 'title' and one of "
                f"{', '.join(map(repr, BODIES))}, or text_columns, {found}"
            )
        labels = options.get("labels_column")
        if labels is None:
            labels = next((by_case[name] for name in LABELS if name in by_case), None)
            if labels is None:
                raise ValueError(
                    "expected the labels in a field 'labels', 'tags' or 'target_ind', "
                    f"or labels_column, {found}"
                )
        wanted = chosen if labels is False else (*chosen, labels)
        for name in wanted:
            if names.count(name) != 1:
                raise ValueError(f"expected one field {name!r}, {found}")
        ids = [name for name in IDS if name in names]
        separator = options.get("label_separator") or separator
        return cls(ids[0] if ids else None, chosen, labels or None, separator)

    @property
    def fields(self) -> list[str]:
        """All the fields that are read."""
        return [name for name in (self.id, *self.texts, self.labels) if name]

    def read(self, record: Mapping[str, Any]) -> tuple[str, str, list[Any]]:
        """Return the identifier, or an empty string, the text and the labels."""
        identity = "" if self.id is None else record.get(self.id)
        if isinstance(identity, bool) or not isinstance(identity, str | int):
            raise ValueError(
                f"expected a string in {self.id!r}, found {identity!r:.40}."
            )
        parts = [record.get(name) for name in self.texts]
        for name, part in zip(self.texts, parts, strict=True):
            if not isinstance(part, str):
                raise ValueError(f"expected a string in {name!r}, found {part!r:.40}.")
        labels = [] if self.labels is None else record.get(self.labels)
        if isinstance(labels, str) and self.separator is not None:
            labels = _split(labels, self.separator)
        if not isinstance(labels, list):
            hint = ", or label_separator" if isinstance(labels, str) else ""
            raise ValueError(f"expected a list of labels{hint}, found {labels!r:.40}.")
        return str(identity), "\n".join(part for part in parts if part), labels


def _split(labels: str, separator: str) -> list[str]:
    """Split a string, unless it is a list as Python or JSON prints it."""
    if labels.startswith("[") and labels.endswith("]"):
        # What a data frame with a column of lists becomes when it is written as CSV.
        try:
            values = ast.literal_eval(labels)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            values = None
        if isinstance(values, list) and all(isinstance(v, str) for v in values):
            return values
    parts = labels.split() if separator == " " else labels.split(separator)
    return [name for part in parts if (name := part.strip())]

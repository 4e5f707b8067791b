"""Files of texts with labels: JSON lines, Parquet, CSV, TSV, and plain lines."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from io import StringIO
from itertools import islice, pairwise
from typing import Any, ClassVar, TypeAlias

from manylabel._escapes import json_text
from manylabel.data.arrow import parquet_batches
from manylabel.data.dataset import Dataset
from manylabel.data.json_records import iter_objects
from manylabel.data.layout import Layout, json_object
from manylabel.data.nested import asked_columns, follow, merge_fields
from manylabel.data.reader import ReadOptions
from manylabel.data.records import N_AHEAD, RecordReader
from manylabel.data.separators import join_labels
from manylabel.data.source import Source, decode
from manylabel.exceptions import DataError

BATCH = 256  # rows of a Parquet file in memory
DELIMITERS = (("tsv", "\t"), ("csv", ","), ("csv", ";"), ("csv", "|"))
QUOTED = re.compile(rb'(?:(?<=[,;|\t\n])|\A)"(?:[^"]|"")*+"')
EXCEL = re.compile(rb'"?sep=([,;|\t])"?\r?')  # a line above the header, for Excel
MARK = "\ufeff"  # by which spreadsheets know UTF-8
Lines: TypeAlias = Iterator[tuple[int, bytes]]


class LinesReader(RecordReader):
    """Read one text a line, in UTF-8; an empty line is an empty text."""

    OPTIONS = frozenset()

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, {**options, "labels_column": False})

    def items(self) -> Lines:
        """Yield the lines."""
        return enumerate(self.source.lines(), start=1)

    def record(self, item: bytes) -> Mapping[str, str]:
        """Return the line as a text."""
        return {"text": decode(item).rstrip("\r")}


class JsonlReader(RecordReader):
    """Read JSON objects, one a line or all in an array; blank lines do not count.

    Columns may be paths to fields of objects inside, as ``meta.tags.name``. What the
    first record lacks the first thousand tell.
    """

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._asked = asked_columns(options)

    def items(self) -> Lines:
        """Yield the lines that are not blank, or the elements of an array."""
        return iter_objects(self.source)

    def record(self, item: bytes) -> Mapping[str, Any]:
        """Return the object of a line, and what paths lead to."""
        record = json_object(item)
        paths = [name for name in self._asked if "." in name and name not in record]
        found = {path: follow(record, path) for path in paths}
        return {**record, **{path: it for path, it in found.items() if it is not None}}

    def ahead(self, columns: list[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the first good records, numbered."""
        for number, line in islice(self.items(), N_AHEAD):
            with suppress(ValueError):  # told when it is met again
                yield number, self.record(line)

    def lay_out(self, fields: Iterable[str]) -> Layout:
        """Choose among the fields of the first record, and of others if it lacks any.

        Only those of the record itself, not of objects inside, may be flags.
        """
        if self._layout is None and isinstance(fields, Mapping):
            others = (record for _, record in self.ahead([]))
            fields = merge_fields(fields, others, self._asked)
        return super().lay_out(fields)


class ParquetReader(RecordReader):
    """Read records from a Parquet file, page by page.

    Columns are told by name, as the fields of JSON lines; all others are
    left unread. A bad row is reported by its number, counted from 1.
    """

    def items(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the rows of each batch."""
        return self._rows(None)

    def ahead(self, columns: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield some columns of the first rows, numbered."""
        return islice(self._rows(columns), N_AHEAD)

    def _rows(self, columns: list[str] | None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield rows of the columns asked for, or of those that the layout has."""

        def choose(names: Sequence[str]) -> list[str]:
            return self.lay_out(names).fields if columns is None else columns

        n_rows = 0
        for batch in parquet_batches(self.source, choose, BATCH):
            yield from enumerate(batch.to_pylist(), start=n_rows + 1)
            n_rows += len(batch)


class TableReader(RecordReader):
    """Read a table with a header, in UTF-8; blank lines do not count.

    Nor do rows of three or more cells that are all empty, as spreadsheets write them
    at their end, and a first line such as ``sep=;``, which tells Excel the delimiter.
    A field that begins with a quote ends with one, may hold delimiters and line ends,
    and doubles the quotes that it holds. Elsewhere a quote is a plain character. A line
    end in a text is read as a newline. A bad record is reported by its first line.
    """

    EXPECTED: ClassVar[str] = "a header"

    @cached_property
    def delimiter(self) -> str:
        """What stands between two fields."""
        return "\t"

    def items(self) -> Lines:
        """Yield the first line of each record below the header."""
        self._lines = enumerate(self.source.lines(), start=1)
        filled = ((n, line) for n, line in self._lines if line.strip(b"\r"))
        self._names = self._header(filled)
        # Of two columns, an empty text without labels may be meant.
        nothing = b"\r" + self.delimiter.encode() * (len(self._names) > 2)  # noqa: PLR2004
        yield from ((n, line) for n, line in filled if line.strip(nothing))

    def record(self, item: bytes) -> Mapping[str, str]:
        """Return the fields of a record by the names of the columns."""
        fields = self._fields(item)
        if len(fields) != len(self._names):
            raise ValueError(
                f"expected {len(self._names)} fields, found {len(fields)}."
            )
        return dict(zip(self._names, fields, strict=True))

    def _header(self, lines: Lines) -> list[str]:
        """Return the names of the columns; without them no line could be read."""
        number, line = next(lines)
        if EXCEL.fullmatch(line):
            number, line = next(lines, (number, line))
        try:
            names = [name.strip() for name in self._fields(line)]
            self.lay_out(names)
        except DataError:
            raise
        except ValueError as error:
            what = str(error).removeprefix("expected ")
            if self.source.is_guessed and not line.isascii():
                told = self.source.encoding
                what = f"{what[:-1]}; encoding says what it is if not {told}."
            raise self.fault(f"expected {self.EXPECTED} with {what}", number) from None
        return names

    def _fields(self, line: bytes) -> list[str]:
        """Return the fields of a record, which may take further lines."""
        text = _text(line)
        if '"' not in text:
            return text.split(self.delimiter)
        more = (_text(line) for _, line in self._lines)
        try:
            longest = self.source.max_line_bytes
            return _quoted_fields(text, more, self.delimiter, longest)
        except OverflowError:
            raise ValueError(self.source.too_long().reason) from None


class CsvReader(TableReader):
    """Read values separated by a comma, or by that of ``;|`` and tab which fits."""

    @cached_property
    def delimiter(self) -> str:
        """What stands between two fields."""
        return tell_delimiter(self.source.head)


class TsvReader(TableReader):
    """Read tab-separated values."""

    EXPECTED = "a header (or format libmultilabel)"


class LibMultiLabelReader(TableReader):
    """Read identifier, labels and text, without a header; a quote means nothing."""

    OPTIONS = RecordReader.OPTIONS - {
        *("id_column", "text_columns", "labels_column", "labels_columns")
    }
    SEPARATOR = " "

    def tell_separator(self, columns: tuple[str, ...]) -> str:
        """Return what the format says."""
        return self.SEPARATOR

    def _header(self, lines: Lines) -> list[str]:
        names = ["id", "labels", "text"]
        self.lay_out(names)
        return names

    def _fields(self, line: bytes) -> list[str]:
        return _text(line).split("\t")


def tell_delimiter(head: bytes) -> str:
    r"""Tell what separates the cells of a table by its first lines.

    Of the marks in the header, the one is taken that most lines have as often as it.

    Examples
    --------
    >>> tell_delimiter(b"id;title, short\n"), tell_delimiter(b"sep=|\nid|title\n")
    (',', '|')
    >>> tell_delimiter(b"id;title, short\n1;a, b, c\n")
    ';'
    """
    head = head.lstrip(b"\r\n")
    if told := EXCEL.fullmatch(head.partition(b"\n")[0]):
        return told[1].decode()
    lines = QUOTED.sub(b"", head).decode("latin-1").split("\n")
    header, *rows = [line for line in lines if line.strip()] or [""]
    counts = {mark: header.count(mark) for mark in ",;\t|" if mark in header}

    def agreement(mark: str) -> tuple[int, int]:
        return sum(row.count(mark) == counts[mark] for row in rows), counts[mark]

    return max(counts, key=agreement, default=",")


def tell_table(line: bytes, options: ReadOptions | None = None) -> str | None:
    """Tell a table by a header that has the usual names, or those asked for.

    None is any other line.
    """
    text = line.decode(errors="replace").strip()
    for name, delimiter in DELIMITERS:
        try:
            Layout.of(
                (part.strip(' "') for part in text.split(delimiter)), options or {}
            )
        except ValueError:
            continue
        return name
    return None


def jsonl_lines(dataset: Dataset) -> Iterator[str]:
    """Write texts with the names of their labels, or with their columns."""
    return map(json_text, _written(dataset, dataset.label_names))


def csv_lines(
    dataset: Dataset, separator: str | None = None, delimiter: str = ","
) -> Iterator[str]:
    """Write texts with the names of their labels, or with their columns."""
    yield delimiter.join([*([] if dataset.ids is None else ["id"]), "text", "labels"])
    for record in _written(dataset, dataset.labels.names):
        labels = join_labels(record["labels"], separator or RecordReader.SEPARATOR)
        yield join_cells({**record, "labels": labels}.values(), delimiter)


def tsv_lines(dataset: Dataset, separator: str | None = None) -> Iterator[str]:
    """Write texts with the names of their labels, tabs between the fields."""
    return csv_lines(dataset, separator, "\t")


def _written(dataset: Dataset, names: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the records of a data set; without names labels are columns."""
    if dataset.texts is None:
        raise ValueError("dataset must have texts for this format. Got none.")
    labels: Sequence[Any] = range(dataset.n_labels) if names is None else names
    columns = dataset.Y.indices.tolist()
    for row, (start, stop) in enumerate(pairwise(dataset.Y.indptr.tolist())):
        yield {
            **({} if dataset.ids is None else {"id": dataset.ids[row]}),
            "text": dataset.texts[row],
            "labels": [labels[column] for column in columns[start:stop]],
        }


def _text(line: bytes) -> str:
    return decode(line).removesuffix("\r")


def _quoted_fields(
    line: str, more: Iterator[str], delimiter: str, longest: int
) -> list[str]:
    """Split a record of which some fields may stand in quotes.

    Raises OverflowError if a field takes more letters than ``longest``.
    """
    fields, start = [], 0
    while True:
        if line.startswith('"', start):
            field, line, end = _unquoted(line, start + 1, more, longest)
            if end < len(line) and line[end] != delimiter:
                raise ValueError(
                    f"expected {delimiter!r} or the end of the line after the closing "
                    f"quote, found {line[end:]!r:.40}."
                )
        else:
            end = line.find(delimiter, start)
            end = len(line) if end < 0 else end
            field = line[start:end]
        fields.append(field)
        if end == len(line):
            return fields
        start = end + 1


def _unquoted(
    line: str, start: int, more: Iterator[str], longest: int
) -> tuple[str, str, int]:
    """Return what the quotes hold, the line that closes them, and where it goes on."""
    field = StringIO()  # a list would take fifty bytes for each line
    while True:
        end = line.find('"', start)
        if line.startswith('""', end) and end >= 0:
            field.write(line[start : end + 1])
            start = end + 2
        elif end >= 0:
            field.write(line[start:end])
            return field.getvalue(), line, end + 1
        else:
            field.write(f"{line[start:]}\n")
            if field.tell() > longest:
                raise OverflowError
            start, following = 0, next(more, None)
            if following is None:
                raise ValueError("expected a closing quote, found the end of the file.")
            line = following


def join_cells(cells: Iterable[str], delimiter: str = ",") -> str:
    """Return a line of a table."""
    return delimiter.join(quote_field(cell, delimiter) for cell in cells)


def quote_field(text: str, delimiter: str = ",") -> str:
    """Put a field in quotes if it would be misread without."""
    if text.startswith('"') or any(mark in text for mark in (delimiter, "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text

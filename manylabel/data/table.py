"""Tables of texts with labels: CSV, TSV, and LibMultiLabel's TSV without a header."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, ClassVar, TypeAlias

from manylabel.data.dataset import Dataset
from manylabel.data.layout import Layout
from manylabel.data.records import RecordReader
from manylabel.data.source import decode
from manylabel.exceptions import DataError

BATCH = 4096
MAX_QUOTED = 1 << 24  # characters, so that a lost quote does not fill the memory
SEPARATOR = ","  # of labels in one field
DELIMITERS = (("tsv", "\t"), ("csv", ","), ("csv", ";"))
Lines: TypeAlias = Iterator[tuple[int, bytes]]


class TableReader(RecordReader):
    """Read a table with a header, in UTF-8; blank lines do not count.

    A field that begins with a quote ends with one, may hold delimiters and line ends,
    and doubles the quotes that it holds. Elsewhere a quote is a plain character. A line
    end in a text is read as a newline. A bad record is reported by its first line.
    """

    SEPARATOR = SEPARATOR
    EXPECTED: ClassVar[str] = "a header"

    @cached_property
    def delimiter(self) -> str:
        """What stands between two fields."""
        return "\t"

    def batches(self) -> Iterator[Iterable[tuple[int, Mapping[str, Any]]]]:
        """Yield the rows below the header."""
        lines = enumerate(self.source.lines(), start=1)
        records = self._records(lines, self._header(lines))
        for first in records:
            yield chain([first], islice(records, BATCH - 1))

    def _header(self, lines: Lines) -> list[str]:
        """Return the names of the columns; without them no line could be read."""
        number, line = next(_filled(lines))
        try:
            names = [name.strip() for name in self._fields(line, lines)]
            self.lay_out(names)
        except DataError:
            raise
        except ValueError as error:
            what = str(error).removeprefix("expected ")
            raise self.fault(f"expected {self.EXPECTED} with {what}", number) from None
        return names

    def _records(
        self, lines: Lines, names: list[str]
    ) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the good records with the number of their first line."""
        for number, line in _filled(lines):
            try:
                fields = self._fields(line, lines)
            except DataError:  # the file itself is damaged
                raise
            except ValueError as error:
                self.bad_lines.add(str(error), number)
                continue
            if len(fields) == len(names):
                yield number, dict(zip(names, fields, strict=True))
            else:
                reason = f"expected {len(names)} fields, found {len(fields)}."
                self.bad_lines.add(reason, number)

    def _fields(self, line: bytes, lines: Lines) -> list[str]:
        """Return the fields of a record, which may take further lines."""
        text = _text(line)
        if '"' not in text:
            return text.split(self.delimiter)
        return _quoted_fields(text, (_text(more) for _, more in lines), self.delimiter)


class CsvReader(TableReader):
    """Read comma-separated values; semicolons if the header has no comma."""

    @cached_property
    def delimiter(self) -> str:
        """What stands between two fields."""
        header = self.source.head.lstrip(b"\r\n").partition(b"\n")[0]
        return ";" if b";" in header and b"," not in header else ","


class TsvReader(TableReader):
    """Read tab-separated values."""

    EXPECTED = "a header (or format libmultilabel)"


class LibMultiLabelReader(TableReader):
    """Read identifier, labels and text, without a header; a quote means nothing."""

    OPTIONS = RecordReader.OPTIONS - {"text_columns", "labels_column"}
    SEPARATOR = " "

    def _header(self, lines: Lines) -> list[str]:
        names = ["id", "labels", "text"]
        self.lay_out(names)
        return names

    def _fields(self, line: bytes, lines: Lines) -> list[str]:
        return _text(line).split("\t")


def tell_table(line: bytes) -> str | None:
    """Tell a table by a header that has the usual names; None is any other line."""
    text = line.decode("latin-1").strip()
    for name, delimiter in DELIMITERS:
        try:
            Layout.of((part.strip(' "') for part in text.split(delimiter)), {})
        except ValueError:
            continue
        return name
    return None


def lines(dataset: Dataset, delimiter: str = ",") -> Iterator[str]:
    """Write texts with the names of their labels, or with their columns."""
    if dataset.texts is None:
        raise ValueError("dataset must have texts for this format. Got none.")
    names = [_label(name) for name in dataset.labels.names]
    columns = dataset.Y.indices.tolist()
    yield delimiter.join([*(["id"] if dataset.ids else []), "text", "labels"])
    for row, (start, stop) in enumerate(pairwise(dataset.Y.indptr.tolist())):
        labels = SEPARATOR.join(names[column] for column in columns[start:stop])
        identity = [dataset.ids[row]] if dataset.ids else []
        fields = [*identity, dataset.texts[row], labels]
        yield delimiter.join(_field(field, delimiter) for field in fields)


def tsv_lines(dataset: Dataset) -> Iterator[str]:
    """Write texts with the names of their labels, tabs between the fields."""
    return lines(dataset, "\t")


def _filled(lines: Lines) -> Lines:
    return ((number, line) for number, line in lines if line.strip(b"\r"))


def _text(line: bytes) -> str:
    return decode(line).removesuffix("\r")


def _quoted_fields(line: str, more: Iterator[str], delimiter: str) -> list[str]:
    """Split a record of which some fields may stand in quotes."""
    fields, start = [], 0
    while True:
        if line.startswith('"', start):
            field, line, end = _unquoted(line, start + 1, more)
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


def _unquoted(line: str, start: int, more: Iterator[str]) -> tuple[str, str, int]:
    """Return what the quotes hold, the line that closes them, and where it goes on."""
    parts: list[str] = []
    size = 0
    while True:
        end = line.find('"', start)
        if line.startswith('""', end) and end >= 0:
            parts.append(line[start : end + 1])
            start = end + 2
        elif end >= 0:
            return "".join((*parts, line[start:end])), line, end + 1
        else:
            parts.append(f"{line[start:]}\n")
            size += len(parts[-1])
            if size > MAX_QUOTED:
                raise ValueError(f"expected a quote to close in {MAX_QUOTED} letters.")
            start, following = 0, next(more, None)
            if following is None:
                raise ValueError("expected a closing quote, found the end of the file.")
            line = following


def _label(name: str) -> str:
    if SEPARATOR in name or not name or name != name.strip():
        raise ValueError(
            f"label_names must have no {SEPARATOR!r}, no blank at an end and not be "
            f"empty for this format. Got {name!r}."
        )
    return name


def _field(text: str, delimiter: str) -> str:
    """Put a field in quotes if it would be misread without."""
    if text.startswith('"') or any(mark in text for mark in (delimiter, "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text

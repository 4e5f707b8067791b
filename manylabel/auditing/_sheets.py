"""Work sheets as files: JSON lines, or a table that people fill in."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from manylabel._escapes import json_text
from manylabel.auditing._files import as_record, rounded
from manylabel.data.layout import Layout
from manylabel.data.separators import join_labels, split_labels
from manylabel.data.source import Source, suffix
from manylabel.data.text_files import MARK, CsvReader, JsonlReader, join_cells
from manylabel.exceptions import DataError

COLUMNS = ("row", "id", "text", "labels", "suggestions", "weight", "complete", "wrong")
TABLES = (".csv", ".tsv")
BETWEEN, NOTHING = "|", "-"  # labels of a cell, and a cell of no label
DIGITS = 6  # always so many, so that a weight without its point is noticed


def jsonl_sheet(findings: Iterable[Any], weights: Iterable[float]) -> Iterator[str]:
    """Yield an object a row."""
    for finding, weight in zip(findings, weights, strict=True):
        more = {
            "suggestions": rounded(finding.missing),
            "weight": round(weight, DIGITS),
            "complete": None,
        }
        yield json_text(as_record(finding) | more)


def table_sheet(
    findings: Iterable[Any], weights: Iterable[float], delimiter: str
) -> Iterator[str]:
    """Yield a line a row under a header; the last two cells are to be filled in."""
    yield MARK + delimiter.join(COLUMNS)
    for finding, weight in zip(findings, weights, strict=True):
        about = (str(finding.row), finding.id or "", finding.text or "")
        names = finding.labels, [name for name, _ in finding.missing]
        number = f"{weight:.{DIGITS}f}"
        if delimiter == ";":  # of spreadsheets that write numbers with a comma
            number = number.replace(".", ",")
        lists = (join_labels(each, BETWEEN, ()) for each in names)
        yield join_cells((*about, *lists, number, "", ""), delimiter)


class SheetReader(CsvReader):
    """Read a table, whatever its columns are."""

    def lay_out(self, fields: Iterable[str]) -> Layout:
        """Ask for nothing: what a record lacks is told when it is read."""
        return Layout(None, ())


def read_sheet(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the records of a sheet with the numbers of their lines."""
    source = Source(path)
    as_answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    reader: CsvReader | JsonlReader
    if suffix(path) not in TABLES:
        reader = JsonlReader(source, {"labels_column": False})
    elif source.head.strip():
        reader, as_answer = SheetReader(source, {"labels_column": False}), from_cells
    else:
        return
    for number, line in reader.items():
        try:
            yield number, as_answer(reader.record(line))
        except ValueError as error:
            raise DataError(path, str(error), line=number) from None


def from_cells(cells: Mapping[str, str]) -> dict[str, Any]:
    """Return what the cells of a row say, as JSON lines say it."""
    record: dict[str, Any] = {
        name: cells[name] for name in ("id", "text") if cells.get(name)
    }
    if cells.get("row"):
        record["row"] = _number(cells["row"], int, "row")
    if "weight" in cells:
        record["weight"] = _number(cells["weight"].replace(",", "."), float, "weight")
    for field in ("complete", "wrong"):
        cell = cells.get(field, "").strip()
        names = [] if cell == NOTHING else split_labels(cell, BETWEEN)
        record[field] = names if cell else None
    return record


def _number(cell: str, kind: type[int] | type[float], name: str) -> float:
    try:
        return kind(cell)
    except ValueError:
        raise ValueError(
            f"expected a number in {name!r}, found {cell!r:.60}."
        ) from None

"""Findings as files that annotators read: a line a row, or a line a suspect."""

from collections.abc import Iterable, Iterator
from typing import Any

from manylabel._escapes import json_text
from manylabel.data.separators import join_labels
from manylabel.data.text_files import MARK, join_cells

HEAD = ("row", "id", "kind", "label", "probability", "labels", "text")
DIGITS = 4


def as_record(finding: Any) -> dict[str, Any]:
    """Return what was found in a row, ready for JSON, without what it does not have."""
    record = {"row": finding.row, "id": finding.id, "text": finding.text}
    known = {name: value for name, value in record.items() if value is not None}
    return known | {"labels": finding.labels}


def rounded(suspects: Iterable[tuple[str, float]]) -> list[list[Any]]:
    """Return suspects with probabilities as people want to read them."""
    return [[name, round(chance, DIGITS)] for name, chance in suspects]


def jsonl_lines(findings: Iterable[Any]) -> Iterator[str]:
    """Yield an object a row, the worst row first."""
    for finding in findings:
        record = as_record(finding) | {
            "missing": rounded(finding.missing),
            "wrong": rounded(finding.wrong),
            "gain": round(finding.gain, DIGITS),
        }
        yield f"{json_text(record)}\n"


def csv_lines(findings: Iterable[Any], delimiter: str) -> Iterator[str]:
    """Yield a line for each suspect under a header, those of the worst row first."""
    yield f"{MARK}{delimiter.join(HEAD)}\n"
    for finding in findings:
        labels, text = join_labels(finding.labels, "|"), finding.text or ""
        for kind in ("missing", "wrong"):
            for name, chance in rounded(getattr(finding, kind)):
                place = (str(finding.row), finding.id or "", kind)
                cells = (*place, name, str(chance), labels, text)
                yield f"{join_cells(cells, delimiter)}\n"

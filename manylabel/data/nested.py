"""Fields of JSON objects inside others, by paths with dots between the names."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from manylabel.data.layout import BODIES, LABELS, TEXTS
from manylabel.data.reader import ReadOptions

DEEPEST = 3  # names in a path that is told; longer ones are followed, too


def follow(record: Any, path: str) -> Any:
    """Return what stands at the end of a path; None if nothing does.

    Examples
    --------
    >>> record = {"meta": {"tags": [{"name": "a"}, {"name": "b"}]}}
    >>> follow(record, "meta.tags.name"), follow(record, "meta.text")
    (['a', 'b'], None)
    """
    for name in path.split("."):
        if isinstance(record, list):
            record = [each[name] for each in record if _has(each, name)]
        elif _has(record, name):
            record = record[name]
        else:
            return None
    return record


def asked_columns(options: ReadOptions) -> list[str]:
    """Return the names of columns that options tell."""
    asked: list[str] = []
    for given in (
        options.get("id_column"),
        options.get("text_columns"),
        options.get("labels_column"),
        options.get("labels_columns"),
    ):
        asked += [given] if isinstance(given, str) else given or []
    return asked


def merge_fields(
    first: Mapping[str, Any], others: Iterable[Mapping[str, Any]], asked: Iterable[str]
) -> dict[str, Any]:
    """Return the fields of a record, and of others those that it lacks and are read.

    The others are not looked at if it has all.

    Examples
    --------
    >>> others = [{"title": "b", "body": "c", "note": "d"}]
    >>> list(merge_fields({"title": "a", "meta": {"x": 1}}, others, []))
    ['title', 'meta.x', 'body']
    """
    fields = dict(_flatten(first))
    there = {name.lower() for name in fields}
    kinds = [LABELS] if "text" in there else [TEXTS, BODIES, LABELS]
    usual = {name for kind in kinds if there.isdisjoint(kind) for name in kind}
    named = set(asked).difference(fields)
    for other in others if usual or named else ():
        for name, value in other.items():
            if name in named or name.lower() in usual:
                fields.setdefault(name, value)
    return fields


def _flatten(record: Mapping[str, Any], depth: int = 1) -> Iterator[tuple[str, Any]]:
    """Yield the fields that hold no others, by their paths."""
    for name, value in record.items():
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict) and inner and depth < DEEPEST:
            for path, below in _flatten(inner, depth + 1):
                yield f"{name}.{path}", below
        else:
            yield name, value


def _has(record: Any, name: str) -> bool:
    return isinstance(record, dict) and name in record

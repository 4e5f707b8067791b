"""Several labels in one field: what stands between them."""

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple
from unicodedata import normalize

MARKS = ("\n", "\t", "|", ";", ",")  # the seldomer in a name, the earlier
FOLD = re.compile(r"(?<=[\t|;,]) *+\n")  # a line end that separates nothing itself
DOUBTFUL = (*MARKS, "/", " ")  # some are in names more often than between them
SHARE = 0.1  # of the fields with any mark, to be more than a part of a name
# As NumPy prints an array of names, without anything between them.
QUOTED = r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+")"""
ARRAY = re.compile(rf"\[\s*+{QUOTED}(?:\s++{QUOTED})*+\s*+\]")
NOTHING = {"nan", "none", "null", "n/a", "na", "#n/a", "<na>", "-", "--", "?"}
# As PostgreSQL prints one: only names with a comma, a space or such are in quotes.
ELEMENT = r"""(?:\s*+"(?:[^"\\]|\\.)*+"\s*+|[^"'{}\[\]\\,]*+)"""
POSTGRES = re.compile(rf"\{{{ELEMENT}(?:,{ELEMENT})*+\}}", re.DOTALL)
BRACKETS = ("[]", "()", "{}")


class Separation(NamedTuple):
    """A separator, and another mark that may be meant; None where there is none."""

    separator: str | None
    other: str | None


def tell_separator(fields: Iterable[str]) -> Separation:
    """Tell by some fields what separates labels.

    Of the marks that occur often, the one is taken that is seldomer in a name: in
    ``Smith, Ann; Doe, Joe`` a semicolon. Lists in brackets need no separator.

    Examples
    --------
    >>> tell_separator(["acq;gold", "earn"])
    Separation(separator=';', other=None)
    >>> tell_separator(["Smith, Ann; Doe, Joe"])
    Separation(separator=';', other=',')
    """
    plain = [FOLD.sub("", field) for field in fields if _parsed(field) is None]
    counts = {mark: sum(mark in field for field in plain) for mark in MARKS}
    least = max(1, SHARE * max(counts.values()))
    often = [mark for mark in MARKS if counts[mark] >= least]
    return Separation(*[*often, None, None][:2])


def strip_names(labels: Iterable[Any]) -> list[Any]:
    """Return labels without the spaces around names, and without empty names.

    Examples
    --------
    >>> strip_names(["food ", " ", 3])
    ['food', 3]
    """
    plain = [each.strip() if isinstance(each, str) else each for each in labels]
    return [each for each in plain if each != ""]


def split_labels(field: str, separator: str) -> list[str]:
    """Split a field, unless it is a list, tuple, set or array that was printed.

    Spaces around a label do not count. Numbers in a list are names here, as they are
    beside a separator.
    """
    if (values := _parsed(field)) is not None:
        return [_name(value, field) for value in values]
    parts = field.split() if separator == " " else field.split(separator)
    return strip_names(parts)


def join_labels(
    names: Collection[str], separator: str, others: Collection[str] = MARKS
) -> str:
    """Join labels so that they are read back; a list where a mark is in a name.

    ``others`` are marks that a reader, who is told none, may take for separators.
    """
    marks = {*others, separator}
    for name in names:
        if not name or name != name.strip() or any(mark in name for mark in marks):
            return json.dumps(list(names), ensure_ascii=False)
    field = separator.join(names)
    is_plain = _parsed(field) is None
    return field if is_plain else json.dumps(list(names), ensure_ascii=False)


def doubt(names: Collection[str]) -> tuple[str, str] | None:
    """Return a label that looks like several, and the mark between them, if there is.

    Its parts are labels too, or most of all labels have that mark.

    Examples
    --------
    >>> doubt({"acq", "gold", "acq gold"})
    ('acq gold', ' ')
    >>> doubt({"Ann Smith", "Joe Doe"}) is None
    True
    """
    known = set(names)
    counts = Counter(mark for name in known for mark in DOUBTFUL[:-1] if mark in name)
    for mark in DOUBTFUL:
        several = [name for name in known if mark in name]
        parts = {name: [part.strip() for part in name.split(mark)] for name in several}
        made = [name for name in several if known.issuperset(parts[name])]
        if made or 2 * counts[mark] > len(known):
            return min(made or several), mark
    return None


def empty_name(names: Iterable[str]) -> str | None:
    """Return a name by which programs and people say that there is nothing, if any.

    Examples
    --------
    >>> empty_name(["food", "NaN"])
    'NaN'
    """
    return next((name for name in names if name.lower() in NOTHING), None)


def half_bracket(names: Iterable[str]) -> str | None:
    """Return a name that has one half of the brackets of a list, if any.

    Examples
    --------
    >>> half_bracket(["food", "[drink]", "[bread"]), half_bracket(["b [c]"])
    ('[bread', None)
    """
    halves = (
        name
        for name in names
        for begin, end in (("[", "]"), ("{", "}"))
        if (name[:1] == begin and end not in name)
        or (name[-1:] == end and begin not in name)
    )
    return next(halves, None)


def similar_names(names: Iterable[str]) -> tuple[str, str] | None:
    """Return two names that differ only in case or in Unicode's form, if there are.

    Examples
    --------
    >>> similar_names(["food", "drink", "Food"])
    ('food', 'Food')
    """
    first: dict[str, str] = {}
    for name in names:
        twin = first.setdefault(normalize("NFC", name).casefold(), name)
        if twin != name:
            return twin, name
    return None


def _parsed(field: str) -> list[Any] | None:
    """Return the labels of a list, tuple, set or array that was printed, or None."""
    # What a data frame with a column of these becomes when it is written as CSV.
    field = field.strip()
    if field == "set()":
        return []
    if field[:1] + field[-1:] not in BRACKETS:
        return None
    if POSTGRES.fullmatch(field):
        return _postgres(field)
    if ARRAY.fullmatch(field):  # Python would read neighbours as one name
        field = f"[{','.join(re.findall(QUOTED, field))}]"
    for parse in (json.loads, ast.literal_eval):
        try:
            values = parse(field)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(values, list | tuple | set):
            return list(values)
    return None


def _postgres(field: str) -> list[Any]:
    """Return the names of an array as PostgreSQL prints it; NULL is none."""
    parts = re.findall(ELEMENT, field[1:-1])
    bare = [part for part in map(str.strip, parts) if part not in ("", "NULL")]
    return [
        re.sub(r"\\(.)", r"\1", part[1:-1]) if part.startswith('"') else part
        for part in bare
    ]


def _name(value: Any, field: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError(f"expected names in a list of labels, found {field!r:.40}.")
    return str(value)

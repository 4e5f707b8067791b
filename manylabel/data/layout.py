"""Which fields of a record are its identifier, its text and its labels."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from manylabel._suggestion import nearest
from manylabel.data.reader import SKIP, ReadOptions
from manylabel.data.separators import split_labels, strip_names
from manylabel.data.source import decode

IDS = ("id", "uid")
TEXTS = ("text", "title")
BODIES = ("content", "description", "body")
LABELS = ("labels", "tags", "target_ind")
TEXT_SOUGHT = (
    "the text in a field 'text', or 'title' and one of "
    f"{', '.join(map(repr, BODIES))}, or text_columns"
)
FLAG_SOUGHT = "expected 0 or 1, no or yes, FALSE or TRUE, or x or nothing"
LABELS_SOUGHT = (
    "the labels in a field 'labels', 'tags' or 'target_ind', or in columns of 0 and 1, "
    "or of x and nothing, or labels_column or labels_columns"
)
NO = ("", "0", "false", "no", "falsch", "nein", "faux", "non", "ei")
YES = ("1", "true", "x", "yes", "wahr", "ja", "vrai", "oui", "kyllä", "✓", "✔")
FLAGS = dict.fromkeys(NO, False) | dict.fromkeys(YES, True)


@dataclass(frozen=True)
class Layout:
    r"""The fields of a record that are read.

    Parameters
    ----------
    id : str or None
        The field of the identifier, if there is one.
    texts : tuple of str
        The fields of the text, whose parts are joined by a newline. A record may lack
        some, but not all.
    labels : tuple of str
        The fields of the labels, which are joined; none reads none. A record may lack
        some, but not all.
    separator : str or None
        What separates labels in a string; None takes lists only.
    flags : tuple of str
        Fields that have a 1 where a row has the label of that name.

    Examples
    --------
    >>> layout = Layout.of(["title", "body", "tags"], {"label_separator": ","})
    >>> record = {"title": "One", "body": "two", "tags": "a, b"}
    >>> layout.read(record)
    ('', 'One\ntwo', ['a', 'b'])
    >>> layout = Layout.of(["text", "a", "b"], {"labels_columns": ["a", "b"]})
    >>> layout.read({"text": "two", "a": "0", "b": "1"})
    ('', 'two', ['b'])
    """

    id: str | None
    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()
    separator: str | None = None
    flags: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        fields: Iterable[str],
        options: ReadOptions,
        find_flags: Callable[[list[str]], tuple[str, ...]] | None = None,
    ) -> "Layout":
        """Choose by the names of the fields and what was asked for, or ValueError.

        Where no name is that of labels, ``find_flags`` says which of the other fields
        are flags.
        """
        names = list(fields)
        found = f"found {names!r:.200}."
        by_case = {name.lower(): name for name in reversed(names)}  # the first of each
        labels, flags = options.get("labels_column"), options.get("labels_columns")
        texts = named_columns(options.get("text_columns"), names)
        texts = texts or _usual_texts(by_case)
        if not texts:
            has_any = labels is not None or flags or any(map(by_case.get, LABELS))
            also = "" if has_any else f", and {LABELS_SOUGHT}"
            raise ValueError(f"expected {TEXT_SOUGHT}{also}, {found}")
        identity = options.get("id_column") or usual_id(names)
        flags = named_columns(flags, names)
        if labels and flags:
            raise ValueError("labels_column must be left out beside labels_columns.")
        is_told = labels is not None or bool(flags)
        labels = named_columns(labels or None, names)
        _check_once((*texts, identity, *labels, *flags), names)
        if not is_told:
            labels = tuple(by_case[name] for name in LABELS if name in by_case)[:1]
            if not labels and find_flags is not None:
                taken = ("", *texts, identity)
                flags = find_flags([each for each in names if each not in taken])
            _check_once((*labels, *flags), names)
            if not labels and not flags:
                raise ValueError(f"expected {LABELS_SOUGHT}, {found}")
        for name in {*labels, *flags}.intersection(texts):
            raise ValueError(
                "expected one column for the text and another for the labels, found "
                f"{name!r} for both."
            )
        separator = options.get("label_separator")
        return cls(identity, texts, labels, separator, flags)

    def split_by(self, separator: str | None) -> "Layout":
        """Return the same fields with another separator of labels."""
        return replace(self, separator=separator)

    @property
    def fields(self) -> list[str]:
        """All the fields that are read."""
        named = (self.id, *self.texts, *self.labels, *self.flags)
        return [name for name in named if name]

    def read(self, record: Mapping[str, Any]) -> tuple[str, str, list[Any]]:
        """Return the identifier, or an empty string, the text and the labels."""
        identity = "" if self.id is None else record.get(self.id)
        if isinstance(identity, bool) or not isinstance(identity, str | int):
            raise ValueError(
                f"expected a string in {self.id!r}, found {identity!r:.40}."
            )
        return str(identity), self._text(record), self._labels(record)

    def _text(self, record: Mapping[str, Any]) -> str:
        """Return the parts that are there, of which there must be one."""
        parts = [record.get(name) for name in self.texts]
        for name, part in zip(self.texts, parts, strict=True):
            if not isinstance(part, str | None):
                raise ValueError(f"expected a string in {name!r}, found {part!r:.40}.")
        if all(part is None for part in parts):
            names = " or ".join(map(repr, self.texts))
            raise ValueError(f"expected a string in {names}, found None{SKIP}.")
        return "\n".join(part for part in parts if part)

    def _labels(self, record: Mapping[str, Any]) -> list[Any]:
        if self.flags:
            return [name for name in self.flags if _flag(name, record.get(name))]
        cells = [record.get(name) for name in self.labels]
        if len(cells) > 1:  # of several, some may be empty
            cells = [cell for cell in cells if cell is not None] or [None]
        return strip_names(label for cell in cells for label in self._split(cell))

    def _split(self, labels: Any) -> list[Any]:
        """Return the labels of one cell."""
        if isinstance(labels, str) and self.separator is not None:
            labels = split_labels(labels, self.separator)
        if not isinstance(labels, list):
            hint = ", or label_separator" if isinstance(labels, str) else ""
            way = SKIP if labels is None else ""
            raise ValueError(
                f"expected a list of labels{hint}, found {labels!r:.40}{way}."
            )
        return labels


def named_columns(
    asked: str | Iterable[str] | None, names: Collection[str]
) -> tuple[str, ...]:
    """Return the columns that are asked for, which commas may separate.

    A comma may be in the name of a column.

    Examples
    --------
    >>> named_columns(["a,b", "c, d"], ["a", "b", "c, d"])
    ('a', 'b', 'c, d')
    """
    found: list[str] = []
    for each in [asked] if isinstance(asked, str) else asked or ():
        parts = [part.strip() for part in each.split(",")]
        is_whole = each in names or not any(part in names for part in parts)
        found += [each] if is_whole else parts
    return tuple(found)


def usual_id(names: Iterable[str]) -> str | None:
    """Return the one field that is named as identifiers are, if there is one.

    Examples
    --------
    >>> usual_id(["Title", "ID"]), usual_id(["id", "title", "id"])
    ('ID', None)
    """
    found = [name for name in names if name.lower() in IDS]
    found.sort(key=lambda name: IDS.index(name.lower()))
    return found[0] if found and found.count(found[0]) == 1 else None


def tell_flag(value: Any) -> bool | None:
    """Return whether a value says yes or no; None if neither.

    Examples
    --------
    >>> [tell_flag(value) for value in ("1", "0.0", "", "X", True, "WAHR", "maybe")]
    [True, False, False, True, True, True, None]
    """
    if isinstance(value, str):
        return FLAGS.get(value.strip().lower().removesuffix(".0"))
    if value is None:
        return False
    return bool(value) if isinstance(value, int | float) and value in (0, 1) else None


def is_number(value: Any) -> bool:
    """Return whether a value is a number, also one with a decimal comma.

    Examples
    --------
    >>> [is_number(value) for value in (2, "3,5", "?")]
    [True, True, False]
    """
    try:
        float(str(value).replace(",", "."))
    except ValueError:
        return False
    return True


def _check_once(chosen: Iterable[str | bool | None], names: list[str]) -> None:
    """Raise ValueError if a field that was chosen is not there, or there twice."""
    for name in chosen:
        if isinstance(name, str) and name and names.count(name) != 1:
            near = nearest(name, names)
            hint = f" (did you mean {near!r}?)" if near not in (None, name) else ""
            raise ValueError(
                f"expected one field {name!r}{hint}, found {names!r:.200}."
            )


def _flag(name: str, value: Any) -> bool:
    said = tell_flag(value)
    if said is None:
        raise ValueError(f"{FLAG_SOUGHT}, in {name!r}, found {value!r:.40}.")
    return said


def _usual_texts(by_case: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields of the text that have usual names."""
    bodies = [name for name in BODIES if name in by_case]
    usual = ["text"] if "text" in by_case else ["title", *bodies[:1]]
    return tuple(by_case[name] for name in usual if name in by_case)


def json_object(line: bytes) -> Mapping[str, Any]:
    """Return the JSON object of a line, or raise ValueError."""
    try:
        record = json.loads(decode(line))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected a JSON object: {error}.") from None
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, found {record!r:.40}.")
    return record

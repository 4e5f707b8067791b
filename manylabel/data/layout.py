"""Which fields of a record hold its text and its labels, and how they are read."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manylabel.data.options import ReadOptions

IDS = ("id", "uid")
BODIES = ("content", "description", "body")
LABELS = ("labels", "tags", "target_ind")


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
    >>> layout.text(record), layout.label_list(record)
    ('One\ntwo', ['a', 'b'])
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
        texts = options.get("text_columns")
        texts = (texts,) if isinstance(texts, str) else texts
        chosen = tuple(texts or _text_fields(names))
        if not chosen:
            raise ValueError(
                "expected the text in a field 'text', or 'title' and one of "
                f"{', '.join(map(repr, BODIES))}, or text_columns, {found}"
            )
        labels = options.get("labels_column")
        if labels is None:
            labels = _first(names, LABELS)
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

    def identity(self, record: Mapping[str, Any]) -> str:
        """Return the identifier of a record; none is an empty string."""
        value = "" if self.id is None else record.get(self.id)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ValueError(f"expected a string in {self.id!r}, found {value!r:.40}.")
        return str(value)

    def text(self, record: Mapping[str, Any]) -> str:
        """Return the text of a record, its parts joined by a newline."""
        parts = [record.get(name) for name in self.texts]
        for name, part in zip(self.texts, parts, strict=True):
            if not isinstance(part, str):
                raise ValueError(f"expected a string in {name!r}, found {part!r:.40}.")
        return "\n".join(part for part in parts if part)

    def label_list(self, record: Mapping[str, Any]) -> list[Any]:
        """Return the labels of a record."""
        if self.labels is None:
            return []
        labels = record.get(self.labels)
        if isinstance(labels, str) and self.separator is not None:
            return _split(labels, self.separator)
        if not isinstance(labels, list):
            hint = ", or label_separator" if isinstance(labels, str) else ""
            raise ValueError(f"expected a list of labels{hint}, found {labels!r:.40}.")
        return labels


def _text_fields(names: Sequence[str]) -> tuple[str, ...]:
    text = _first(names, ("text",))
    parts = (text,) if text else (_first(names, ("title",)), _first(names, BODIES))
    return tuple(part for part in parts if part is not None)


def _first(names: Sequence[str], choices: Sequence[str]) -> str | None:
    """Return the name that is the first of some choices, in whatever case."""
    found = (n for choice in choices for n in names if n.lower() == choice)
    return next(found, None)


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

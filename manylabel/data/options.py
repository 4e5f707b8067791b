"""The options of reading, in one record, and the columns that they ask for."""

import os
from collections.abc import Sequence, Set
from typing import Literal, TypeAlias, TypedDict

from manylabel.data.source import Source, decode
from manylabel.exceptions import DataError

Names: TypeAlias = Sequence[str] | str | os.PathLike[str]

MAX_COLUMNS = 2**31 - 1  # columns are numbered by int32
ALWAYS = frozenset({"format", "skip_bad_lines"})  # taken by all formats


class ReadOptions(TypedDict, total=False):
    """How to read a file; :func:`manylabel.read` says what each option means.

    An option that is None is as good as left out.

    Examples
    --------
    >>> options: ReadOptions = {"labels_column": "tags", "label_separator": ";"}
    """

    format: str | None
    label_names: Names | None
    feature_names: Names | None
    n_labels: int | None
    n_features: int | None
    zero_based: bool | Literal["auto"] | None
    labels_from: str | os.PathLike[str] | None
    text_columns: str | Sequence[str] | None
    labels_column: str | Literal[False] | None
    label_separator: str | None
    skip_bad_lines: bool | None


def check_options(options: ReadOptions, format: str, taken: Set[str]) -> None:
    """Refuse options that nobody knows, and those that a format has no use for."""
    known = ReadOptions.__annotations__
    for name, value in options.items():
        if name not in known:
            raise TypeError(f"options must be among {', '.join(known)}. Got {name!r}.")
        if name not in taken | ALWAYS and value is not None:
            raise ValueError(
                f"{name} must be left out for {format} files. Got a value."
            )


def read_names(names: Names | None) -> tuple[str, ...] | None:
    """Return names given as a sequence, or as the path of a file with one a line."""
    if names is None or not isinstance(names, str | os.PathLike):
        return None if names is None else tuple(names)
    source = Source(names)
    try:
        return tuple(decode(line).rstrip("\r") for line in source.lines())
    except ValueError as error:
        raise DataError(source.path, str(error)) from None


def width(
    n_columns: int | None, names: tuple[str, ...] | None, name: str
) -> int | None:
    """Return the number of columns asked for, which the names must agree with."""
    if n_columns is None:
        return None if names is None else len(names)
    if not 0 < n_columns <= MAX_COLUMNS:
        raise ValueError(f"{name} must be from 1 to {MAX_COLUMNS}. Got {n_columns}.")
    if names is not None and len(names) != n_columns:
        raise ValueError(f"{name} must be {len(names)}, one per name. Got {n_columns}.")
    return n_columns

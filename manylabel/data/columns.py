"""The columns that a caller asks for: how many, and what they are called."""

import os
from collections.abc import Sequence
from typing import TypeAlias

from manylabel.data.source import Source, decode
from manylabel.exceptions import DataError

Names: TypeAlias = Sequence[str] | str | os.PathLike[str]

MAX_COLUMNS = 2**31 - 1  # columns are numbered by int32


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

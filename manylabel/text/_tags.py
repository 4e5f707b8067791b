"""The tags of texts, checked."""

from collections.abc import Iterable, Mapping
from typing import Any


def checked(tags: Any, n_rows: int) -> list[list[str]]:
    """Return the names of each row's tags, or raise TypeError or ValueError."""
    if isinstance(tags, (str, bytes, Mapping)) or not isinstance(tags, Iterable):
        raise TypeError(
            "tags must be a list that has a list of names for each text. "
            f"Got {tags!r:.40}."
        )
    rows = [_names(names, row) for row, names in enumerate(tags)]
    if len(rows) != n_rows:
        raise ValueError(
            f"tags must have {n_rows} rows, one per text. Got {len(rows)}."
        )
    return rows


def check_known(rows: list[list[str]], known: set[str]) -> None:
    """Raise ValueError at the first tag that is not known."""
    for row, names in enumerate(rows):
        for name in names:
            if name not in known:
                raise ValueError(
                    f"tags must be among the {len(known)} of the first call or of its "
                    f"classes. Got {name!r:.60} at row {row}."
                )


def _names(names: Any, row: int) -> list[str]:
    if isinstance(names, (str, bytes, Mapping)) or not isinstance(names, Iterable):
        raise TypeError(
            "tags must have a list of names for each text. "
            f"Got {names!r:.40} at row {row}."
        )
    found = list(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"tags must be strings. Got {name!r:.40} at row {row}.")
    return found

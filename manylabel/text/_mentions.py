"""What people say of items, checked."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from manylabel._typing import Array
from manylabel.text._items import check_count, check_names


def check_lists(names: Any, argument: str, n_rows: int) -> list[list[str]]:
    rows = check_names(names, argument)
    check_count(len(rows), n_rows, argument)
    return rows


def check_apart(yes: list[list[str]], no: list[list[str]]) -> None:
    for row, (accepted, rejected) in enumerate(zip(yes, no, strict=True)):
        if both := set(accepted) & set(rejected):
            raise ValueError(
                "accepted and rejected must not share a label. "
                f"Got {min(both)!r:.60} at row {row}."
            )


def check_flags(complete: Iterable[bool] | None, n_rows: int) -> Array:
    """Return one flag for each row."""
    if complete is None:
        return np.zeros(n_rows, np.uint8)
    flags = list(complete)
    for row, flag in enumerate(flags):
        if not isinstance(flag, (bool, np.bool_)):
            raise TypeError(f"complete must hold bools. Got {flag!r:.40} at row {row}.")
    check_count(len(flags), n_rows, "complete")
    return np.array(flags, np.uint8)

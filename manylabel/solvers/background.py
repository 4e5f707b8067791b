"""Rows that the labels of every node are also told from, drawn at random."""

from numbers import Integral
from typing import Any

import numpy as np

from manylabel._typing import Floats, Ints

BACKGROUND_WEIGHT = 5.0  # of a row that is drawn, beside one of the node
TRUST = 0.3  # what the logarithm of a cluster's factor counts, with a background


def check_background(background: Any) -> None:
    """Refuse what is no number of rows."""
    is_whole = isinstance(background, Integral) and not isinstance(background, bool)
    if not is_whole or background < 0:
        raise ValueError(
            f"background must be a whole number of rows, at least 0. Got {background}."
        )


def draw_rows(n_rows: int, n_drawn: int, seed: np.uint64) -> Ints:
    """Return so many rows drawn at random, ascending, or all if there are not more.

    Examples
    --------
    >>> draw_rows(3, 9, np.uint64(0)).tolist()
    [0, 1, 2]
    """
    rng = np.random.default_rng(int(seed))
    return np.sort(rng.choice(n_rows, min(n_drawn, n_rows), replace=False))


def add_background(
    rows: Ints, drawn: Ints, row_weight: Floats | None
) -> tuple[Ints, Floats | None]:
    """Return the rows of a node and those that are drawn, and what they weigh.

    Rows of the node that are drawn count as rows of the node, so a root, which has all
    rows, has no background.

    Examples
    --------
    >>> rows, weight = add_background(np.array([1, 4]), np.array([0, 4]), None)
    >>> rows.tolist(), weight.tolist()
    ([0, 1, 4], [5.0, 1.0, 1.0])
    """
    further = np.setdiff1d(drawn, rows, assume_unique=True)
    if not len(further):
        return rows, None if row_weight is None else row_weight[rows]
    together = np.sort(np.concatenate([rows, further]))
    weight = np.ones(len(together)) if row_weight is None else row_weight[together]
    with np.errstate(over="ignore"):
        weight[np.searchsorted(together, further)] *= BACKGROUND_WEIGHT
    return together, weight

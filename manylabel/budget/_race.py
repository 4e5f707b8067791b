"""Choosing among plans of trees by cross-validation, in a race."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from manylabel._typing import Array, Floats

T = TypeVar("T")
OUT = 3.0  # standard errors behind the best at which a plan drops out


def race(
    plans: list[T], n_rounds: int, judge: Callable[[list[T], int], Floats]
) -> tuple[list[T], Floats]:
    """Return the plans that are left after some rounds, the best first, and their loss.

    ``judge`` has what each plan loses on each row of a round; the loss returned is that
    of the rows of all rounds. After each round, plans that lose more than chance would
    explain drop out (Maron & Moore 1994; here by pairs, on the same rows).
    """
    lost = np.empty((len(plans), 0))
    for number in range(n_rounds if len(plans) > 1 else 0):
        lost = np.hstack([lost, judge(plans, number)])
        best = lost[np.argmin(lost.sum(axis=1))]
        left = np.flatnonzero(~is_more(lost, best, OUT))
        plans, lost = [plans[at] for at in left], lost[left]
        if len(plans) == 1:
            break
    order = np.argsort(lost.sum(axis=1), kind="stable")
    return [plans[at] for at in order], lost[order]


def is_more(lost: Floats, than: Floats, errors: float) -> Array:
    """Return which sums of losses exceed another by so many standard errors."""
    more = lost - than
    return np.asarray(more.sum(axis=-1) > errors * np.sqrt((more**2).sum(axis=-1)))

"""Hyperparameter search as a race: what is surely worse drops out early."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from manylabel._typing import Array, Floats

T = TypeVar("T")
OUT = 3.0  # standard errors behind the best at which a candidate drops out


def race(
    candidates: list[T], n_rounds: int, judge: Callable[[list[T], int], Floats]
) -> tuple[list[T], Floats]:
    """Return the candidates that are left after some rounds, and what they lost.

    After each round, say a fold of the rows, those drop out that lost more than chance
    would explain (Maron & Moore 1994; here by pairs, on the same rows).

    Parameters
    ----------
    candidates : list
        What to choose from; of equal ones the first wins.
    n_rounds : int
        Rounds, at most: a candidate that is alone has won.
    judge : function
        Of candidates and the number of a round; returns what each lost on each row, an
        array of shape (n_candidates, n_rows).

    Returns
    -------
    list
        The candidates left, the best first.
    ndarray of shape (n_left, n_rows)
        What each of them lost on the rows of all rounds.

    Examples
    --------
    >>> def judge(chances, number):
    ...     draws = np.random.default_rng(number).random(100)
    ...     return np.array([draws < chance for chance in chances], float)
    >>> left, lost = race([0.5, 0.1, 0.09], 5, judge)
    >>> left, lost.shape
    ([0.09, 0.1], (2, 500))
    """
    lost = np.empty((len(candidates), 0))
    for number in range(n_rounds if len(candidates) > 1 else 0):
        lost = np.hstack([lost, judge(candidates, number)])
        best = lost[np.argmin(lost.sum(axis=1))]
        left = np.flatnonzero(~is_more(lost, best, OUT))
        candidates, lost = [candidates[at] for at in left], lost[left]
        if len(candidates) == 1:
            break
    order = np.argsort(lost.sum(axis=1), kind="stable")
    return [candidates[at] for at in order], lost[order]


def is_more(lost: Floats, than: Floats, errors: float) -> Array:
    """Return which sums of losses exceed another by so many standard errors.

    Parameters
    ----------
    lost : ndarray of shape (..., n_rows)
        Losses of the rows.
    than : ndarray of shape (n_rows,)
        Other losses of the same rows.
    errors : float
        Standard errors, of the sum of the differences.

    Returns
    -------
    ndarray of bool
        One for each sum.

    Examples
    --------
    >>> is_more(np.ones((1, 10)), np.zeros(10), 3.0)
    array([ True])
    """
    more = lost - than
    return np.asarray(more.sum(axis=-1) > errors * np.sqrt((more**2).sum(axis=-1)))

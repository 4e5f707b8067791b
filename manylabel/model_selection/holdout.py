"""Which rows are held out as a validation set: one rule for the whole library."""

from typing import NamedTuple

import numpy as np

from manylabel import parallel
from manylabel._typing import Ints, RandomState

MOST, FEWEST = 5000, 20  # rows that are held out; rows of data to hold some out


class Split(NamedTuple):
    """Rows to learn and rows held out, each in the order of the data."""

    train: Ints
    held: Ints


def hold_out(n_rows: int, random_state: RandomState, *, one_in: int = 5) -> Split:
    """Return rows to learn and one row in five, at most 5,000, to hold out.

    Parameters
    ----------
    n_rows : int
        Rows of the data.
    random_state : int, Generator, RandomState or None
        Seeds the choice; a Generator makes it.
    one_in : int, default=5
        Another share, where a measurement asks for it.

    Returns
    -------
    Split
        Of fewer than 20 rows none can be spared: both parts are all of them, so what
        is chosen then is chosen on the rows that were learnt.

    Examples
    --------
    >>> train, held = hold_out(100, 0)
    >>> len(train), len(held), len(set(train) & set(held))
    (80, 20, 0)
    """
    order = _shuffled(n_rows, random_state)
    if n_rows < FEWEST:
        return Split(np.sort(order), np.sort(order))
    n_held = min(n_rows // one_in, MOST)
    return Split(train=np.sort(order[n_held:]), held=np.sort(order[:n_held]))


def hold_out_in_turn(
    n_rows: int, random_state: RandomState, *, n_folds: int = 5
) -> list[Split]:
    """Return splits of which one holds out each row: cross-validation.

    Parameters
    ----------
    n_rows : int
        Rows of the data, at least ``n_folds``.
    random_state : int, Generator, RandomState or None
        Seeds the choice; a Generator makes it.
    n_folds : int, default=5
        How many splits.

    Returns
    -------
    list of Split
        The rows held out differ in number by one at most.

    Examples
    --------
    >>> [len(split.held) for split in hold_out_in_turn(102, 0)]
    [21, 21, 20, 20, 20]
    """
    parts = np.array_split(_shuffled(n_rows, random_state), n_folds)
    rows = np.arange(n_rows)
    return [Split(np.setdiff1d(rows, held), np.sort(held)) for held in parts]


def _shuffled(n_rows: int, random_state: RandomState) -> Ints:
    rng = random_state
    if not isinstance(rng, np.random.Generator):
        rng = np.random.default_rng(int(parallel.spawn_seeds(rng, 1)[0]))
    return rng.permutation(n_rows)

"""Which rows are held out as a validation set: one rule for the whole library."""

from typing import NamedTuple

import numpy as np

from manylabel import parallel
from manylabel._typing import Ints, RandomState

SHARE, MOST, FEWEST = 5, 5000, 20  # one row in 5 is held out; so many; of how many


class Split(NamedTuple):
    """Rows to learn and rows held out, each in the order of the data."""

    train: Ints
    held: Ints


def hold_out(n_rows: int, random_state: RandomState) -> Split:
    """Return rows to learn and one row in five, at most 5,000, to hold out.

    Parameters
    ----------
    n_rows : int
        Rows of the data.
    random_state : int, Generator, RandomState or None
        Seeds the choice.

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
    rng = np.random.default_rng(int(parallel.spawn_seeds(random_state, 1)[0]))
    order = rng.permutation(n_rows)
    if n_rows < FEWEST:
        return Split(np.sort(order), np.sort(order))
    n_held = min(n_rows // SHARE, MOST)
    return Split(train=np.sort(order[n_held:]), held=np.sort(order[:n_held]))

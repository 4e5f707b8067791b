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
    rng = random_state
    if not isinstance(rng, np.random.Generator):
        rng = np.random.default_rng(int(parallel.spawn_seeds(rng, 1)[0]))
    order = rng.permutation(n_rows)
    if n_rows < FEWEST:
        return Split(np.sort(order), np.sort(order))
    n_held = min(n_rows // one_in, MOST)
    return Split(train=np.sort(order[n_held:]), held=np.sort(order[:n_held]))

"""Which rows are held out as a validation set: one rule for the whole library."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel import parallel
from manylabel._typing import CSR, Ints, RandomState

MOST, FEWEST = 5000, 20  # rows that are held out; rows of data to hold some out
MOST_RARE = 5  # rows of a feature that may have been left out for want of more


# Rows and features of the data of which a sample is fitted to tell how long all take.
_whole: ContextVar[tuple[int, int | None] | None] = ContextVar("whole", default=None)


class Split(NamedTuple):
    """Rows to learn and rows held out, each in the order of the data."""

    train: Ints
    held: Ints

    def as_new(self, X: CSR) -> CSR:
        """Return the rows held out of ``X`` as rows to come are, without rare features.

        If each feature has two rows or more, whoever made ``X`` left out rarer ones, as
        a vectorizer with ``min_df`` does, and leaves out of rows to come what so few
        rows had. So features are left out here that fewer rows to learn have than any
        feature has rows. They say nothing, but would make the rest of a row shorter,
        and scores of rows held out smaller than those of rows to come.

        Examples
        --------
        >>> X = sp.csr_array([[1, 0], [1, 2], [1, 2], [1, 0]])
        >>> Split(np.array([0, 1]), np.array([2, 3])).as_new(X).toarray()
        array([[1, 0],
               [1, 0]])
        """
        held, n_rows = X[self.held], np.bincount(X.indices, minlength=X.shape[1])
        fewest = min(int(n_rows[n_rows > 0].min(initial=MOST_RARE)), MOST_RARE)
        learnt = np.bincount(X[self.train].indices, minlength=X.shape[1])
        kept = learnt[held.indices] >= fewest
        if fewest == 1 or kept.all():
            return held
        starts = np.concatenate([[0], np.cumsum(kept)])[held.indptr]
        return sp.csr_array((held.data[kept], held.indices[kept], starts), held.shape)


@contextmanager
def sampling(n_rows: int, n_features: int | None) -> Iterator[None]:
    """Let fits to a sample do what a fit to all rows would, where that depends on size.

    Features that are not counted yet are words, of which there are nearly as many more
    as there are more rows.

    Examples
    --------
    >>> with sampling(10_000, None):
    ...     whole_shape(500, 3_000)
    (10000, 60000)
    >>> whole_shape(500, 3_000)
    (500, 3000)
    """
    token = _whole.set((n_rows, n_features))
    try:
        yield
    finally:
        _whole.reset(token)


def whole_shape(n_rows: int, n_features: int = 0) -> tuple[int, int]:
    """Return the size of the data that some rows are, or are a sample of."""
    n_all, n_known = _whole.get() or (n_rows, n_features)
    return n_all, n_features * n_all // n_rows if n_known is None else n_known


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

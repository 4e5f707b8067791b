"""Labels that corrections have moved, and which of them are given."""

from typing import Any, NamedTuple

import numpy as np

from manylabel._typing import CSR, Array, Bools, Floats, Ints

CLEARLY = 1.0  # nats that change what a tagger decided by a rule of its own


class Moved(NamedTuple):
    """Candidates of rows end to end: how far each is moved, and its score then."""

    rows: Ints
    labels: Ints
    scores: Floats
    odds: Floats
    ranks: Floats
    moves: Floats

    def keep(self, kept: Array) -> "Moved":
        """Return some of the candidates."""
        columns: Any = (each[kept] for each in self)
        return Moved(*columns)


def find_given(found: Moved, given: CSR) -> Bools:
    """Return which candidates the tagger gives."""
    known = found.labels < given.shape[1]
    is_given = np.zeros(len(known), np.bool_)
    pairs = given[found.rows[known], found.labels[known]]
    is_given[known] = np.asarray(pairs).ravel() > 0
    return is_given


def decide(found: Moved, is_given: Bools, threshold: float, n_rows: int) -> Bools:
    """Return which candidates are given, where corrections moved some.

    A row is parted by the learner's threshold, or where the labels that it was given
    end. A label that is moved across is given, or no more. Where the tagger has a rule
    of its own for a label, it must be moved clearly.
    """
    low, high = np.full(n_rows, np.inf), np.full(n_rows, -np.inf)
    np.minimum.at(low, found.rows[is_given], found.ranks[is_given])
    others = ~is_given & (found.moves == 0)
    np.maximum.at(high, found.rows[others], found.ranks[others])
    bounds = np.where(high < low, np.clip(threshold, high, low), threshold)
    bound, after = bounds[found.rows], found.ranks + found.moves
    was_above = found.ranks >= bound
    clear = np.abs(found.moves) >= CLEARLY
    near = np.clip(bound, threshold - CLEARLY, threshold + CLEARLY)
    raised = np.where(clear, after > near, (after > bound) & ~was_above)
    lowered = np.where(clear, after <= near, (after <= bound) & was_above)
    return (is_given & ~((found.moves < 0) & lowered)) | ((found.moves > 0) & raised)

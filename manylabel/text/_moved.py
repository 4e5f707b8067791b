"""Labels that corrections have moved, and which of them are given."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from manylabel._typing import CSR, Array, Bools, Floats, Ints
from manylabel.text._decision import Decision

CLEARLY = 1.0  # nats that change what a tagger decided by a rule of its own


class Moved(NamedTuple):
    """Candidates of rows end to end: how far each is moved, and its score then."""

    rows: Ints
    labels: Ints
    scores: Floats
    values: Floats  # scores, or probabilities
    ranks: Floats
    moves: Floats

    def keep(self, kept: Array) -> "Moved":
        """Return some of the candidates."""
        columns: Any = (each[kept] for each in self)
        return Moved(*columns)


def find_given(found: Moved, given: CSR) -> Bools:
    """Return which candidates the tagger gives."""
    rows = np.repeat(np.arange(given.shape[0]), np.diff(given.indptr))
    width = 1 + max(given.shape[1], int(found.labels.max(initial=0)))
    pairs = rows * width + given.indices
    return np.isin(found.rows * width + found.labels, pairs)


def decide(found: Moved, is_given: Bools, thresholds: Floats, n_rows: int) -> Bools:
    """Return which candidates are given, where corrections moved some.

    A row is parted by the learner's thresholds, one for each label, or where the labels
    that it was given end. A label that is moved across is given, or no more. Where the
    tagger has a rule of its own for a label, it must be moved clearly.
    """
    before = found.ranks - thresholds[found.labels]
    low, high = np.full(n_rows, np.inf), np.full(n_rows, -np.inf)
    np.minimum.at(low, found.rows[is_given], before[is_given])
    others = ~is_given & (found.moves == 0)
    np.maximum.at(high, found.rows[others], before[others])
    bounds = np.where(high < low, np.clip(0.0, high, low), 0.0)
    bound, after = bounds[found.rows], before + found.moves
    was_above = before >= bound
    clear = np.abs(found.moves) >= CLEARLY
    near = np.clip(bound, -CLEARLY, CLEARLY)
    raised = np.where(clear, after > near, (after > bound) & ~was_above)
    lowered = np.where(clear, after <= near, (after <= bound) & was_above)
    return (is_given & ~((found.moves < 0) & lowered)) | ((found.moves > 0) & raised)


def obey(found: Moved, n_rows: int, decision: Decision) -> Moved:
    """Return the labels given that rules leave, with those that they bring.

    A label that is brought and was not found has the least score of its row.
    """
    if decision.rules is None:
        return found
    order = np.lexsort((found.labels, -found.scores, found.rows))
    starts = np.searchsorted(found.rows[order], np.arange(n_rows + 1))
    places: list[int] = []
    labels: list[int] = []
    for start, end in pairwise(starts.tolist()):
        row = order[start:end]
        place = dict(zip(found.labels[row].tolist(), row.tolist(), strict=True))
        for label in decision.rules.take(place, decision.allowed):
            places.append(place.get(label, row[-1]))
            labels.append(label)
    kept = found.keep(np.array(places, np.int64))
    return kept._replace(labels=np.array(labels, np.int64))

"""Rows of a stream that were ranked before they were learnt: what scores mean."""

from typing import Annotated, NamedTuple, Self

import numpy as np

from manylabel._typing import CSR, Array, Bools, Floats, Ints
from manylabel.model_selection.calibration import Curves, weigh_ranks
from manylabel.model_selection.probable import DEPTH
from manylabel.persistence.records import Columns, Field, Finite

# One row in so many is ranked: a call takes as long as learning ten rows of few labels.
PERIOD = 8
# Of the first rows more are: a learner is soon better than it was when they came, and
# probabilities that ask all of them are too low.
EARLY_PERIOD, N_EARLY = 2, 4096
N_ROWS = 1024  # that are kept: scores mean other things as the learner goes on


def is_ranked(number: Ints) -> Bools:
    """Return which rows of a stream, counted from 0, are ranked."""
    period = np.where(number < N_EARLY, EARLY_PERIOD, PERIOD)
    return np.asarray(number % period == period - 1)


def count_ranked(n_seen: int) -> int:
    """Return how many of the first rows of a stream are ranked."""
    n_late = max(0, n_seen - N_EARLY)
    return (n_seen - n_late) // EARLY_PERIOD + n_late // PERIOD


class Window(NamedTuple):
    """The best labels of the rows that were ranked last, and which of them are true."""

    scores: Annotated[Floats, Field("float64", "n_ranked, n_listed", Finite())]
    labels: Annotated[
        Array, Field("int32", "n_ranked, n_listed", Columns("n_labels", -1))
    ]  # -1 where there is none
    hits: Annotated[Bools, Field("bool", "n_ranked, n_listed")]
    missed: Annotated[Floats, Field("float64", "n_ranked", Finite(0))]  # true labels

    @classmethod
    def new(cls, n_rows: int = 0) -> Self:
        """Return a window of so many rows, of which none was ranked."""
        shape = (n_rows, DEPTH)
        labels = np.full(shape, -1, np.int32)
        return cls(np.zeros(shape), labels, np.zeros(shape, np.bool_), np.zeros(n_rows))

    def note(self, number: int, best: CSR, labels: Array, gain: Floats) -> None:
        """Keep the best labels of one more row, in place of the oldest."""
        at, n = number % len(self.missed), len(best.indices)
        hits = np.isin(best.indices, labels)
        self.scores[at, :n], self.labels[at, :n] = best.data, best.indices
        self.hits[at, :n] = hits
        self.missed[at] = gain[labels].sum() - gain[best.indices[hits]].sum()

    def fit(self, counts: Ints, gain: Floats, method: str) -> Curves:
        """Return what scores mean, by the rows that are kept."""
        is_listed = self.labels >= 0
        is_ranked = is_listed.any(axis=1)
        scores, labels = self.scores[is_listed], self.labels[is_listed]
        worth = self.hits[is_listed] * gain[labels]
        n_unlisted = max(0.0, float(self.missed.sum())) / max(1, int(is_ranked.sum()))
        weight = weigh_ranks(np.where(is_listed, self.scores, -np.inf))[is_listed]
        pairs = scores, labels, worth, weight
        curves = Curves.fit_pairs(*pairs, counts, n_unlisted, method)
        if (gain > 1).any():  # how many labels a row has is not known
            return curves
        chances = np.zeros(self.labels.shape)
        chances[is_listed] = curves.apply(scores, labels)
        n_true = self.hits.sum(axis=1) + np.rint(self.missed).astype(np.int64)
        return curves.compare_sizes(chances[is_ranked], n_true[is_ranked])

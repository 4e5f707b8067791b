"""Labels of rows, moved by what was learnt from corrections."""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.corrections.candidates import (
    LISTED,
    list_candidates,
    move_candidates,
    set_row,
)
from manylabel._kernels.corrections.memory import best_weight


class Moved(NamedTuple):
    """Candidates of rows, and how far corrections move the log odds of each."""

    indptr: Any  # (n_rows + 1,) int64
    labels: Any  # (room,) int64
    sources: Any  # (room,) int64 places in the lists, -1 for what is not listed
    odds: Any  # (room,)
    ranks: Any  # (room,)
    moves: Any  # (room,)


def make_moved(n_rows, room):
    """Return memory for the candidates of rows."""
    return Moved(
        np.zeros(n_rows + 1, np.int64),
        *np.empty((2, room), np.int64),
        *np.empty((3, room)),
    )


@kernel
def move_rows(rows, lists, n_known, learnt, recent, row, candidates, out):
    """Write the candidates of rows end to end; return how many.

    A label that is not listed is a candidate if it is raised. One that is moved begins
    at the least log odds at least, as when it was learnt.
    """
    weight, n_out = best_weight(recent.losses), 0
    for i in range(lists.indptr.shape[0] - 1):
        n_features, print_ = set_row(rows, i, row)
        n = list_candidates(
            lists, i, row, n_features, print_, n_known, recent, candidates
        )
        move_candidates(row, n_features, print_, learnt, recent, candidates, n)
        for t in range(n):
            move = weight * candidates.words[t] + candidates.whole[t]
            odds, rank = candidates.odds[t], candidates.ranks[t]
            is_listed = candidates.kinds[t] == LISTED
            candidates.place[candidates.labels[t]] = 0
            if is_listed and move != 0.0:
                odds, rank = (
                    max(odds, lists.least_odds[i]),
                    max(rank, lists.least_ranks[i]),
                )
            if is_listed or move > 0.0:
                out.labels[n_out] = candidates.labels[t]
                out.sources[n_out] = lists.indptr[i] + t if is_listed else -1
                out.odds[n_out], out.ranks[n_out] = odds, rank
                out.moves[n_out] = move
                n_out += 1
        out.indptr[i + 1] = n_out
    return n_out

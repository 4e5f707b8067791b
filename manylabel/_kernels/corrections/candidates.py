"""The labels of a row that corrections may move, and how far they move them.

A candidate is a label that the other learner lists, that a ring of the row's heaviest
features has, or that a correction mentions. Its log odds are those of the other
learner, or for a label that is not listed, the least that is: it has no more.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner
from manylabel._kernels.corrections.memory import find_ring, read_weight
from manylabel._kernels.label_tree.pairs import mixed
from manylabel._kernels.topk import best_positions

MOST_FEATURES = 32  # of a row, the heaviest: the others are left out
N_RINGED = 8  # of them, whose rings are read and written
MOST_CHAINED = 8  # rings of a row itself, for labels accepted with it
RING = 4  # labels of a ring
MOST_RAISED = RING * (N_RINGED + MOST_CHAINED)  # labels that rings bring to a row
FIRST_PRINT = 1 << 31  # features that stand for whole rows have this number or more
# Of NumPy's type, as no constants of Python's: each of those is compiled for.
LISTED, ACCEPTED, REJECTED, RAISED = (np.int64(kind) for kind in range(4))
UNKNOWN_ODDS = -4.0  # of a label that the other learner does not know, at most


class Rows(NamedTuple):
    """Features by row; ``bits`` are those of the values, to tell rows apart."""

    indptr: Any
    indices: Any
    data: Any
    bits: Any


class Lists(NamedTuple):
    """Labels that the other learner lists for each row.

    ``odds`` are log odds, by which it learns; ``ranks`` are those of the ranking. The
    least ones are those of labels that it does not list.
    """

    indptr: Any
    labels: Any
    odds: Any
    ranks: Any
    least_odds: Any  # (n_rows,)
    least_ranks: Any  # (n_rows,)


class Row(NamedTuple):
    """Memory of one row: its heaviest features, brought to length 1."""

    order: Any  # (MOST_FEATURES,) int64
    magnitudes: Any  # (most features of a row,) float32
    features: Any  # (MOST_FEATURES,) int64
    x: Any  # (MOST_FEATURES,) float32


class Candidates(NamedTuple):
    """Memory of the candidates of one row."""

    place: Any  # (n_labels,) int32 where in the list, plus one; 0 if not
    labels: Any  # (most,) int64
    kinds: Any  # (most,) int64
    odds: Any  # (most,)
    ranks: Any  # (most,)
    words: Any  # (most,) what the features of the row add
    whole: Any  # (most,) what the row as a whole adds
    chances: Any  # (most,) that the label, if it is true, is mentioned


def make_row(longest):
    """Return memory for rows of at most so many features."""
    return Row(
        np.empty(MOST_FEATURES, np.int64),
        np.empty(longest, np.float32),
        np.empty(MOST_FEATURES, np.int64),
        np.empty(MOST_FEATURES, np.float32),
    )


def make_candidates(n_labels, most):
    """Return memory for at most so many candidates, beside those of rings."""
    most = most + MOST_RAISED
    return Candidates(
        np.zeros(n_labels, np.int32),
        *np.empty((2, most), np.int64),
        *np.empty((5, most)),
    )


@inner
def set_row(rows, i, row):
    """Write the heaviest features of a row; return how many, and what it is known by.

    Rows of the same features and values, and next to no others, are known by the same.
    """
    start, end = rows.indptr[i], rows.indptr[i + 1]
    print_ = np.uint64(end - start)
    for p in range(start, end):
        row.magnitudes[p - start] = abs(rows.data[p])
        pair = (np.uint64(rows.indices[p]) << np.uint64(32)) | np.uint64(rows.bits[p])
        print_ = mixed(print_ + mixed(pair) + np.uint64(1))
    n = best_positions(row.magnitudes[: end - start], MOST_FEATURES, row.order)
    total = 0.0
    for j in range(n):
        value = np.float64(rows.data[start + row.order[j]])
        total += value * value
    scale = 1.0 / np.sqrt(total) if total > 0.0 else 0.0
    for j in range(n):
        p = start + row.order[j]
        row.features[j] = rows.indices[p]
        row.x[j] = np.float32(rows.data[p] * scale)
    return n, FIRST_PRINT + np.int64(print_ % np.uint64(FIRST_PRINT - 1))


@inner
def add_candidate(label, kind, odds, rank, candidates, n):
    """List a candidate, unless it is listed; return how many there are."""
    if candidates.place[label] > 0:
        return n
    candidates.labels[n], candidates.kinds[n] = label, kind
    candidates.odds[n], candidates.ranks[n] = odds, rank
    candidates.place[label] = n + 1
    return n + 1


@inner
def list_candidates(lists, i, row, n_features, print_, n_known, recent, candidates):
    """List the candidates of a row that no correction mentions; return how many."""
    n = np.int64(0)
    for p in range(lists.indptr[i], lists.indptr[i + 1]):
        label, odds, rank = lists.labels[p], lists.odds[p], lists.ranks[p]
        n = add_candidate(label, LISTED, odds, rank, candidates, n)
    for j in range(min(n_features, N_RINGED)):
        ring = recent.rings[find_ring(row.features[j], recent)]
        n = _add_ring(ring, lists, i, n_known, candidates, n)
    for chained in range(MOST_CHAINED):
        ring = recent.rings[find_ring(print_ + chained, recent)]
        if ring[0] < 0:
            break
        n = _add_ring(ring, lists, i, n_known, candidates, n)
    return n


@inner
def add_unlisted(label, lists, i, n_known, candidates, n):
    """List a candidate that the other learner may not list; return how many."""
    odds, rank = lists.least_odds[i], lists.least_ranks[i]
    if label >= n_known:
        odds, rank = min(odds, UNKNOWN_ODDS), min(rank, UNKNOWN_ODDS)
    return add_candidate(label, RAISED, odds, rank, candidates, n)


@inner
def _add_ring(ring, lists, i, n_known, candidates, n):
    for r in range(ring.shape[0]):
        if ring[r] >= 0:
            n = add_unlisted(np.int64(ring[r]), lists, i, n_known, candidates, n)
    return n


@inner
def move_candidates(row, n_features, print_, learnt, recent, candidates, n):
    """Write what corrections add to the log odds of each candidate."""
    for t in range(n):
        label, total = candidates.labels[t], 0.0
        for j in range(n_features):
            weight = read_weight(label, row.features[j], learnt, recent)
            total += np.float64(row.x[j]) * np.float64(weight)
        candidates.words[t] = total
        candidates.whole[t] = read_weight(label, print_, learnt, recent)

"""What a score must exceed for its label to be predicted, chosen on rows held out."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from manylabel import parallel
from manylabel._kernels import ranking, topk
from manylabel._typing import CSR, Array, Floats, Ints, RandomState, Singles
from manylabel.lists import Lists
from manylabel.losses import CountedCost

DEPTH = 200  # labels a row may be given when a threshold is chosen
SHARE, MOST, FEWEST = 5, 5000, 20  # one row in 5 is held out; so many; of how many


def held_out(n_rows: int, seed: RandomState) -> tuple[Ints, Ints]:
    """Return rows to hold out, and the others; both are all rows if there are few."""
    rng = np.random.default_rng(int(parallel.spawn_seeds(seed, 1)[0]))
    order = rng.permutation(n_rows)
    if n_rows < FEWEST:
        return np.sort(order), np.sort(order)
    n_held = min(n_rows // SHARE, MOST)
    return np.sort(order[:n_held]), np.sort(order[n_held:])


def matching_threshold(scores: Lists, n_labels: float) -> float:
    """Return what so many scores exceed, of all rows together."""
    ranked = -np.sort(-scores.values)
    return below(ranked, min(round(n_labels), len(ranked)))


def best_threshold(scores: Lists, Y: CSR, weights: Floats, cost: CountedCost) -> float:
    """Return the threshold of the least mean cost."""
    values, columns = _ranked(scores, Y.shape[1])
    changes = np.diff(costs_of_heads(columns, Y, weights, cost), axis=1)
    kept = np.isfinite(values)
    order = np.argsort(-values[kept], kind="stable")
    ranked = values[kept][order]
    total = np.concatenate([[0.0], np.cumsum(changes[kept][order])])
    total[1:-1][ranked[:-1] == ranked[1:]] = np.inf  # no threshold parts equal scores
    return below(ranked, int(total.argmin()))


def costs_of_heads(
    columns: Array, Y: CSR, weights: Floats, cost: CountedCost
) -> Floats:
    """Estimate what it costs to give each row its s best labels, s = 0, 1, ...

    Where n labels are true and h of them among the s, a cost c is

        c(0, 0, s) + n [c(0, n, s) - c(0, 0, s)] / n + h [c(h, n, s) - c(0, n, s)] / h.

    In place of n and h times a bracket, each label that was recorded, or is a hit,
    counts ``weights`` = 1 / propensity times its own bracket, in which n and h are 1,
    for itself, and what the other labels of the row sum up to. Whether it was recorded
    does not depend on the others. So the estimate of the Hamming loss is the unbiased
    one, and that of a cost not linear in the counts is off by its curvature only, most
    at s = 0; where all propensities are 1 it is the cost. Sums of 1 / p in place of n
    and h would be far off for F1: a true label of propensity 0.2 would count as five.

    Returns
    -------
    ndarray of shape (n_rows, n_columns + 1)
        Estimates, which may be negative.
    """
    hit = np.empty(columns.shape, np.bool_)
    ranking.find_hits(Y.indptr, Y.indices, columns, hit)
    gains = hit * weights[columns]
    hits = np.cumsum(np.pad(gains, ((0, 0), (1, 0))), axis=1)
    found = (Y @ weights)[:, None]
    sizes, n_labels = np.arange(columns.shape[1] + 1.0), Y.shape[1]
    nothing = cost.from_counts(0.0 * sizes, 0.0 * sizes, sizes, n_labels)
    total = np.tile(nothing, (Y.shape[0], 1))
    for rows, ranks, worth in _turns(columns, hit, Y, weights):
        n_true = found[rows] - worth + 1
        n_hits = np.where(ranks < sizes, hits[rows] - worth + 1, 0.0)
        missed = cost.from_counts(0.0 * n_hits, n_true, sizes, n_labels)
        caught = cost.from_counts(n_hits, n_true, sizes, n_labels)
        total[rows] += worth * (missed - nothing) / n_true
        total[rows] += worth * (caught - missed) / np.maximum(n_hits, 1)
    return total


def _turns(
    columns: Array, hit: Array, Y: CSR, weights: Floats
) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Take one true label of each row at a time: rows, its rank, its weight.

    A label that ``columns`` lacks ranks behind all of them.
    """
    rows, ranks = hit.nonzero()
    caught = sp.csr_array((np.ones(len(rows)), (rows, columns[hit])), shape=Y.shape)
    missed = sp.coo_array(Y - caught)
    missed.eliminate_zeros()
    owners = np.concatenate([rows, missed.coords[0]])
    labels = np.concatenate([columns[hit], missed.coords[1]])
    places = np.concatenate([ranks, np.full(missed.nnz, columns.shape[1])])
    order = np.argsort(owners, kind="stable")
    n_true = np.diff(Y.indptr)
    for turn in range(n_true.max(initial=0)):
        rows = np.flatnonzero(n_true > turn)
        entries = order[Y.indptr[rows] + turn]
        yield rows, places[entries, None], weights[labels[entries], None]


def _ranked(scores: Lists, n_labels: int) -> tuple[Singles, Array]:
    """Return the best scores of each row, best first, and their labels.

    After those that are stored come others, of score minus infinity.
    """
    n_rows = len(scores.indptr) - 1
    columns = np.empty((n_rows, min(DEPTH, n_labels)), np.int32)
    values = np.empty(columns.shape, np.float32)
    others = np.full(2, -np.inf, np.float32)
    topk.filled_rows(
        *(*scores, np.ones(n_labels, np.bool_), others, columns, values),
    )
    return values, columns


def below(ranked: Array, n: int) -> float:
    """Return a number between the first ``n`` of descending scores and the others."""
    if len(ranked) == 0 or n == len(ranked):
        return float(np.nextafter(ranked[-1], -np.inf)) if len(ranked) else 0.0
    if n == 0:
        return float(ranked[0])
    return (float(ranked[n - 1]) + float(ranked[n])) / 2  # between any two singles

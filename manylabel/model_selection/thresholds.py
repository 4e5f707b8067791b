"""Thresholds: what a score must exceed for its label to be given.

They are chosen on a validation set, by a cost to make small, or by the least precision
or recall that the labels given are to have.
"""

from collections.abc import Iterator
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_scalar

from manylabel._kernels import ranking, topk
from manylabel._typing import CSR, Array, Bools, Floats, Ints, Singles
from manylabel.lists import Lists
from manylabel.losses import CountedCost
from manylabel.losses.resolve import as_counted_cost
from manylabel.model_selection.calibration import find_hits

DEPTH = 200  # labels a row may be given when a threshold is chosen
SURE = 1.645  # standard errors, by which a share is promised: 95 % of the time it holds


class Choice(NamedTuple):
    """Thresholds, and which of them the rows promise to reach their goal."""

    thresholds: Floats  # (n_labels,)
    is_promised: Bools  # (n_labels,)


class Goal(NamedTuple):
    """What thresholds are chosen for: a cost to make small, or a share to reach."""

    cost: CountedCost | None
    share: float = 0.0
    of_given: bool = False  # the share is precision, of the labels given; else recall

    @classmethod
    def of(cls, cost: Any, min_precision: Any, min_recall: Any) -> "Goal":
        """Return the goal that parameters name, or raise ValueError or TypeError."""
        if min_precision is None and min_recall is None:
            return cls(as_counted_cost(cost))
        if min_precision is not None and min_recall is not None:
            raise ValueError(
                "min_precision and min_recall must not both be given: thresholds are "
                "chosen for one."
            )
        of_given = min_precision is not None
        name = "min_precision" if of_given else "min_recall"
        share = min_precision if of_given else min_recall
        check_scalar(share, name, Real, min_val=0, max_val=1)
        return cls(None, float(share), of_given)


class Pairs(NamedTuple):
    """Labels that rows may be given, those of a label together, best scores first."""

    starts: Ints  # (n_groups + 1,)
    scores: Array
    is_hit: Bools
    n_true: Floats  # (n_groups,) rows that have the label, listed or not

    @classmethod
    def of(cls, scores: CSR, Y: CSR, *, per_label: bool) -> "Pairs":
        """Return the labels listed in ``scores``, all together unless ``per_label``."""
        hits = find_hits(scores, Y)
        group = scores.indices if per_label else np.zeros(scores.nnz, np.int64)
        n_groups = Y.shape[1] if per_label else 1
        order = np.lexsort((-scores.data, group))
        starts = np.searchsorted(group[order], np.arange(n_groups + 1))
        n_true = np.bincount(Y.indices, minlength=Y.shape[1]) if per_label else [Y.nnz]
        return cls(*(starts, scores.data[order], hits[order], np.asarray(n_true)))


def choose(scores: CSR, Y: CSR, goal: Goal, *, per_label: bool = False) -> Choice:
    """Return a threshold for each label, one for all of them unless ``per_label``.

    A share is promised where the lower end of its binomial interval reaches it. Where
    no threshold does, precision has a standard error to spare, and recall none.

    Parameters
    ----------
    scores : csr_array of shape (n_rows, n_labels)
        As many labels of each row, the best, and their scores.
    Y : csr_array of shape (n_rows, n_labels)
        Labels of these rows, 0/1.
    goal : Goal
        What to choose for.
    per_label : bool, default=False
        Whether each label has its own, by its own column; one that no row has takes
        the common one.

    Returns
    -------
    Choice
        Where none reaches the goal, the threshold is the best score.
    """
    if goal.cost is None:
        common = _separate(Pairs.of(scores, Y, per_label=False), goal)
    else:
        lists = Lists(scores.indptr, scores.indices, scores.data)
        best = best_threshold(lists, Y, np.ones(Y.shape[1]), goal.cost)
        common = Choice(np.array([best]), np.ones(1, np.bool_))
    own, n_labels = common, Y.shape[1]
    has_rows = np.zeros(n_labels, np.bool_)
    if per_label:
        pairs = Pairs.of(scores, Y, per_label=True)
        own, has_rows = _separate(pairs, goal), pairs.n_true > 0
    return Choice(
        np.where(has_rows, own.thresholds, common.thresholds),
        np.where(has_rows, own.is_promised, common.is_promised),
    )


def lower_bound(hits: Array, n: Array) -> Floats:
    """Return the lower end of a binomial share's interval, of 95 % (Wilson 1927).

    Examples
    --------
    >>> lower_bound(np.array([9, 90]), np.array([10, 100])).round(2)
    array([0.65, 0.84])
    """
    size, square = np.maximum(n, 1e-9), SURE**2
    share = np.minimum(hits / size, 1.0)
    spread = SURE * np.sqrt(share * (1 - share) / size + square / (4 * size**2))
    return np.asarray((share + square / (2 * size) - spread) / (1 + square / size))


def _separate(pairs: Pairs, goal: Goal) -> Choice:
    """Return the threshold of each group."""
    hits = np.cumsum(np.concatenate([[0], pairs.is_hit]))
    out, is_promised = np.empty(len(pairs.n_true)), np.ones(len(pairs.n_true), np.bool_)
    for group, (start, end) in enumerate(pairwise(pairs.starts)):
        scores, n_given = pairs.scores[start:end], np.arange(end - start + 1.0)
        found, n_true = hits[start : end + 1] - hits[start], float(pairs.n_true[group])
        parted = np.concatenate([[True], scores[:-1] != scores[1:], [True]])
        parted = parted[: len(n_given)]
        if goal.cost is not None:
            n_pairs = max(1, len(pairs.scores))
            charge = goal.cost.from_counts(found, n_true, n_given, n_pairs)
        else:
            n = n_given if goal.of_given else np.full(len(n_given), n_true)
            met = (lower_bound(found, n) >= goal.share) & (n > 0) & parted
            if not met.any():
                is_promised[group] = n_true == 0
                met = _meet(found, n, goal)
            charge = np.where(met, -n_given if goal.of_given else n_given, np.inf)
        charge = np.where(parted, charge, np.inf)
        out[group] = below(scores, int(charge.argmin()))
    return Choice(out, is_promised)


def _meet(found: Array, n: Array, goal: Goal) -> Bools:
    """Return where a share is met on these rows, if it is not promised for others."""
    luck = np.sqrt(goal.share * (1 - goal.share) * n) if goal.of_given else 0.0
    # A threshold that just met it would owe that to luck: it is one of many.
    return np.asarray(found >= goal.share * n + luck)


def matching_threshold(
    scores: Lists, n_labels: float, weight: Floats | None = None
) -> float:
    """Return what so many scores exceed, of all rows together.

    A score counts as often as ``weight`` says of its row, once by default.
    """
    order = np.argsort(-scores.values, kind="stable")
    ranked, counts = scores.values[order], np.ones(len(order))
    if weight is not None:
        counts = np.repeat(weight, np.diff(scores.indptr))[order]
    else:
        n_labels = min(round(n_labels), len(ranked))
    near = 1e-9 * max(1.0, n_labels)
    last, first = np.searchsorted(np.cumsum(counts), [n_labels - near, n_labels + near])
    if first == len(ranked) or n_labels == 0:
        return below(ranked, int(first))
    return below(ranked[[last, first]], 1)  # the last that counts, and the next


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
    for rows, ranks, weight in _turns(columns, hit, Y, weights):
        n_true = found[rows] - weight + 1
        n_hits = np.where(ranks < sizes, hits[rows] - weight + 1, 0.0)
        missed = cost.from_counts(0.0 * n_hits, n_true, sizes, n_labels)
        caught = cost.from_counts(n_hits, n_true, sizes, n_labels)
        total[rows] += weight * (missed - nothing) / n_true
        total[rows] += weight * (caught - missed) / np.maximum(n_hits, 1)
    return total


def costs_of_sets(given: CSR, Y: CSR, weights: Floats, cost: CountedCost) -> Floats:
    """Estimate what it costs to give each row a set of labels, as ``costs_of_heads``.

    Returns
    -------
    ndarray of shape (n_rows,)
        Estimates, which may be negative.
    """
    n_rows, n_labels = Y.shape
    row, weight = np.repeat(np.arange(n_rows), np.diff(Y.indptr)), weights[Y.indices]
    size = np.diff(given.indptr).astype(np.int64)
    owner = np.repeat(np.arange(n_rows), size)
    hit = np.isin(row * n_labels + Y.indices, owner * n_labels + given.indices)
    found = np.bincount(row, weight, n_rows)
    hits = np.bincount(row, weight * hit, n_rows)
    nothing = cost.from_counts(0.0 * size, 0.0 * size, size, n_labels)
    n_true = found[row] - weight + 1
    n_hits = np.where(hit, hits[row] - weight + 1, 0.0)
    missed = cost.from_counts(0.0 * n_hits, n_true, size[row], n_labels)
    caught = cost.from_counts(n_hits, n_true, size[row], n_labels)
    change = weight * (missed - nothing[row]) / n_true
    change += weight * (caught - missed) / np.maximum(n_hits, 1)
    return np.asarray(nothing + np.bincount(row, change, n_rows))


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
    seen, listed = np.ones(n_labels, np.bool_), np.zeros(n_labels, np.bool_)
    topk.filled_rows(scores, seen, others, listed, columns, values, False)
    return values, columns


def below(ranked: Array, n: int) -> float:
    """Return a number between the first ``n`` of descending scores and the others."""
    if len(ranked) == 0 or n == len(ranked):
        return float(np.nextafter(ranked[-1], -np.inf)) if len(ranked) else 0.0
    if n == 0:
        return float(ranked[0])
    return (float(ranked[n - 1]) + float(ranked[n])) / 2  # between any two singles

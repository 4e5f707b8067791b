"""Label sets of least expected cost, where samples tell what may be true."""

from typing import Any

import numpy as np

from manylabel._typing import Array, Bools, Floats, Ints
from manylabel.losses import Cost, CountedCost
from manylabel.losses.compared import Compared


def charge(cost: Cost, truth: Array, guess: Array) -> Floats:
    """Return the cost of each row of ``guess`` where ``truth`` holds, both dense."""
    if not isinstance(cost, CountedCost):
        return cost.of_rows(Compared.of(truth, guess))
    hits = (truth & guess).sum(axis=1)
    counts = hits, truth.sum(axis=1), guess.sum(axis=1), truth.shape[1]
    return np.asarray(cost.from_counts(*counts), np.float64)


def least_costly(samples: Array, cost: Cost) -> Bools:
    """Return, for each row, a label set of small mean cost over its samples.

    If n labels are true and s are given, the named costs but accuracy are linear in the
    number h of hits, with a slope that n and s tell. So the best set of s labels has
    those of the largest sum, over samples that have the label, of the slope, and the
    best set is the best of these for s = 0, 1, ...: no other set of all costs less
    (Dembczynski, Waegeman, Cheng & Huellermeier 2011 for F1). For other costs of counts
    the slope is that between the fewest and the most hits, and for those of no counts
    all samples count alike; then the samples themselves compete too.

    Parameters
    ----------
    samples : ndarray of shape (n_rows, n_samples, n_labels), uint8
        Label sets, each as probable.
    cost : Cost
        What to make small.

    Returns
    -------
    ndarray of shape (n_rows, n_labels)
        The sets; of equal cost the first, that of fewest labels.
    """
    n_true, n_labels = samples.sum(axis=2, dtype=np.int64), samples.shape[2]
    worth = _slopes(cost, n_labels)[n_true]
    gain = np.matmul(worth.transpose(0, 2, 1), samples.astype(np.float64))
    order = np.argsort(-gain, axis=2, kind="stable")
    heads = np.zeros(gain.shape, np.uint8)
    sizes = np.arange(n_labels + 1)
    is_head = np.broadcast_to(np.arange(n_labels) < sizes[:, None], gain.shape)
    np.put_along_axis(heads, order, is_head.astype(np.uint8), axis=2)
    candidates = np.concatenate([heads, samples], axis=1)
    best = _mean_costs(candidates, samples, n_true, cost).argmin(axis=1)
    chosen = np.take_along_axis(candidates, best[:, None, None], axis=1)
    return np.asarray(chosen[:, 0] > 0)


def _slopes(cost: Cost, n_labels: int) -> Floats:
    """Return what a hit saves, by how many labels are true and how many are given."""
    if not isinstance(cost, CountedCost):
        return np.ones((n_labels + 1, n_labels + 1))
    n_true, n_given = np.indices((n_labels + 1, n_labels + 1))
    fewest = np.maximum(n_true + n_given - n_labels, 0)
    most = np.minimum(n_true, n_given)
    low, high = (
        np.asarray(cost.from_counts(hits, n_true, n_given, n_labels), np.float64)
        for hits in (fewest, most)
    )
    return np.asarray((low - high) / np.maximum(most - fewest, 1))


def _mean_costs(candidates: Array, samples: Array, n_true: Ints, cost: Cost) -> Floats:
    """Return the mean cost of each candidate over the samples of its row."""
    shape = (*candidates.shape[:2], samples.shape[1])
    costs: Any
    if isinstance(cost, CountedCost):
        single = candidates.astype(np.float32), samples.astype(np.float32)
        hits = np.matmul(single[0], single[1].transpose(0, 2, 1)).astype(np.int64)
        n_given = candidates.sum(axis=2, dtype=np.int64)[:, :, None]
        counts = np.broadcast_arrays(hits, n_true[:, None], n_given)
        hits, n_true, n_given = (np.ravel(count) for count in counts)
        costs = cost.from_counts(hits, n_true, n_given, samples.shape[2])
    else:
        pairs = np.broadcast_arrays(samples[:, None], candidates[:, :, None])
        costs = charge(cost, *(each.reshape(-1, samples.shape[2]) for each in pairs))
    return np.asarray(np.asarray(costs, np.float64).reshape(shape).mean(axis=2))

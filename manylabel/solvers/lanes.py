"""Many classifiers side by side: labels in blocks, stragglers packed anew."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.linear import svm
from manylabel._typing import Array, Ints, Singles

LANES = svm.LANES
STEP = 32  # the vectorised loops take so many lanes at a step, so widths are multiples
FIRST_STOP = 12  # passes; most labels need fewer when rows have unit length
BY_LANE = ("weights", "alpha")


class Shared(NamedTuple):
    """What all labels share: the problem, and settings."""

    problem: svm.Problem
    features: Array  # what the columns of the rows are called outside
    max_iter: int
    seed: np.uint64
    mean: Singles  # row


class Fitted(NamedTuple):
    """Labels that are done."""

    labels: Array
    weights: sp.csc_array  # one column a label, small weights dropped
    intercept: Singles
    n_iter: Ints


Chosen = tuple[svm.Lanes, Array]  # a block, and some of its lanes


def fit_labels(shared: Shared, labels: Array, prune: float) -> list[Fitted]:
    """Fit ``labels``; those that outlast their block are packed into new blocks.

    One slow label would otherwise drag a block of finished ones along. Only slow labels
    are kept between rounds, so an easy problem holds one block in memory.
    """
    fitted: list[Fitted] = []
    until = min(FIRST_STOP, shared.max_iter)
    shares = (labels[i : i + LANES] for i in range(0, len(labels), LANES))
    blocks = (_started(shared, share) for share in shares)
    while True:
        slow: list[Chosen] = []
        for block in blocks:
            svm.solve(shared.problem, block, until)
            is_done = (block.n_iter < 0) | (until == shared.max_iter)
            fitted.append(collect(shared, block, np.flatnonzero(is_done), prune))
            if not is_done.all():
                late = np.flatnonzero(~is_done)
                part = _joined(shared.problem, [(block, late)])
                slow.append((part, np.arange(len(late))))
        if not slow:
            return fitted
        blocks = (_joined(shared.problem, parts) for parts in _full_blocks(slow))
        until = min(2 * until, shared.max_iter)


def collect(shared: Shared, block: Any, done: Array, prune: float) -> Fitted:
    """Return what was learnt in some lanes, those that are done."""
    place, large = np.zeros(len(done), np.int64), (block.weights, done, prune)
    nothing = np.empty(0, np.int32), np.empty(0, np.float32)
    svm.collect_large(*large, shared.features, place, *nothing)
    indptr = np.append(0, np.cumsum(place))
    indices = np.empty(indptr[-1], np.int32)
    data = np.empty(indptr[-1], np.float32)
    svm.collect_large(*large, shared.features, indptr[:-1].copy(), indices, data)
    shape = (len(block.weights) - 1, len(done))
    return Fitted(
        labels=block.labels[done],
        weights=sp.csc_array((data, indices, indptr.astype(np.int32)), shape),
        intercept=block.weights[-1, done],
        n_iter=block.n_iter[done],
    )


def _started(shared: Shared, labels: Array) -> svm.Lanes:
    """Return the lanes of ``labels`` before the first pass."""
    n_features, width = len(shared.features), _width(len(labels))
    lanes: svm.Lanes = svm.make_lanes(
        shared.problem, labels, n_features, width, shared.seed
    )
    return lanes


def _joined(problem: svm.Problem, parts: list[Chosen]) -> svm.Lanes:
    """Return chosen lanes of blocks that took equally many passes, as one block."""
    first, _ = parts[0]
    n_lanes = sum(len(lanes) for _, lanes in parts)
    n_idle = _width(n_lanes) - n_lanes

    def wide(name: str) -> Array:
        chosen = [getattr(block, name).take(lanes, axis=-1) for block, lanes in parts]
        idle = np.zeros((*chosen[0].shape[:-1], n_idle), chosen[0].dtype)
        return np.concatenate([*chosen, idle], axis=-1)

    joined = {name: wide(name) for name in BY_LANE}
    labels = np.concatenate([block.labels[lanes] for block, lanes in parts])
    indptr, positives = svm.find_positives(problem, labels)
    return first._replace(
        **joined,
        labels=labels,
        n_iter=np.concatenate([block.n_iter[lanes] for block, lanes in parts]),
        order=first.order.copy(),
        state=first.state.copy(),
        p_indptr=indptr,
        p_lanes=positives,
        at_hand=np.zeros_like(first.at_hand),
    )


def _width(n_labels: int) -> int:
    return -(-n_labels // STEP) * STEP


def _full_blocks(slow: list[Chosen]) -> Iterator[list[Chosen]]:
    """Cut lanes of many blocks into lists of ``LANES`` lanes; the last may be short."""
    parts, n_lanes = [], 0
    for block, lanes in slow:
        room = LANES - n_lanes
        parts.append((block, lanes[:room]))
        n_lanes += len(lanes[:room])
        if n_lanes == LANES:
            yield parts
            parts, n_lanes = [(block, lanes[room:])], len(lanes[room:])
    if n_lanes:
        yield parts

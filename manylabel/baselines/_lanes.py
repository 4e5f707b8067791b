"""Many SVMs side by side: labels packed into blocks, stragglers packed anew."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manylabel._kernels.linear import svm as linear
from manylabel._typing import CSR, Array, Ints, Singles

LANES = 64  # labels side by side, at most: fewer waste a row's visit, more the cache
STEP = 32  # the vectorised loops take so many lanes at a step, so widths are multiples
FIRST_STOP = 32  # passes; most labels need fewer when rows have unit length


class Shared(NamedTuple):
    """What all labels share: rows, the rows of each label (CSC), and settings."""

    rows: CSR
    features: Array  # what the columns of ``rows`` are called outside
    y_indptr: Array
    y_indices: Array
    bias: np.float32
    curvature: Singles
    diagonal: np.float32
    tolerance: float
    max_iter: int
    seed: np.uint64
    mean: Singles  # row


@dataclass(frozen=True)
class Lanes:
    """Labels in the same pass of their solution, one lane each.

    The arrays are those of :class:`manylabel._kernels.linear.Block`.
    """

    labels: Array
    weights: Singles
    n_iter: Ints
    alpha: Singles
    role: NDArray[np.int8]
    bound: Singles
    order: Ints
    state: NDArray[np.uint64]

    @classmethod
    def start(cls, shared: Shared, labels: Array) -> Self:
        """Return the lanes of ``labels`` before the first pass."""
        (n_rows, n_features), width = shared.rows.shape, _width(len(labels))
        return cls(
            labels=labels,
            weights=np.zeros((n_features + 1, width), np.float32),
            n_iter=np.zeros(len(labels), np.int64),
            alpha=np.zeros((n_rows, width), np.float32),
            role=np.zeros((n_rows, width), np.int8),
            bound=np.full(width, np.inf, np.float32),
            order=np.arange(n_rows),
            state=np.array([shared.seed]),
        )

    def advance(self, shared: Shared, until: int) -> None:
        """Take passes until every lane has converged or taken ``until`` of them."""
        rows = shared.rows
        linear.solve(
            *(rows.indptr, rows.indices, rows.data),
            *(shared.y_indptr, shared.y_indices, shared.bias),
            *(shared.curvature, shared.diagonal, shared.tolerance, until),
            *(self.labels, self.weights, self.n_iter, self.alpha, self.role),
            *(self.bound, self.order, self.state),
        )

    @classmethod
    def join(cls, parts: list[tuple[Self, Array]]) -> Self:
        """Return chosen lanes of blocks that took equally many passes, as one block."""
        first, _ = parts[0]
        n_lanes = sum(len(lanes) for _, lanes in parts)
        n_idle = _width(n_lanes) - n_lanes

        def wide(name: str) -> Any:
            chosen = [
                getattr(block, name).take(lanes, axis=-1) for block, lanes in parts
            ]
            idle = np.zeros((*chosen[0].shape[:-1], n_idle), chosen[0].dtype)
            return np.concatenate([*chosen, idle], axis=-1)

        return cls(
            labels=np.concatenate([block.labels[lanes] for block, lanes in parts]),
            weights=wide("weights"),
            n_iter=np.concatenate([block.n_iter[lanes] for block, lanes in parts]),
            alpha=wide("alpha"),
            role=wide("role"),
            bound=wide("bound"),
            order=first.order.copy(),
            state=first.state.copy(),
        )


class Fitted(NamedTuple):
    """Labels that are done."""

    labels: Array
    weights: sp.csc_array  # one column a label, small weights dropped
    intercept: Singles
    n_iter: Ints


def fit_labels(shared: Shared, labels: Array, prune: float) -> list[Fitted]:
    """Fit ``labels``; those that outlast their block are packed into new blocks.

    One slow label would otherwise drag a block of finished ones along. Only slow labels
    are kept between rounds, so an easy problem holds one block in memory.
    """
    fitted: list[Fitted] = []
    until = min(FIRST_STOP, shared.max_iter)
    shares = (labels[i : i + LANES] for i in range(0, len(labels), LANES))
    blocks = (Lanes.start(shared, share) for share in shares)
    while True:
        slow: list[tuple[Lanes, Array]] = []
        for block in blocks:
            block.advance(shared, until)
            is_done = (block.n_iter < 0) | (until == shared.max_iter)
            fitted.append(collect(shared, block, np.flatnonzero(is_done), prune))
            if not is_done.all():
                late = np.flatnonzero(~is_done)
                slow.append((Lanes.join([(block, late)]), np.arange(len(late))))
        if not slow:
            return fitted
        blocks = (Lanes.join(parts) for parts in _full_blocks(slow))
        until = min(2 * until, shared.max_iter)


def _width(n_labels: int) -> int:
    return -(-n_labels // STEP) * STEP


def _full_blocks(
    slow: list[tuple[Lanes, Array]],
) -> Iterator[list[tuple[Lanes, Array]]]:
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


def collect(shared: Shared, block: Any, done: Array, prune: float) -> Fitted:
    counts, shape = np.empty(len(done), np.int64), (len(block.weights) - 1, len(done))
    linear.count_large(block.weights, done, prune, counts)
    indptr = np.append(0, np.cumsum(counts))
    indices = np.empty(indptr[-1], np.int32)
    data = np.empty(indptr[-1], np.float32)
    linear.collect_large(
        block.weights, done, prune, shared.features, indptr, indices, data
    )
    return Fitted(
        labels=block.labels[done],
        weights=sp.csc_array((data, indices, indptr.astype(np.int32)), shape),
        intercept=block.weights[-1, done],
        n_iter=block.n_iter[done],
    )

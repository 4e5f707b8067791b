"""Many SVMs side by side: labels packed into blocks, stragglers packed anew."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from manylabel._kernels import linear
from manylabel._typing import CSR, Array, Ints, Singles

LANES = 32  # labels side by side: fewer waste the vector units, more the cache
FIRST_STOP = 32  # passes; most labels need fewer when rows have unit length


class Problem(NamedTuple):
    """What all labels share: rows, the rows of each label (CSC), and settings."""

    rows: CSR
    y_indptr: Array
    y_indices: Array
    bias: np.float32
    curvature: Singles
    diagonal: np.float32
    tolerance: float
    max_iter: int
    seed: np.uint64


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
    def start(cls, problem: Problem, labels: Array) -> Self:
        """Return the lanes of ``labels`` before the first pass."""
        (n_rows, n_features), n_lanes = problem.rows.shape, len(labels)
        return cls(
            labels=labels,
            weights=np.zeros((n_features + 1, n_lanes), np.float32),
            n_iter=np.zeros(n_lanes, np.int64),
            alpha=np.zeros((n_rows, n_lanes), np.float32),
            role=np.zeros((n_rows, n_lanes), np.int8),
            bound=np.full(n_lanes, np.inf, np.float32),
            order=np.arange(n_rows),
            state=np.array([problem.seed]),
        )

    def advance(self, problem: Problem, until: int) -> None:
        """Take passes until every lane has converged or taken ``until`` of them."""
        rows = problem.rows
        linear.solve(
            *(rows.indptr, rows.indices, rows.data),
            *(problem.y_indptr, problem.y_indices, problem.bias),
            *(problem.curvature, problem.diagonal, problem.tolerance, until),
            *(self.labels, self.weights, self.n_iter, self.alpha, self.role),
            *(self.bound, self.order, self.state),
        )

    def pick(self, lanes: Array) -> Self:
        """Return the lanes with the given numbers, in arrays of their own."""
        return type(self)(
            labels=self.labels[lanes],
            weights=self.weights.take(lanes, axis=1),  # C order, as indexing may not
            n_iter=self.n_iter[lanes],
            alpha=self.alpha.take(lanes, axis=1),
            role=self.role.take(lanes, axis=1),
            bound=self.bound[lanes],
            order=self.order.copy(),
            state=self.state.copy(),
        )

    def join(self, others: list[Self]) -> Self:
        """Return these lanes and others of the same pass as one."""
        parts = [self, *others]
        return type(self)(
            labels=np.concatenate([part.labels for part in parts]),
            weights=np.concatenate([part.weights for part in parts], axis=1),
            n_iter=np.concatenate([part.n_iter for part in parts]),
            alpha=np.concatenate([part.alpha for part in parts], axis=1),
            role=np.concatenate([part.role for part in parts], axis=1),
            bound=np.concatenate([part.bound for part in parts]),
            order=self.order,
            state=self.state,
        )


class Fitted(NamedTuple):
    """Labels with their weights above the pruning threshold, as triplets."""

    labels: Array
    features: Array
    lanes: Array
    weights: Singles
    intercept: Singles
    n_iter: Ints


def fit_labels(problem: Problem, labels: Array, prune: float) -> list[Fitted]:
    """Fit ``labels``; those that outlast their block are packed into new blocks.

    One slow label would otherwise drag a block of finished ones along. Only slow labels
    are kept between rounds, so an easy problem holds one block in memory.
    """
    fitted: list[Fitted] = []
    until = min(FIRST_STOP, problem.max_iter)
    blocks = (Lanes.start(problem, labels[some]) for some in _shares(len(labels)))
    while True:
        slow: list[Lanes] = []
        for block in blocks:
            block.advance(problem, until)
            is_done = (block.n_iter < 0) | (until == problem.max_iter)
            fitted.append(_collect(block, np.flatnonzero(is_done), prune))
            if not is_done.all():
                slow.append(block.pick(np.flatnonzero(~is_done)))
        if not slow:
            return fitted
        left = slow[0].join(slow[1:])
        blocks = (left.pick(some) for some in _shares(len(left.labels)))
        until = min(2 * until, problem.max_iter)


def _shares(n_labels: int) -> list[Array]:
    """Return the numbers below ``n_labels`` in equal shares of at most ``LANES``."""
    return np.array_split(np.arange(n_labels), -(-n_labels // LANES))


def _collect(block: Lanes, done: Array, prune: float) -> Fitted:
    weights = block.weights.take(done, axis=1)
    features, lanes = np.nonzero(np.abs(weights[:-1]) > prune)
    return Fitted(
        labels=block.labels[done],
        features=features.astype(np.int32),
        lanes=lanes.astype(np.int32),
        weights=weights[features, lanes],
        intercept=weights[-1],
        n_iter=block.n_iter[done],
    )

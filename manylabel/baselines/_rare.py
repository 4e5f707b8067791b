"""SVMs of rare labels: lanes that take labels from a queue."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from manylabel._kernels.linear import working_set as active
from manylabel._typing import Array, Ints, Singles
from manylabel.baselines._lanes import Fitted, Shared, collect

LANES = 32  # labels that a search scores side by side
CAPACITY = 2048  # rows that a search finds for a label, at most
STRICTNESS = 0.5  # of the tolerance: what is left out of a search is not polished


@dataclass(frozen=True)
class Slots:
    """The arrays of :class:`manylabel._kernels.active.Slots`."""

    labels: Ints
    weights: Singles
    n_iter: Ints
    role: NDArray[np.int8]
    active: NDArray[np.int32]
    alpha: Singles
    n_active: Ints
    top: Singles
    low: Singles
    state: NDArray[np.uint64]
    found: NDArray[np.int32]
    found_score: Singles
    n_found: Ints
    limit: Ints
    cut: Singles

    @classmethod
    def free(cls, n_rows: int, n_features: int) -> Self:
        """Return lanes without labels."""
        capacity = min(n_rows, CAPACITY)

        def zeros(*shape: int, dtype: Any = np.int64) -> Any:
            return np.zeros(shape, dtype)

        return cls(
            labels=np.full(LANES, -1),
            weights=zeros(n_features + 1, LANES, dtype=np.float32),
            n_iter=zeros(LANES),
            role=zeros(LANES, n_rows, dtype=np.int8),
            active=zeros(LANES, n_rows, dtype=np.int32),
            alpha=zeros(LANES, n_rows, dtype=np.float32),
            n_active=zeros(LANES),
            top=zeros(LANES, dtype=np.float32),
            low=zeros(LANES, dtype=np.float32),
            state=zeros(LANES, 1, dtype=np.uint64),
            found=zeros(LANES, capacity, dtype=np.int32),
            found_score=zeros(LANES, capacity, dtype=np.float32),
            n_found=zeros(LANES),
            limit=zeros(LANES),
            cut=zeros(LANES, dtype=np.float32),
        )


def fit_rare(shared: Shared, labels: Array, prune: float) -> list[Fitted]:
    """Fit ``labels``, each by the rows that matter for it."""
    rows, fitted = shared.rows, []
    slots, n_taken = Slots.free(*rows.shape), np.zeros(1, np.int64)
    arrays = tuple(vars(slots).values())
    while n_taken[0] < len(labels) or (slots.labels >= 0).any():
        active.turn(
            *(rows.indptr, rows.indices, rows.data),
            *(shared.y_indptr, shared.y_indices, shared.bias),
            *(shared.curvature, shared.diagonal),
            *(STRICTNESS * shared.tolerance, shared.max_iter),
            *(shared.mean, shared.seed, labels, n_taken, *arrays),
        )
        done = np.flatnonzero((slots.n_iter < 0) | (slots.n_iter >= shared.max_iter))
        if len(done):
            fitted.append(collect(shared, slots, done, prune))
            active.release(done, *arrays[:4])
    return [_joined(fitted)]


def _joined(blocks: list[Fitted]) -> Fitted:
    labels, weights, intercept, n_iter = zip(*blocks, strict=True)
    return Fitted(
        labels=np.concatenate(labels),
        weights=sp.hstack(weights, format="csc"),
        intercept=np.concatenate(intercept),
        n_iter=np.concatenate(n_iter),
    )

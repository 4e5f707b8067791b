"""SVMs of rare labels: lanes that take labels from a queue."""

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.linear import working_set
from manylabel._typing import Array
from manylabel.solvers.lanes import Fitted, Shared, collect

LANES = 32  # labels that a search scores side by side
CAPACITY = 2048  # rows that a search finds for a label, at most
STRICTNESS = 0.5  # of the tolerance: what is left out of a search is not polished


def fit_rare(shared: Shared, labels: Array, prune: float) -> list[Fitted]:
    """Fit ``labels``, each by the rows that matter for it."""
    tolerance = STRICTNESS * shared.problem.tolerance
    problem = shared.problem._replace(tolerance=tolerance)
    size = len(problem.length), len(shared.features)
    lanes = working_set.make_lanes(*size, LANES, min(size[0], CAPACITY))
    local = working_set.make_active(*size, len(problem.x_data))
    fitted, n_taken = [], 0
    while n_taken < len(labels) or (lanes.labels >= 0).any():
        n_taken = working_set.turn(
            *(problem, shared.mean, shared.seed, labels, n_taken),
            *(lanes, local, shared.max_iter),
        )
        done = np.flatnonzero((lanes.n_iter < 0) | (lanes.n_iter >= shared.max_iter))
        if len(done):
            fitted.append(collect(shared, lanes, done, prune))
            working_set.release(lanes, done)
    return [_joined(fitted)]


def _joined(blocks: list[Fitted]) -> Fitted:
    labels, weights, intercept, n_iter = zip(*blocks, strict=True)
    return Fitted(
        labels=np.concatenate(labels),
        weights=sp.hstack(weights, format="csc"),
        intercept=np.concatenate(intercept),
        n_iter=np.concatenate(n_iter),
    )

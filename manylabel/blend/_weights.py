"""Which weights and which tilt rank the labels of the validation set best."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

import numpy as np

from manylabel._typing import CSR, Floats
from manylabel.blend._candidates import Candidates
from manylabel.losses.ranked import Ranked
from manylabel.metrics import as_metric

N_PARTS = 5  # the weights tried first are multiples of 1 / N_PARTS
TILTS = (0.0, 0.2, 0.4, 0.6)
STEPS = (0.1, 0.05)  # by which the best of them is then moved
Point = tuple[tuple[float, ...], float]  # weights, tilt


class Judge:
    """Says how good weights and a tilt are, beside the best single learner.

    In each metric the value is compared with the best that a learner alone has; what
    counts is the mean of these ratios and the least of them: no metric is given up for
    the others.
    """

    def __init__(
        self,
        candidates: Candidates,
        Y: CSR,
        inverse_propensity: Floats,
        names: Sequence[str],
    ) -> None:
        self.candidates, self.Y, self.names = candidates, Y, names
        self.inverse_propensity = inverse_propensity
        self.seen: dict[Point, float] = {}
        n_learners = candidates.shares.shape[1]
        alone = [self.values(weights, 0.0) for weights in np.eye(n_learners)]
        self.best = np.maximum(np.max(alone, axis=0), np.finfo(float).tiny)

    def __call__(self, point: Point) -> float:
        """Return the mean of the ratios plus the least."""
        if point not in self.seen:
            ratios = self.values(np.array(point[0]), point[1]) / self.best
            self.seen[point] = float(ratios.mean() + ratios.min())
        return self.seen[point]

    def values(self, weights: Floats, tilt: float) -> Floats:
        """Return the value of each metric."""
        metrics = [as_metric(name, 1 / self.inverse_propensity) for name in self.names]
        scores = self.candidates.blended(weights, self.inverse_propensity**tilt)
        n_labels, depth = self.Y.shape[1], max(metric.k for metric in metrics)
        # In double precision, as a forest's scores: kernels are compiled for one alone.
        listed = scores._replace(values=scores.values.astype(np.float64)).csr(n_labels)
        view = Ranked.of(self.Y, listed, depth, 1 / self.inverse_propensity)
        return np.array([metric.add(view).value for metric in metrics])


def best_point(judge: Judge, n_learners: int) -> Point:
    """Return the best of a grid, moved in smaller and smaller steps while it helps."""
    grid = [(weights, tilt) for weights in shares(n_learners) for tilt in TILTS]
    point = max(grid, key=judge)
    for step in STEPS:
        while True:
            better = max(neighbours(point, step), key=judge)
            if judge(better) <= judge(point):
                break
            point = better
    return point


def shares(n_learners: int) -> Iterator[tuple[float, ...]]:
    """Yield all weights that are multiples of 1 / N_PARTS and sum to 1.

    Examples
    --------
    >>> list(shares(2))[:2]
    [(0.0, 1.0), (0.2, 0.8)]
    >>> [len(set(shares(n_learners))) for n_learners in (1, 2, 3, 4)]
    [1, 6, 21, 56]
    """
    for bars in combinations(range(N_PARTS + n_learners - 1), n_learners - 1):
        ends = (-1, *bars, N_PARTS + n_learners - 1)
        yield tuple(float(n - 1) / N_PARTS for n in np.diff(ends))


def neighbours(point: Point, step: float) -> Iterator[Point]:
    """Yield points with a share moved from one learner to another, or another tilt."""
    weights, tilt = point
    for source, target in permutations(range(len(weights)), 2):
        moved, amount = list(weights), min(step, weights[source])
        moved[source] -= amount
        moved[target] += amount
        yield tuple(round(w, 6) for w in moved), tilt
    yield weights, round(tilt + step, 6)
    yield weights, round(max(0.0, tilt - step), 6)

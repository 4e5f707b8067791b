"""Which weights and which tilt rank the labels of the validation set best."""

from collections.abc import Iterator, Sequence
from itertools import permutations, product

import numpy as np

from manylabel._kernels import topk
from manylabel._typing import CSR, Floats
from manylabel.blend._candidates import Candidates
from manylabel.losses.ranked import Ranked
from manylabel.metrics import as_metric
from manylabel.metrics.metric import LabelMetric
from manylabel.metrics.propensity import PropensityMetric
from manylabel.metrics.ranking import RankingMetric
from manylabel.metrics.resampling import resampled_sums

PARTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # shares of a learner that are tried first
TILTS = (0.0, 0.2, 0.4, 0.6)
STEPS = (0.1, 0.05)  # by which the best of them is then moved
N_JUDGED = 20  # labels of a row that are ranked again for each point, or 2 k
N_RESAMPLES = 200
ENOUGH = 1.03  # on tate, PSP@1 a fifth higher would else pay for P@1 5 % lower
Point = tuple[tuple[float, ...], float]  # weights, tilt


class Judge:
    """Says how good weights and a tilt are, beside the best single learner.

    In each metric the value is compared with the best that a learner alone has; what
    counts is the mean of these ratios and the least of them: no metric is given up for
    the others. In the mean, a ratio counts as ``ENOUGH`` where it is more: much of one
    does not pay for a little of another. And metrics by propensities count half: rows
    held out at random flatter rare labels.

    Parameters
    ----------
    candidates : Candidates
        Labels of the validation set, and what each learner makes of them.
    Y : csr_array of shape (n_rows, n_labels)
        Labels that its rows have.
    inverse_propensity : ndarray of shape (n_labels,)
        1 / p.
    names : sequence of str
        The metrics.
    seed : int
        Draws rows again, the same for each point.
    """

    def __init__(
        self,
        candidates: Candidates,
        Y: CSR,
        inverse_propensity: Floats,
        names: Sequence[str],
        seed: int,
    ) -> None:
        self.inverse_propensity, self.names, self.seed = inverse_propensity, names, seed
        depth = min(max(metric.k for metric in self._metrics()), Y.shape[1])
        gains = [inverse_propensity**tilt for tilt in (TILTS[0], TILTS[-1])]
        self.candidates = candidates.heads(max(N_JUDGED, 2 * depth), gains)
        unranked = np.full((Y.shape[0], depth), -1, np.int32)
        self.truth = Ranked(Y, unranked, unranked >= 0, inverse_propensity)
        self.seen: dict[Point, float] = {}
        halves = [isinstance(metric, PropensityMetric) for metric in self._metrics()]
        self.counts = np.where(halves, 0.5, 1.0)
        singles = range(candidates.shares.shape[1])
        alone = [self.values(self.single(learner)) for learner in singles]
        self.best = np.maximum(np.max(alone, axis=0), np.finfo(float).tiny)

    def __call__(self, point: Point) -> float:
        """Return the mean of two: the mean of the ratios, and the least."""
        if point not in self.seen:
            self.seen[point] = float(self._worth(self.values(point)))
        return self.seen[point]

    def single(self, learner: int) -> Point:
        """Return the point of a learner alone."""
        weights = np.zeros(self.candidates.shares.shape[1])
        weights[learner] = 1
        return tuple(weights.tolist()), 0.0

    def values(self, point: Point) -> Floats:
        """Return the value of each metric."""
        view = self._view(point)
        return np.array([metric.add(view).value for metric in self._metrics()])

    def resampled(self, point: Point) -> Floats:
        """Return the values over rows drawn again, shape (n_resamples, n_metrics).

        A figure over labels is no sum over rows, and stays as it is.
        """
        view, metrics = self._view(point), self._metrics()
        out = np.tile([metric.add(view).value for metric in metrics], (N_RESAMPLES, 1))
        rowwise = [
            n for n, metric in enumerate(metrics) if not isinstance(metric, LabelMetric)
        ]
        terms = [metrics[n].terms(view) for n in rowwise]
        if terms:
            sums = resampled_sums(np.hstack(terms), N_RESAMPLES, self.seed)
            ends = np.cumsum([part.shape[1] for part in terms])[:-1]
            for n, part in zip(rowwise, np.split(sums, ends, axis=1), strict=True):
                out[:, n] = metrics[n].resampled(part)
        return out

    def gain(self, point: Point, rival: Point | None) -> tuple[float, float]:
        """Return by how much a point is better than a rival, and the standard error.

        None is the rival that finds nothing.
        """
        gain, drawn = self(point), self._worth(self.resampled(point))
        if rival is not None:
            gain -= self(rival)
            drawn = drawn - self._worth(self.resampled(rival))
        return gain, float(drawn.std())

    def _metrics(self) -> list[RankingMetric]:
        return [as_metric(name, 1 / self.inverse_propensity) for name in self.names]

    def _worth(self, values: Floats) -> Floats:
        ratios = values / self.best
        mean = np.minimum(ratios, ENOUGH) @ self.counts / self.counts.sum()
        worth: Floats = (mean + ratios.min(axis=-1)) / 2
        return worth

    def _view(self, point: Point) -> Ranked:
        weights, tilt = point
        gain = self.inverse_propensity**tilt
        scores = self.candidates.blended(np.array(weights), gain)
        columns = np.empty_like(self.truth.columns)
        # In double precision, as a forest's scores: kernels are compiled for one alone.
        values = scores.values.astype(np.float64)
        topk.csr_rows(scores.indptr, scores.labels, values, columns.shape[1], columns)
        return self.truth.reranked(columns)


def best_point(judge: Judge, learners: Sequence[int]) -> Point:
    """Return weights of some learners, and a tilt, that are good together.

    The best learner comes first. Each other is mixed with those before it, in fifths
    and with each tilt; then shares and tilt are moved while that helps. That takes a
    time that grows with the square of the number of learners; a grid of all weights
    would grow with a power of it.
    """
    first, *others = sorted(map(judge.single, learners), key=judge, reverse=True)
    weights, _ = first
    point = max(((weights, tilt) for tilt in TILTS), key=judge)
    for other, _ in others:
        mixed = [
            (_mix(point[0], other, part), tilt) for part, tilt in product(PARTS, TILTS)
        ]
        point = max((point, *mixed), key=judge)
    return climb(judge, point, learners)


def climb(judge: Judge, point: Point, learners: Sequence[int]) -> Point:
    """Move a point in smaller and smaller steps while it helps."""
    for step in STEPS:
        while True:
            better = max(neighbours(point, step, learners), key=judge)
            if judge(better) <= judge(point):
                break
            point = better
    return point


def neighbours(point: Point, step: float, learners: Sequence[int]) -> Iterator[Point]:
    """Yield points with a share moved from one learner to another, or another tilt.

    Examples
    --------
    >>> list(neighbours(((1.0, 0.0), 0.0), 0.1, [0, 1]))
    [((0.9, 0.1), 0.0), ((1.0, 0.0), 0.1), ((1.0, 0.0), 0.0)]
    """
    weights, tilt = point
    for source, target in permutations(learners, 2):
        if weights[source] > 0:
            moved, amount = list(weights), min(step, weights[source])
            moved[source] -= amount
            moved[target] += amount
            yield _rounded(moved), tilt
    yield weights, round(tilt + step, 6)
    yield weights, round(max(0.0, tilt - step), 6)


def _mix(
    weights: tuple[float, ...], other: tuple[float, ...], part: float
) -> tuple[float, ...]:
    """Return weights of which another has a part."""
    pairs = zip(weights, other, strict=True)
    return _rounded([(1 - part) * mine + part * its for mine, its in pairs])


def _rounded(weights: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(weight, 6) for weight in weights)

"""From a learner's scores to how often they are right."""

from typing import Annotated, NamedTuple, Self

import numpy as np
import scipy
import scipy.sparse as sp

from manylabel._kernels import ranking
from manylabel._typing import CSR, Array, Bools, Floats, Ints
from manylabel.persistence.records import Columns, Field, Finite, Number, Sizes, Within
from manylabel.propensity import part_by_frequency

N_KNOTS = 50
METHODS = ("auto", "sigmoid", "isotonic")
SURE = 200  # hits of a band for a curve of any form
TILT = 1e-6  # of a curve, so that it ascends everywhere
MOST_RATIO = 1e6
DOUBT = 5.0  # rows of a size that are added to both sides, so that few say little
MAX_STEPS, CLOSE = 50, 1e-6  # of Newton's method, and its last step
DECREASE, ROUNDING = 1e-4, 1e-12  # of the loss: what a step must bring, and its noise
STEEPEST = 5.0  # log odds of a standard deviation of scores that have no best curve
FAR = 1e4  # log odds beyond those of any score


class Curves(NamedTuple):
    """What scores mean, for bands of labels that are about as frequent.

    Rare labels have too few hits for a curve of their own, and a score means less the
    rarer the label: so labels share a curve with those of like frequency.

    Attributes
    ----------
    scores : ndarray of shape (n_bands, n_knots)
        Scores that ascend, for each band.
    shares : ndarray of shape (n_bands, n_knots)
        The share of labels that are true there, ascending.
    bands : ndarray of shape (n_labels,)
        The band of each label; of shape (0,) where nothing was calibrated.
    n_unlisted : float
        True labels of a row, on average, that are not among the best that were listed.
    size_ratio : ndarray of shape (n_sizes,)
        How many times as often as independent labels would rows have 0, 1, 2, ... true
        labels; see :class:`LeastCost`.
    """

    scores: Annotated[Floats, Field("float64", "n_bands, n_knots", Finite())]
    shares: Annotated[Floats, Field("float64", "n_bands, n_knots", Within(0, 1))]
    bands: Annotated[Array, Field("int64", "n_banded", Columns("n_bands"))]
    n_unlisted: Annotated[float, Number(least=0)]
    size_ratio: Annotated[Floats, Field("float64", "n_sizes", Within(0, MOST_RATIO))]

    @classmethod
    def none(cls) -> Self:
        """Return no curves."""
        empty: Floats = np.empty((0, 0))
        return cls(empty, empty, np.empty(0, np.int64), 0.0, np.ones(1))

    @classmethod
    def fit(
        cls,
        best: CSR,
        Y: CSR,
        counts: Ints,
        gain: Floats,
        method: str,
        *,
        by_rank: bool = True,
    ) -> Self:
        """Return the curves of rows that were not learnt.

        Parameters
        ----------
        best : csr_array of shape (n_rows, n_labels)
            As many labels of each row, the best, and their scores.
        Y : csr_array of shape (n_rows, n_labels)
            Labels of these rows, 0/1.
        counts : ndarray of shape (n_labels,)
            Rows of training that have a label.
        gain : ndarray of shape (n_labels,)
            1 / propensity, what a recorded label counts: means of it are unbiased.
        method : str
            One of ``METHODS``.
        by_rank : bool, default=True
            The first labels of a row count more; False is for labels of any rank.
        """
        worth = find_hits(best, Y) * gain[best.indices]
        missed = (gain[Y.indices].sum() - worth.sum()) / max(1, Y.shape[0])
        listed = best.data.reshape(best.shape[0], -1)
        weight = weigh_ranks(listed).ravel() if by_rank else np.ones(best.nnz)
        pairs = best.data, best.indices, worth, weight
        curves = cls.fit_pairs(*pairs, counts, missed, method)
        if (gain > 1).any():  # how many labels a row has is not known
            return curves
        chances = curves.apply(best.data, best.indices).reshape(best.shape[0], -1)
        return curves.compare_sizes(chances, np.diff(Y.indptr))

    @classmethod
    def fit_pairs(
        cls,
        scores: Array,
        labels: Array,
        worth: Floats,
        weight: Floats,
        counts: Ints,
        n_unlisted: float,
        method: str,
    ) -> Self:
        """Return the curves of pairs of a row and a label.

        ``worth`` is 1 / propensity of a label that is recorded, else 0, and ``weight``
        how much a pair counts.
        """
        is_seen = scores > ranking.UNSEEN / 2  # what is far off would bend a curve
        scores = np.maximum(scores, scores[is_seen].min() if is_seen.any() else 0.0)
        hits = np.bincount(labels[worth > 0], minlength=len(counts))
        bands = part_by_frequency(counts, hits)
        curves = []
        for band in range(bands.max() + 1):
            mine = bands[labels] == band
            curves.append(_curve(scores[mine], worth[mine], weight[mine], method))
        x, y = np.ascontiguousarray(np.stack(curves, axis=1))
        return cls(x, y, bands, max(0.0, float(n_unlisted)), np.ones(1))

    def __bool__(self) -> bool:
        """Return whether anything was calibrated."""
        return len(self.bands) > 0

    def widen(self, n_labels: int) -> Self:
        """Return curves of more labels: those that came later are as the rarest."""
        n_more = n_labels - len(self.bands) if self else 0
        return self._replace(bands=np.pad(self.bands, (0, n_more)))

    def compare_sizes(self, chances: Floats, n_true: Ints) -> Self:
        """Return curves that know how many labels rows have, beside independent ones.

        Parameters
        ----------
        chances : ndarray of shape (n_rows, n_listed)
            Probabilities of the labels that are listed.
        n_true : ndarray of shape (n_rows,)
            How many labels each row has.
        """
        found: Floats = np.zeros((len(chances), chances.shape[1] + 1))
        found[:, 0] = 1.0
        for chance in chances.T[:, :, None]:
            found[:, 1:] += chance * (found[:, :-1] - found[:, 1:])
            found[:, :1] *= 1 - chance
        others = self.n_unlisted / np.arange(1, chances.shape[1] + 1)
        poisson = np.exp(-self.n_unlisted) * np.cumprod(np.append(1, others))
        expected = np.convolve(found.sum(axis=0), poisson)
        n_sizes = max(len(expected), int(n_true.max(initial=0)) + 1) + 1
        observed = np.bincount(n_true, minlength=n_sizes)
        expected = np.pad(expected, (0, n_sizes - len(expected)))
        ratio = np.minimum((observed + DOUBT) / (expected + DOUBT), MOST_RATIO)
        return self._replace(size_ratio=ratio)

    def apply(self, scores: Array, labels: Array) -> Floats:
        """Return how probable labels of such scores are."""
        out, band = np.empty(len(scores)), self.bands[labels]
        for b in np.flatnonzero(np.bincount(band)).tolist():
            mine = band == b
            out[mine] = np.interp(scores[mine], self.scores[b], self.shares[b])
        return out

    def apply_to(self, scores: CSR) -> CSR:
        """Return how probable the labels that are stored are."""
        parts = self.apply(scores.data, scores.indices), scores.indices, scores.indptr
        return sp.csr_array(parts, shape=scores.shape)

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if a curve does not ascend, or a label has none."""
        if self and len(self.bands) != sizes["n_labels"]:
            raise ValueError("bands must have a number for each label.")
        if self and not self.scores.shape[1]:
            raise ValueError("scores must have a knot for each band.")
        for name in ("scores", "shares"):
            if (np.diff(getattr(self, name), axis=1) < 0).any():
                raise ValueError(f"{name} must ascend.")


def _curve(scores: Array, worth: Floats, weight: Floats, method: str) -> Floats:
    """Return the curve of a band, (2, N_KNOTS + 2)."""
    n_hits = np.count_nonzero(worth)
    weight = weight * (len(weight) / max(weight.sum(), 1e-300))
    x = np.linspace(scores.min(initial=0.0), scores.max(initial=0.0), N_KNOTS + 2)
    if n_hits == 0:
        y = np.zeros(N_KNOTS + 2)
    elif method == "sigmoid" or (method == "auto" and n_hits < SURE):
        y = _sigmoid(scores.astype(np.float64), worth, weight, x)
    else:
        x, y = calibration(scores, worth, weight, by_hits=True)
        x, y = (np.pad(each, (N_KNOTS + 2 - len(each), 0), "edge") for each in (x, y))
    y = (1 - TILT) * np.minimum(y, 1) + TILT * np.linspace(0, 1, len(y))
    return np.stack([x, y])


def _sigmoid(scores: Floats, worth: Floats, weight: Floats, at: Floats) -> Floats:
    """Return a logistic curve of the scores (Platt 1999), by Newton's method.

    The gradient of the logistic loss is linear in what a label counts, so it is
    unbiased as that is. One label that is true and one that is not are added (Platt's
    prior), at the mean score.
    """
    centre, scale = scores.mean(), max(float(scores.std()), 1e-12)
    weight = np.append(weight, [1.0, 1.0])
    design = np.stack(
        [np.append((scores - centre) / scale, [0, 0]), np.ones(len(scores) + 2)]
    )
    goal = np.append(worth, [0.0, 1.0])
    share = float(np.average(goal, weights=weight))
    line: Floats = np.array([0.0, scipy.special.logit(min(share, 0.999))])
    for _ in range(MAX_STEPS):
        step = _descend(line, design, goal, weight)
        line = line - step
        if np.abs(step).max() < CLOSE:
            break
    else:  # scores tell the labels apart: the steeper the curve, the less its loss
        line[0] = np.clip(line[0], 0, STEEPEST)
        line[1] = _balance(line[0] * design[0], goal, weight)
    steepness = max(float(line[0]), 0.0)
    return np.asarray(scipy.special.expit(steepness * (at - centre) / scale + line[1]))


def _descend(line: Floats, design: Floats, goal: Floats, weight: Floats) -> Floats:
    """Return a step of Newton's method, halved until the logistic loss falls by it."""
    odds = line @ design
    chance = scipy.special.expit(odds)
    gradient = design @ (weight * (chance - goal))
    curvature = (design * (weight * chance * (1 - chance))) @ design.T
    step: Floats = np.linalg.solve(curvature + 1e-9 * np.eye(2), gradient)
    step /= max(1.0, float(np.abs(step).max()))
    before = _loss(odds, goal, weight)
    most = before + ROUNDING * abs(before)
    while np.abs(step).max() >= CLOSE:
        after = _loss((line - step) @ design, goal, weight)
        if after <= most - DECREASE * float(step @ gradient):
            break
        step = step / 2
    return step


def _loss(odds: Floats, goal: Floats, weight: Floats) -> float:
    """Return the logistic loss, which is unbiased where ``goal`` is."""
    return float(weight @ (np.logaddexp(0, odds) - goal * odds))


def _balance(odds: Floats, goal: Floats, weight: Floats) -> float:
    """Return what to add to log odds so that as many labels are true as count."""

    def excess(more: float) -> float:
        return float(weight @ (scipy.special.expit(odds + more) - goal))

    return float(scipy.optimize.brentq(excess, -FAR, FAR)) if excess(FAR) > 0 else FAR


def calibration(
    scores: Array, worth: Array, weight: Floats | None = None, *, by_hits: bool = False
) -> Floats:
    """Return a curve: scores that ascend, and the share of labels that are true there.

    Scores are parted into stretches of equal size; their shares are made to ascend, and
    lines join them. The ends go on to the extreme scores, so that the best of all still
    rank above the rest. ``worth`` is 1 for a label that is true and 0 for another, or
    1 / propensity for one that is recorded; ``weight`` is how much each counts, 1 on
    average. ``by_hits``: half of the stretches go by true labels, which are where
    scores are high, the others by the sum of weights.

    Returns
    -------
    ndarray of shape (2, n_knots)
    """
    order = np.argsort(scores, kind="stable")
    cuts = np.linspace(0, len(order), min(N_KNOTS, len(order)) + 1).astype(np.int64)
    weight = np.ones(len(order)) if weight is None else weight
    hits = weight * worth
    if by_hits:
        passed = np.cumsum((weight / len(order) + hits / max(1, hits.sum()))[order])
        cuts = np.searchsorted(passed, np.linspace(0, passed[-1], len(cuts)))
        cuts = np.unique(np.concatenate([[0], cuts[1:-1], [len(order)]]))
    sizes, sums, found = (
        np.add.reduceat(values[order], cuts[:-1])
        for values in (weight, weight * scores, hits)
    )
    means, shares = sums / sizes, found / sizes
    # By its full name, SciPy loads the module here: a cold start need not wait for it.
    shares = scipy.optimize.isotonic_regression(shares, weights=sizes).x
    low, high = float(scores[order[0]]), float(scores[order[-1]])
    x = np.concatenate([[low], means, [high]])
    y = np.concatenate([[0.0], shares, [(1 + shares[-1]) / 2]])
    return np.stack([np.maximum.accumulate(x), y])


def weigh_ranks(scores: Array) -> Floats:
    """Return how much labels of rows count for a curve: as in DCG, by their ranks.

    A score may mean less, or more, where others of its row are above it, and a curve
    does not look at these. So it is that of the labels that are given, first of all.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_listed)
        Of the labels that are listed, in any order.

    Examples
    --------
    >>> weigh_ranks(np.array([[0.1, 0.7, 0.3]])).tolist()
    [[0.5, 1.0, 0.6309297535714575]]
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    return 1 / np.log2(2 + np.argsort(order, axis=1, kind="stable"))


def shares_of(scores: Array, curve: Floats) -> Floats:
    """Return how probable labels of such scores are."""
    return np.interp(scores, *curve)


def find_hits(best: CSR, Y: CSR) -> Bools:
    """Return which of the labels that are listed, as many for each row, are true."""
    columns = best.indices.reshape(best.shape[0], -1)
    hits = np.empty(columns.shape, np.bool_)
    ranking.find_hits(Y.indptr, Y.indices, columns, hits)
    return hits.ravel()

"""From a learner's scores to how often they are right."""

from typing import Annotated, NamedTuple, Self

import numpy as np
import scipy

from manylabel._typing import Array, Floats, Ints
from manylabel.persistence.records import Columns, Field, Finite, Sizes, Within
from manylabel.propensity import part_by_frequency

N_KNOTS = 50
METHODS = ("auto", "sigmoid", "isotonic")
SURE = 200  # hits of a band for a curve of any form
TILT = 1e-6  # of a curve, so that it ascends everywhere
MAX_STEPS, CLOSE = 50, 1e-6  # of Newton's method, and its last step


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
        The band of each label.
    """

    scores: Annotated[Floats, Field("float64", "n_bands, n_knots", Finite())]
    shares: Annotated[Floats, Field("float64", "n_bands, n_knots", Within(0, 1))]
    bands: Annotated[Array, Field("int64", "n_labels", Columns("n_bands"))]

    @classmethod
    def fit(
        cls, scores: Array, labels: Array, worth: Floats, counts: Ints, method: str
    ) -> Self:
        """Return the curves of pairs of a row and a label.

        Parameters
        ----------
        scores, labels, worth : ndarray of shape (n_pairs,)
            The score of a pair, its label, and what that counts: 0 if it is not
            recorded, else 1 / propensity, so that means of it are unbiased.
        counts : ndarray of shape (n_labels,)
            Rows of training that have a label.
        method : str
            One of ``METHODS``.
        """
        hits = np.bincount(labels[worth > 0], minlength=len(counts))
        bands = part_by_frequency(counts, hits)
        curves = []
        for band in range(bands.max() + 1):
            mine = bands[labels] == band
            curves.append(_curve(scores[mine], worth[mine], method))
        x, y = np.ascontiguousarray(np.stack(curves, axis=1))
        return cls(x, y, bands)

    def apply(self, scores: Array, labels: Array) -> Floats:
        """Return how probable labels of such scores are."""
        out, band = np.empty(len(scores)), self.bands[labels]
        for b in range(len(self.scores)):
            mine = band == b
            out[mine] = np.interp(scores[mine], self.scores[b], self.shares[b])
        return out

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if a curve does not ascend."""
        for name in ("scores", "shares"):
            if (np.diff(getattr(self, name), axis=1) < 0).any():
                raise ValueError(f"{name} must ascend.")


def _curve(scores: Array, worth: Floats, method: str) -> Floats:
    """Return the curve of a band, (2, N_KNOTS + 2)."""
    n_hits = np.count_nonzero(worth)
    x = np.linspace(scores.min(initial=0.0), scores.max(initial=0.0), N_KNOTS + 2)
    if n_hits == 0:
        y = np.zeros(N_KNOTS + 2)
    elif method == "sigmoid" or (method == "auto" and n_hits < SURE):
        y = _sigmoid(scores.astype(np.float64), worth, x)
    else:
        x, y = calibration(scores, worth, by_hits=True)
        x, y = (np.pad(each, (N_KNOTS + 2 - len(each), 0), "edge") for each in (x, y))
    y = (1 - TILT) * np.minimum(y, 1) + TILT * np.linspace(0, 1, len(y))
    return np.stack([x, y])


def _sigmoid(scores: Floats, worth: Floats, at: Floats) -> Floats:
    """Return a logistic curve of the scores (Platt 1999), by Newton's method.

    The gradient of the logistic loss is linear in what a label counts, so it is
    unbiased as that is. One label that is true and one that is not are added (Platt's
    prior), at the mean score.
    """
    centre, scale = scores.mean(), max(float(scores.std()), 1e-12)
    design = np.stack(
        [np.append((scores - centre) / scale, [0, 0]), np.ones(len(scores) + 2)]
    )
    goal = np.append(worth, [0.0, 1.0])
    weights: Floats = np.array([0.0, scipy.special.logit(min(goal.mean(), 0.999))])
    for _ in range(MAX_STEPS):
        chance = scipy.special.expit(weights @ design)
        curvature = (design * (chance * (1 - chance))) @ design.T + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, design @ (chance - goal))
        weights = weights - np.clip(step, -1, 1)
        if np.abs(step).max() < CLOSE:
            break
    steepness = max(float(weights[0]), 0.0)
    return np.asarray(
        scipy.special.expit(steepness * (at - centre) / scale + weights[1])
    )


def calibration(scores: Array, worth: Array, *, by_hits: bool = False) -> Floats:
    """Return a curve: scores that ascend, and the share of labels that are true there.

    Scores are parted into stretches of equal size; their shares are made to ascend, and
    lines join them. The ends go on to the extreme scores, so that the best of all still
    rank above the rest. ``worth`` is 1 for a label that is true and 0 for another, or
    1 / propensity for one that is recorded. ``by_hits``: half of the stretches go by
    true labels, which are where scores are high.

    Returns
    -------
    ndarray of shape (2, n_knots)
    """
    order = np.argsort(scores, kind="stable")
    cuts = np.linspace(0, len(order), min(N_KNOTS, len(order)) + 1).astype(np.int64)
    if by_hits:
        weight = np.cumsum(1 / len(order) + worth[order] / max(1, worth.sum()))
        cuts = np.searchsorted(weight, np.linspace(0, weight[-1], len(cuts)))
        cuts = np.unique(np.concatenate([[0], cuts[1:-1], [len(order)]]))
    sizes = np.diff(cuts)
    means, shares = (
        np.add.reduceat(values[order], cuts[:-1]) / sizes
        for values in (scores.astype(np.float64), worth.astype(np.float64))
    )
    # By its full name, SciPy loads the module here: a cold start need not wait for it.
    shares = scipy.optimize.isotonic_regression(shares, weights=sizes).x
    low, high = float(scores[order[0]]), float(scores[order[-1]])
    x = np.concatenate([[low], means, [high]])
    y = np.concatenate([[0.0], shares, [(1 + shares[-1]) / 2]])
    return np.stack([np.maximum.accumulate(x), y])


def shares_of(scores: Array, curve: Floats) -> Floats:
    """Return how probable labels of such scores are."""
    return np.interp(scores, *curve)

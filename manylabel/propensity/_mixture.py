"""Propensities from scores alone: how often the surest items are recorded.

With s the score of an item, ``P(recorded | s) = p P(true | s)``. Recorded labels tell
the left side only, so p is known if the surest items are known to be true. Here
``P(true | s)`` is logistic: it goes to 1, and p is where the share of recorded labels
levels off.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from manylabel._typing import CSR, Array, Floats, Ints
from manylabel._warning import warn
from manylabel.propensity._bands import part_by_frequency

N_STRETCHES = 400  # of equal size, into which pairs of a band are put together
STARTS = (0.2, 0.5, 0.9)
SURE = 0.9  # of items that are said to be surely true
SHARP = 50.0  # the steepest curve, in deviations of the scores


class Level(NamedTuple):
    """Where the share of recorded labels levels off, and how near scores come to it."""

    propensity: float
    surest: float  # the probability that the surest items are true


def find_levels(recorded: CSR, scores: Any, counts: Ints) -> Floats:
    """Return the propensity of each label, those of a band of frequency the same."""
    ranked = sp.coo_array(scores) if sp.issparse(scores) else _pairs(scores)
    is_recorded = np.asarray(recorded[ranked.row, ranked.col]).ravel() > 0
    if not is_recorded.any():
        raise ValueError("scores must be of a recorded label. Got none.")
    hits = np.bincount(ranked.col[is_recorded], minlength=len(counts))
    bands = part_by_frequency(counts, hits)
    values = np.ones(len(counts))
    for band in range(bands.max() + 1):
        mine = bands[ranked.col] == band
        if is_recorded[mine].any():
            level = find_level(ranked.data[mine], is_recorded[mine])
            values[bands == band] = level.propensity
            _doubt(level.surest, counts[bands == band])
    return values


def find_level(scores: Array, is_recorded: Array) -> Level:
    """Return the propensity of pairs with such scores, by maximum likelihood."""
    stretches = _Stretches.of(scores.astype(np.float64), is_recorded)
    tries = [
        # By its full name, SciPy loads the module here.
        scipy.optimize.minimize(
            stretches.surprise,
            np.array([scipy.special.logit(start), 0.0, 0.0]),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-12, 12), (-SHARP, SHARP), (-3, np.log(SHARP))],
        )
        for start in STARTS
    ]
    best = min(tries, key=lambda found: float(found.fun)).x
    top = best[1] + np.exp(best[2]) * stretches.scores.max()
    return Level(float(scipy.special.expit(best[0])), float(scipy.special.expit(top)))


class _Stretches(NamedTuple):
    """Pairs of like scores: the mean score, how many, how many of them recorded."""

    scores: Floats
    sizes: Floats
    recorded: Floats

    @classmethod
    def of(cls, scores: Floats, is_recorded: Array) -> "_Stretches":
        order = np.argsort(scores, kind="stable")
        place = (scores - scores.mean()) / max(float(scores.std()), 1e-12)
        # Half of the stretches go by recorded labels, which are where scores are high.
        weight = np.cumsum(1 / len(order) + is_recorded[order] / is_recorded.sum())
        cuts = np.searchsorted(weight, np.linspace(0, weight[-1], N_STRETCHES + 1))
        cuts = np.unique(np.concatenate([[0], cuts[1:-1], [len(order)]]))
        sizes = np.diff(cuts).astype(np.float64)
        sums = [
            np.add.reduceat(v[order], cuts[:-1]) for v in (place, is_recorded * 1.0)
        ]
        return cls(sums[0] / sizes, sizes, sums[1])

    def surprise(self, theta: Floats) -> tuple[float, Floats]:
        """Return the negative log likelihood, and its gradient.

        ``theta`` has the log odds of p, the curve's constant and its log steepness.
        """
        steep: Any = np.exp(theta[2])
        p = scipy.special.expit(theta[0])
        true = scipy.special.expit(theta[1] + steep * self.scores)
        share = np.clip(p * true, 1e-12, 1 - 1e-12)
        rest = self.sizes - self.recorded
        value = -(self.recorded @ np.log(share) + rest @ np.log1p(-share))
        by_share = rest / (1 - share) - self.recorded / share
        by_odds = by_share * share * (1 - true)
        parts = [by_share @ share * (1 - p), by_odds.sum()]
        return float(value), np.array([*parts, by_odds @ self.scores * steep])


def _pairs(scores: Array) -> Any:
    """Return all entries of a dense matrix, zeros too."""
    rows, columns = np.indices(scores.shape)
    parts = (scores.ravel(), (rows.ravel(), columns.ravel()))
    return sp.coo_array(parts, shape=scores.shape)


def _doubt(surest: float, counts: Array) -> None:
    """Warn of a band of labels whose surest items are not sure."""
    if surest < SURE:
        warn(
            f"The propensity of labels of {counts.min()} to {counts.max()} rows is a "
            f"guess: the highest scores are true with probability {surest:.2f} only.",
        )

"""Propensities from audited rows, shrunk to a law by frequency (empirical Bayes).

A label is true ``true`` times in the audited rows and recorded ``recorded`` times of
these, a binomial draw with its propensity p. The law of Jain et al. says ``logit(p) =
a log(N_l + b) - log(C)``, a line in the log frequency. So the prior of p is a beta
distribution about such a line, ``Beta(s m, s (1 - m))``: its level, its slope and its
strength s are those of the largest posterior, which for many occurrences is the largest
likelihood (beta-binomial), and for none the law.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy

from manylabel._typing import Array, Floats

LEVEL_SPREAD, SLOPE_SPREAD = 2.0, 0.5  # standard deviations of the line about the law
STRENGTH, STRENGTH_SPREAD = 10.0, 1.5  # its median, and its spread as a logarithm
# However many labels agree on a line, it is a line: it may be off by some 0.06.
MOST_STRENGTH = 50.0
STEP = 1e-4  # of differences of the gradient
COVERAGE = 0.95
TAILS = (0.5 - COVERAGE / 2, 0.5 + COVERAGE / 2)


class Line(NamedTuple):
    """A line of log odds by log frequency: ``level + slope * log(N_l + b)``."""

    level: float
    slope: float

    def at(self, log_frequency: Array) -> Floats:
        """Return the propensities there."""
        odds = self.level + self.slope * np.asarray(log_frequency)
        return np.asarray(scipy.special.expit(odds))


class Prior(NamedTuple):
    """The prior of propensities: a line, how strong it is, and how sure both are.

    Attributes
    ----------
    line : Line
        The mean by frequency.
    strength : float
        How many occurrences it counts for.
    points : ndarray of shape (6, 3)
        Others that are as likely as a spread of one deviation: level, slope of a
        line and log strength.
    """

    line: Line
    strength: float
    points: Floats

    def posterior(
        self, recorded: Array, true: Array, log_frequency: Floats
    ) -> tuple[Floats, Floats]:
        """Return the mean of each propensity, and its interval of 95 %, (2, n_labels).

        The interval also has the doubt about the prior: the means and the variances
        under each of the points (a cubature of degree 3) are those of one beta
        distribution, which has the quantiles.
        """
        mean = _mean(
            recorded, true, self.line.at(log_frequency), np.float64(self.strength)
        )
        level, slope, strength = (part[:, None] for part in self.points.T)
        strength = np.exp(strength)
        centres = scipy.special.expit(level + slope * log_frequency)
        means = _mean(recorded, true, centres, strength)
        within = means * (1 - means) / (strength + true + 1)
        centre = means.mean(axis=0)
        variance = within.mean(axis=0) + means.var(axis=0)
        size = centre * (1 - centre) / variance - 1
        parts = np.maximum([size * centre, size * (1 - centre)], 1e-9)
        low, high = scipy.special.betaincinv(*parts, np.array(TAILS)[:, None])
        return mean, np.stack([np.minimum(low, mean), np.maximum(high, mean)])


def _mean(recorded: Array, true: Array, centre: Floats, strength: Any) -> Floats:
    return np.asarray((strength * centre + recorded) / (strength + true))


def fit_prior(recorded: Array, true: Array, log_frequency: Floats, law: Line) -> Prior:
    """Return the prior of labels that were true, and recorded, so often in an audit.

    Parameters
    ----------
    recorded, true : ndarray of shape (n_labels,)
        Occurrences in the audited rows.
    log_frequency : ndarray of shape (n_labels,)
        Where a label stands on the line.
    law : Line
        What is believed where the audit says nothing.
    """
    centre = float(np.average(log_frequency, weights=true)) if true.any() else 0.0
    start = np.array([law.level + law.slope * centre, law.slope, np.log(STRENGTH)])
    seen = true > 0
    audit = _Audit(recorded[seen], true[seen], log_frequency[seen] - centre, start)
    # By its full name, SciPy loads the module here: a cold start need not wait for it.
    bounds = [(None, None), (None, None), (None, np.log(MOST_STRENGTH))]
    found = scipy.optimize.minimize(
        audit.surprise, start, jac=True, method="L-BFGS-B", bounds=bounds
    ).x
    root = np.linalg.cholesky(np.linalg.inv(audit.curvature(found)))
    points = found + np.sqrt(3) * np.concatenate([root.T, -root.T])
    points[:, 0] -= points[:, 1] * centre
    points[:, 2] = np.minimum(points[:, 2], np.log(MOST_STRENGTH))
    line = Line(float(found[0] - found[1] * centre), float(found[1]))
    return Prior(line, float(np.exp(found[2])), points)


class _Audit(NamedTuple):
    """What was seen, and what was believed before: level, slope and log strength."""

    recorded: Array
    true: Array
    place: Floats  # log frequency from its mean, so that level and slope part
    belief: Floats

    def surprise(self, theta: Floats) -> tuple[float, Floats]:
        """Return the negative log posterior of a prior, and its gradient."""
        r, missed, s = self.recorded, self.true - self.recorded, np.exp(theta[2])
        m = scipy.special.expit(theta[0] + theta[1] * self.place)
        log, slope = scipy.special.gammaln, scipy.special.digamma
        a, b = np.maximum([s * m, s * (1 - m)], 1e-12)
        likelihood = log(a + r) - log(a) + log(b + missed) - log(b)
        likelihood += log(s) - log(s + self.true)
        by_a, by_b = slope(a + r) - slope(a), slope(b + missed) - slope(b)
        by_s = slope(s) - slope(s + self.true)
        by_odds = (by_a - by_b) * s * m * (1 - m)
        by_strength = s * (by_a * m + by_b * (1 - m) + by_s)
        spread = np.array([LEVEL_SPREAD, SLOPE_SPREAD, STRENGTH_SPREAD])
        away = (theta - self.belief) / spread
        parts = [by_odds.sum(), by_odds @ self.place, by_strength.sum()]
        return float(away @ away / 2 - likelihood.sum()), away / spread - parts

    def curvature(self, theta: Floats) -> Floats:
        """Return the second derivatives, made positive: a saddle has none to spare."""
        steps = STEP * np.eye(3)
        rows = [
            (self.surprise(theta + step)[1] - self.surprise(theta - step)[1]) / 2 / STEP
            for step in steps
        ]
        matrix = (np.array(rows) + np.array(rows).T) / 2
        values, vectors = np.linalg.eigh(matrix)
        least = 1 / max(LEVEL_SPREAD, SLOPE_SPREAD, STRENGTH_SPREAD) ** 2
        return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)


def estimate_share(parts: Array, wholes: Array, weights: Floats) -> Floats:
    """Return a ratio of weighted sums over rows, and its interval of 95 %.

    The rows are the sample, as what a row has is not independent; the interval is
    normal for the log odds (the delta method), so that it stays between 0 and 1.

    Examples
    --------
    >>> estimate_share(np.array([1, 2]), np.array([2, 2]), np.ones(2)).round(2)
    array([0.75, 0.32, 0.95])
    """
    whole = float(weights @ wholes)
    share = float(weights @ parts) / whole
    error = float(np.linalg.norm(weights * (parts - share * wholes))) / whole
    if not 0 < share < 1:  # nothing is known of the spread: the rule of three
        bound = min(1.0, 3 / max(1.0, float(wholes.sum())))
        low, high = (0.0, bound) if share <= 0 else (1 - bound, 1.0)
        return np.array([share, low, high])
    deviation: Any = scipy.special.ndtri(TAILS[1]) * error / (share * (1 - share))
    odds = scipy.special.logit(share) + np.array([0, -deviation, deviation])
    return np.asarray(scipy.special.expit(odds))

"""From a learner's scores to how often they are right."""

import numpy as np
import scipy

from manylabel._typing import Array, Bools, Floats

N_KNOTS = 50


def calibration(scores: Array, is_hit: Bools) -> Floats:
    """Return a curve: scores that ascend, and the share of labels that are true there.

    Scores are parted into stretches of equal size; their shares are made to ascend, and
    lines join them. The ends go on to the extreme scores, so that the best of all still
    rank above the rest.

    Returns
    -------
    ndarray of shape (2, n_knots)
    """
    order = np.argsort(scores, kind="stable")
    cuts = np.linspace(0, len(order), min(N_KNOTS, len(order)) + 1).astype(np.int64)
    sizes = np.diff(cuts)
    means, shares = (
        np.add.reduceat(values[order], cuts[:-1]) / sizes
        for values in (scores.astype(np.float64), is_hit.astype(np.float64))
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

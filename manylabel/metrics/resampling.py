"""Sums over rows drawn again: the bootstrap."""

from typing import Any

import numpy as np

from manylabel._typing import Array, Floats

MAX_DRAWN = 1 << 22  # rows drawn at once: bounds the memory


def resampled_sums(terms: Array, n_resamples: int, seed: Any) -> Floats:
    """Return sums over as many rows drawn with replacement, ``n_resamples`` times.

    A ratio of sums needs both of the same rows: whatever stands side by side in
    ``terms`` is drawn together.

    Parameters
    ----------
    terms : ndarray of shape (n_rows, n_sums)
        What each row adds.
    n_resamples : int
        How often rows are drawn.
    seed : int or Generator
        The same seed draws the same rows.

    Returns
    -------
    ndarray of shape (n_resamples, n_sums)
        The sums.
    """
    rng = np.random.default_rng(seed)
    terms, n_rows = terms.astype(float), len(terms)
    sums = np.empty((n_resamples, terms.shape[1]))
    step = max(1, MAX_DRAWN // n_rows)
    for start in range(0, n_resamples, step):
        size = min(step, n_resamples - start)
        drawn = rng.integers(n_rows, size=(size, n_rows))
        drawn += n_rows * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n_rows)
        sums[start : start + size] = counts.reshape(size, n_rows) @ terms
    return sums

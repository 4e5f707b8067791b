"""Labels that are about as frequent: what is too rare alone is told together."""

import numpy as np

from manylabel._typing import Ints

FEWEST_HITS = 50  # of a band: labels of fewer share the band of the next frequent ones
WIDTH = 4.0  # of a band: the most frequent label has so many times the least one's rows


def part_by_frequency(counts: Ints, hits: Ints) -> Ints:
    """Return the band of each label: the rarest are in band 0.

    Parameters
    ----------
    counts : ndarray of shape (n_labels,)
        Rows that have a label.
    hits : ndarray of shape (n_labels,)
        What there is to learn from for a label; each band has at least 50 of them.

    Returns
    -------
    ndarray of shape (n_labels,)
        Labels of equal counts have equal bands.

    Examples
    --------
    >>> part_by_frequency(np.array([1, 2, 300, 500]), np.array([30, 30, 200, 400]))
    array([0, 0, 1, 1])
    """
    sizes, place = np.unique(counts, return_inverse=True)
    found_of = np.bincount(place, hits)
    bands, band, found, start = np.zeros(len(sizes), np.int64), 0, 0.0, 0
    left = float(found_of.sum())
    for at, size in enumerate(sizes):
        is_wide = size > WIDTH * max(1, sizes[start])
        if is_wide and min(found, left) >= FEWEST_HITS:
            band, found, start = band + 1, 0.0, at
        bands[at] = band
        found, left = found + found_of[at], left - found_of[at]
    return bands[place]

"""Drift: how far the scores of late are from those at first."""

from collections import deque
from threading import Lock

import numpy as np

WINDOW = 1000  # best scores, at first and of late
BINS = 10
LEAST = 1e-4  # share of a bin that is empty


class Drift:
    """The population stability index of the best scores of predictions.

    The first scores are cut into ten bins of equal count, and the shares of late are
    compared with theirs. Below 0.1 little has changed, above 0.25 much has.

    Examples
    --------
    >>> drift = Drift()
    >>> drift.add([0.1 * i for i in range(1000)])
    >>> drift.index() is None
    True
    >>> drift.add([0.1 * i for i in range(1000)])
    >>> round(drift.index(), 6)
    0.0
    """

    def __init__(self) -> None:
        self._first: list[float] = []
        self._late: deque[float] = deque(maxlen=WINDOW)
        self._lock = Lock()

    def add(self, scores: list[float]) -> None:
        """Note the best scores of some predictions."""
        with self._lock:
            room = WINDOW - len(self._first)
            self._first.extend(scores[:room])
            self._late.extend(scores[room:])

    def index(self) -> float | None:
        """Return the index, None while there are too few scores."""
        with self._lock:
            first, late = np.array(self._first), np.array(self._late)
        if len(first) < WINDOW or len(late) < WINDOW:
            return None
        edges = np.quantile(first, np.linspace(0, 1, BINS + 1)[1:-1])
        then, now = (
            np.bincount(np.searchsorted(edges, x), minlength=BINS) / WINDOW
            for x in (first, late)
        )
        then, now = np.maximum(then, LEAST), np.maximum(now, LEAST)
        return float(np.sum((now - then) * np.log(now / then)))

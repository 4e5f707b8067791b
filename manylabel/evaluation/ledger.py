"""What a stream has cost so far, in memory that does not grow."""

import numpy as np

from manylabel._typing import Floats, Ints

MOST_POINTS = 1000  # of a curve; even, as every second one is dropped when it is full


class Ledger:
    """Running and windowed means of several costs, on a grid of rows.

    The grid has every row at first. Each time it is full, every second point is dropped
    and the spacing doubles, so a stream of any length has at most ``MOST_POINTS``
    points and one for its last row. However rows are cut into chunks, the means have
    the same bits.

    Parameters
    ----------
    n_costs : int
        How many costs each row is charged.
    window : int
        How many of the last rows the windowed mean is over.

    Examples
    --------
    >>> ledger = Ledger(n_costs=1, window=2)
    >>> ledger.add(np.array([[1.0], [0.0], [0.5]]))
    >>> rows, running, windowed = ledger.curves()
    >>> rows, running[:, 0], windowed[:, 0]
    (array([1, 2, 3]), array([1. , 0.5, 0.5]), array([1.  , 0.5 , 0.25]))
    """

    def __init__(self, n_costs: int, window: int) -> None:
        self.n_rows = 0
        self._window = window
        self._spacing = 1
        # Sums of all rows up to each of the last ``window`` rows and the one before.
        self._sums: Floats = np.zeros((1, n_costs))
        self._rows: Ints = np.empty(0, np.int64)
        self._means: Floats = np.empty((0, 2, n_costs))

    def add(self, charges: Floats) -> None:
        """Take the costs of the next rows, shape (n_rows, n_costs)."""
        # A cumulative sum that starts with the last one adds row by row, in order.
        sums = np.cumsum(np.concatenate([self._sums[-1:], charges]), axis=0)
        self._sums = np.concatenate([self._sums[:-1], sums])
        first, self.n_rows = self.n_rows + 1, self.n_rows + len(charges)
        first += -first % self._spacing
        rows = np.arange(first, self.n_rows + 1, self._spacing)
        self._rows = np.concatenate([self._rows, rows])
        self._means = np.concatenate([self._means, self._means_at(rows)])
        self._sums = self._sums[-self._window - 1 :]
        while len(self._rows) > MOST_POINTS:
            self._rows, self._means = self._rows[1::2], self._means[1::2]
            self._spacing *= 2

    @property
    def mean(self) -> Floats:
        """The mean of each cost over all rows so far, shape (n_costs,)."""
        mean: Floats = self._sums[-1] / self.n_rows
        return mean

    def curves(self) -> tuple[Ints, Floats, Floats]:
        """Return row numbers, counted from 1, and the means up to each, by cost.

        Returns
        -------
        tuple of ndarray
            Rows of shape (n_points,), running and windowed means of shape
            (n_points, n_costs). The last point is the last row.
        """
        rows, means = self._rows, self._means
        if rows[-1] != self.n_rows:
            last = np.array([self.n_rows])
            rows = np.concatenate([rows, last])
            means = np.concatenate([means, self._means_at(last)])
        return rows, means[:, 0], means[:, 1]

    def _means_at(self, rows: Ints) -> Floats:
        """Return running and windowed means, shape (n_points, 2, n_costs)."""
        at = len(self._sums) - 1 - (self.n_rows - rows)
        back = np.minimum(rows, self._window)
        running = self._sums[at] / rows[:, None]
        windowed = (self._sums[at] - self._sums[at - back]) / back[:, None]
        return np.stack([running, windowed], axis=1)

"""What a progressive run found: means, curves and their standard errors."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from manylabel._typing import Floats, Ints
from manylabel.evaluation.plots import plot_costs


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What a learner was charged on its way through a stream.

    Made by :func:`manylabel.progressive`. Where the stream was run in several orders,
    ``mean``, ``curve`` and ``windowed`` are means over them.

    Parameters
    ----------
    costs : tuple of str
        Names of the costs.
    rows : ndarray of shape (n_points,)
        Where the curves were recorded: numbers of rows seen, the last one all of them.
    running : ndarray of shape (n_permutations, n_points, n_costs)
        Mean cost of all rows up to each point.
    recent : ndarray of shape (n_permutations, n_points, n_costs)
        Mean cost of the last ``window`` rows up to each point.
    seconds : float
        Time spent predicting and learning, in all orders together.

    Examples
    --------
    >>> import manylabel as ml
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> learner = MultiOutputClassifier(SGDClassifier(random_state=0))
    >>> X, Y = [[1.0, 0.0], [0.0, 1.0]] * 3, [[1, 0], [0, 1]] * 3
    >>> run = ml.progressive(learner, X, Y, costs=("hamming", "f1"))
    >>> run.mean["f1"].__round__(3), run.rows
    (0.333, array([1, 2, 3, 4, 5, 6]))
    >>> run.curve["f1"].round(2)
    array([1.  , 1.  , 0.67, 0.5 , 0.4 , 0.33])
    """

    costs: tuple[str, ...]
    rows: Ints
    running: Floats
    recent: Floats
    seconds: float

    @classmethod
    def together(cls, runs: "Sequence[Run]") -> "Run":
        """Return runs of one stream in several orders as one."""
        return cls(
            runs[0].costs,
            runs[0].rows,
            np.concatenate([run.running for run in runs]),
            np.concatenate([run.recent for run in runs]),
            sum(run.seconds for run in runs),
        )

    @property
    def n_rows(self) -> int:
        """Number of rows of the stream."""
        return int(self.rows[-1])

    @property
    def n_permutations(self) -> int:
        """Number of orders in which the stream was run."""
        return len(self.running)

    @property
    def rows_per_second(self) -> float:
        """Rows predicted and learnt in a second."""
        return self.n_permutations * self.n_rows / self.seconds

    @property
    def mean(self) -> dict[str, float]:
        """The mean over all rows of each cost."""
        return {name: float(curve[-1]) for name, curve in self.curve.items()}

    @property
    def stderr(self) -> dict[str, float]:
        """The standard error of each mean over the orders; NaN if there was one."""
        return {name: float(errors[-1]) for name, errors in self.curve_stderr.items()}

    @property
    def curve(self) -> dict[str, Floats]:
        """The mean of each cost over all rows up to each of ``rows``."""
        return self._by_cost(self.running, _mean)

    @property
    def curve_stderr(self) -> dict[str, Floats]:
        """The standard errors of ``curve`` over the orders; NaN if there was one."""
        return self._by_cost(self.running, _standard_error)

    @property
    def windowed(self) -> dict[str, Floats]:
        """The mean of each cost over the last ``window`` rows up to each of ``rows``.

        Near the start, where there are fewer, over as many as there are.
        """
        return self._by_cost(self.recent, _mean)

    def plot(self, path: str | os.PathLike[str], title: str = "") -> None:
        """Draw the curve of each cost, with its windowed mean behind it.

        Parameters
        ----------
        path : str or path-like
            The file to write: .png, .pdf or .svg.
        title : str, default=""
            What stands above the curves.
        """
        plot_costs(self, path, title)

    def __repr__(self) -> str:
        orders = f" in {self.n_permutations} orders" if self.n_permutations > 1 else ""
        speed = f"{self.rows_per_second:,.0f} rows/s"
        errors = self.stderr
        lines = [f"Run({self.n_rows:,} rows{orders}, {speed})"]
        for name, mean in self.mean.items():
            error = "" if np.isnan(errors[name]) else f" ± {errors[name]:.4f}"
            lines.append(f"{name:10}{mean:.4f}{error}")
        return "\n".join(lines)

    def _by_cost(
        self, curves: Floats, summary: Callable[[Floats], Floats]
    ) -> dict[str, Floats]:
        return {name: summary(curves[:, :, j]) for j, name in enumerate(self.costs)}


def _mean(curves: Floats) -> Floats:
    mean: Floats = curves.mean(axis=0)
    return mean


def _standard_error(curves: Floats) -> Floats:
    n = len(curves)
    if n == 1:
        return np.full(curves.shape[1], np.nan)
    error: Floats = curves.std(axis=0, ddof=1) / sqrt(n)
    return error

"""The law of Jain et al.: rare labels are forgotten most."""

from collections.abc import Iterable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from manylabel._typing import Array, Floats
from manylabel.propensity._shrinkage import Line

# Data sets of the Extreme Classification Repository and the (a, b) used for each.
PRESETS = {
    "Bibtex": (0.55, 1.5),
    "Delicious": (0.55, 1.5),
    "Mediamill": (0.55, 1.5),
    "EURLex-4K": (0.55, 1.5),
    "Wiki10-31K": (0.55, 1.5),
    "AmazonCat-13K": (0.55, 1.5),
    "Delicious-200K": (0.55, 1.5),
    "WikiLSHTC-325K": (0.5, 0.4),
    "Wikipedia-500K": (0.5, 0.4),
    "Amazon-670K": (0.6, 2.6),
    "Amazon-3M": (0.6, 2.6),
}
LEAST = float(np.finfo(np.float64).tiny)  # above 0
IMPOSSIBLE = 1e-6  # the chance of what contradicts a propensity
FEWEST_MISSING = 1e-3  # of the law's factor: of a few rows it says that none is


def find_preset(name: str) -> tuple[float, float]:
    """Return the constants of a known data set, or raise ValueError."""
    known = {_plain(key): pair for key, pair in PRESETS.items()}
    if _plain(name) not in known:
        raise ValueError(
            f"name must be one of {', '.join(PRESETS)}; for other data use "
            f"Propensity(). Got {name!r}."
        )
    return known[_plain(name)]


def recorded_law(n_recorded: ArrayLike, n_rows: int, a: float, b: float) -> Floats:
    """Return the propensities of labels that were recorded so often in so many rows.

    Examples
    --------
    >>> recorded_law([9, 1], 10, 0.55, 1.5).round(2)
    array([0.63, 0.43])
    """
    c = _law_factor(n_rows, a, b)
    return np.asarray(1 / (1 + c * (np.asarray(n_recorded) + b) ** -a))


def _law_factor(n_rows: int, a: float, b: float) -> float:
    return float(max(np.log(max(n_rows, 1)) - 1, 0.0) * (b + 1) ** a)


def as_line(n_rows: int, a: float, b: float) -> Line:
    """Return the law as log odds by ``log(N_l + b)``."""
    return Line(-float(np.log(max(_law_factor(n_rows, a, b), FEWEST_MISSING))), a)


def find_least(n_recorded: ArrayLike, n_rows: int) -> Floats:
    """Return the least propensities under which so many labels could be recorded.

    Were a label true in all rows, it would be recorded in a binomial number of them;
    for what is less than returned here, so many have a chance of one in a million.

    Examples
    --------
    >>> find_least([0, 5, 50, 100], 100).round(2)
    array([0.  , 0.  , 0.27, 0.87])
    """
    counts = np.asarray(n_recorded, np.float64)
    seen = np.maximum(counts, 1)
    bound = scipy.special.betaincinv(seen, n_rows - seen + 1, IMPOSSIBLE)
    return np.maximum(np.where(counts > 0, bound, 0), LEAST)


def check_possible(values: Floats, n_recorded: Array, n_rows: int) -> None:
    """Refuse propensities under which so many labels could not be recorded.

    Examples
    --------
    >>> check_possible(np.array([0.9, 0.1]), np.array([50, 50]), 100)
    Traceback (most recent call last):
    ...
    ValueError: propensity must allow what is recorded: label 1 is ...
    """
    wrong = np.flatnonzero(values < find_least(n_recorded, n_rows))
    if len(wrong):
        label = int(wrong[0])
        raise ValueError(
            f"propensity must allow what is recorded: label {label} is recorded in "
            f"{int(n_recorded[label])} of {n_rows} rows, which {values[label]:.3g} "
            "does not."
        )


def _plain(name: str) -> str:
    letters: Iterable[str] = (c for c in str(name).casefold() if c.isalnum())
    return "".join(letters)

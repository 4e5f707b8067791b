"""How long a fit will take on this machine, told from fits to a few of the rows."""

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from manylabel import parallel
from manylabel._kernels import compilation
from manylabel._typing import Ints
from manylabel.model_selection.holdout import sampling

FIRST = 250  # rows of the first sample; each further one has twice as many
LARGEST = 4  # a sample has at most one row in so many
# Seconds that a sample must take to tell enough: a share of those of the fit.
LEAST, SHARE, MOST = 0.5, 0.03, 3.0
N_TRIES = 3  # fits to one sample, until none compiles a kernel
LONGEST = 4.0  # seconds, after which a sample is cut short
# Time is a constant and a part that grows as this power of the rows, as measured on
# texts: 1.25 for a blend, 1.2 where each new row has new words, 0.9 where most labels
# are rare.
POWER = 1.2
ADDED = (0.2, 0.6)  # what half of the rows may add to the time, against a hiccup


class _Enough(Exception):
    """A sample has taken long enough."""


class _Watch:
    """Notes what a fit compiles and when which share is done; stops one that is long.

    Shares are guesses, which the fit to a smaller sample, ``before``, has put right.
    """

    def __init__(self, before: "_Watch | None") -> None:
        self.start, self.before = time.perf_counter(), before
        self.shares, self.times = [0.0], [0.0]
        self.n_compiled = 0

    def note_kernel(self) -> None:
        self.n_compiled += 1

    def __call__(self, stage: str, done: float) -> None:
        self.note(done)
        if done and self.seconds > LONGEST:
            raise _Enough

    def note(self, done: float) -> None:
        self.shares.append(done)
        self.times.append(time.perf_counter() - self.start)

    def finish(self) -> None:
        """Note when all would have been done."""
        share = self.shares[-1]
        if self.before is not None:
            share = self.before.share_of_time(share) or share
        self.times.append(self.seconds / share)
        self.shares.append(1.0)

    def share_of_time(self, done: float) -> float:
        return float(np.interp(done, self.shares, self.times)) / self.seconds

    @property
    def seconds(self) -> float:
        return self.times[-1]


def estimate_seconds(
    fit: Callable[[Ints], Any],
    n_rows: int,
    n_features: int | None = None,
    *,
    random_state: int = 0,
) -> float | None:
    """Return about how long a fit takes, in seconds.

    Samples of growing size are fitted, two or more, for a second or two in all. Rows of
    them are held out as those of all rows would be. One of a slow learner is cut short,
    and told from the share that its stages have done
    (:func:`manylabel.parallel.stage`).

    Parameters
    ----------
    fit : callable
        Fits to the rows of such numbers.
    n_rows : int
        Rows of the data.
    n_features : int or None, default=None
        Features of the data; None for texts, whose words are not counted yet.
    random_state : int, default=0
        Seeds the samples.

    Returns
    -------
    float or None
        None if there are too few rows, or a sample cannot be learnt from.

    Examples
    --------
    >>> from time import sleep
    >>> seconds = estimate_seconds(lambda rows: sleep(len(rows) / 1000), 4_000)
    >>> 2 < seconds < 8
    True
    """
    order = np.random.default_rng(random_state).permutation(n_rows)
    most, seconds = n_rows // LARGEST, list[float]()
    n, watch = min(FIRST, most), None
    with (
        suppress(ValueError),
        sampling(n_rows, n_features),
    ):  # texts may have no word in common
        if n:
            _time(fit, order[: -(-n // LARGEST)])  # the first does not count
        while n:
            watch = _time(fit, order[:n], watch)
            seconds.append(watch.seconds)
            total = _extrapolate(seconds, n_rows / n)
            if 2 * n > most or _is_enough(seconds, total):
                return total
            n *= 2
    return None


def _time(
    fit: Callable[[Ints], Any], rows: Ints, before: _Watch | None = None
) -> _Watch:
    """Return when the fit to a sample was how far, told early if it takes long.

    A fit that has compiled kernels tells nothing, and is made again.
    """
    for _ in range(N_TRIES):
        watch = _Watch(before)
        _follow(fit, np.sort(rows), watch)
        if not watch.n_compiled:
            break
    return watch


def _follow(fit: Callable[[Ints], Any], rows: Ints, watch: _Watch) -> None:
    """Watch a fit to its end, or until it takes long."""
    compilation.watchers.append(watch.note_kernel)
    try:
        with warnings.catch_warnings(), parallel.watched(watch):
            warnings.simplefilter("ignore")  # the fit to all rows will warn
            fit(rows)
            watch.note(1.0)
    except _Enough:
        watch.finish()
    finally:
        compilation.watchers.remove(watch.note_kernel)


def _is_enough(seconds: list[float], total: float) -> bool:
    """Tell whether samples took long enough to tell, and the last longer than before.

    One that took hardly longer, or on a busy machine less, shows no growth.
    """
    last, grows = seconds[-1], len(seconds) > 1
    if grows and last < MOST:
        grows = last - seconds[-2] > ADDED[0] * last
    return grows and last > min(max(LEAST, SHARE * total), MOST)


def _extrapolate(seconds: list[float], times: float) -> float:
    """Return the seconds of so many times the rows of the last sample."""
    last = seconds[-1]
    if len(seconds) == 1:
        return float(last * times**POWER)
    added = np.clip(last - seconds[-2], ADDED[0] * last, ADDED[1] * last)
    return float(last + added * (times**POWER - 1) / (1 - 2**-POWER))

"""Stepwise hyperparameter search: the cost and the budget of decisions."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from manylabel._typing import Floats


class Setting(NamedTuple):
    """How decisions are learnt."""

    C: float = 1.0
    budget: int = 20


Losses = Callable[[Setting], Floats]  # of each row held out
PLAIN = Setting()  # where rows are too few to choose by
LARGE = 100  # the other budget; with five planes, 500 features
STEP = 4.0  # factor of C
MOST_STEPS = 3  # of C, in one direction


def choose(
    start: Setting,
    losses: Losses,
    *,
    any_cost: bool,
    any_budget: bool,
) -> Setting:
    """Return a setting of small loss, not far from where the search starts.

    ``losses`` are those of the rows held out. First the budget is changed, then C, by
    the same factor until a step gains nothing. A gain has to be larger than its
    standard error over the rows: of few rows, and where little depends on it, the
    start is chosen. So two to six settings are tried.
    """
    search = _Search(start, losses)
    if any_budget:
        search.improves(start._replace(budget=LARGE))
    for factor in (STEP, 1 / STEP) if any_cost else ():
        n_steps = 0
        while n_steps < MOST_STEPS and search.improves(
            search.best._replace(C=search.best.C * factor)
        ):
            n_steps += 1
        if n_steps:
            break
    return search.best


class _Search:
    """The best setting so far."""

    def __init__(self, start: Setting, losses: Losses) -> None:
        self.losses, self.best, self.least = losses, start, losses(start)

    def improves(self, setting: Setting) -> bool:
        """Return whether a setting is better, and keep it if it is."""
        found = self.losses(setting)
        gain = self.least - found
        if gain.mean() <= gain.std() / np.sqrt(len(gain)):
            return False
        self.best, self.least = setting, found
        return True

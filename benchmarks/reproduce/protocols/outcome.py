"""What a run found."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """The figures of a run.

    Parameters
    ----------
    values : dict of str to float
        Figures by metric.
    curves : dict of str to list of float
        What a figure draws, where it draws more than one value.
    """

    values: dict[str, float]
    curves: dict[str, list[float]] = field(default_factory=dict)


def timed(task: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a task and the CPU seconds it took."""
    start = time.process_time()
    result = task()
    return result, time.process_time() - start

"""What the runs say: the best learner of a kind of data, and the quickest near it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.learners.programme import Learner
from benchmarks.ledger import Record

NEAR = 1.0  # points below the best that a quicker learner may be
JUDGED = {
    "P@1": "the first label",
    "PSP@5": "rare labels among five",
    "F1": "sets of labels",
}


@dataclass(frozen=True)
class Choice:
    """A learner of a kind of data, by one measure.

    Parameters
    ----------
    learner : str
        The learner.
    quality : float
        Its mean over the sets, in percent.
    seconds : float
        CPU seconds of training, their mean.
    """

    learner: str
    quality: float
    seconds: float


def by_set(lines: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the lines of each set."""
    found: dict[str, list[Record]] = {}
    for line in lines:
        found.setdefault(line["data"], []).append(line)
    return found


def complete(
    lines: Mapping[str, Sequence[Record]], learners: Iterable[Learner]
) -> list[str]:
    """Return the sets on which all their learners were run, whatever became of them."""
    wanted = list(learners)
    return [
        data
        for data, group in lines.items()
        if {each.name for each in wanted if each.is_run_on(data)}
        <= {line["learner"] for line in group}
    ]


def choices(
    lines: Mapping[str, Sequence[Record]], sets: Iterable[str], metric: str
) -> list[Choice]:
    """Return the learners that have figures on all sets that were run, best first."""
    groups = [lines[data] for data in sets if data in lines]
    groups = [group for group in groups if any("values" in each for each in group)]
    done = [{e["learner"]: e["values"] for e in g if "values" in e} for g in groups]
    common = set.intersection(*map(set, done)) if done else set()
    found = [
        Choice(
            learner,
            float(np.mean([values[learner][metric] for values in done])),
            float(np.mean([values[learner]["fit_seconds"] for values in done])),
        )
        for learner in sorted(common)
    ]
    return sorted(found, key=lambda choice: -choice.quality)


def quickest(found: Sequence[Choice]) -> Choice:
    """Return the quickest learner that is nearly as good as the best, which is first.

    Examples
    --------
    >>> slow, near, poor = Choice("a", 70, 9), Choice("b", 69.5, 3), Choice("c", 60, 1)
    >>> quickest([slow, near, poor]).learner
    'b'
    """
    near = [choice for choice in found if choice.quality >= found[0].quality - NEAR]
    return min(near, key=lambda choice: choice.seconds)

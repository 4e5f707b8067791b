"""How learners are run and judged: a function for each way, by name.

Each takes a trial and its data set and returns an Outcome.
"""

from collections.abc import Callable

from benchmarks.reproduce.protocols.binary import binary
from benchmarks.reproduce.protocols.folds import folds
from benchmarks.reproduce.protocols.outcome import Outcome
from benchmarks.reproduce.protocols.sets import sets
from benchmarks.reproduce.protocols.split import split
from benchmarks.reproduce.protocols.stream import stream
from benchmarks.reproduce.trial import Trial
from benchmarks.source import Source

PROTOCOLS: dict[str, Callable[[Trial, Source], Outcome]] = {
    "binary": binary,
    "folds": folds,
    "sets": sets,
    "split": split,
    "stream": stream,
}

__all__ = ["PROTOCOLS", "Outcome"]

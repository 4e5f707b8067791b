"""How learners are run and judged: a function for each way, by name.

Each takes a trial and its data set and returns an Outcome.
"""

from collections.abc import Callable

from manylabel.experiments.protocols.binary import binary
from manylabel.experiments.protocols.folds import folds
from manylabel.experiments.protocols.outcome import Outcome
from manylabel.experiments.protocols.split import split
from manylabel.experiments.protocols.stream import stream
from manylabel.experiments.source import Source
from manylabel.experiments.trial import Trial

PROTOCOLS: dict[str, Callable[[Trial, Source], Outcome]] = {
    "binary": binary,
    "folds": folds,
    "split": split,
    "stream": stream,
}

__all__ = ["PROTOCOLS", "Outcome"]

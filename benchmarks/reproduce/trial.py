"""One run of one learner on one data set with one seed."""

import inspect
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from sklearn.svm import LinearSVC

import manylabel as ml
from benchmarks.ledger import Record, digest


def learner_class(name: str) -> Any:
    """Return a class of this library, or the one of scikit-learn that papers name."""
    return LinearSVC if name == "LinearSVC" else getattr(ml, name)


@dataclass(frozen=True)
class Trial:
    """What decides the outcome of a run.

    Parameters
    ----------
    protocol : str
        How the learner is run and judged; a name of :mod:`protocols`.
    data : str
        The data set.
    learner : str
        The class of the learner.
    parameters : mapping
        Its parameters.
    choices : tuple of mappings
        Parameters to choose from on training rows.
    settings : mapping
        Arguments of the protocol.
    metrics : tuple of str
        What the run is judged by.
    seed : int
        Seed of all that is random.
    """

    protocol: str
    data: str
    learner: str
    parameters: Mapping[str, Any]
    choices: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any]
    metrics: tuple[str, ...]
    seed: int

    @cached_property
    def key(self) -> str:
        """What tells a finished run from others; its line says which commit ran it."""
        return digest(self.about)

    @property
    def group(self) -> str:
        """Itself: whatever fails, the others are run."""
        return self.key

    @property
    def about(self) -> Record:
        """All that decides its outcome."""
        return asdict(self)

    def make(self, **more: Any) -> Any:
        """Return the learner, with ``more`` parameters, and seeded if it can be."""
        kind = learner_class(self.learner)
        parameters = {**self.parameters, **more}
        if "random_state" in inspect.signature(kind).parameters:
            parameters = {"random_state": self.seed} | parameters
        return kind(**parameters)

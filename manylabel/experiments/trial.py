"""One run of one learner on one data set with one seed."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from sklearn.svm import LinearSVC

import manylabel
from manylabel._version import __version__

FOREIGN = {"LinearSVC": LinearSVC}


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
        """What tells a finished run from others: the same in the same version."""
        text = json.dumps(asdict(self) | {"version": __version__}, sort_keys=True)
        return sha256(text.encode()).hexdigest()[:16]

    def make(self, **more: Any) -> Any:
        """Return the learner, with ``more`` parameters, and seeded if it can be."""
        kind = class_of(self.learner)
        parameters = {**self.parameters, **more}
        if "random_state" in inspect.signature(kind).parameters:
            parameters = {"random_state": self.seed} | parameters
        return kind(**parameters)


def class_of(name: str) -> Any:
    """Return a class of this library, or one of another's that papers compare with."""
    return FOREIGN[name] if name in FOREIGN else getattr(manylabel, name)

"""One run of one learner on one data set with one seed."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from sklearn.svm import LinearSVC

from manylabel import baselines, blend, budget, online, trees
from manylabel._version import __version__

# Those of this library, and one that papers compare with.
CLASSES: dict[str, Any] = {
    name: getattr(home, name)
    for home in (baselines, blend, budget, online, trees)
    for name in home.__all__
} | {"LinearSVC": LinearSVC}


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
        kind = CLASSES[self.learner]
        parameters = {**self.parameters, **more}
        if "random_state" in inspect.signature(kind).parameters:
            parameters = {"random_state": self.seed} | parameters
        return kind(**parameters)

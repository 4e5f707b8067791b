"""What is run: the learners of the library, and the sets of ``learners.toml``."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import manylabel as ml
from benchmarks import toml_files
from benchmarks.ledger import Record, digest
from manylabel.base import MultiLabelClassifier

HOME = Path(__file__).parent
STREAM_SEED = 0  # files may be sorted, by which who learns in one pass is misjudged
TOP: dict[str, Any] = {
    "minutes": ...,
    "gigabytes": ...,
    "scaled": [],
    "quick": ...,
    "wide_features": ...,
    "wide": {},
    "smaller": {},
    "kinds": ...,
    "variants": [],
    "left_out": {},
}
KIND: dict[str, Any] = {"name": ..., "sets": ...}
VARIANT: dict[str, Any] = {
    "name": ...,
    "class": ...,
    "parameters": ...,
    "sets": None,
}


@dataclass(frozen=True)
class Learner:
    """A learner as it is to be run.

    Parameters
    ----------
    name : str
        What the tables call it.
    kind : str
        Its class.
    parameters : mapping
        Its parameters, where they are not the defaults.
    wide : mapping
        More of them, where there are many features.
    sets : tuple of str or None, default=None
        The sets that it is run on; None for all.
    """

    name: str
    kind: str
    parameters: Mapping[str, Any]
    wide: Mapping[str, Any]
    sets: tuple[str, ...] | None = None

    @property
    def order(self) -> int | None:
        """The seed of the order in which it reads rows; None for that of the file."""
        return STREAM_SEED if hasattr(getattr(ml, self.kind), "partial_fit") else None

    @property
    def family(self) -> str:
        """The engine that it belongs to."""
        module: str = getattr(ml, self.kind).__module__
        return module.split(".")[1]

    def is_run_on(self, data: str) -> bool:
        """Tell whether it is run on a set."""
        return self.sets is None or data in self.sets


@dataclass(frozen=True)
class Programme:
    """What a file says of the learners and the sets.

    Parameters
    ----------
    kinds : mapping of str to tuple of str
        The sets, by kind of data.
    quick : tuple of str
        The sets of a hurry.
    scaled : tuple of str
        The sets whose features are brought to [0, 1].
    learners : tuple of Learner
        The learners.
    wide_features : int
        From how many features on a set is wide.
    smaller : mapping of str to tuple of str
        Sets that are smaller than a set: who is too slow for one is not tried on it.
    minutes, gigabytes : float
        What a run may take.
    left_out : mapping of str to str
        Learners that are not run, and why.
    """

    kinds: Mapping[str, tuple[str, ...]]
    quick: tuple[str, ...]
    scaled: tuple[str, ...]
    learners: tuple[Learner, ...]
    wide_features: int
    smaller: Mapping[str, tuple[str, ...]]
    minutes: float
    gigabytes: float
    left_out: Mapping[str, str]

    @cached_property
    def sets(self) -> tuple[str, ...]:
        """All sets."""
        return tuple(name for names in self.kinds.values() for name in names)


@dataclass(frozen=True)
class Run:
    """One learner on one set.

    Parameters
    ----------
    data : str
        The set.
    stamp : str
        What tells its rows from others of that name.
    learner : str
        The name of the learner.
    kind : str
        Its class.
    parameters : mapping
        Its parameters.
    order : int or None, default=None
        The seed of the order of the training rows; None for that of the file.
    """

    data: str
    stamp: str
    learner: str
    kind: str
    parameters: Mapping[str, Any]
    order: int | None = None

    @property
    def key(self) -> str:
        """What tells a finished run from others; its line says which commit ran it."""
        settings = [self.kind, dict(self.parameters)]
        drawn = [] if self.order is None else [self.order]
        return f"learners {digest(self.data, self.stamp, settings, *drawn)}"

    @property
    def group(self) -> str:
        """Itself: whatever fails, the others are run."""
        return self.key

    @property
    def about(self) -> Record:
        """What its line says of it."""
        return {
            "data": self.data,
            "learner": self.learner,
            "class": self.kind,
            "parameters": dict(self.parameters),
            "order": self.order,
        }


def read_programme(path: Path = HOME / "learners.toml") -> Programme:
    """Return what a file says, with all learners of the library."""
    given = toml_files.take(path, toml_files.read(path), TOP)
    kinds = [toml_files.take(path, each, KIND) for each in given["kinds"]]
    variants = [toml_files.take(path, each, VARIANT) for each in given["variants"]]
    plain = [name for name in find_learners() if name not in given["left_out"]]
    wide = given["wide"]
    return Programme(
        kinds={kind["name"]: tuple(kind["sets"]) for kind in kinds},
        quick=tuple(given["quick"]),
        scaled=tuple(given["scaled"]),
        learners=(
            *(Learner(name, name, {}, wide.get(name, {})) for name in plain),
            *(_variant(each, wide) for each in variants),
        ),
        wide_features=given["wide_features"],
        smaller={name: tuple(sets) for name, sets in given["smaller"].items()},
        minutes=given["minutes"],
        gigabytes=given["gigabytes"],
        left_out=given["left_out"],
    )


def _variant(given: Record, wide: Mapping[str, Any]) -> Learner:
    kind, sets = given["class"], given["sets"]
    return Learner(
        *(given["name"], kind, given["parameters"], wide.get(kind, {})),
        sets=None if sets is None else tuple(sets),
    )


def find_learners() -> list[str]:
    """Return the names of the public classes that learn several labels, by engine.

    Examples
    --------
    >>> {"FastXML", "OneVsRest"} <= set(find_learners())
    True
    """
    found = {
        name: kind
        for name in dir(ml)
        if inspect.isclass(kind := getattr(ml, name))
        and issubclass(kind, MultiLabelClassifier)
    }
    return sorted(found, key=lambda name: (found[name].__module__.split(".")[1], name))

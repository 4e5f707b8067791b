"""Fits that can be divided: parts that are learnt apart and joined into the same bits.

A learner that can do so has ``_divide(X, Y, prepared=None)``, which begins a fit and
returns its :class:`Division`. Clusters, say, are ``prepared`` once and then given to
who learns a part.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Protocol

from manylabel._typing import Floats


class Division(Protocol):
    """A fit that has begun, of units that do not depend on each other.

    A unit is a tree, or the classifier of a label or of a cluster. Units stand in
    stages, such as those that learn all rows and those that leave a validation set out.
    """

    RECORD: ClassVar[type]  # of what units have learnt, a NamedTuple of arrays
    learner: Any  # that is being fitted
    prepared: Any  # a NamedTuple of arrays, or None
    stages: Mapping[str, Floats]  # about what each unit of a stage costs

    def fit(self, stage: str, units: range) -> Any:
        """Return what some units of a stage learn, as a record."""

    def join(self, found: Mapping[str, Iterable[Any]]) -> None:
        """End the fit of the learner by the records of all units, in order.

        They may be read one at a time, and be gone when the next is asked for.
        """

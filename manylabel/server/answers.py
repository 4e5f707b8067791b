"""What a model of the service answers."""

from typing import Any, NamedTuple

from manylabel.server.models import Tagged


class Predictions(NamedTuple):
    """The labels of items, by which version, and the ids to refer to them."""

    version: str
    applied: int
    ids: list[str]
    labels: list[Tagged]


class VersionInfo(NamedTuple):
    """A version of a model: the log up to which number it contains, and its costs.

    A shadow has the costs since the event ``scored_since``, and beside them those of
    what was ``served`` then.
    """

    version: str
    contains: int
    at: str
    who: str
    about: str
    is_active: bool
    is_there: bool
    costs: dict[str, Any] | None
    scored_since: int | None
    served: dict[str, Any] | None

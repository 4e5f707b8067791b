"""What can go wrong in the service; nothing here knows of HTTP.

::

    ServiceError (a ManylabelError)
    ├── UnknownModel, UnknownVersion, UnknownPrediction, UnknownSequence, UnknownJob
    ├── BadItem (also a ValueError)   an item or a label that a model cannot take
    ├── KeyReused                     one key for two different requests
    ├── Busy                          too much waits already; try again
    ├── NotReady                      the model is still being loaded
    ├── NoData                        nothing to retrain from
    └── LogError                      the log cannot be read or written now
        └── LogDamaged                the log is not what was written
"""

from manylabel._escapes import escape_line
from manylabel.exceptions import ManylabelError


class ServiceError(ManylabelError):
    """The root of the service's errors; the message is one sentence."""

    def __str__(self) -> str:
        return escape_line(super().__str__())


class UnknownModel(ServiceError):
    """No model has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no model {name!r:.80}; /v1/models lists all.")


class UnknownVersion(ServiceError):
    """A model has no such version, or its folder is gone."""

    def __init__(self, model: str, version: str, why: str = "") -> None:
        what = f"Model {model!r:.80} has no version {version!r:.40}"
        super().__init__(f"{what}{': ' + why if why else ''}.")


class UnknownPrediction(ServiceError):
    """No prediction of this id is remembered."""

    def __init__(self, prediction_id: str) -> None:
        super().__init__(
            f"No prediction {prediction_id!r:.80} is remembered; send the item instead."
        )


class UnknownSequence(ServiceError):
    """A sequence number names no event that could be meant."""

    def __init__(self, sequence: int, rule: str) -> None:
        super().__init__(f"sequence must be {rule}. Got {sequence}.")


class UnknownJob(ServiceError):
    """No job has this id."""

    def __init__(self, job: str) -> None:
        super().__init__(f"There is no job {job!r:.80}.")


class BadItem(ServiceError, ValueError):
    """An item or a label that the model cannot take."""


class KeyReused(ServiceError):
    """The same key came with another request."""

    def __init__(self, model: str, kind: str, key: str) -> None:
        super().__init__(f"The key {key!r:.80} was used for another request.")
        self.place = (model, kind, key)


class Busy(ServiceError):
    """More waits than may wait; nothing was recorded, so try again."""


class NotReady(ServiceError):
    """The model has not been loaded yet."""


class NoData(ServiceError):
    """There is nothing to retrain from."""


class LogError(ServiceError):
    """The log cannot be read or written now; what was acknowledged is in it."""


class LogDamaged(LogError):
    """The log does not hold what was written to it."""

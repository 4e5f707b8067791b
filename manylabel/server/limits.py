"""How much a request may ask for, so that one client cannot take all there is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manylabel.server.errors import ServiceError

MB = 1 << 20


class TwoHosts(ServiceError):
    """A head names the host more than once, so one may not be the one that counts."""


class BodyTooLarge(ServiceError):
    """A body has more bytes than may be sent."""


class BodyTooSlow(ServiceError):
    """A body did not come in time."""


class BodyBrokenOff(ServiceError):
    """A client went away before its body had come."""


class EncodedBody(ServiceError):
    """A body is compressed, so its size could not be told before it is read."""


class NotJson(ServiceError):
    """A body is not said to be JSON, or is not."""


class NotTar(ServiceError):
    """A model is sent that is not said to be a tar archive."""


class Invalid(ServiceError):
    """A request does not fit its schema.

    Parameters
    ----------
    faults : sequence of dict
        With ``loc`` and ``msg``, as pydantic lists them.
    """

    def __init__(self, faults: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("The request does not fit its schema.")
        self.faults = faults


class TookTooLong(ServiceError):
    """An answer was not ready in time."""


class TooManyRequests(ServiceError):
    """One client has more requests in flight than its share."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits of a server; those of items and labels are in ``schemas``.

    Parameters
    ----------
    body_bytes : int, default=16 MB
        The longest body.
    upload_bytes : int, default=2 GB
        The longest model that may be uploaded.
    body_seconds : float, default=20
        In which a body must have come, but for an upload.
    request_seconds : float, default=60
        In which a request must be answered, but for an upload and for events.
    header_bytes : int, default=64 kB
        The longest head of a request.
    header_seconds : float, default=10
        In which the head must have come.
    in_flight : int, default=256
        Requests that a worker answers at a time.
    in_flight_of_one : int, default=128
        Of these, those of one token, or of one address where there is no token.
    streams : int, default=64
        Streams of events that a worker keeps open.
    connections : int, default=2000
        That a worker keeps open.

    Examples
    --------
    >>> Limits().in_flight
    256
    """

    body_bytes: int = 16 * MB
    upload_bytes: int = 2048 * MB
    body_seconds: float = 20.0
    request_seconds: float = 60.0
    header_bytes: int = 1 << 16
    header_seconds: float = 10.0
    in_flight: int = 256
    in_flight_of_one: int = 128
    streams: int = 64
    connections: int = 2000

    def bytes_of(self, method: str) -> int:
        """Return how long the body of a request may be: only models are put."""
        return self.upload_bytes if method == "PUT" else self.body_bytes

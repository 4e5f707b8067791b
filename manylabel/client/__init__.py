"""A client of the service, on the standard library alone: it starts at once."""

from manylabel.client._client import Client
from manylabel.client._concurrent import AsyncClient
from manylabel.client._records import Prediction, Predictions, Reason, RequestFailed

__all__ = [
    "AsyncClient",
    "Client",
    "Prediction",
    "Predictions",
    "Reason",
    "RequestFailed",
]

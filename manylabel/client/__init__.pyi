from ._client import Client as Client
from ._concurrent import AsyncClient as AsyncClient
from ._records import Prediction as Prediction
from ._records import Predictions as Predictions
from ._records import Reason as Reason
from ._records import RequestFailed as RequestFailed

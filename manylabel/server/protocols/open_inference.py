"""The Open Inference Protocol V2 (KServe, Triton, MLServer): texts in, labels out.

The input ``text`` has the datatype BYTES. The outputs are ``labels`` (BYTES) and
``scores`` (FP64), a row a text, the best label first.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from manylabel._version import __version__
from manylabel.exceptions import ManylabelError
from manylabel.server.api import JSON, Model, Routes, parse
from manylabel.server.errors import BadItem, UnknownVersion
from manylabel.server.problems import Problem, tell, tell_faults
from manylabel.server.protocols.bodies import STATUSES, answer, describe_body
from manylabel.server.protocols.tensors import BYTES, InferBody, read_texts, split
from manylabel.server.replica import Replica
from manylabel.server.security import Guard
from manylabel.server.service import Service
from manylabel.server.threads import run_large

LENGTH = "inference-header-content-length"
LABELS, SCORES = "labels", "scores"
TYPES = {LABELS: BYTES, SCORES: "FP64"}
BAD_REQUEST, UNPROCESSABLE = 400, 422
REFUSAL: dict[str, Any] = {
    "description": "Error",
    "content": {
        JSON: {
            "schema": {
                "type": "object",
                "properties": {"error": {"type": "string"}},
                "required": ["error"],
            }
        }
    },
}
Answerer = Callable[[Request], Coroutine[Any, Any, Response]]


class ErrorRoute(APIRoute):
    """A route whose errors have the form of the protocol: one sentence as ``error``."""

    def get_route_handler(self) -> Answerer:
        """Return what answers a request."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                return _refuse(tell_faults(error.errors()))
            except ManylabelError as error:
                return _refuse(tell(error))

        return guarded


def show_model(replica: Replica) -> dict[str, Any]:
    """Return what the protocol says of a model: what it takes and gives."""
    return {
        "name": replica.name,
        "versions": [replica.version],
        "platform": "manylabel",
        "inputs": [{"name": "text", "datatype": BYTES, "shape": [-1]}],
        "outputs": [
            {"name": name, "datatype": kind, "shape": [-1, -1]}
            for name, kind in TYPES.items()
        ],
    }


def infer(replica: Replica, asked: InferBody, binary: bytes = b"") -> dict[str, Any]:
    """Return labels and scores of texts as tensors.

    A text that has fewer labels than another is filled up with empty labels of score 0.
    """
    wanted = [output.name for output in asked.outputs] or list(TYPES)
    for name in wanted:
        if name not in TYPES:
            rule = f"one of {', '.join(TYPES)}"
            raise BadItem(f"The name of an output must be {rule}. Got {name!r:.60}.")
    texts = read_texts(asked.inputs[0], binary)
    found = replica.predict(
        [{"text": text} for text in texts],
        **asked.parameters.model_dump(),
        remember=False,
    )
    width = max(map(len, found.labels))
    rows = [row + [("", 0.0)] * (width - len(row)) for row in found.labels]
    columns = {
        LABELS: [name for row in rows for name, _ in row],
        SCORES: [score for row in rows for _, score in row],
    }
    shape = [len(texts), width]
    return {
        "model_name": replica.name,
        "model_version": found.version,
        **({} if asked.id is None else {"id": asked.id}),
        "outputs": [
            {"name": it, "shape": shape, "datatype": TYPES[it], "data": columns[it]}
            for it in wanted
        ],
    }


class OpenInference(Routes):
    """The routes of the protocol."""

    async def server(self) -> Response:
        """Tell what the server is."""
        facts = {"name": "manylabel", "version": __version__}
        return answer({**facts, "extensions": ["binary_tensor_data"]})

    async def live(self) -> Response:
        """Tell that the process answers."""
        return answer({"live": True})

    async def ready(self) -> Response:
        """Tell whether all models can be asked."""
        is_ready = bool(self.service.names()) and self.service.is_ready()
        return answer({"ready": is_ready}, 200 if is_ready else 503)

    async def model(
        self, request: Request, model: Model, version: str | None = None
    ) -> Response:
        """Tell what a model takes and gives."""
        return answer(show_model(self._replica(request, model, version)))

    async def model_ready(
        self, request: Request, model: Model, version: str | None = None
    ) -> Response:
        """Tell whether a model can be asked."""
        replica = self._replica(request, model, version)
        return answer({"name": replica.name, "ready": True})

    async def infer(
        self, request: Request, model: Model, version: str | None = None
    ) -> Response:
        """Return labels of texts."""
        replica = self._replica(request, model, version)
        text, binary = split(await request.body(), request.headers.get(LENGTH, ""))
        asked = parse(InferBody, text)
        return answer(await run_large(infer, replica, asked, binary))

    def _replica(self, request: Request, model: str, version: str | None) -> Replica:
        """Return a model that is ready; only the active version answers."""
        self.guard.admit(request, "read", model)
        replica = self.service.replica(model)
        if version not in (None, replica.version):
            raise UnknownVersion(model, str(version), "it is not the active one")
        return replica


def router(service: Service, guard: Guard) -> APIRouter:
    """Return the routes of the protocol, below ``/v2``."""
    inference = OpenInference(service, guard)
    routes = APIRouter(
        prefix="/v2",
        tags=["open inference"],
        route_class=ErrorRoute,
        responses={status: REFUSAL for status in STATUSES},
    )
    routes.add_api_route("", inference.server)
    routes.add_api_route("/health/live", inference.live)
    routes.add_api_route("/health/ready", inference.ready)
    for place in ("/models/{model}", "/models/{model}/versions/{version}"):
        routes.add_api_route(place, inference.model)
        routes.add_api_route(f"{place}/ready", inference.model_ready)
        routes.add_api_route(
            f"{place}/infer",
            inference.infer,
            methods=["POST"],
            openapi_extra=describe_body(InferBody),
        )
    return routes


def _refuse(problem: Problem) -> Response:
    """Return a problem in the form of the protocol, which knows no 422."""
    status = problem.kind.status
    status = BAD_REQUEST if status == UNPROCESSABLE else status
    refusal = answer({"error": problem.detail}, status)
    refusal.headers.update(dict(problem.kind.headers))
    return refusal

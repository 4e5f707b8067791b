"""The application: routes mapped to what answers them, errors to problem details."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from manylabel.exceptions import ManylabelError
from manylabel.server import figures, openapi, schemas, static
from manylabel.server.api import Tagging
from manylabel.server.gate import Gate
from manylabel.server.lifecycle import Life
from manylabel.server.limits import Invalid, Limits
from manylabel.server.metrics import TYPE, Metrics
from manylabel.server.operations import STREAM, TAR, Operations
from manylabel.server.problems import (
    EXAMPLES,
    MEDIA_TYPE,
    Kind,
    Problem,
    tell,
    tell_faults,
)
from manylabel.server.protocols import ROUTERS
from manylabel.server.security import Guard
from manylabel.server.service import Service
from manylabel.server.shortcut import Shortcut

SHARING = 1.0  # seconds between the times at which a worker tells its counts
MODEL = "/v1/models/{model}"
ALWAYS = (400, 401, 403, 404, 408, 413, 415, 422, 429, 503, 504)


class Route(NamedTuple):
    """A route below ``/v1``: the verb that answers it, and how."""

    method: str
    path: str
    verb: str
    answer: type[BaseModel] | None = None
    status: int = 200
    more: tuple[int, ...] = ()  # statuses beside those that all routes have
    body: dict[str, Any] | None = None


TAKES_PREDICT = openapi.take(schemas.PredictRequest)
TAKES_FEEDBACK = openapi.take(schemas.FeedbackRequest, several=True)
TAKES_TAR = {
    "requestBody": {
        "required": True,
        "content": {TAR: {"schema": {"type": "string", "format": "binary"}}},
    }
}
# What is asked most comes first: routes are looked through in this order.
TAGGING = (
    Route(
        "POST",
        f"{MODEL}/predict",
        "predict",
        schemas.PredictResponse,
        body=TAKES_PREDICT,
    ),
    Route(
        "POST",
        f"{MODEL}/feedback",
        "feedback",
        schemas.AcknowledgedFeedback,
        202,
        (200, 409),
        TAKES_FEEDBACK,
    ),
    Route(
        "DELETE", MODEL + "/feedback/{sequence}", "retract", schemas.Acknowledged, 202
    ),
    Route("GET", f"{MODEL}/feedback", "corrections", schemas.CorrectionsResponse),
    Route("POST", f"{MODEL}/explain", "explain", schemas.ExplainResponse),
    Route("GET", f"{MODEL}/labels", "labels", schemas.LabelsResponse),
    Route("GET", f"{MODEL}/queue", "queue", schemas.QueueResponse),
    Route("POST", f"{MODEL}/queue", "choose", schemas.QueueResponse),
    Route("GET", f"{MODEL}/figures", "figures", schemas.Facts),
    Route("GET", MODEL, "card", schemas.Facts),
    Route("GET", "/v1/models", "models", schemas.ModelsResponse),
)
OPERATIONS = (
    Route("GET", f"{MODEL}/versions", "versions", schemas.VersionsResponse),
    Route("POST", f"{MODEL}/activate", "activate", schemas.Acknowledged, 202),
    Route("POST", f"{MODEL}/shadow", "shadow", schemas.Acknowledged, 202),
    Route("POST", f"{MODEL}/rollback", "rollback", schemas.Acknowledged, 202),
    Route("POST", f"{MODEL}/retrain", "retrain", schemas.JobResponse, 202, (409,)),
    Route("GET", MODEL + "/jobs/{job}", "job", schemas.JobResponse),
    Route("GET", f"{MODEL}/events", "events"),
    Route("PUT", MODEL, "upload", None, 204, body=TAKES_TAR),
)


def create_app(
    service: Service,
    guard: Guard,
    *,
    folder: Path,
    limits: Limits | None = None,
    metrics: Metrics | None = None,
    life: Life | None = None,
) -> Gate:
    """Return the application that serves some models.

    Parameters
    ----------
    service : Service
        The models; started and stopped with the application.
    guard : Guard
        Who may do what.
    folder : Path
        Where models are, to which uploads are added.
    limits : Limits or None, default=None
        How much a request may ask for; None is ``Limits()``.
    metrics : Metrics or None, default=None
        Where requests are counted; None counts those of this process.
    life : Life or None, default=None
        How the service is started and stopped; None is ``Life(service)``.

    Returns
    -------
    Gate
        An ASGI application.
    """
    limits, metrics = limits or Limits(), metrics or Metrics()
    life = life or Life(service)
    app = FastAPI(
        title="Manylabel",
        docs_url=None,  # its pages would load scripts from elsewhere
        redoc_url=None,
        lifespan=lambda _: _living(life, metrics),
    )
    tagging = Tagging(service, guard)
    app.add_exception_handler(Exception, _answer_error)
    app.add_exception_handler(ManylabelError, _answer_error)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.openapi = partial(openapi.describe, app)  # type: ignore[method-assign]
    app.include_router(_routes(TAGGING, tagging))
    operations = Operations(service, guard, folder, limits, life)
    app.include_router(_routes(OPERATIONS, operations))
    for router in ROUTERS:
        app.include_router(router(service, guard))
    app.include_router(_watching(life, guard, metrics))
    app.include_router(_page())
    # Not as middleware: the framework's own layers would come before these.
    shortcut = Shortcut(app, tagging=tagging)
    return Gate(shortcut, guard=guard, limits=limits, metrics=metrics)


@asynccontextmanager
async def _living(life: Life, metrics: Metrics) -> AsyncIterator[None]:
    """Load the models while the server already says that it lives."""
    await life.start()
    telling = asyncio.create_task(_share(metrics))
    try:
        yield
    finally:
        telling.cancel()
        await life.stop()


async def _share(metrics: Metrics) -> None:
    while True:
        metrics.share()
        await asyncio.sleep(SHARING)


def _routes(table: Iterable[Route], verbs: Any) -> APIRouter:
    """Return the routes of a table, answered by the methods of an object."""
    tag = type(verbs).__name__.lower()
    router = APIRouter(tags=[tag], dependencies=[Depends(_check_query)])
    for route in table:
        responses = openapi.problems(*ALWAYS, *route.more)
        if 200 in route.more:  # noqa: PLR2004
            responses[200] = {"model": route.answer, "description": "As before"}
        if route.verb == "events":
            responses[200] = {"description": "A stream", "content": {STREAM: {}}}
        router.add_api_route(
            route.path,
            getattr(verbs, route.verb),
            methods=[route.method],
            name=route.verb,
            operation_id=route.verb,
            status_code=route.status,
            response_model=route.answer,
            response_class=Response if route.answer is None else JSONResponse,
            responses=responses,
            openapi_extra=route.body,
        )
    return router


def _check_query(request: Request) -> None:
    """Refuse parameters of an address that its route does not take."""
    known = {field.alias for field in request.scope["route"].dependant.query_params}
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise Invalid(
            [{"type": "extra_forbidden", "loc": ("query", name)} for name in unknown]
        )


def _watching(life: Life, guard: Guard, metrics: Metrics) -> APIRouter:
    """Return the routes for those who watch a server."""
    router = APIRouter(tags=["watching"])

    @router.get("/health/live", response_model=schemas.Health)
    async def live() -> dict[str, str]:
        """Tell that the process answers."""
        return {"status": "live"}

    @router.get(
        "/health/ready", response_model=schemas.Health, responses=openapi.problems(503)
    )
    async def ready() -> dict[str, str]:
        """Tell whether kernels are compiled and the log is replayed."""
        life.check_ready()
        return {"status": "ready"}

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, **openapi.problems(401, 403)},
    )
    async def measured(request: Request) -> Response:
        """Return counts, times and figures in the text format of Prometheus."""
        guard.admit(request, "read")
        families = await run_in_threadpool(
            figures.collect, life.service, metrics.worker
        )
        text = "\n".join([*metrics.lines(families), ""])
        return Response(text, media_type=TYPE)

    return router


def _page() -> APIRouter:
    """Return a route for each file of the page."""
    router = APIRouter(include_in_schema=False)
    for file in static.read_page():
        answer = partial(Response, file.content, media_type=file.type)
        router.add_api_route(file.path, _constantly(answer), methods=["GET"])
    return router


def _constantly(answer: Callable[[], Response]) -> Callable[[], Any]:
    async def serve() -> Response:
        return answer()

    return serve


async def _answer_http(request: Request, error: Exception) -> Response:
    """Answer what the framework refuses: no such route, no such method."""
    if isinstance(error.__cause__, ManylabelError):  # while a body was read
        return _respond(request, tell(error.__cause__))
    assert isinstance(error, HTTPException)
    kind = Kind(
        error.status_code,
        HTTPStatus(error.status_code).phrase,
        tuple((error.headers or {}).items()),
    )
    return _respond(request, Problem(kind, f"{error.detail}. {EXAMPLES}"))


async def _answer_error(request: Request, error: Exception) -> Response:
    return _respond(request, tell(error))


async def _answer_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _respond(request, tell_faults(error.errors()))


def _respond(request: Request, problem: Problem) -> Response:
    return Response(
        problem.body(request.url.path),
        problem.kind.status,
        dict(problem.kind.headers),
        MEDIA_TYPE,
    )

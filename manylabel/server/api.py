"""The routes below ``/v1``: what is read from a request, and which handler answers."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol, TypeVar

from fastapi import Header, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from manylabel.server import handlers
from manylabel.server.errors import UnknownSequence
from manylabel.server.gathering import Gathering
from manylabel.server.limits import Invalid, NotJson, TookTooLong
from manylabel.server.replica import Replica
from manylabel.server.schemas import (
    MOST_ITEMS,
    NUMBER,
    ExplainRequest,
    FeedbackRequest,
    PredictRequest,
    QueueRequest,
)
from manylabel.server.security import Guard
from manylabel.server.service import Service
from manylabel.server.threads import run_large

JSON = "application/json"
PATIENCE = 30.0  # seconds for which a request waits for learning
HEARSAY = 2.0  # seconds after which an event of another process is surely known
FIRST_LOOK, LONGEST_LOOK = 0.001, 0.02  # seconds between looks at what is learnt
LONG = 100_000  # bytes of a body that is not parsed on the event loop
T = TypeVar("T", bound=BaseModel)

Model = Annotated[str, Path(description="The model's name.", examples=["tags"])]
Number = Annotated[int, Path(ge=0, lt=NUMBER, description="A place in the log.")]
After = Annotated[
    int | None,
    Query(ge=0, lt=NUMBER, description="Wait until this event is learnt."),
]
Wait = Annotated[
    Literal["applied"] | None,
    Query(description="Wait until the worker that answers has learnt it."),
]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="The same key again: the same number, and nothing learnt twice.",
    ),
]
Prefix = Annotated[str, Query(max_length=200, description="How a word of it begins.")]
Limit = Annotated[int, Query(ge=1, le=1000, description="How many at most.")]
Page = Annotated[int, Query(ge=1, le=100, description="How many at most.")]
Before = Annotated[
    int, Query(ge=0, lt=NUMBER, description="Only what came before this event.")
]


FEEDBACKS = TypeAdapter(
    Annotated[list[FeedbackRequest], Field(min_length=1, max_length=MOST_ITEMS)]
)


class Sent(Protocol):
    """What is read of a request."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by names in lower case."""

    async def body(self) -> bytes:
        """Return the body once it has come."""


class Routes:
    """What answers requests about models.

    Parameters
    ----------
    service : Service
        The models.
    guard : Guard
        Who may do what.
    """

    def __init__(self, service: Service, guard: Guard) -> None:
        self.service = service
        self.guard = guard


class Tagging(Routes):
    """What people and programs do with a model: ask for labels, and correct them."""

    def __init__(self, service: Service, guard: Guard) -> None:
        super().__init__(service, guard)
        self._gathering = Gathering()

    async def predict(
        self, request: Request, model: Model, after: After = None
    ) -> Response:
        """Return the best labels of each item, by what is learnt so far."""
        return Response(await self.tag(request, model, after), media_type=JSON)

    async def tag(self, request: Sent, model: str, after: int | None) -> bytes:
        """Return what ``predict`` answers, as JSON."""
        replica = self._replica(request, "read", model)
        asked = await read_body(request, PredictRequest)
        if after is not None:
            await self._wait(replica, after)
        if handlers.is_small(asked):
            return await self._gathering.predict(replica, asked)
        (content,) = await run_large(handlers.predict, replica, [asked])
        return content

    async def feedback(
        self, request: Request, model: Model, wait: Wait = None, key: Key = None
    ) -> Response:
        """Record which labels an item has and has not; answer after the commit.

        The body is one feedback, or a list of them. 202 says that it is recorded and
        will be learnt, 200 that the same key had been recorded before. Accepted labels
        that the model never had are named, because they may be misspelt.
        """
        who = self.guard.admit(request, "feedback", model)
        replica = self.service.replica(model)
        body = await read_bytes(request)
        is_list = body.lstrip()[:1] == b"["
        given = [parse(FeedbackRequest, body)] if not is_list else parse_list(body)
        keys = [handlers.key_of(key, i) if is_list else key for i in range(len(given))]
        pairs = [
            (handlers.as_feedback(each), k) for each, k in zip(given, keys, strict=True)
        ]
        run = run_large if is_list else run_in_threadpool
        futures, new_labels = await run(handlers.record, replica, pairs, who)
        places = [await asyncio.wrap_future(future) for future in futures]
        sequences = [place.sequence for place in places]
        if wait is not None:
            await self._wait(replica, max(sequences))
        facts: dict[str, Any] = {"sequence": max(sequences)}
        if is_list:
            facts["sequences"] = sequences
        if new_labels:
            facts["new_labels"] = new_labels
        status = 202 if any(place.is_new for place in places) else 200
        return Response(handlers.write_json(facts), status, media_type=JSON)

    async def corrections(
        self,
        request: Request,
        model: Model,
        before: Before = NUMBER - 1,
        limit: Page = 20,
        after: After = None,
    ) -> Response:
        """Return the corrections of a model from the log, the newest first."""
        replica = self._replica(request, "read", model)
        if after is not None:
            await self._wait(replica, after)
        content = await run_in_threadpool(handlers.corrections, replica, before, limit)
        return Response(content, media_type=JSON)

    async def retract(
        self, request: Request, model: Model, sequence: Number
    ) -> Response:
        """Take a feedback back: what is learnt is as if it had never been given."""
        who = self.guard.admit(request, "feedback", model)
        future = await run_in_threadpool(
            self.service.replica(model).retract, sequence, who
        )
        return await acknowledge(future)

    async def explain(
        self, request: Request, model: Model, asked: ExplainRequest
    ) -> Response:
        """Return why a text gets its labels: words that speak for each, or against."""
        replica = self._replica(request, "read", model)
        content = await run_in_threadpool(handlers.explain, replica, asked)
        return Response(content, media_type=JSON)

    async def labels(
        self, request: Request, model: Model, prefix: Prefix = "", limit: Limit = 20
    ) -> Response:
        """Return labels of which a word begins so."""
        replica = self._replica(request, "read", model)
        return Response(handlers.labels(replica, prefix, limit), media_type=JSON)

    async def queue(
        self, request: Request, model: Model, limit: Limit = 10
    ) -> Response:
        """Return items that it would help most to label next."""
        replica = self._replica(request, "read", model)
        content = await run_in_threadpool(handlers.queue, replica, limit)
        return Response(content, media_type=JSON)

    async def choose(
        self, request: Request, model: Model, asked: QueueRequest
    ) -> Response:
        """Return those of some items that it would help most to label next."""
        replica = self._replica(request, "read", model)
        content = await run_large(handlers.queue, replica, asked.limit, asked.items)
        return Response(content, media_type=JSON)

    async def figures(self, request: Request, model: Model) -> Response:
        """Return running costs, drift of the scores, counts of labels."""
        replica = self._replica(request, "read", model)
        found = await run_in_threadpool(replica.figures)
        return Response(handlers.write_json(found), media_type=JSON)

    async def card(self, request: Request, model: Model) -> Response:
        """Return what a model is: its card."""
        replica = self._replica(request, "read", model)
        found = await run_in_threadpool(replica.card)
        return Response(handlers.write_json(dict(found)), media_type=JSON)

    async def models(self, request: Request) -> Response:
        """Return the names of the models that the token may read."""
        names = self.guard.readable(request, self.service.names())
        self.service.check_looked()
        return Response(handlers.write_json({"models": names}), media_type=JSON)

    def _replica(self, request: Sent, scope: str, model: str) -> Replica:
        """Return a model, if the request may have it."""
        self.guard.admit(request, scope, model)
        return self.service.replica(model)

    async def _wait(self, replica: Replica, sequence: int) -> None:
        """Wait until an event is learnt, without a thread that waits with it."""
        pause, passed = FIRST_LOOK, 0.0
        while replica.applied < sequence:
            # Another process may have recorded it a moment ago.
            if passed > HEARSAY and sequence > replica.acknowledged:
                raise UnknownSequence(sequence, f"at most {replica.acknowledged}")
            if passed > PATIENCE:
                raise TookTooLong(f"Event {sequence} is recorded, but not learnt yet.")
            await asyncio.sleep(pause)
            passed += pause
            pause = min(2 * pause, LONGEST_LOOK)


async def acknowledge(future: Any) -> Response:
    """Answer with the number of an event once it is on the disk."""
    place = await asyncio.wrap_future(future)
    content = handlers.write_json({"sequence": place.sequence})
    return Response(content, 202, media_type=JSON)


async def read_body(request: Sent, schema: type[T]) -> T:
    """Return the body of a request, checked, straight from its bytes."""
    body = await read_bytes(request)
    if len(body) > LONG:
        return await run_large(parse, schema, body)
    return parse(schema, body)


async def read_bytes(request: Sent) -> bytes:
    """Return the body of a request that says that it is JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise NotJson(f"The content type must be {JSON}. Got {kind[:80]!r}.")
    return await request.body()


def parse(schema: type[T], body: bytes) -> T:
    """Return JSON as a schema has it, or say what is wrong with it."""
    try:
        return schema.model_validate_json(body)
    except ValidationError as error:
        raise _invalid(error) from None


def parse_list(body: bytes) -> list[FeedbackRequest]:
    """Return a list of feedbacks, of which there are not too many."""
    try:
        return FEEDBACKS.validate_json(body)
    except ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: ValidationError) -> Invalid:
    # What was sent is not repeated: it may be long.
    return Invalid(error.errors(include_url=False, include_input=False))

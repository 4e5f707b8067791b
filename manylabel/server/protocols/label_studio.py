"""The interface of a Label Studio ML backend: each model is one, at its own address.

Label Studio asks it for labels of tasks, and tells it of annotations, which are
recorded and learnt as feedback.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field, StringConstraints

from manylabel.server import openapi
from manylabel.server.api import Model, Routes, read_body
from manylabel.server.errors import BadItem
from manylabel.server.items import FeedbackIn
from manylabel.server.protocols.access import as_bearer
from manylabel.server.protocols.bodies import STATUSES, answer, describe_body
from manylabel.server.protocols.label_config import (
    CHOICES,
    LONGEST,
    Control,
    read_config,
)
from manylabel.server.protocols.probabilities import predict_probabilities
from manylabel.server.protocols.revisions import revise, withdraw
from manylabel.server.replica import Replica
from manylabel.server.schemas import LONGEST_NAME, LONGEST_TEXT, MOST_ITEMS, MOST_LABELS
from manylabel.server.security import Guard
from manylabel.server.service import Service
from manylabel.server.threads import run_large

PREFIX = "/label-studio"
SAID = ("ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED")
DELETED = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")
MOST_CHOSEN, LIKELY = 10, 0.5  # labels of a task that a prediction chooses

Config = Annotated[str, StringConstraints(max_length=LONGEST)]
Number = Annotated[int, Field(ge=0, lt=2**63)]


class Task(BaseModel):
    """A task; its text is in one of the fields of its data."""

    data: dict[str, Any]


Tasks = Annotated[list[Task], Field(max_length=MOST_ITEMS)]


class PredictBody(BaseModel):
    """Tasks whose labels are asked for."""

    tasks: Tasks
    label_config: Config


class SetupBody(BaseModel):
    """A project that is about to use a model; its interface must be one that fits."""

    label_config: Annotated[Config, Field(alias="schema")]


class Chosen(BaseModel):
    """The labels of one region of an annotation."""

    choices: list[str] = []
    taxonomy: list[list[str]] = []


class Region(BaseModel):
    """A part of an annotation."""

    from_name: str = ""
    value: Chosen = Chosen()


class Annotation(BaseModel):
    """What a person says of a task; cancelled if they skipped it."""

    id: Number
    result: Annotated[list[Region], Field(max_length=MOST_ITEMS)] = []
    was_cancelled: bool = False


class Project(BaseModel):
    """A project, with its interface."""

    id: Number = 0
    label_config: Config = ""


Annotations = Annotated[list[Annotation], Field(max_length=MOST_ITEMS)]


class WebhookBody(BaseModel):
    """What has happened in a project; what else it tells is not looked at.

    Of several that are created at once, ``annotation`` and ``task`` are lists.
    """

    action: Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
    project: Project = Project()
    task: Task | Tasks | None = None
    annotation: Annotation | Annotations | None = None
    annotations: Annotations = []

    def pairs(self) -> Iterator[tuple[Annotation, Task | None]]:
        """Yield each annotation, with its task if that is told."""
        tasks = self.task if isinstance(self.task, list) else [self.task]
        known = self.annotation or []
        told = [*(known if isinstance(known, list) else [known]), *self.annotations]
        return zip(told, chain(tasks, repeat(None)), strict=False)


def predict(replica: Replica, asked: PredictBody) -> dict[str, Any]:
    """Return for each task the labels that are likely, and the best in any case."""
    control = read_config(asked.label_config)
    items = [{"text": read_text(task, control)} for task in asked.tasks]
    if not items:
        return {"results": []}
    most = 1 if control.is_single else MOST_CHOSEN
    found = predict_probabilities(replica, items, k=most, allow=control.paths.keys())
    return {
        "results": [_choose(control, row, found.version) for row in found.labels],
        "model_version": found.version,
    }


def take_event(replica: Replica, event: WebhookBody, who: str) -> None:
    """Record what has happened to an annotation; other events change nothing."""
    for annotation, task in event.pairs():
        name = f"label-studio {event.project.id}/{annotation.id}"
        if event.action in DELETED or annotation.was_cancelled:
            withdraw(replica, name, who)
        elif event.action in SAID:
            if task is None:
                raise BadItem(f"task must be told with {event.action}.")
            control = read_config(event.project.label_config)
            given = as_feedback(control, task, annotation.result)
            if given.accepted or given.rejected:
                revise(replica, name, given, who)
            else:  # nothing is chosen any more, and nothing else is known
                withdraw(replica, name, who)


def as_feedback(control: Control, task: Task, regions: Iterable[Region]) -> FeedbackIn:
    """Return an annotation as feedback.

    Who annotates sees all choices, so those not chosen are rejected. Of a taxonomy only
    a part is seen: labels that are not chosen stay unknown.
    """
    named = [it.value for it in regions if it.from_name == control.name]
    chosen = [name for value in named for name in value.choices]
    chosen += [path[-1] for value in named for path in value.taxonomy if path]
    accepted = list(dict.fromkeys(name for name in chosen if name))
    is_seen = control.kind == CHOICES and len(control.paths) <= MOST_LABELS
    left = set(control.paths).difference(accepted) if is_seen else set()
    item = {"text": read_text(task, control)}
    return FeedbackIn(item=item, accepted=accepted, rejected=sorted(left))


def read_text(task: Task, control: Control) -> str:
    """Return the text of a task."""
    text = task.data.get(control.field)
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        what = f"a text of at most {LONGEST_TEXT:,} characters"
        raise BadItem(f"data of a task must have {control.field!r:.60}: {what}.")
    return text


class LabelStudio(Routes):
    """The routes of the interface."""

    async def health(self, request: Request, model: Model) -> Response:
        """Tell that the model can be asked."""
        version = self._replica(request, model).version
        return answer({"status": "UP", "model_class": model, "model_version": version})

    async def setup(self, request: Request, model: Model) -> Response:
        """Look whether the interface of a project has labels to choose."""
        replica = self._replica(request, model)
        asked = await read_body(request, SetupBody)
        await run_in_threadpool(read_config, asked.label_config)
        return answer({"model_version": replica.version})

    async def predict(self, request: Request, model: Model) -> Response:
        """Return labels of tasks."""
        replica = self._replica(request, model)
        asked = await read_body(request, PredictBody)
        return answer(await run_large(predict, replica, asked))

    async def webhook(self, request: Request, model: Model) -> Response:
        """Record annotations; the answer comes after the commit, and learning later."""
        who = self.guard.admit(as_bearer(request), "feedback", model)
        event = await read_body(request, WebhookBody)
        await run_in_threadpool(take_event, self.service.replica(model), event, who)
        return answer({}, 201)

    def _replica(self, request: Request, model: str) -> Replica:
        self.guard.admit(as_bearer(request), "read", model)
        return self.service.replica(model)


def router(service: Service, guard: Guard) -> APIRouter:
    """Return the routes of the backends, each below ``/label-studio/MODEL``."""
    studio = LabelStudio(service, guard)
    routes = APIRouter(
        prefix=PREFIX + "/{model}",
        tags=["label studio"],
        responses=openapi.problems(*STATUSES),
    )
    routes.add_api_route("/health", studio.health)
    for path, verb, body, status in (
        ("/setup", studio.setup, SetupBody, 200),
        ("/predict", studio.predict, PredictBody, 200),
        ("/webhook", studio.webhook, WebhookBody, 201),
    ):
        routes.add_api_route(
            path,
            verb,
            methods=["POST"],
            status_code=status,
            openapi_extra=describe_body(body),
        )
    return routes


def _choose(
    control: Control, row: list[tuple[str, float]], version: str
) -> dict[str, Any]:
    """Return a prediction of a task as Label Studio shows it."""
    likely = [pair for pair in row if pair[1] >= LIKELY] or row[:1]
    region = {"from_name": control.name, "to_name": control.object}
    if control.kind == CHOICES:
        value: dict[str, Any] = {"choices": [name for name, _ in likely]}
    else:
        value = {"taxonomy": [list(control.paths[name]) for name, _ in likely]}
    regions = [{**region, "type": control.kind.lower(), "value": value}]
    return {
        "result": regions if likely else [],
        "score": min((score for _, score in likely), default=0.0),
        "model_version": version,
    }

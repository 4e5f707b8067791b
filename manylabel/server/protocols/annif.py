"""The REST interface of Annif: each model is a project.

Annif's ``http`` backend asks it for suggestions, and so do Annif's clients. The URI of
a subject is the name of a label.
"""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field, RootModel, StringConstraints

from manylabel.server import openapi
from manylabel.server.api import Model, Routes, parse, read_body
from manylabel.server.errors import BadItem
from manylabel.server.handlers import write_json
from manylabel.server.items import FeedbackIn
from manylabel.server.protocols.access import as_bearer
from manylabel.server.protocols.bodies import FORM, STATUSES, answer, describe_body
from manylabel.server.protocols.probabilities import predict_probabilities
from manylabel.server.protocols.revisions import revise
from manylabel.server.replica import Replica
from manylabel.server.schemas import LONGEST_TEXT, MOST_LABELS, Name
from manylabel.server.security import Guard
from manylabel.server.service import Service
from manylabel.server.threads import run_large

PREFIX = "/v1/projects"
BATCH = 32  # documents to suggest for, as in Annif
MOST_LEARNT = 1_000  # documents of a request: each is judged before it is recorded
MOST_FIELDS = 1_000
NO_LANGUAGE = "und"  # of ISO 639-2: not determined

Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Limit = Annotated[int, Query(ge=0, description="How many subjects at most.")]
Threshold = Annotated[float, Query(ge=0, le=1, description="The least score.")]


class Form(BaseModel):
    """The fields of ``suggest``; others, such as metadata, are not looked at."""

    text: Text
    limit: Annotated[int, Field(ge=0)] = 10
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.0


class Document(BaseModel):
    """A document whose subjects are asked for."""

    text: Text
    document_id: Name | None = None


class Documents(BaseModel):
    """The body of ``suggest-batch``."""

    documents: Annotated[list[Document], Field(max_length=BATCH)]


class Subject(BaseModel):
    """A subject; its URI is the name of a label."""

    uri: Name


class IndexedDocument(Document):
    """A document with all its subjects."""

    subjects: Annotated[list[Subject], Field(max_length=MOST_LABELS)]


class IndexedDocuments(RootModel[list[IndexedDocument]]):
    """The body of ``learn``."""

    root: Annotated[list[IndexedDocument], Field(max_length=MOST_LEARNT)]


def read_form(body: bytes) -> Form:
    """Return the fields of a form.

    Examples
    --------
    >>> read_form(b"text=a+cat&limit=3&metadata_title=Cats")
    Form(text='a cat', limit=3, threshold=0.0)
    """
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError:
        rule = f"a form of at most {MOST_FIELDS:,} fields, percent-encoded in UTF-8"
        raise BadItem(f"The body must be {rule}.") from None
    return parse(Form, write_json(dict(pairs)))


def show_project(replica: Replica) -> dict[str, Any]:
    """Return a model as Annif describes a project."""
    return {
        "project_id": replica.name,
        "name": replica.name,
        "language": NO_LANGUAGE,
        "backend": {"backend_id": "manylabel"},
        "vocab": None,
        "vocab_language": None,
        "is_trained": replica.is_ready(),
        "modification_time": _modified(replica),
    }


def suggest(
    replica: Replica, documents: Sequence[Document], *, limit: int, threshold: float
) -> list[dict[str, Any]]:
    """Return the subjects of each document, the best first."""
    if not documents or not limit:
        return [{"results": []} for _ in documents]
    items = [{"text": document.text} for document in documents]
    found = predict_probabilities(replica, items, k=min(limit, MOST_LABELS))
    return [
        {
            "results": [
                {"uri": name, "label": name, "score": score}
                for name, score in row
                if score > 0 and score >= threshold
            ]
        }
        for row in found.labels
    ]


def learn(replica: Replica, documents: Sequence[IndexedDocument], who: str) -> None:
    """Record documents with all their subjects; an id replaces its last form.

    A blank document teaches nothing: what was said before of its id is taken back.
    """
    waiting = []
    for document in documents:
        given = FeedbackIn(
            item={"text": document.text},
            accepted=list(dict.fromkeys(subject.uri for subject in document.subjects)),
            complete=True,
        )
        if document.document_id is not None:
            digest = hashlib.sha256(document.document_id.encode()).hexdigest()
            revise(replica, f"annif {digest}", given, who)
        elif document.text.strip():
            waiting.append(replica.feedback(given, None, who))
    for future in waiting:
        future.result()


class Annif(Routes):
    """The routes of the interface."""

    async def projects(self, request: Request) -> Response:
        """Return the models that the token may read, as projects."""
        names = self.guard.readable(as_bearer(request), self.service.names())
        self.service.check_looked()
        found = [show_project(self.service.replica(name)) for name in names]
        return answer({"projects": found})

    async def project(self, request: Request, model: Model) -> Response:
        """Return a model as a project."""
        return answer(show_project(self._replica(request, model)))

    async def suggest(self, request: Request, model: Model) -> Response:
        """Return the subjects of a text that a form brings."""
        replica = self._replica(request, model)
        form = read_form(await request.body())
        (found,) = await run_in_threadpool(
            suggest,
            replica,
            [Document(text=form.text)],
            limit=form.limit,
            threshold=form.threshold,
        )
        return answer(found)

    async def suggest_batch(
        self,
        request: Request,
        model: Model,
        limit: Limit = 10,
        threshold: Threshold = 0.0,
    ) -> Response:
        """Return the subjects of up to 32 documents."""
        replica = self._replica(request, model)
        asked = (await read_body(request, Documents)).documents
        found = await run_large(
            suggest, replica, asked, limit=limit, threshold=threshold
        )
        rows = zip(found, asked, strict=True)
        return answer([{**row, "document_id": it.document_id} for row, it in rows])

    async def learn(self, request: Request, model: Model) -> Response:
        """Record documents with all their subjects; they are learnt at once."""
        who = self.guard.admit(as_bearer(request), "feedback", model)
        given = (await read_body(request, IndexedDocuments)).root
        await run_large(learn, self.service.replica(model), given, who)
        return Response(status_code=204)

    def _replica(self, request: Request, model: str) -> Replica:
        self.guard.admit(as_bearer(request), "read", model)
        return self.service.replica(model)


def router(service: Service, guard: Guard) -> APIRouter:
    """Return the routes of Annif's interface, below ``/v1/projects``."""
    annif = Annif(service, guard)
    routes = APIRouter(
        prefix=PREFIX, tags=["annif"], responses=openapi.problems(*STATUSES)
    )
    one = "/{model}"
    routes.add_api_route("", annif.projects)
    routes.add_api_route(one, annif.project)
    routes.add_api_route(
        f"{one}/suggest",
        annif.suggest,
        methods=["POST"],
        openapi_extra=describe_body(Form, FORM),
    )
    routes.add_api_route(
        f"{one}/suggest-batch",
        annif.suggest_batch,
        methods=["POST"],
        openapi_extra=describe_body(Documents),
    )
    routes.add_api_route(
        f"{one}/learn",
        annif.learn,
        methods=["POST"],
        status_code=204,
        openapi_extra=describe_body(IndexedDocuments),
    )
    return routes


def _modified(replica: Replica) -> str | None:
    """Return since when the version that answers is known."""
    return next((it.at for it in replica.versions() if it.is_active), None)

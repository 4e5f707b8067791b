"""The description of the API: every route, every status, an example for each body."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from manylabel._version import __version__
from manylabel.server import schemas
from manylabel.server.problems import KINDS, MEDIA_TYPE

PLACE = "#/components/schemas/{model}"
# Schemas of bodies that are read straight from their bytes, and of all errors.
BODIES: list[type[BaseModel]] = [
    schemas.PredictRequest,
    schemas.FeedbackRequest,
    schemas.ProblemDetails,
]
SUMMARY = (
    "Labels of texts and rows, now; corrections are learnt at once and never lost."
)
Document = dict[str, Any]


def describe(app: FastAPI) -> Document:
    """Return the OpenAPI document of an application, made once."""
    if app.openapi_schema is None:
        document = get_openapi(
            title="Manylabel", version=__version__, summary=SUMMARY, routes=app.routes
        )
        _, found = models_json_schema(
            [(body, "validation") for body in BODIES], ref_template=PLACE
        )
        components = document.setdefault("components", {})
        components["schemas"] = found["$defs"] | components.get("schemas", {})
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{}, {"token": []}]
        app.openapi_schema = document
    return app.openapi_schema


def refer(schema: type[BaseModel]) -> Document:
    """Return a reference to a schema."""
    return {"$ref": PLACE.format(model=schema.__name__)}


def take(*accepted: type[BaseModel], several: bool = False) -> Document:
    """Return the description of a body that is one of some schemas, or a list."""
    forms = [refer(schema) for schema in accepted]
    if several:
        many = {"type": "array", "minItems": 1, "maxItems": schemas.MOST_ITEMS}
        forms += [{**many, "items": form} for form in forms]
    schema = forms[0] if len(forms) == 1 else {"anyOf": forms}
    examples = accepted[0].model_json_schema()["examples"]
    content = {"schema": schema, "example": examples[0]}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def problems(*statuses: int) -> dict[int | str, Document]:
    """Return the descriptions of errors that a route may answer with."""
    titles = {
        status: ", ".join(
            kind.title for kind in KINDS.values() if kind.status == status
        )
        for status in statuses
    }
    content = {MEDIA_TYPE: {"schema": refer(schemas.ProblemDetails)}}
    return {
        status: {"description": title or "Error", "content": content}
        for status, title in titles.items()
    }

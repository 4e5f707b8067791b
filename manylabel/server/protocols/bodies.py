"""Bodies: descriptions of those that are read from their bytes, and JSON to answer."""

from typing import Any

from fastapi import Response
from pydantic import BaseModel

from manylabel.server.api import JSON
from manylabel.server.handlers import write_json

FORM = "application/x-www-form-urlencoded"
STATUSES = (400, 401, 403, 404, 408, 413, 415, 422, 429, 503, 504)  # of refusals


def answer(content: Any, status: int = 200) -> Response:
    """Return content as JSON."""
    return Response(write_json(content), status, media_type=JSON)


def describe_body(schema: type[BaseModel], kind: str = JSON) -> dict[str, Any]:
    """Return what OpenAPI says of a body: its schema, with the parts written out.

    Parameters
    ----------
    schema : type of BaseModel
        The schema; it must not contain itself.
    kind : str, default="application/json"
        The media type.

    Returns
    -------
    dict
        For ``openapi_extra`` of a route.

    Examples
    --------
    >>> from pydantic import RootModel
    >>> body = describe_body(RootModel[list[int]])["requestBody"]
    >>> body["content"]["application/json"]["schema"]["items"]
    {'type': 'integer'}
    """
    found = schema.model_json_schema()
    parts = found.pop("$defs", {})
    content = {kind: {"schema": _write_out(found, parts)}}
    return {"requestBody": {"required": True, "content": content}}


def _write_out(value: Any, parts: dict[str, Any]) -> Any:
    """Return a schema in which references are replaced by what they refer to."""
    if isinstance(value, list):
        return [_write_out(each, parts) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        value = parts[value["$ref"].rpartition("/")[2]]
    return {name: _write_out(each, parts) for name, each in value.items()}

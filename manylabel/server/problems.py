"""Errors as problem details (RFC 9457): one table from exceptions to statuses."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from manylabel._plural import counted
from manylabel.exceptions import ManylabelError
from manylabel.server import errors, limits, security
from manylabel.server.schemas import WRITTEN

MEDIA_TYPE = "application/problem+json"
MOST_FAULTS, LONGEST_FAULT = 5, 200  # of a request that does not fit its schema
EXAMPLES = "/openapi.json has each request with an example."
RETRY_SECONDS = 1
# What is expected where a request does not fit, by the kinds of errors of pydantic.
EXPECTED = {
    "json_invalid": "is no JSON: {error}",
    "missing": "must be given",
    "extra_forbidden": "is not known, or misspelt",
    "model_type": "must be an object{written}",
    "dict_type": "must be an object",
    "list_type": "must be a list",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "too_short": "must have at least {fewest}",
    "too_long": "must have at most {most}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must be {written}",
    "literal_error": "must be {expected}",
    "value_error": "{error}",
}

OBJECTS = {"Item": ' as {"text": "..."}'}  # how objects of a class are written


class Kind(NamedTuple):
    """A kind of problem."""

    status: int
    title: str
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def type(self) -> str:
        """The URI that names the kind."""
        return f"urn:manylabel:{self.title.lower().replace(' ', '-')}"


class Problem(NamedTuple):
    """What is answered in place of what was asked for."""

    kind: Kind
    detail: str
    faults: Sequence[Mapping[str, str]] = ()

    def body(self, instance: str) -> bytes:
        """Return it as JSON; ``instance`` is the path of the request."""
        details: dict[str, Any] = {
            "type": self.kind.type,
            "title": self.kind.title,
            "status": self.kind.status,
            "detail": self.detail,
            "instance": instance,
        }
        if self.faults:
            details["errors"] = list(self.faults)
        return json.dumps(details).encode()


CLOSE = (("Connection", "close"),)  # what is left of the body is not waited for
LATER = (("Retry-After", str(RETRY_SECONDS)),)
# The first kind that an error is of is taken.
KINDS: dict[type[Exception], Kind] = {
    errors.UnknownModel: Kind(404, "Unknown model"),
    errors.UnknownVersion: Kind(404, "Unknown version"),
    errors.UnknownPrediction: Kind(404, "Unknown prediction"),
    errors.UnknownSequence: Kind(404, "Unknown sequence"),
    errors.UnknownJob: Kind(404, "Unknown job"),
    errors.BadItem: Kind(422, "Bad item"),
    errors.KeyReused: Kind(409, "Key reused"),
    errors.NoData: Kind(409, "No data"),
    errors.Busy: Kind(503, "Busy", LATER),
    errors.NotReady: Kind(503, "Not ready", LATER),
    errors.LogError: Kind(503, "Log unavailable", LATER),
    security.NotAuthenticated: Kind(
        401, "Not authenticated", (("WWW-Authenticate", "Bearer"),)
    ),
    security.NotAllowed: Kind(403, "Not allowed"),
    security.ForeignHost: Kind(403, "Foreign host"),
    limits.TwoHosts: Kind(400, "Two hosts", CLOSE),
    limits.BodyTooLarge: Kind(413, "Body too large", CLOSE),
    limits.BodyTooSlow: Kind(408, "Body too slow", CLOSE),
    limits.BodyBrokenOff: Kind(400, "Body broken off", CLOSE),
    limits.EncodedBody: Kind(415, "Encoded body", CLOSE),
    limits.NotJson: Kind(415, "Not JSON"),
    limits.NotTar: Kind(415, "Not tar"),
    limits.TooManyRequests: Kind(429, "Too many requests", LATER),
    limits.TookTooLong: Kind(504, "Took too long", LATER),
    ManylabelError: Kind(422, "Not possible"),
}
INVALID = Kind(422, "Invalid request")
UNEXPECTED = Kind(500, "Unexpected error")


def tell(error: Exception) -> Problem:
    """Return the problem that an error is; of one that nobody expected, no details.

    Examples
    --------
    >>> tell(errors.UnknownModel("tags")).kind.status
    404
    >>> tell(ZeroDivisionError()).detail
    'The server failed; its log says why.'
    """
    if isinstance(error, limits.Invalid):
        return tell_faults(error.faults)
    for cause, kind in KINDS.items():
        if isinstance(error, cause):
            return Problem(kind, str(error))
    return Problem(UNEXPECTED, "The server failed; its log says why.")


def tell_faults(found: Sequence[Mapping[str, Any]]) -> Problem:
    """Return the problem of a request that does not fit its schema.

    What was sent is not repeated: it may be long.

    Parameters
    ----------
    found : sequence of dict
        With ``type``, ``loc``, ``msg`` and ``ctx``, as pydantic lists them.

    Examples
    --------
    >>> tell_faults([{"type": "missing", "loc": ("items",), "msg": ""}]).faults
    [{'where': 'items', 'what': 'must be given'}]
    """
    faults = [
        {
            "where": ".".join(map(str, fault["loc"]))[:LONGEST_FAULT] or "body",
            "what": _expected(fault)[:LONGEST_FAULT],
        }
        for fault in found[:MOST_FAULTS]
    ]
    first = faults[0] if faults else {"where": "the request", "what": "cannot be read"}
    detail = f"{first['where']}: {first['what']}. {EXAMPLES}"
    return Problem(INVALID, detail, faults)


def _expected(fault: Mapping[str, Any]) -> str:
    """Return in plain words what is expected; other kinds as pydantic tells them."""
    about = dict(fault.get("ctx", {}))
    if "pattern" in about:
        about["written"] = WRITTEN.get(
            about["pattern"], f"as {about['pattern']} has it"
        )
    else:
        about["written"] = OBJECTS.get(about.get("class_name", ""), "")
    about["fewest"] = counted(about.get("min_length") or 0, "element")
    about["most"] = counted(about.get("max_length") or 0, "element")
    words = EXPECTED.get(fault["type"])
    return str(fault["msg"]) if words is None else words.format(**about)

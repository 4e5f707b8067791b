"""Tokens of clients that know no bearer tokens, only a user and a password."""

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import NamedTuple

from manylabel.server.security import Request


class Bearer(NamedTuple):
    """A request as the guard reads it."""

    headers: Mapping[str, str]


def as_bearer(request: Request) -> Bearer:
    """Return a request whose Basic password, if it has one, is its bearer token.

    Annif takes the password from the address of its endpoint, Label Studio from the
    settings of a backend. The user is not looked at: the token says who it is.

    Parameters
    ----------
    request : Request
        With its headers.

    Returns
    -------
    Bearer
        What the guard asks for.

    Examples
    --------
    >>> as_bearer(Bearer({"authorization": "Basic YW5uOm1sX3g="}))
    Bearer(headers={'authorization': 'Bearer ml_x'})
    """
    value = request.headers.get("authorization", "")
    kind, _, credentials = value.partition(" ")
    if kind.lower() == "basic":
        value = f"Bearer {_password(credentials.strip())}"
    return Bearer({"authorization": value})


def _password(credentials: str) -> str:
    try:
        text = b64decode(credentials, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""  # which is nobody's token
    return text.partition(":")[2]

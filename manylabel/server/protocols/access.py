"""Tokens of clients that know no bearer tokens, only a user and a password."""

import binascii
from base64 import b64decode

from manylabel.server.security import Headers, Request


class Basic:
    """A request whose Basic password, if it has one, is shown as a bearer token.

    Annif takes both from the address of its endpoint, Label Studio from the settings of
    its backend. The name of the user is not looked at: the token says who it is.

    Parameters
    ----------
    request : Request
        With its headers.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> request = SimpleNamespace(headers={"authorization": "Basic YW5uOm1sX3g="})
    >>> Basic(request).headers.get("authorization")
    'Bearer ml_x'
    """

    def __init__(self, request: Request) -> None:
        self._headers = request.headers

    @property
    def headers(self) -> Headers:
        """The headers, of which only ``authorization`` may differ."""
        return self

    def get(self, key: str, default: str = "", /) -> str:
        """Return a header's value."""
        value = self._headers.get(key, default)
        kind, _, credentials = value.partition(" ")
        if key != "authorization" or kind.lower() != "basic":
            return value
        return f"Bearer {_password(credentials.strip())}"


def _password(credentials: str) -> str:
    try:
        text = b64decode(credentials, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""  # which is nobody's token
    return text.partition(":")[2]

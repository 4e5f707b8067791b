"""Who may do what: bearer tokens, hashed at rest, and what an open server still asks.

A server without tokens is open, so it listens on loopback only. A page in a browser on
the same machine could still reach it: by its own name bound to 127.0.0.1 (DNS
rebinding), which the header ``Host`` shows, or by a form, which ``Origin`` shows.
"""

import hashlib
import hmac
import ipaddress
import json
import os
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from manylabel.server.errors import ServiceError

SCOPES = ("read", "feedback", "admin")
TOKENS = "tokens.json"
LOCAL = "local"  # who acts where there are no tokens
FRESH = 1.0  # seconds for which the file of tokens is not looked at again


class NotAuthenticated(ServiceError):
    """The request has no token, or none that is known."""


class NotAllowed(ServiceError):
    """The token is known, and not for this."""


class ForeignHost(ServiceError):
    """An open server was reached by a name, or from a page, that is not its own."""


class Token(NamedTuple):
    """A token as it is kept: its hash, and what it is for."""

    name: str
    sha256: str
    scopes: tuple[str, ...]
    models: tuple[str, ...]  # none: all of them
    created: str

    def allows(self, scope: str, model: str | None) -> bool:
        """Return whether it is for this scope of this model, None being all models."""
        return scope in self.scopes and (not self.models or model in self.models)


class Request(Protocol):
    """What is asked of a request."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, by names in lower case."""


class Tokens:
    """The tokens of a folder of models, kept in a file that only its owner reads.

    Parameters
    ----------
    folder : Path
        Where the file is; made when the first token is added.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tokens = Tokens(Path(folder))
    ...     secret = tokens.add("ann", scopes=["read"], models=[])
    ...     tokens.find(secret).name, tokens.find("guess")
    ('ann', None)
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / TOKENS
        self._known: tuple[Token, ...] = ()
        self._stamp: tuple[int, int] | None = None
        self._looked = -FRESH

    def add(self, name: str, *, scopes: Iterable[str], models: Iterable[str]) -> str:
        """Add a token and return its secret, which is not kept."""
        asked, known = tuple(scopes), self.all()
        for scope in asked:
            if scope not in SCOPES:
                raise ValueError(
                    f"scope must be one of {', '.join(SCOPES)}. Got {scope!r}."
                )
        if not asked:
            raise ValueError(f"scope must be one of {', '.join(SCOPES)}. Got none.")
        if not name:
            raise ValueError("name must not be empty.")
        if any(token.name == name for token in known):
            raise ValueError(f"name must be new: there is a token of {name!r}.")
        secret = f"ml_{secrets.token_urlsafe(32)}"
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._write([*known, Token(name, _hash(secret), asked, tuple(models), now)])
        return secret

    def remove(self, name: str) -> None:
        """Forget a token; a running server stops taking it within seconds."""
        kept = [token for token in self.all() if token.name != name]
        if len(kept) == len(self._known):
            raise ValueError(f"name must be that of a token. Got {name!r}.")
        self._write(kept)

    def all(self) -> tuple[Token, ...]:
        """Return the tokens, read again if the file has changed."""
        now = time.monotonic()
        if now - self._looked >= FRESH:
            self._looked = now
            self._read()
        return self._known

    def find(self, secret: str) -> Token | None:
        """Return the token of a secret; how long that takes tells nothing of it."""
        digest, found = _hash(secret), None
        for token in self.all():
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return found

    def _read(self) -> None:
        try:
            facts = os.stat(self.path)
        except FileNotFoundError:
            self._known, self._stamp = (), None
            return
        stamp = (facts.st_mtime_ns, facts.st_ino)
        if stamp != self._stamp:
            rows = json.loads(self.path.read_text(encoding="utf-8"))["tokens"]
            self._known = tuple(
                Token(
                    **{
                        **row,
                        "scopes": tuple(row["scopes"]),
                        "models": tuple(row["models"]),
                    }
                )
                for row in rows
            )
            self._stamp = stamp

    def _write(self, tokens: list[Token]) -> None:
        make_private(self.path.parent)
        draft = self.path.with_name(f".draft-{TOKENS}")
        draft.unlink(missing_ok=True)
        text = json.dumps({"tokens": [token._asdict() for token in tokens]}, indent=1)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self.path)
        self._looked = -FRESH


class Guard:
    """Tells who sends a request, and refuses what they may not do.

    Parameters
    ----------
    tokens : Tokens
        Those that are known. Where there are none, all is allowed.
    may_be_open : bool, default=True
        False for a server that others can reach: it stays closed without tokens too,
        so that to remove the last one does not open it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Guard(Tokens(Path(folder))).is_open
    True
    """

    def __init__(self, tokens: Tokens, *, may_be_open: bool = True) -> None:
        self.tokens = tokens
        self.may_be_open = may_be_open

    @property
    def is_open(self) -> bool:
        """Whether there are no tokens, so that all may do all."""
        return self.may_be_open and not self.tokens.all()

    def admit(self, request: Request, scope: str, model: str | None = None) -> str:
        """Return who sends a request, or refuse it.

        Parameters
        ----------
        request : Request
            With its headers.
        scope : {"read", "feedback", "admin"}
            What is to be done.
        model : str or None, default=None
            To which model; None for what concerns all of them.

        Returns
        -------
        str
            The name of the token, ``local`` on an open server.
        """
        if self.is_open:
            return LOCAL
        token = self._identify(request)
        if not token.allows(scope, model):
            place = "all models" if model is None else "this model"
            raise NotAllowed(f"The token must have the scope {scope} for {place}.")
        return token.name

    def readable(self, request: Request, models: Iterable[str]) -> list[str]:
        """Return those models that whoever sends a request may read."""
        if self.is_open:
            return list(models)
        token = self._identify(request)
        return [model for model in models if token.allows("read", model)]

    def _identify(self, request: Request) -> Token:
        token = self._find(request.headers)
        if token is None:
            raise NotAuthenticated(
                "The request must have a bearer token that is known."
            )
        return token

    def _find(self, headers: Mapping[str, str]) -> Token | None:
        kind, _, secret = headers.get("authorization", "").partition(" ")
        return self.tokens.find(secret.strip()) if kind.lower() == "bearer" else None

    def tell_client(
        self, headers: Mapping[str, str], address: Sequence[object] | None
    ) -> str:
        """Return by what a client is told from others: its token, or its address.

        A token that is not known tells nothing, else anybody could be many clients.
        """
        token = None if self.is_open else self._find(headers)
        return f"token {token.name}" if token else f"{address[0] if address else ''}"

    def check_origin(self, headers: Mapping[str, str]) -> None:
        """Refuse what a page of another site could send to an open server."""
        if not self.is_open:
            return
        host = headers.get("host", "")
        if not _is_own(host):
            raise ForeignHost(
                "The server is open to this machine only: the header Host must name "
                "localhost or a loopback address."
            )
        origin = headers.get("origin", "")
        if origin and origin.partition("://")[2] != host:
            raise ForeignHost("The request must not come from a page of another site.")


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can look into: it holds what users wrote."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(PermissionError):  # it is another's, who has chosen who may look
        folder.chmod(0o700)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine alone.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "::1", "0.0.0.0", "example.org")]
    [True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=256)
def _is_own(host: str) -> bool:
    """Return whether a header Host names this machine alone."""
    return is_loopback(_hostname(f"//{host}"))


def _hostname(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # a bracket that is not closed
        return ""


def _hash(secret: str) -> str:
    """Return the SHA-256 of a secret: it has 256 random bits, so no salt is needed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

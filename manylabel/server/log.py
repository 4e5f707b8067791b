"""The log: what every store of events can do, and the thread that writes to it."""

from collections.abc import Collection, Sequence
from typing import Protocol
from urllib.parse import unquote, urlsplit

from manylabel.server.events import Appended, Draft, Event, Remembered
from manylabel.server.postgres_log import PostgresLog
from manylabel.server.sqlite_log import SQLITE, SqliteLog


class Log(Protocol):
    """Events in one order without gaps, and predictions that feedback may name.

    What ``append`` returned is on the disk. See :class:`SqliteLog` for each verb.
    """

    url: str

    def append(self, drafts: Sequence[Draft]) -> list[Appended]: ...  # noqa: D102

    def read(  # noqa: D102
        self,
        after: int,
        limit: int,
        model: str | None = None,
        *,
        controls: bool = False,
    ) -> list[Event]: ...

    def latest(  # noqa: D102
        self, model: str, before: int, limit: int
    ) -> list[Event]: ...

    def restore(self, found: Sequence[Event]) -> None: ...  # noqa: D102

    def find(self, model: str, kind: str, key: str) -> Event | None: ...  # noqa: D102

    def last(self) -> int: ...  # noqa: D102

    def wait(self, after: int, timeout: float) -> bool: ...  # noqa: D102

    def remember(self, predictions: Sequence[Remembered]) -> None: ...  # noqa: D102

    def recall(self, prediction_id: str) -> Remembered | None: ...  # noqa: D102

    def settle(self, prediction_ids: Sequence[str]) -> None: ...  # noqa: D102

    def settle_items(  # noqa: D102
        self, items: Sequence[tuple[str, str]], at: float
    ) -> None: ...

    def settled_items(  # noqa: D102
        self, model: str, digests: Collection[str]
    ) -> set[str]: ...

    def unsettled(self, model: str, limit: int) -> list[Remembered]: ...  # noqa: D102

    def forget(self, before: float, keep: int) -> int: ...  # noqa: D102

    def close(self) -> None: ...  # noqa: D102


def open_log(url: str) -> Log:
    """Open the log at an address, made if missing.

    Parameters
    ----------
    url : str
        ``sqlite:///relative/path``, ``sqlite:////absolute/path``, or
        ``postgresql://user@host/database``.

    Examples
    --------
    >>> open_log("mysql://localhost")
    Traceback (most recent call last):
    ValueError: log must begin with sqlite:/// or postgresql://. Got 'mysql://localhost'.
    """
    if url.startswith(SQLITE):
        return SqliteLog(unquote(url.removeprefix(SQLITE)))
    if urlsplit(url).scheme in ("postgresql", "postgres"):
        return PostgresLog(url)
    raise ValueError(
        f"log must begin with sqlite:/// or postgresql://. Got {url!r:.80}."
    )

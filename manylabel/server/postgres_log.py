"""The log in PostgreSQL, which replicas on several machines may write and follow."""

import time
import uuid
from collections.abc import Callable, Collection, Sequence
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from manylabel.exceptions import MissingExtra
from manylabel.server import events
from manylabel.server.errors import LogError, ServiceError
from manylabel.server.events import Appended, Draft, Event, Remembered

try:
    import psycopg
except ImportError:
    psycopg = None  # type: ignore[assignment]

# Bodies are text, not jsonb: digests are of their very letters.
TABLES = """
CREATE TABLE IF NOT EXISTS manylabel_events (
    sequence bigint PRIMARY KEY, model text NOT NULL, kind text NOT NULL, key text,
    at text NOT NULL, body text NOT NULL, digest text NOT NULL,
    UNIQUE (model, kind, key)
);
CREATE INDEX IF NOT EXISTS manylabel_of_model ON manylabel_events (model, sequence);
CREATE INDEX IF NOT EXISTS manylabel_controls ON manylabel_events (model, sequence)
    WHERE kind <> 'feedback';
CREATE TABLE IF NOT EXISTS manylabel_predictions (
    id text PRIMARY KEY, model text NOT NULL, version text NOT NULL,
    item text NOT NULL, labels text NOT NULL, at double precision NOT NULL,
    settled boolean NOT NULL
);
CREATE INDEX IF NOT EXISTS manylabel_by_age ON manylabel_predictions (model, at);
CREATE TABLE IF NOT EXISTS manylabel_settled_items (
    model text NOT NULL, digest text NOT NULL, at double precision NOT NULL,
    PRIMARY KEY (model, digest)
);
"""
CHANNEL = "manylabel_events"
LOCK = 0x6D616E79  # of all writers of this log, in the database
POLL = 1.0  # seconds between looks, in case a notification is lost
PAUSE = 0.1  # seconds between attempts to connect
R = TypeVar("R")


class PostgresLog:
    """A log in a database of PostgreSQL, in three tables of its own.

    A lock of the database lets one writer after another append, so numbers have no gaps
    and are committed in order; readers never wait. When the connection breaks, each
    verb tries again for ``timeout`` seconds and then raises :class:`LogError`.

    Parameters
    ----------
    url : str
        ``postgresql://user@host:port/database``, as libpq takes it.
    timeout : float, default=10
        Seconds to go on trying when the server does not answer.
    """

    def __init__(self, url: str, *, timeout: float = 10.0) -> None:
        if psycopg is None:
            raise MissingExtra("A log in PostgreSQL", "psycopg", "postgres")
        self.url = url
        self.timeout = timeout
        self._idle: list[Any] = []
        self._listener: Any = None
        self._listening = Lock()
        self._run(_make_tables)

    def append(self, drafts: Sequence[Draft]) -> list[Appended]:
        """Write all drafts in one transaction, or none; see :class:`SqliteLog`."""
        for draft in drafts:
            events.check(draft)
        # A connection may break while it commits. With a key, to try again is safe.
        keyed = [d if d.key else d._replace(key=f"auto-{uuid.uuid4()}") for d in drafts]
        found = self._run(lambda connection: _append(connection, keyed))
        return [
            place._replace(is_new=True) if draft.key is None else place
            for place, draft in zip(found, drafts, strict=True)
        ]

    def read(
        self,
        after: int,
        limit: int,
        model: str | None = None,
        *,
        controls: bool = False,
    ) -> list[Event]:
        """Return the events after a number, in order; ``controls``: no feedback."""
        wanted = after, limit, model, controls
        query, given = events.select_events("manylabel_events", "%s", *wanted)
        return events.read_events(self._rows(query, *given))

    def latest(self, model: str, before: int, limit: int) -> list[Event]:
        """Return the last feedback of a model before a number, the newest first."""
        wanted = model, before, limit
        query, given = events.select_latest("manylabel_events", "%s", *wanted)
        return events.read_events(self._rows(query, *given))

    def restore(self, found: Sequence[Event]) -> None:
        """Write events of another log as they are; they must follow what is here."""

        def write(connection: Any) -> None:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
                events.check_chain(found, _last(connection))
                _insert(connection, found)

        self._run(write)

    def find(self, model: str, kind: str, key: str) -> Event | None:
        """Return a model's event of a kind by its key, None if there is none."""
        return self._run(lambda connection: _find(connection, model, kind, key))

    def last(self) -> int:
        """Return the number of the last event, 0 if there is none."""
        return self._run(_last)[0]

    def wait(self, after: int, timeout: float) -> bool:
        """Wait for an event after a number; return whether there is one."""
        until = time.monotonic() + timeout
        with self._listening:
            self._listen()  # before the first look, so that nothing is missed
            while self.last() <= after:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._hear(min(POLL, left))
        return True

    def remember(self, predictions: Sequence[Remembered]) -> None:
        """Keep predictions, so that feedback may name them."""
        rows = list(map(events.prediction_row, predictions))
        insert = "INSERT INTO manylabel_predictions VALUES (%s, %s, %s, %s, %s, %s, %s)"

        def write(connection: Any) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(f"{insert} ON CONFLICT DO NOTHING", rows)

        self._run(write)

    def recall(self, prediction_id: str) -> Remembered | None:
        """Return a prediction, None if it is not remembered."""
        query = "SELECT * FROM manylabel_predictions WHERE id = %s"
        rows = self._rows(query, prediction_id)
        return events.read_prediction(rows[0]) if rows else None

    def settle(self, prediction_ids: Sequence[str]) -> None:
        """Note that predictions have had their feedback, or their items have."""
        query = "UPDATE manylabel_predictions SET settled = true WHERE id = ANY(%s)"
        self._run(lambda connection: connection.execute(query, [list(prediction_ids)]))

    def settle_items(self, items: Sequence[tuple[str, str]], at: float) -> None:
        """Note that items, by model and digest, have had their feedback at a time."""
        insert = "INSERT INTO manylabel_settled_items VALUES (%s, %s, %s)"
        # In one order, so that two who note the same do not wait for each other.
        rows = [(*each, at) for each in sorted(set(items))]

        def write(connection: Any) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                again = "ON CONFLICT (model, digest) DO UPDATE SET at = excluded.at"
                cursor.executemany(f"{insert} {again}", rows)

        self._run(write)

    def settled_items(self, model: str, digests: Collection[str]) -> set[str]:
        """Return those of some items of a model that have had their feedback."""
        query = "SELECT digest FROM manylabel_settled_items WHERE model = %s"
        rows = self._rows(f"{query} AND digest = ANY(%s)", model, list(digests))
        return {digest for (digest,) in rows}

    def unsettled(self, model: str, limit: int) -> list[Remembered]:
        """Return the newest predictions of a model that have had no feedback."""
        query = "SELECT * FROM manylabel_predictions WHERE model = %s AND NOT settled"
        rows = self._rows(f"{query} ORDER BY at DESC LIMIT %s", model, limit)
        return list(map(events.read_prediction, rows))

    def forget(self, before: float, keep: int) -> int:
        """Drop predictions older than a time, or not of the newest; return how many."""
        late = "SELECT id FROM manylabel_predictions ORDER BY at DESC OFFSET %s"
        query = f"DELETE FROM manylabel_predictions WHERE at < %s OR id IN ({late})"
        last = "SELECT at FROM manylabel_settled_items ORDER BY at DESC"
        items = "DELETE FROM manylabel_settled_items WHERE at < %s OR at <= "
        late_items = f"{items} ({last} LIMIT 1 OFFSET %s)"
        self._run(lambda c: c.execute(late_items, [before, keep]))
        return self._run(lambda c: int(c.execute(query, [before, keep]).rowcount))

    def close(self) -> None:
        """Close all connections."""
        while self._idle:
            self._idle.pop().close()
        if self._listener is not None:
            self._listener.close()

    def _rows(self, query: str, *given: Any) -> list[Any]:
        return self._run(lambda connection: list(connection.execute(query, given)))

    def _run(self, work: Callable[[Any], R]) -> R:
        """Return what work returns, tried again on new connections while they break."""
        until = time.monotonic() + self.timeout
        while True:
            connection = None
            try:
                connection = self._idle.pop() if self._idle else self._connect()
                found = work(connection)
                self._idle.append(connection)
                return found
            except ServiceError:  # nothing is wrong with the connection
                self._idle.append(connection)
                raise
            except psycopg.Error as error:
                is_lost = connection is None or connection.closed
                if connection is not None:
                    connection.close()
                if not is_lost or time.monotonic() > until:
                    why = " ".join(str(error).split())
                    raise LogError(f"PostgreSQL cannot be used: {why}.") from error
                time.sleep(PAUSE)

    def _connect(self) -> Any:
        """Return a connection that breaks soon, on both sides, if the network does.

        Else one that waits would do so for hours, and what it had begun would keep all
        other writers out.
        """
        wait = max(2, round(self.timeout))  # libpq's least
        found = psycopg.connect(
            self.url,
            autocommit=True,
            connect_timeout=wait,
            keepalives_idle=wait,
            keepalives_interval=max(1, wait // 4),
            keepalives_count=4,
            tcp_user_timeout=2000 * wait,
        )
        patience = f"{2 * wait}s"
        found.execute(f"SET idle_in_transaction_session_timeout = '{patience}'")
        return found

    def _listen(self) -> None:
        if self._listener is None or self._listener.closed:
            self._listener = self._run(lambda _: self._connect())
            self._listener.execute(f"LISTEN {CHANNEL}")

    def _hear(self, timeout: float) -> None:
        """Wait for a notification, or for as long as one may be lost."""
        try:
            for _ in self._listener.notifies(timeout=timeout, stop_after=1):
                pass
        except psycopg.Error:  # the server went away: look again on a new connection
            self._listener.close()
            time.sleep(PAUSE)
            self._listen()


def _make_tables(connection: Any) -> None:
    with connection.transaction():
        # Without the lock, two that start at once may make one table twice.
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        connection.execute(TABLES)


def _append(connection: Any, drafts: Sequence[Draft]) -> list[Appended]:
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        find = partial(_find, connection)
        places, new = events.arrange(drafts, _last(connection), find)
        _insert(connection, new)
    return places


def _insert(connection: Any, new: Sequence[Event]) -> None:
    if new:
        insert = "INSERT INTO manylabel_events VALUES (%s, %s, %s, %s, %s, %s, %s)"
        with connection.cursor() as cursor:
            cursor.executemany(insert, map(events.event_row, new))
        connection.execute(f"NOTIFY {CHANNEL}")


def _last(connection: Any) -> tuple[int, str]:
    query = (
        "SELECT sequence, digest FROM manylabel_events ORDER BY sequence DESC LIMIT 1"
    )
    row = connection.execute(query).fetchone()
    return row or (0, events.FIRST_DIGEST)


def _find(connection: Any, model: str, kind: str, key: str) -> Event | None:
    query = (
        f"SELECT {events.COLUMNS} FROM manylabel_events WHERE model = %s AND kind = %s"
    )
    row = connection.execute(f"{query} AND key = %s", [model, kind, key]).fetchone()
    return events.read_events([row])[0] if row else None

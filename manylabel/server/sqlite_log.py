"""The log in a file of SQLite, which several processes may write and follow."""

import os
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Condition, Lock, local
from urllib.parse import quote

from manylabel.server import events
from manylabel.server.errors import LogDamaged, LogError
from manylabel.server.events import Appended, Draft, Event, Remembered

FORMAT = 1
SQLITE = "sqlite:///"  # begins an address
EVENTS = (
    """CREATE TABLE IF NOT EXISTS events (
        sequence INTEGER PRIMARY KEY, model TEXT NOT NULL, kind TEXT NOT NULL,
        key TEXT, at TEXT NOT NULL, body TEXT NOT NULL, digest TEXT NOT NULL,
        UNIQUE (model, kind, key)
    )""",
    "CREATE INDEX IF NOT EXISTS of_model ON events (model, sequence)",
    """CREATE INDEX IF NOT EXISTS controls ON events (model, sequence)
        WHERE kind <> 'feedback'""",
)
PREDICTIONS = (
    """CREATE TABLE IF NOT EXISTS predictions (
        id TEXT PRIMARY KEY, model TEXT NOT NULL, version TEXT NOT NULL,
        item TEXT NOT NULL, labels TEXT NOT NULL, at REAL NOT NULL,
        settled INTEGER NOT NULL
    ) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS by_age ON predictions (model, at)",
    """CREATE TABLE IF NOT EXISTS settled_items (
        model TEXT NOT NULL, digest TEXT NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (model, digest)
    ) WITHOUT ROWID""",
)
POLL = 0.01  # seconds between looks for what other processes wrote
JOURNAL = 16 << 20  # bytes of a journal that are kept once it is in the file
CREATING = Lock()  # a file is closed before a connection opens it
RETRY = 0.001  # seconds between attempts to get the lock of writers


class SqliteLog:
    """A log in one file; predictions are remembered in a second one beside it.

    Every commit of an event is synchronised with the disk before it is acknowledged.
    Threads have a connection each. What cannot be read or written within ``timeout``
    seconds raises :class:`LogError`, and leaves the log as it was.

    Parameters
    ----------
    path : str or Path
        The file; made if missing, in a folder that exists. Predictions are in the file
        of this name and ``-predictions``, which may be lost.
    timeout : float, default=10
        Seconds to wait for other writers.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> log = SqliteLog(f"{folder.name}/log.db")
    >>> draft = Draft("debtags", "feedback", {"accepted": ["game"]}, key="a")
    >>> log.append([draft, draft])
    [Appended(sequence=1, is_new=True), Appended(sequence=1, is_new=False)]
    >>> [event.body for event in log.read(0, 10)]
    [{'accepted': ['game']}]
    >>> log.close(); folder.cleanup()
    """

    def __init__(self, path: str | Path, *, timeout: float = 10.0) -> None:
        self.path = Path(path)
        self.url = f"{SQLITE}{quote(str(self.path.absolute()))}"
        self.timeout = timeout
        self._local = local()
        self._opened: list[sqlite3.Connection] = []
        self._opening = Lock()
        self._written = Condition()
        with self._events() as connection:
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            if found > FORMAT:
                raise LogError(f"{self.path} was written by a newer version.")
            if found < FORMAT:
                with _transaction(connection, timeout):
                    for statement in EVENTS:
                        connection.execute(statement)
                    connection.execute(f"PRAGMA user_version = {FORMAT}")
        with self._predictions() as connection, _transaction(connection, timeout):
            for statement in PREDICTIONS:
                connection.execute(statement)

    def append(self, drafts: Sequence[Draft]) -> list[Appended]:
        """Write all drafts in one transaction, or none; return their places.

        A key that its model has had names the event that is there already; with another
        request it raises :class:`KeyReused`.
        """
        for draft in drafts:
            events.check(draft)
        with self._events() as connection, _transaction(connection, self.timeout):
            find = partial(_find, connection)
            places, new = events.arrange(drafts, _last(connection), find)
            _insert(connection, new)
        with self._written:
            self._written.notify_all()
        return places

    def read(
        self,
        after: int,
        limit: int,
        model: str | None = None,
        *,
        controls: bool = False,
    ) -> list[Event]:
        """Return the events after a number, in order; ``controls``: no feedback."""
        asked = events.select_events("events", "?", after, limit, model, controls)
        with self._events() as connection:
            return events.read_events(connection.execute(*asked))

    def latest(self, model: str, before: int, limit: int) -> list[Event]:
        """Return the last feedback of a model before a number, the newest first."""
        asked = events.select_latest("events", "?", model, before, limit)
        with self._events() as connection:
            return events.read_events(connection.execute(*asked))

    def restore(self, found: Sequence[Event]) -> None:
        """Write events of another log as they are; they must follow what is here."""
        with self._events() as connection, _transaction(connection, self.timeout):
            events.check_chain(found, _last(connection))
            _insert(connection, found)

    def find(self, model: str, kind: str, key: str) -> Event | None:
        """Return a model's event of a kind by its key, None if there is none."""
        with self._events() as connection:
            return _find(connection, model, kind, key)

    def last(self) -> int:
        """Return the number of the last event, 0 if there is none."""
        with self._events() as connection:
            return _last(connection)[0]

    def wait(self, after: int, timeout: float) -> bool:
        """Wait for an event after a number; return whether there is one."""
        until = time.monotonic() + timeout
        while self.last() <= after:
            left = until - time.monotonic()
            if left <= 0:
                return False
            with self._written:
                self._written.wait(min(POLL, left))
        return True

    def remember(self, predictions: Sequence[Remembered]) -> None:
        """Keep predictions, so that feedback may name them."""
        with self._predictions() as connection, _transaction(connection, self.timeout):
            connection.executemany(
                "INSERT OR REPLACE INTO predictions VALUES (?, ?, ?, ?, ?, ?, ?)",
                map(events.prediction_row, predictions),
            )

    def recall(self, prediction_id: str) -> Remembered | None:
        """Return a prediction, None if it is not remembered."""
        with self._predictions() as connection:
            row = connection.execute(
                "SELECT * FROM predictions WHERE id = ?", [prediction_id]
            ).fetchone()
        return row and events.read_prediction(row)

    def settle(self, prediction_ids: Sequence[str]) -> None:
        """Note that predictions have had their feedback, or their items have."""
        with self._predictions() as connection, _transaction(connection, self.timeout):
            connection.executemany(
                "UPDATE predictions SET settled = 1 WHERE id = ?",
                [[each] for each in prediction_ids],
            )

    def settle_items(self, items: Sequence[tuple[str, str]], at: float) -> None:
        """Note that items, by model and digest, have had their feedback at a time."""
        with self._predictions() as connection, _transaction(connection, self.timeout):
            connection.executemany(
                "INSERT OR REPLACE INTO settled_items VALUES (?, ?, ?)",
                [(*each, at) for each in items],
            )

    def settled_items(self, model: str, digests: Collection[str]) -> set[str]:
        """Return those of some items of a model that have had their feedback."""
        marks = ", ".join("?" * len(digests))
        query = "SELECT digest FROM settled_items WHERE model = ? AND digest IN"
        with self._predictions() as connection:
            rows = connection.execute(f"{query} ({marks})", [model, *digests])
            return {digest for (digest,) in rows}

    def unsettled(self, model: str, limit: int) -> list[Remembered]:
        """Return the newest predictions of a model that have had no feedback."""
        with self._predictions() as connection:
            rows = connection.execute(
                "SELECT * FROM predictions WHERE model = ? AND settled = 0 "
                "ORDER BY at DESC LIMIT ?",
                [model, limit],
            )
            return list(map(events.read_prediction, rows))

    def forget(self, before: float, keep: int) -> int:
        """Drop predictions older than a time, or not of the newest; return how many."""
        late = "SELECT id FROM predictions ORDER BY at DESC LIMIT -1 OFFSET ?"
        with self._predictions() as connection:
            with _transaction(connection, self.timeout):
                n_dropped = connection.execute(
                    f"DELETE FROM predictions WHERE at < ? OR id IN ({late})",
                    [before, keep],
                ).rowcount
                late = "SELECT at FROM settled_items ORDER BY at DESC LIMIT 1 OFFSET ?"
                connection.execute(
                    f"DELETE FROM settled_items WHERE at < ? OR at <= ({late})",
                    [before, keep],
                )
            # Else the journal would stay as long as it has ever been.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return n_dropped

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._opening:
            for connection in self._opened:
                connection.close()
            self._opened.clear()
            self._local = local()

    @contextmanager
    def _events(self) -> Iterator[sqlite3.Connection]:
        with self._speaking():
            yield self._connection("events", self.path, "FULL")

    @contextmanager
    def _predictions(self) -> Iterator[sqlite3.Connection]:
        beside = self.path.with_name(f"{self.path.name}-predictions")
        with self._speaking():
            yield self._connection("predictions", beside, "NORMAL")

    def _connection(self, name: str, path: Path, sync: str) -> sqlite3.Connection:
        """Return this thread's connection to a file."""
        known: sqlite3.Connection | None = getattr(self._local, name, None)
        if known is not None:
            return known
        _make_private(path)
        connection = sqlite3.connect(
            path, timeout=self.timeout, isolation_level=None, check_same_thread=False
        )
        with self._opening:
            self._opened.append(connection)
        # Of two that make the file at once, SQLite refuses one without waiting.
        until = time.monotonic() + self.timeout
        _insist(connection, "PRAGMA journal_mode = WAL", until)
        connection.execute(f"PRAGMA synchronous = {sync}")
        connection.execute(f"PRAGMA journal_size_limit = {JOURNAL}")
        setattr(self._local, name, connection)
        return connection

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Say in one sentence what is wrong with a file."""
        try:
            yield
        except sqlite3.Error as error:
            kind = LogDamaged if "malformed" in str(error) else LogError
            raise kind(f"The log {self.path} cannot be used: {error}.") from error


def _make_private(path: Path) -> None:
    """Make a file that only its owner reads; what SQLite puts beside it is as it is.

    One that is there is not opened: to close it would end all locks that connections of
    this process have on it, and others would take the journal for left behind.
    """
    with CREATING, suppress(OSError):  # SQLite says what is wrong with the place
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o600))


@contextmanager
def _transaction(connection: sqlite3.Connection, timeout: float) -> Iterator[None]:
    _begin(connection, time.monotonic() + timeout)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it already
            connection.execute("ROLLBACK")
        raise


def _begin(connection: sqlite3.Connection, until: float) -> None:
    """Take the lock of all writers; SQLite itself would sleep longer and longer."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        _insist(connection, "BEGIN IMMEDIATE", until)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}")


def _insist(connection: sqlite3.Connection, statement: str, until: float) -> None:
    while True:
        try:
            connection.execute(statement)
            return
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > until:
                raise
        time.sleep(RETRY)


def _insert(connection: sqlite3.Connection, new: Sequence[Event]) -> None:
    connection.executemany(
        "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", map(events.event_row, new)
    )


def _last(connection: sqlite3.Connection) -> tuple[int, str]:
    row = connection.execute(
        "SELECT sequence, digest FROM events ORDER BY sequence DESC LIMIT 1"
    ).fetchone()
    return row or (0, events.FIRST_DIGEST)


def _find(
    connection: sqlite3.Connection, model: str, kind: str, key: str
) -> Event | None:
    query = (
        f"SELECT {events.COLUMNS} FROM events WHERE model = ? AND kind = ? AND key = ?"
    )
    row = connection.execute(query, [model, kind, key]).fetchone()
    return events.read_events([row])[0] if row else None

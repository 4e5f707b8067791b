"""Logs to write to, a server of PostgreSQL, and small models that follow."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import manylabel as ml
from manylabel.server.items import FeedbackIn
from manylabel.server.log import Log, open_log
from manylabel.server.service import Service
from manylabel.server.settings import Settings

QUICK = Settings(poll=0.05, snapshot_every=50)
TEXT = {"text": "zebra crossing"}
DEBIAN = Path("/usr/lib/postgresql")
TEXTS = [
    f"{word} {other}" for word in ("red", "rye", "hot") for other in ("a", "b", "c")
]
TAGS = [[f"is-{text.split()[0]}", f"has-{text.split()[1]}"] for text in TEXTS]


def find_program(name: str) -> str | None:
    """Return the newest program of this name, None if there is none."""
    found = sorted(DEBIAN.glob(f"*/bin/{name}"), key=lambda p: int(p.parts[-3]))
    return str(found[-1]) if found else shutil.which(name)


class PostgresServer:
    """A server that can be stopped and started again, with one empty database."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="manylabel-postgres-"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        if os.getuid() == 0:  # the server refuses to be root
            shutil.chown(self.folder, "postgres")
        data = self.folder / "data"
        self._run("initdb", "-D", data, "-A", "trust", "-U", "manylabel", "-N")
        self.start()

    @property
    def url(self) -> str:
        """Where its database is."""
        return f"postgresql://manylabel@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        place = ("-D", self.folder / "data", "-l", self.folder / "log.txt")
        self._run("pg_ctl", *place, "-w", "-o", options, "start")

    def stop(self) -> None:
        """Stop it as a crash would."""
        place = ("-D", self.folder / "data")
        self._run("pg_ctl", *place, "-w", "-m", "immediate", "stop")

    def remove(self) -> None:
        """Stop it and delete its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(find_program(program)), *map(str, arguments)]
        if os.getuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(
            command,
            check=True,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )


def start_or_skip() -> PostgresServer:
    """Return a server that runs, or skip the test and say why."""
    pytest.importorskip("psycopg")
    for program in ("initdb", "pg_ctl"):
        if find_program(program) is None:
            pytest.skip(f"PostgreSQL is not installed: there is no {program}")
    try:
        return PostgresServer()
    except (OSError, LookupError, subprocess.SubprocessError) as error:
        pytest.skip(f"PostgreSQL cannot be started: {error}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    server = start_or_skip()
    yield server
    server.remove()


@pytest.fixture
def empty_postgres(postgres: PostgresServer) -> PostgresServer:
    import psycopg

    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS manylabel_events")
        connection.execute("DROP TABLE IF EXISTS manylabel_predictions")
        connection.execute("DROP TABLE IF EXISTS manylabel_settled_items")
    return postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/log.db"
    return str(request.getfixturevalue("empty_postgres").url)


@pytest.fixture
def log(url: str) -> Iterator[Log]:
    found = open_log(url)
    yield found
    found.close()


@pytest.fixture
def sqlite_log(tmp_path: Path) -> Iterator[Log]:
    found = open_log(f"sqlite:///{tmp_path}/log.db")
    yield found
    found.close()


@pytest.fixture(scope="session")
def batch_tagger() -> ml.Tagger:
    return ml.Tagger(ml.OneVsRest()).fit(TEXTS, TAGS)


@pytest.fixture(scope="session")
def online_tagger() -> ml.Tagger:
    learner = ml.OnlineLabelTree(n_bits=12)
    vectorizer = ml.TextVectorizer(n_features=2**10)
    return ml.Tagger(learner, vectorizer=vectorizer).partial_fit(TEXTS, TAGS)


@contextmanager
def serve(
    folder: Path, *, settings: Settings = QUICK, url: str | None = None
) -> Iterator[Service]:
    """Serve the models of a folder, and yield the service when it is ready."""
    log = open_log(url or f"sqlite:///{folder}/log.db")
    service = Service(folder / "models", log, settings=settings).start()
    try:
        wait_until(service.is_ready)
        yield service
    finally:
        service.stop()
        log.close()


def wait_until(true: Callable[[], bool], seconds: float = 300) -> None:
    """Wait for something that another thread does."""
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.005)


@pytest.fixture
def serving() -> Any:
    """Serve the models of a folder while a block runs."""
    return serve


@pytest.fixture
def wait_for() -> Any:
    """Wait for something that another thread does."""
    return wait_until


@pytest.fixture
def correct() -> Any:
    """Send feedback on an item, and wait until it is learnt."""

    def say(
        replica: Any,
        item: Any = TEXT,
        accepted: Any = ("brand-new",),
        key: Any = None,
        **given: Any,
    ) -> Any:
        said = FeedbackIn(accepted=accepted, item=item, complete=True, **given)
        appended = replica.feedback(said, key, "me").result(10)
        assert replica.wait(appended.sequence, 30)
        return appended

    return say


@pytest.fixture
def best() -> Any:
    """Return the names of an item's labels, the best first."""

    def ask(replica: Any, item: Any = TEXT, k: int | None = 1, **options: Any) -> Any:
        (row,) = replica.predict([item], k=k, **options).labels
        return [name for name, _ in row]

    return ask


@pytest.fixture(params=["online", "batch"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a folder with models, of which there is one, ``m``."""
    (tmp_path / "models").mkdir()
    tagger = request.getfixturevalue(f"{request.param}_tagger")
    tagger.save(tmp_path / "models" / "m")
    return tmp_path

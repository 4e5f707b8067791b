"""Logs to write to, a server of PostgreSQL, and small models that follow."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import manylabel as ml
from manylabel.server.log import Log, open_log

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

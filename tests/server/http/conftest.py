"""Models to serve, an application in this process, and servers of their own."""

import re
import shutil
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import manylabel as ml
from manylabel.server.app import create_app
from manylabel.server.log import open_log
from manylabel.server.security import Guard, Tokens
from manylabel.server.service import Service

ROOT = Path(__file__).parents[3]
URL = "http://127.0.0.1:8000"
TEXTS = ["red wine", "white wine", "brown bread", "rye bread", "wine and bread"] * 4
TAGS = [["drink"], ["drink"], ["food"], ["food"], ["drink", "food"]] * 4


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """Return a folder with a model of texts and one of features, not to be changed."""
    folder = tmp_path_factory.mktemp("fitted")
    ml.Tagger(ml.OneVsRest()).fit(TEXTS, TAGS).save(folder / "menu")
    rows = [[0.0, 1.0], [1.0, 0.0]] * 3
    ml.Tagger(ml.OneVsRest()).fit(rows, [["a"], ["b"]] * 3).save(folder / "rows")
    return folder


@pytest.fixture
def models(fitted, tmp_path):
    """Return a folder of models to serve."""
    return Path(shutil.copytree(fitted, tmp_path / "models"))


@pytest.fixture
def tokens(models):
    """Return the tokens of that folder: none yet."""
    return Tokens(models / ".serve")


@pytest.fixture(scope="session")
def running():
    """Return what runs an application in this process."""
    return _running


@contextmanager
def _running(models, **options):
    """Run an application in this process, ready to answer."""
    (models / ".serve").mkdir(exist_ok=True)
    log = open_log(f"sqlite:///{models / '.serve' / 'log.db'}")
    guard = Guard(Tokens(models / ".serve"))
    app = create_app(Service(models, log), guard, folder=models, **options)
    with TestClient(app, base_url=URL, raise_server_exceptions=False) as client:
        while client.get("/health/ready").status_code != 200:
            time.sleep(0.01)
        yield client
    log.close()


@pytest.fixture(scope="module")
def shared(fitted, tmp_path_factory):
    """Return a folder of models that the tests of a file share."""
    return Path(shutil.copytree(fitted, tmp_path_factory.mktemp("shared") / "models"))


@pytest.fixture(scope="module")
def http(shared):
    """Return a client of an open application that the tests of a file share."""
    with _running(shared) as client:
        yield client


class Served:
    """A server in a process of its own."""

    def __init__(self, process, url):
        self.process, self.url = process, url
        self.host, _, port = url.removeprefix("http://").strip("/").partition(":")
        self.port = int(port)

    def wait(self):
        """Wait until it is ready."""
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.url}health/ready") as answer:
                    assert answer.status == 200
                    return self
            except OSError:
                assert self.process.poll() is None
                time.sleep(0.05)
        raise AssertionError("the server is not ready")

    def end(self, signal=None):
        """End it; return its status and what it has said."""
        if signal is None:
            self.process.terminate()
        else:
            self.process.send_signal(signal)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


@pytest.fixture
def serve(models):
    """Return what starts servers, which end with the test."""
    started = []

    def start(*options):
        command = [sys.executable, "-m", "manylabel.cli.start", "serve", str(models)]
        process = subprocess.Popen(
            [*command, "--port", "0", *options],
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        started.append(process)
        line = process.stderr.readline()
        return Served(process, re.search(r"http://\S+/", line)[0])

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()
        process.stderr.close()

"""A server of a few models, and Chromium to look at its page."""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError

import pytest

import manylabel as ml

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
PATIENCE = 60  # seconds: the first call of a kernel compiles it
READY = PATIENCE * 1000  # the same in milliseconds, as the browser counts
N_MANY = 100_000
MARKUP = [
    "<script>window.broken = 1</script>",
    "<img src=x onerror='window.broken = 1'>",
    "javascript:window.broken=1",
    '"><svg onload=window.broken=1>',
    "__proto__",
    "{{7*7}} &lt;b&gt;",
]


class Server:
    """The service, in a process of its own that can be ended and started again."""

    def __init__(self, models: Path) -> None:
        self.models = models
        self.port = find_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.lines: deque[str] = deque(maxlen=50)
        self.process: subprocess.Popen[str] | None = None

    def start(self, *, wait: bool = True) -> None:
        """Serve, and wait until all models are ready."""
        command = [sys.executable, "-m", "manylabel.cli.main", "serve"]
        self.process = subprocess.Popen(
            [*command, str(self.models), "--port", str(self.port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"NO_COLOR": "1"},
        )
        threading.Thread(target=self._read, args=[self.process], daemon=True).start()
        end = time.monotonic() + PATIENCE
        while wait and not self._is_ready():
            assert self.process.poll() is None, "".join(self.lines)
            assert time.monotonic() < end, "".join(self.lines)
            time.sleep(0.1)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        with process.stdout:
            self.lines.extend(process.stdout)

    def _is_ready(self) -> bool:
        with suppress(URLError, ConnectionError):
            with urllib.request.urlopen(f"{self.url}health/ready") as answer:
                return bool(answer.status == 200)
        return False


def find_port() -> int:
    """Return a port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def make_models(folder: Path) -> None:
    """Save a model that learns by itself, and some that are corrected beside."""
    texts = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 10
    tags = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 10
    ml.Tagger(ml.OneVsRest()).fit(texts, tags).save(folder / "batch")
    stream = ml.CSDPP(regressor="gradient", n_components=1.0, grow=True)
    hashing = ml.TextVectorizer(n_features=1024)
    online = ml.Tagger(stream, vectorizer=hashing).fit(texts, tags)
    online.save(folder / "online")
    odd = [[name] for name in MARKUP for _ in range(3)]
    ml.Tagger(ml.OneVsRest()).fit([f"word{i // 3}" for i in range(18)], odd).save(
        folder / "odd"
    )


def make_many(folder: Path) -> None:
    """Save a model of very many labels."""
    names = [f"topic {i:06d} of group {i % 977}" for i in range(N_MANY)]
    rows = [names[i::1000] for i in range(1000)]
    texts = [f"text {i}" for i in range(1000)]
    ml.Tagger(ml.Popularity()).fit(texts, rows).save(folder / "many")


def serve(models: Path) -> Iterator[Server]:
    """Yield a server, and end it."""
    server = Server(models)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of models that nobody has corrected."""
    folder = tmp_path_factory.mktemp("saved")
    make_models(folder)
    return folder


@pytest.fixture
def server(saved: Path, tmp_path: Path) -> Iterator[Server]:
    """Yield a server of its own for a test that ends or guards it."""
    yield from serve(copy_models(saved, tmp_path / "models"))


@pytest.fixture(scope="module")
def shared(saved: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server that the tests of a file share."""
    yield from serve(copy_models(saved, tmp_path_factory.mktemp("shared") / "models"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server of very many labels."""
    folder = tmp_path_factory.mktemp("many")
    make_many(folder)
    yield from serve(folder)


def copy_models(source: Path, target: Path) -> Path:
    """Return a copy of a folder of models, in which a log can begin anew."""
    shutil.copytree(source, target)
    return target


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield Chromium, or skip where it is absent."""
    reason = "Playwright is not installed"
    playwright = pytest.importorskip("playwright.sync_api", reason=reason)
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is not there: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Yield a function that opens a page in a new session, which must go well."""
    contexts, faults = [], []

    def open_page(url: str, *, model: str | None = None, **options: Any) -> Any:
        context = browser.new_context(**options)
        context.set_default_timeout(READY)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: note_fault(said, faults))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.goto(url)
        page.wait_for_selector("#model option", state="attached")
        if model is not None:
            page.select_option("#model", model)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults


def note_fault(said: Any, faults: list[str]) -> None:
    """Note what the browser complains of, but for requests that tests make fail."""
    is_request = re.match("Failed to load resource|Fetch API", said.text)
    if said.type in ("error", "warning") and not is_request:
        faults.append(said.text)

"""Ways to run the command line, and small files for it."""

import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from manylabel.cli.console import COMPILING
from manylabel.cli.main import run
from manylabel.data import Dataset, make_corpus, write

ROOT = Path(__file__).parents[2]


@dataclass
class Outcome:
    """What a run of the command line left behind, but that it compiled kernels."""

    status: int
    out: str
    err: str

    def __post_init__(self):
        self.err = self.err.replace(f"note: {COMPILING}.\n", "")


@pytest.fixture
def cli(capsys):
    """Run the command line in this process."""

    def call(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run([str(argument) for argument in arguments])
        return Outcome(end.value.code, *capsys.readouterr())

    return call


@pytest.fixture
def standard_input(monkeypatch):
    """Put bytes where the command line finds its standard input."""

    def give(content):
        monkeypatch.setattr(
            "sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        )

    return give


def command(*arguments):
    return [sys.executable, "-m", "manylabel.cli.start", *map(str, arguments)]


def environment(**changes):
    return os.environ | {"PYTHONPATH": str(ROOT)} | changes


@pytest.fixture(scope="session")
def process():
    """Run the command line in a process of its own."""

    def call(*arguments, changes=None, **settings):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        done = subprocess.run(
            command(*arguments), env=environment(**changes or {}), **pipes | settings
        )
        parts = (done.stdout or b"", done.stderr or b"")
        return Outcome(done.returncode, *(part.decode() for part in parts))

    return call


@pytest.fixture
def started():
    """Start the command line and leave it running."""

    def call(*arguments, stdin=None, stderr=subprocess.PIPE, **changes):
        return subprocess.Popen(
            command(*arguments),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment(**changes),
        )

    return call


@pytest.fixture(scope="session")
def dataset():
    """Return rows to train on and rows to judge by, with named labels."""
    corpus = make_corpus(n_rows=400, n_features=40, n_labels=12)
    names = [f"label {i}" for i in range(12)]
    whole = Dataset(corpus.X, corpus.Y, label_names=names)
    return whole[np.arange(300)], whole[np.arange(300, 400)]


@pytest.fixture(scope="session")
def files(dataset, tmp_path_factory):
    """Return a folder with train and test in three formats, never to be changed."""
    folder = tmp_path_factory.mktemp("files")
    for part, name in zip(dataset, ("train", "test"), strict=True):
        for suffix in ("txt", "svm", "arff"):
            write(part, folder / f"{name}.{suffix}")
    (folder / "names.txt").write_text("\n".join(dataset[0].label_names))
    (folder / "texts.jsonl").write_text(
        '{"id": "a", "text": "one two", "labels": ["x", "y"]}\n'
        '{"id": "b", "text": "three", "labels": ["x"]}\n'
    )
    return folder


@pytest.fixture(scope="session")
def model(files):
    """Return the folder of a model fitted on the training rows, names kept."""
    with pytest.raises(SystemExit) as end:
        run(["fit", str(files / "train.arff"), "--model", str(files / "model")])
    assert end.value.code == 0
    return files / "model"


@pytest.fixture
def screen_text():
    """Return what reads all that a terminal was sent, its other end being closed."""

    def read(screen):
        parts = []
        try:
            while part := os.read(screen, 1 << 16):
                parts.append(part)
        except OSError:  # so Linux tells the end
            pass
        os.close(screen)
        return b"".join(parts).decode()

    return read

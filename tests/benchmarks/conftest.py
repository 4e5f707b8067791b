"""A small paper with a table of each protocol, and data for it."""

import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.__main__ import run
from benchmarks.reproduce.reproduction import Reproduction
from manylabel.data import Dataset, make_corpus, write

DATA = """
[tiny]
train = ["tiny_train.txt"]
test = ["tiny_test.txt"]
publisher = "the makers of tiny"

[lost]
train = ["lost_train.txt"]
test = ["lost_test.txt"]
publisher = "the makers of lost"

[two]
all = ["two.svm"]
split = [40, 20]

[xor]
noisy = 3
split = [60, 40]
"""
STREAM = """
title = "Streams"
protocol = "stream"
data = ["tiny", "lost"]
metrics = ["hamming", "f1"]
better = "lower"
tolerance = 0.1
repetitions = 2

[incomparable]
f1 = "another F1"

[[learners]]
name = "DPP"
class = "CSDPP"
parameters = { n_components = 2 }
optimises = true

[[learners]]
name = "O-BR"
class = "OnlineBinaryRelevance"

[published.tiny]
DPP = [0.0001, 0.5]

[quick]
repetitions = 1
"""
SPLIT = """
title = "Rankings"
protocol = "split"
data = ["tiny"]
metrics = ["P@1", "PSP@3", "F1@5"]
better = "higher"
tolerance = 0.1

[[learners]]
name = "Popularity"
class = "Popularity"
reason = "not in the paper"

[published.tiny]
Popularity = [1.0, 1.0, nan]
"""
FOLDS = """
title = "Sets"
protocol = "folds"
data = ["tiny"]
metrics = ["f1", "predict_seconds"]
better = "higher"
tolerance = 0.1
repetitions = 3

[settings]
folds = 3

[[learners]]
name = "BR"
class = "OneVsRest"
choices = [{ C = 1e-6 }, { C = 1.0 }]

[published.tiny]
BR = [0.01, nan]
"""
BINARY = """
title = "Classes"
protocol = "binary"
data = ["two", "xor"]
metrics = ["error", "features"]
better = "lower"
tolerance = 0.1

[[learners]]
name = "SVM"
class = "LinearSVC"
choices = [{ C = 0.1 }, { C = 1.0 }]

[[learners]]
name = "BAC"
class = "BudgetedClassifier"
parameters = { max_planes = 1 }
sweep = { budget = [1, 2] }
on = { xor = { C = 0.5 } }

[[learners]]
name = "SBT"
class = "BudgetedTree"
parameters = { budget = 1, max_planes = 1, C = 1.0 }
"""
FIGURES = {
    "curves": 'table = "table-1"\ndata = "tiny"\nmetric = "f1"',
    "points": 'table = "table-10"\ndata = "two"\nmetric = "error"\nx = "features"',
    "sizes": 'table = "table-10"\ndata = ["xor"]\nmetric = "error"\nlearners = ["SVM"]',
    "groups": 'table = "table-9"\ndata = ["tiny"]\nmetric = "predict_seconds"',
    "frequencies": 'table = "table-9"\ndata = "tiny"\nmetric = "labelsets"',
    "tree": 'table = "table-10"\ndata = "xor"\nmetric = "error"\nlearners = ["SBT"]',
}


@pytest.fixture
def cli(capsys):
    """Run a verb in this process; return its status and what it printed."""

    def call(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return SimpleNamespace(status=end.value.code, out=printed.out, err=printed.err)

    return call


@pytest.fixture
def home(tmp_path):
    """Return the files of a paper."""
    folder = tmp_path / "papers"
    (folder / "paper").mkdir(parents=True)
    (folder / "data.toml").write_text(DATA)
    tables = {"table-1": STREAM, "table-2": SPLIT, "table-9": FOLDS, "table-10": BINARY}
    for name, text in tables.items():
        (folder / "paper" / f"{name}.toml").write_text(text)
    for number, (kind, panel) in enumerate(FIGURES.items(), start=1):
        text = f'title = "{kind}"\nkind = "{kind}"\n\n[[panels]]\n{panel}\n'
        (folder / "paper" / f"figure-{number}.toml").write_text(text)
    return folder


@pytest.fixture
def data(tmp_path):
    """Return a folder with the data sets, but for the lost one."""
    folder = tmp_path / "data" / "deep"
    folder.mkdir(parents=True)
    corpus = make_corpus(
        n_rows=60, n_features=12, n_labels=5, n_labels_per_row=2, random_state=0
    )
    rows = Dataset(corpus.X, corpus.Y)
    write(rows[:40], folder / "tiny_train.txt.gz")
    write(rows[40:], folder / "tiny_test.txt")
    rng = np.random.default_rng(0)
    lines = [
        f"{int(x[0] > 0)} " + " ".join(f"{j}:{v:.3f}" for j, v in enumerate(x, start=1))
        for x in rng.normal(size=(60, 4))
    ]
    (folder / "two.svm").write_text("\n".join(lines) + "\n")
    return tmp_path / "data"


@pytest.fixture
def reproduction(home, data, tmp_path):
    return Reproduction(data, tmp_path / "out", tmp_path / "pages", home=home)


@pytest.fixture
def edited(home):
    """Change the text of a table."""

    def change(name, *replacements):
        path = home / "paper" / f"{name}.toml"
        text = path.read_text()
        for old, new in replacements:
            assert old in text
            text = text.replace(old, textwrap.dedent(new))
        path.write_text(text)
        return path

    return change

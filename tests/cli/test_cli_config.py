"""``--config``: a file for a whole run."""

import json
import re

import pytest

import manylabel as ml

RUN = """
[fit]
file = "train.txt"
model = "m"
learner = "one-vs-rest"
set = {C = 0.5, normalize = false}
json = true

[evaluate]
models = "m"
data = "test.txt"
k = [1, 2]
skip-bad-lines = true
json = true

[stream]
compare = ["online-rand"]
"""


@pytest.fixture
def run(files, tmp_path):
    """Return the file of a run, beside the data that it names."""
    for name in ("train.txt", "test.txt"):
        (tmp_path / name).write_bytes((files / name).read_bytes())
    path = tmp_path / "run.toml"
    path.write_text(RUN)
    return path


@pytest.mark.slow
def test_a_run_needs_no_other_words(process, run):
    fitted = process("fit", "--config", "run.toml", cwd=run.parent)
    assert (fitted.status, fitted.err) == (0, "")
    assert json.loads(fitted.out)["rows"] == 300
    found = ml.load(run.parent / "m").learner_
    assert (found.C, found.normalize) == (0.5, False)
    judged = process("evaluate", "--config", "run.toml", cwd=run.parent)
    figures = json.loads(judged.out)["figures"]
    assert {key for key in figures if key.startswith("P@")} == {"P@1", "P@2"}


def test_the_command_line_wins(cli, run, monkeypatch):
    monkeypatch.chdir(run.parent)
    arguments = ("--set", "C=2", "--model", "other", "--config", "run.toml")
    assert cli("fit", *arguments).status == 0
    assert ml.load("other").learner_.C == 2
    assert not (run.parent / "m").exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[fti]\n", "expected a table for one of demo, .*, found 'fti'."),
        ("fit = 1\n", "expected a table for one of demo, .*, found 'fit'."),
        ("[fit]\nlerner = 'x'\n", r"expected in \[fit\] file, model, .*'lerner'."),
        (
            "[fit]\na = 1\n",
            r"model, [^_]*, time-limit, [^_]*, text-column, [^_-]*labels-column",
        ),
        ("[fit]\njobs = {a = 1}\n", r"expected a value for 'jobs' in \[fit\]."),
        ("[fit]\nmodel = \n", "expected TOML: .*line 2"),
        ("[fit]\nmodel = '\xff'\n", "expected TOML: .*"),
    ],
)
def test_a_wrong_file_is_one_sentence(cli, tmp_path, content, reason):
    path = tmp_path / "bad.toml"
    path.write_text(content, encoding="latin-1")
    outcome = cli("fit", "--config", path)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith(f"error: {path}: ")
    assert re.search(reason, outcome.err)


def test_a_wrong_value_and_a_missing_file_are_refused(cli, tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("[fit]\nfile = 'x'\nmodel = 'm'\nseed = 'soon'\n")
    outcome = cli("fit", "--config", path)
    assert outcome.status == 2
    assert "Invalid value for '--seed'" in outcome.err
    outcome = cli("fit", "--config", tmp_path / "nosuch.toml")
    assert "nosuch.toml: no such file or directory." in outcome.err

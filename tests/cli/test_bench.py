"""``manylabel bench`` with peers that need no packages."""

import json
import shutil

import pytest

from manylabel.data import write
from manylabel.experiments import growth, growth_page
from manylabel.experiments.contest import peers
from manylabel.experiments.ledger import Ledger

MACHINE = {"processor": "A", "cores": 2, "system": "Linux", "python": "3.11"}
PEER = """
import numpy as np

class Entrant:
    def __init__(self, job):
        self.job = job

    def train(self):
        if self.job.parameters.get("fails"):
            raise ValueError("out of luck")

    def save(self):
        (self.job.model / "empty").touch()

    def rows(self, X):
        return X

    def predict(self, X):
        return [[(i, -i) for i in range(self.job.k)]] * X.shape[0]
"""
PROGRAMME = """
sets = { bibtex = 2, delicious = 1 }
quick = { bibtex = 1 }

[peers.manylabel]
[[peers.manylabel.entrants]]
name = "ours"

[peers.other]
[[peers.other.entrants]]
name = "theirs"
beside = "ours"

[peers.broken]
[[peers.broken.entrants]]
name = "broken"
parameters = { fails = true }
"""


@pytest.fixture
def place(tmp_path, monkeypatch, dataset):
    """Return a folder with a programme, a data set and options that name them."""
    home = tmp_path / "benchmarks"
    (home / "peers").mkdir(parents=True)
    shutil.copy(peers.HOME / "peers/contract.py", home / "peers")
    for name in ("manylabel", "other", "broken"):
        (home / "peers" / f"{name}.py").write_text(PEER)
    (home / "peers.toml").write_text(PROGRAMME)
    (home / "remarks.md").write_text("## Why\n\nBecause.\n")
    monkeypatch.setattr(peers, "HOME", home)
    folder = tmp_path / "data/xmc/bibtex"
    folder.mkdir(parents=True)
    for part, name in zip(dataset, ("train", "test"), strict=True):
        write(part, folder / f"{name}.txt.gz")
    return tmp_path


@pytest.fixture
def bench(cli, place):
    """Run the command in that folder."""
    paths = ("--data", "data", "--out", "out", "--cache", "cache")
    names = [place / each if "--" not in each else each for each in paths]
    return lambda *arguments: cli("bench", *arguments, *names)


def test_bench_prints_ratios_and_writes_the_page(bench, place):
    outcome = bench("other", "--quick")
    assert outcome.status == 0
    assert "1 of 2, bibtex, ours" in outcome.err
    assert f"wrote {place / 'out/benchmarks.md'}" in outcome.err.replace("\n", "")
    page = (place / "out/benchmarks.md").read_text()
    assert "$ manylabel bench other --quick --data DATA" in page
    assert "## bibtex\n\n| entrant |" in page
    assert page.endswith("## Why\n\nBecause.\n")
    assert (place / "out/bench-bibtex.png").exists()
    for name in ("ours", "theirs"):
        row = next(x for x in outcome.out.splitlines() if x.startswith(f"| {name} |"))
        assert row in page


def test_json_has_what_failed_too_and_is_quick_the_second_time(bench):
    first = bench("--sets", "bibtex", "--repeats", 1, "--json")
    assert first.status == 0
    ours, theirs, broken = json.loads(first.out)
    assert theirs["values"]["P@1"] == ours["values"]["P@1"]
    assert theirs["ratios"].keys() == {"train", "batch", "single"}
    assert broken["failure"] == "failed: ValueError: out of luck"
    assert "bibtex, broken: failed: ValueError: out of luck" in first.err
    again = bench("--sets", "bibtex", "--repeats", 1, "--json")
    assert json.loads(again.out)[:2] == [ours, theirs]
    assert "bibtex, ours" not in again.err


def test_a_set_that_is_not_there_is_named_and_skipped(bench, place):
    outcome = bench("other", "--repeats", 1)
    assert outcome.status == 0
    assert "delicious is skipped: no xmc/delicious/train.txt" in outcome.err
    page = (place / "out/benchmarks.md").read_text()
    assert "delicious was skipped: no xmc/delicious/train.txt" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "PEER must be one of manylabel, other, broken. Got 'nobody'."),
        (["--sets", "moon"], "--sets must be some of bibtex, delicious. Got 'moon'."),
        (["--data", "nowhere"], "--data must be a folder. Got 'nowhere'."),
    ],
)
def test_bad_names_are_refused(cli, place, arguments, message):
    given = [] if "--data" in arguments else ["--data", place]
    outcome = cli("bench", *arguments, *given, "--out", place / "out")
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
    assert not (place / "out").exists()


def test_without_a_clone_the_command_says_what_it_needs(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "HOME", tmp_path)
    outcome = cli("bench", "--data", tmp_path)
    assert outcome.status == 2
    assert "bench needs a clone of the repository" in outcome.err


def test_growth_is_a_section_with_plots_and_stays_on_the_page(
    bench, place, monkeypatch
):
    def measure(path, *, quick, tell):
        assert quick
        for rows in (1_000, 2_000):
            sizes = {"rows": rows, "features": 20_000, "labels": 1_000}
            figures = dict.fromkeys(growth_page.MEASURES, 1.0)
            line = {"key": str(rows), "learner": "FastXML", "grows": "rows"}
            made_by = {"version": "1", "commit": "abc", "machine": MACHINE}
            Ledger(path).append(line | sizes | figures | made_by)
        tell("measured")

    monkeypatch.setattr(growth, "measure", measure)
    first = bench("other", "--growth", "--quick")
    assert (first.status, "measured" in first.err) == (0, True)
    page = (place / "out/benchmarks.md").read_text()
    assert "$ manylabel bench other --growth --quick --data DATA" in page
    section = page.split("## How cost grows")[1]
    assert "2 runs by commit abc, on A (2 cores)" in section
    assert "![growth with rows](growth-rows.png)" in section
    assert (place / "out/growth-rows.png").exists()
    again = bench("other", "--quick")
    assert "measured" not in again.err
    assert section in (place / "out/benchmarks.md").read_text()

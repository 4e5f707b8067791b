"""``python -m benchmarks peers`` with peers that need no packages."""

import json
import shutil

import pytest

from benchmarks.peers import programme
from manylabel.data import Dataset, make_corpus, write

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

[[peers.other.entrants]]
name = "theirs, twice"
beside = "ours"

[peers.broken]
[[peers.broken.entrants]]
name = "broken"
parameters = { fails = true }
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder with a programme, a data set and options that name them."""
    home = tmp_path / "home"
    (home / "programs").mkdir(parents=True)
    shutil.copy(programme.HOME / "programs/contract.py", home / "programs")
    for name in ("manylabel", "other", "broken"):
        (home / "programs" / f"{name}.py").write_text(PEER)
    (home / "peers.toml").write_text(PROGRAMME)
    (home / "peers.md").write_text("## Why\n\nBecause.\n")
    monkeypatch.setattr(programme, "HOME", home)
    folder = tmp_path / "data/xmc/bibtex"
    folder.mkdir(parents=True)
    corpus = make_corpus(n_rows=400, n_features=40, n_labels=12)
    rows = Dataset(corpus.X, corpus.Y)
    for part, name in zip((rows[:300], rows[300:]), ("train", "test"), strict=True):
        write(part, folder / f"{name}.txt.gz")
    return tmp_path


@pytest.fixture
def contest(cli, place):
    """Run the command in that folder."""
    paths = ("--data", "data", "--out", "out", "--cache", "cache")
    names = [place / each if "--" not in each else each for each in paths]
    return lambda *arguments: cli("peers", *arguments, *names)


@pytest.mark.slow
def test_a_contest_prints_ratios_and_writes_the_page(contest, place):
    outcome = contest("other", "--quick")
    assert outcome.status == 0
    assert "1 of 3, bibtex, ours" in outcome.err
    assert f"wrote {place / 'out/peers.md'}" in outcome.err.replace("\n", "")
    page = (place / "out/peers.md").read_text()
    assert "$ python -m benchmarks peers other --quick --data DATA" in page
    assert "- A run has 20 minutes of CPU time" in page
    assert "## bibtex\n\n| entrant |" in page
    assert page.endswith("## Why\n\nBecause.\n")
    assert (place / "out/peers-bibtex.png").exists()
    for name in ("ours", "theirs"):
        row = next(x for x in outcome.out.splitlines() if x.startswith(f"| {name} |"))
        assert row in page


@pytest.mark.slow
def test_a_page_may_have_a_name_of_its_own(contest, place):
    contest("other", "--quick", "--page", "few-peers")
    page = (place / "out/few-peers.md").read_text()
    assert page.startswith("# Few peers\n")
    assert "peers other --quick --data DATA --page few-peers" in page
    assert "Because." not in page
    assert (place / "out/few-peers-bibtex.png").exists()


@pytest.mark.slow
def test_json_has_what_failed_too_and_is_quick_the_second_time(contest):
    first = contest("--sets", "bibtex", "--repeats", 1, "--json")
    assert first.status == 0
    ours, theirs, _, broken = json.loads(first.out)
    assert theirs["values"]["P@1"] == ours["values"]["P@1"]
    assert theirs["ratios"].keys() == {"train", "batch", "single"}
    assert broken["failure"] == "failed: ValueError: out of luck"
    assert "bibtex, broken: failed: ValueError: out of luck" in first.err
    again = contest("--sets", "bibtex", "--repeats", 1, "--json")
    assert json.loads(again.out)[:2] == [ours, theirs]
    assert "bibtex, ours" not in again.err


@pytest.mark.slow
def test_a_set_that_is_not_there_is_named_and_skipped(contest, place):
    outcome = contest("other", "--repeats", 1)
    assert outcome.status == 0
    assert "delicious is skipped: no xmc/delicious/train.txt" in outcome.err
    page = (place / "out/peers.md").read_text()
    assert "delicious was skipped: no xmc/delicious/train.txt" in page


def test_entrants_that_are_named_run_alone(contest, place):
    named = ("--entrant", "theirs", "--entrant", "theirs, twice")
    which = ("--sets", "bibtex", "--repeats", 1, "--limit", 7)
    outcome = contest(*named, *which, "--json")
    assert outcome.status == 0
    assert [each["entrant"] for each in json.loads(outcome.out)] == [
        "theirs",
        "theirs, twice",
    ]
    page = (place / "out/peers.md").read_text()
    told = "--entrant theirs --entrant 'theirs, twice' --sets bibtex --repeats 1"
    assert f"$ python -m benchmarks peers {told} --limit 7 --data DATA" in page
    assert "\n| ours |" not in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], "PEER must be one of manylabel, other, broken. Got 'nobody'."),
        (
            ["other", "--entrant", "broken"],
            "--entrant must be one of 'ours', 'theirs', 'theirs, twice'. Got 'broken'.",
        ),
        (["--sets", "moon"], "--sets must be some of bibtex, delicious. Got 'moon'."),
        (["--data", "nowhere"], "--data must be a folder. Got 'nowhere'."),
    ],
)
def test_bad_names_are_refused(cli, place, arguments, message):
    given = [] if "--data" in arguments else ["--data", place]
    outcome = cli("peers", *arguments, *given, "--out", place / "out")
    assert (outcome.status, outcome.out) == (2, "")
    assert message in outcome.err
    assert not (place / "out").exists()

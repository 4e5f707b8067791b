"""The demo tags real texts, learns a correction, and shows which figures mislead."""

import json
import re

import pytest

from manylabel import load_packages
from manylabel.cli import hidden_labels
from manylabel.data.samples import PACKAGES


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_demo_learns_a_correction_and_shows_which_figures_mislead(cli, seed):
    outcome = cli("demo", "--seed", seed, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert found["texts"]["right"] > found["texts"]["judged"] / 3
    correction = found["correction"]
    assert correction["wrong"][0] == correction["before"][0][0]
    assert not set(correction["wrong"]) & set(correction["after"][0])
    recorded, estimated, true = found["prefers"].values()
    assert recorded == "one-vs-rest"
    assert estimated == true == "one-vs-rest, corrected"
    for plain, estimate, truth in (row.values() for row in found["figures"].values()):
        assert abs(estimate - truth) < 0.02
        assert abs(plain - truth) > 0.05


def test_demo_says_what_it_shows(cli):
    out = cli("demo").out
    for part in ("1  Texts and tags", "2  A correction", "3  Labels that nobody wrote"):
        assert part in out
    assert "the truth, prefers one-vs-rest, corrected." in out


@pytest.mark.slow
def test_judging_beside_is_judging_here(monkeypatch):
    with hidden_labels.judging(0) as wait:
        beside = wait()
    monkeypatch.setattr("sys.executable", "false")  # a process that fails at once
    with hidden_labels.judging(0) as wait:
        assert wait() == beside


def test_every_text_of_the_sample_may_be_copied():
    rows = [line.split(";") for line in PACKAGES.read_text("utf-8").splitlines()[1:]]
    assert len(rows) == len(load_packages()) > 150
    for row in rows:
        assert re.search("MIT|BSD|Apache|ISC|PSF|Python Software|Zlib|CC0", row[2])
        assert not re.search("GPL|GNU|MPL|Mozilla", row[2])
    assert PACKAGES.with_name("README.md").exists()

"""``fit --quality`` and ``--time-limit``: what is chosen, and how long it takes."""

import json
import os
import re

import pytest

import manylabel as ml
from manylabel.cli import plan
from manylabel.model_selection import duration

MEASURING = "note: measuring on a few rows how long best takes.\n"
TOO_SHORT = "error: --time-limit must be longer, about "


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """Return a file of rows that are many enough to choose for."""
    corpus = ml.make_corpus(n_rows=2000, n_features=40, n_labels=6)
    path = tmp_path_factory.mktemp("quality") / "train.txt"
    ml.write(ml.Dataset(corpus.X, corpus.Y), path)
    return path


@pytest.fixture
def out(tmp_path):
    return tmp_path / "model"


@pytest.fixture
def takes(monkeypatch):
    """Say how long the learners take that are measured, one after the other.

    To measure each lets ``measuring`` seconds pass, and ``compiling`` ones.
    """

    def give(*seconds, measuring=0, compiling=0):
        left, now = list(seconds), [0.0]

        def estimate(*_):
            now[0] += measuring + compiling
            plan.compilation.seconds[0] += compiling
            return left.pop(0)

        monkeypatch.setattr(plan.compilation, "seconds", [0.0])
        monkeypatch.setattr(plan.time, "perf_counter", lambda: now[0])
        monkeypatch.setattr(duration, "estimate_seconds", estimate)

    return give


def test_the_default_is_balanced(cli, train, out):
    done = cli("fit", train, "--model", out, "--json")
    assert (done.status, done.err) == (0, "")
    figures = json.loads(done.out)
    assert (figures["learner"], figures["quality"]) == ("label-tree", "balanced")
    learner = ml.load(out).learner_
    usual = {"n_jobs": -1, "random_state": 0}
    expected = ml.choose(2000, 40, 6).learner.set_params(**usual)
    assert learner.get_params() == expected.get_params()


def test_fast_is_said_on_one_line(cli, train, out):
    done = cli("fit", train, "--model", out, "--quality", "fast")
    assert done.status == 0
    assert done.err == f"note: chose {ml.choose(2000, 40, 6, 'fast').reason}\n"
    assert "fast" in done.out


def test_a_learner_that_is_named_has_no_quality(cli, train, out):
    named = ("--learner", "label-tree", "--set", "leaf_labels=3")
    done = cli("fit", train, "--model", out, *named, "--json")
    assert (done.status, done.err) == (0, "")
    figures = json.loads(done.out)
    assert (figures["learner"], "quality" in figures) == ("label-tree", False)
    assert ml.load(out).learner_.leaf_labels == 3


def test_a_label_tree_is_tuned(cli, files, out):
    named = ("--learner", "label-tree", "--tune", "P@1")
    done = cli("fit", files / "train.txt", "--model", out, *named)
    assert (done.status, done.err.count("tune: P@1")) == (0, 3)


@pytest.mark.parametrize(
    ("seconds", "words"), [(14.6, "15 s"), (1000, "17 min"), (9000, "2.5 h")]
)
def test_a_long_fit_is_announced(cli, train, out, takes, seconds, words):
    takes(seconds)
    done = cli("fit", train, "--model", out, "--quality", "fast")
    reason = ml.choose(2000, 40, 6, "fast").reason.rstrip(".")
    wait = f"fitting takes about {words} on this machine"
    assert done.err == f"note: chose {reason}; {wait}.\n"
    takes(seconds)
    done = cli("fit", train, "--model", out, "--learner", "popularity")
    assert done.err == f"note: {wait}.\n"


def test_a_search_takes_as_many_fits_as_settings(cli, train, out, takes):
    takes(10)
    search = ("--learner", "label-tree", "--tune", "P@1", "--time-limit", "33")
    done = cli("fit", train, "--model", out, *search)
    assert done.status == 2
    assert "label-tree takes about 34 s" in done.err


def test_what_takes_too_long_is_stepped_down(cli, train, out, takes):
    takes(500, 50, 5)
    asked = ("--quality", "best", "--time-limit", "30")
    done = cli("fit", train, "--model", out, *asked)
    assert done.status == 0
    start, first, second = done.err.splitlines()
    assert f"{start}\n" == MEASURING
    assert first == "note: best takes about 8 min on this machine: fast instead."
    assert "nothing as good is quicker; fitting takes about 5 s" in second
    assert ml.load(out).learner_.tilt == 0.01


def test_no_limit_means_what_was_asked_for(cli, train, out, takes):
    takes(500)
    done = cli("fit", train, "--model", out, "--quality", "fast", "--json")
    assert json.loads(done.out)["quality"] == "fast"


@pytest.mark.parametrize(
    ("arguments", "seconds", "words"),
    [
        (["--quality", "best"], [500, 50, 20], "29: label-tree takes about 20 s"),
        (["--quality", "fast"], [20], "23: label-tree takes about 20 s"),
        (["--learner", "popularity"], [20], "23: popularity takes about 20 s"),
    ],
)
def test_a_limit_that_nothing_keeps_is_refused_before_any_work(
    cli, train, out, takes, arguments, seconds, words
):
    takes(*seconds, measuring=3)
    done = cli("fit", train, "--model", out, "--time-limit", "10", *arguments)
    assert (done.status, done.out) == (2, "")
    said = MEASURING if "best" in arguments else ""
    measured = f"after {3 * len(seconds)} s of reading and measuring"
    assert done.err == f"{said}{TOO_SHORT}{words} on this machine, {measured}.\n"
    assert not out.exists()


def test_what_measuring_took_is_not_thrown_away(cli, train, out, takes):
    takes(50, 4, 1, measuring=3)
    asked = ("--quality", "best", "--time-limit", "5")
    done = cli("fit", train, "--model", out, *asked)
    assert (done.status, out.exists()) == (0, True)
    assert (
        "note: reading and measuring took 9 s: label-tree ends after --time-limit, "
        "in about 1 s.\n"
    ) in done.err


def test_compiling_does_not_count(cli, train, out, takes):
    takes(50, 5, measuring=1, compiling=30)
    asked = ("--quality", "best", "--time-limit", "10", "--json")
    done = cli("fit", train, "--model", out, *asked)
    assert json.loads(done.out)["quality"] == "balanced"


def test_few_rows_have_nothing_to_step_down_to(cli, files, out, takes):
    takes(20)
    asked = ("--quality", "best", "--time-limit", "10")
    done = cli("fit", files / "train.txt", "--model", out, *asked)
    assert done.status == 2
    assert done.err.startswith(f"{MEASURING}{TOO_SHORT}20: one-vs-rest")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--quality", "good"], "--quality must be one of fast, balanced, best. Got"),
        (["--time-limit", "-1"], "Invalid value for '--time-limit'"),
    ],
)
def test_bad_wishes_are_refused_before_the_file_is_read(
    cli, tmp_path, out, arguments, sentence
):
    done = cli("fit", tmp_path / "none", "--model", out, *arguments)
    assert (done.status, done.out) == (2, "")
    assert sentence in done.err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_a_terminal_shows_stage_share_and_time_left(process, train, out, screen_text):
    screen, terminal = os.openpty()
    changes = {"TERM": "xterm", "COLUMNS": "200"}
    forest = ("--learner", "fastxml", "--set", "n_estimators=200", "--jobs", "1")
    done = process(
        "fit", train, "--model", out, *forest, changes=changes, stderr=terminal
    )
    os.close(terminal)
    shown = screen_text(screen)
    assert done.status == 0
    assert "Measuring" in shown
    assert re.search(r"labels trees, \d+%, about \d+ s left", shown)

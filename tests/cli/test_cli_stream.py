"""stream agrees with progressive, refuses what makes no sense, and shows its way."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

import manylabel as ml
from manylabel.cli import learners

ROOT = Path(__file__).parents[2]
COSTS = ("f1", "hamming", "accuracy", "rank")


@pytest.mark.slow
def test_stream_finds_what_python_finds(process, files, dataset):
    outcome = process(
        *("stream", files / "train.arff", "--learner", "csdpp", "--cost", "f1"),
        *("--compare", "online-br", "--set", "n_components=3", "--json"),
    )
    assert (outcome.status, outcome.err) == (0, "")
    found = json.loads(outcome.out)
    assert (found["rows"], found["hide"], found["batch"]) == (300, 0, 1)
    data = dataset[0]
    expected = {
        "csdpp": ml.CSDPP(cost="f1", n_components=3),
        "online-br": ml.OnlineBinaryRelevance(),
    }
    assert found["learners"].keys() == expected.keys()
    for name, learner in expected.items():
        run = ml.progressive(learner, data.X, data.Y, costs=COSTS)
        assert found["learners"][name]["mean"] == run.mean
        assert found["learners"][name]["stderr"] is None
        assert found["learners"][name]["rows_per_second"] > 0


def test_stream_permutes_and_hides(cli, files, dataset):
    outcome = cli(
        *("stream", files / "train.txt", "--learner", "online-br", "--json"),
        *("--permute", 3, "--seed", 7, "--hide", 0.3, "--batch", 20),
    )
    found = json.loads(outcome.out)["learners"]["online-br"]
    data = dataset[0]
    run = ml.progressive(
        *(ml.OnlineBinaryRelevance(), data.X, data.Y),
        **{"permutations": 3, "random_state": 7, "hide": 0.3, "batch": 20},
        costs=COSTS,
    )
    assert_allclose(list(found["mean"].values()), list(run.mean.values()), rtol=1e-6)
    assert_allclose(
        list(found["stderr"].values()), list(run.stderr.values()), rtol=1e-4
    )


def test_stream_prints_a_line_for_each_learner(cli, files):
    common = ("stream", files / "train.txt", "--batch", 50, "--learner")
    outcome = cli(*common, "online-br", "--compare", "online-rand", "--cost", "subset")
    assert (outcome.status, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("Losses on 300 rows of ")
    heads = "percent subset hamming f1 accuracy rank rows/s".split()
    assert lines[2].split() == heads
    assert [line.split()[0] for line in lines[4:6]] == ["online-br", "online-rand"]
    permuted = cli(*common, "online-br", "--permute", 2).out.splitlines()
    assert permuted[0].startswith("Losses on 300 rows in 2 orders of ")
    assert permuted[4].count("±") == 4


def test_stream_draws_a_line_for_each_learner(cli, files, tmp_path):
    path = tmp_path / "cost.svg"
    outcome = cli(
        *("stream", files / "train.txt", "--learner", "online-br", "--batch", 50),
        *("--compare", "online-rand", "--plot", path),
    )
    assert (outcome.status, outcome.err) == (0, f"note: wrote {path}.\n")
    assert path.read_text().startswith("<?xml")


def test_stream_reads_standard_input_as_often_as_it_needs(cli, files, standard_input):
    standard_input((files / "train.txt").read_bytes())
    common = ("--batch", 50, "--compare", "online-rand", "--json")
    outcome = cli("stream", "-", "--learner", "online-br", *common)
    assert json.loads(outcome.out)["rows"] == 300


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_stream_shows_rows_speed_and_cost_on_a_terminal(files):
    ours, theirs = os.openpty()
    program = (sys.executable, "-m", "manylabel.cli.main", "stream")
    arguments = (files / "train.txt", "--learner", "online-br", "--batch", "50")
    places = {"PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "120"}
    done = subprocess.run(
        [*program, *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | places,
        check=True,
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "300 rows" in shown
    assert "rows/s" in shown
    assert "f1 loss" in shown
    assert done.stdout.decode().startswith("Losses on 300 rows of ")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--learner", "one-vs-rest"], "--learner must be one of csdpp, online-br"),
        (["--compare", "csdpp"], "--compare must name other learners. Got 'csdpp' twi"),
        (["--compare", "tree"], "--learner must be one of csdpp, online-br"),
        (["--cost", "f2"], "cost must be one of hamming, f1"),
        (["--set", "c=1"], "--set must name a parameter of csdpp: cost, n_components"),
        (
            ["--set", "l2_regularization=x"],
            "l2_regularization must be a number. Got 'x'.",
        ),
        (["--set", "l2_regularization=-1"], "l2_regularization"),
        (["--set", "basis=2"], "basis"),
        (["--hide", "1.5"], "'--hide'"),
        (["--batch", "0"], "'--batch'"),
        (["--permute", "0"], "'--permute'"),
        (["--plot", "cost.gif"], "must end with one of .png, .pdf, .svg"),
    ],
)
def test_wrong_words_are_refused(cli, files, arguments, reason):
    outcome = cli("stream", files / "train.txt", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert reason in outcome.err
    assert outcome.err.count("\n") == 1


def test_texts_are_refused_with_their_file(cli, files):
    for permute in ([], ["--permute", 2]):
        outcome = cli("stream", files / "texts.jsonl", *permute)
        assert (outcome.status, outcome.out) == (2, "")
        assert "texts.jsonl: expected rows of features, found texts" in outcome.err
        assert "; 'manylabel fit' learns texts, and 'manylabel serve'" in outcome.err


def test_numbers_of_components_and_shares_of_labels_are_told_apart():
    counted, shared = (
        learners.make(["online-rand"], [f"n_components={text}"], {})[0].n_components
        for text in ("1", "1.0")
    )
    assert (type(counted), type(shared)) == (int, float)


def test_each_learner_takes_the_settings_that_it_has():
    settings = ["selection=sampled", "l2_regularization=2"]
    names, common = ["csdpp", "online-br"], {"cost": "rank"}
    one, other = learners.make(names, settings, common)
    assert (one.selection, one.l2_regularization, one.cost) == ("sampled", 2.0, "rank")
    assert other.l2_regularization == 2.0

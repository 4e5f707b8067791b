"""Processes that are interrupted, and processes that meet."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import manylabel as ml
from manylabel.cli import main
from manylabel.persistence import folder


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_ctrl_c_in_the_middle_of_fit_leaves_nothing(started, files, tmp_path):
    screen, terminal = os.openpty()
    arguments = ("--learner", "fastxml", "--set", "n_estimators=100000")
    running = started(
        "fit",
        files / "train.txt",
        "--model",
        tmp_path / "model",
        *arguments,
        stderr=terminal,
        TERM="xterm",
    )
    os.close(terminal)
    shown = b""
    while b"Fitting" not in shown:
        shown += os.read(screen, 1 << 12)
    running.send_signal(signal.SIGINT)
    while part := _read(screen):
        shown += part
    out, _ = running.communicate()
    os.close(screen)
    assert (running.returncode, out) == (130, b"")
    assert main.STOPPED.encode() in shown
    assert b"Traceback" not in shown
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_notes_that_nobody_reads_do_not_cost_the_model(started, tmp_path):
    (tmp_path / "a.csv").write_text("text,labels\n" + "red wine,x|y\nrye,z\n" * 20)
    unread, end = os.pipe()
    os.close(unread)
    arguments = "--model", tmp_path / "model", "--learner", "popularity"
    running = started("fit", tmp_path / "a.csv", *arguments, stderr=end)
    os.close(end)
    running.communicate()
    assert (running.returncode, ml.load(tmp_path / "model").n_rows_) == (0, 40)


@pytest.mark.slow
def test_two_processes_that_save_to_one_folder_leave_one_whole_model(
    started, files, dataset, tmp_path
):
    _, test = dataset
    out = tmp_path / "model"
    arguments = ("--model", out, "--learner", "one-vs-rest")
    fitting = [
        started("fit", files / "train.arff", *arguments, "--set", f"C={c}")
        for c in (0.1, 10)
    ]
    for running in fitting:
        _, err = running.communicate()
        assert (running.returncode, err) == (0, b"")
    found = ml.load(out).learner_
    fitted = ml.OneVsRest(C=found.C).fit(dataset[0].X, dataset[0].Y)
    expected = fitted.decision_function(test.X)
    np.testing.assert_array_equal(found.decision_function(test.X), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def _read(screen):
    try:
        return os.read(screen, 1 << 12)
    except OSError:  # so Linux tells the end
        return b""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_ctrl_c_while_the_command_line_is_loaded_is_quiet():
    code = """
import sys
from manylabel.cli import start
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
start.run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_ctrl_c_in_the_middle_of_texts_leaves_the_model_that_was_there(
    started, tmp_path
):
    train, out = tmp_path / "train.csv", tmp_path / "model"
    train.write_text("text,tags\n" + "wine and bread,a\n" * 20)
    arguments = ("fit", train, "--model", out)
    assert started(*arguments).communicate()[0]
    before = {part.name: part.read_bytes() for part in out.iterdir()}
    forest = ("--learner", "fastxml", "--set", "n_estimators=100000")
    running = started(*arguments, *forest, "--tune", "P@1")
    time.sleep(4)
    running.send_signal(signal.SIGINT)
    printed, err = running.communicate()
    assert (running.returncode, printed) == (130, b"")
    assert b"Traceback" not in err
    assert {part.name: part.read_bytes() for part in out.iterdir()} == before


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_notes_that_cannot_be_told_stop_nothing(process, tmp_path):
    train, out = tmp_path / "train.csv", tmp_path / "model"
    train.write_text("text,tags\n" + "wine and bread,a\n" * 20)
    with open("/dev/full", "w") as full:
        done = process("fit", train, "--model", out, stderr=full)
    assert done.status == 0
    assert ml.load(out).n_rows_ == 20


def test_what_a_crash_left_is_no_foreign_file(cli, tmp_path):
    train, out = tmp_path / "train.csv", tmp_path / "model"
    train.write_text("text,tags\n" + "wine and bread,a\n" * 20)
    out.mkdir()
    (out / f"{folder.DRAFT}arrays").write_text("half")
    assert cli("fit", train, "--model", out).status == 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("dear reader")
    done = cli("fit", train, "--model", tmp_path / "other")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "this folder holds other files than a model's." in done.err

"""Processes that are interrupted, and processes that meet."""

import os
import signal

import numpy as np
import pytest

import manylabel as ml


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
def test_ctrl_c_in_the_middle_of_fit_leaves_nothing(started, files, tmp_path):
    screen, terminal = os.openpty()
    arguments = ("--learner", "fastxml", "--set", "n_trees=100000")
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
    assert b"Traceback" not in shown
    assert not list(tmp_path.iterdir())


def test_two_processes_that_save_to_one_folder_leave_one_whole_model(
    started, files, dataset, tmp_path
):
    _, test = dataset
    out, chosen = tmp_path / "model", ("--learner", "one-vs-rest", "--set")
    fitting = [
        started("fit", files / "train.arff", "--model", out, *chosen, f"C={c}")
        for c in (0.1, 10)
    ]
    for running in fitting:
        _, err = running.communicate()
        assert (running.returncode, err) == (0, b"")
    found = ml.load(out)
    fitted = ml.OneVsRest(C=found.C).fit(dataset[0].X, dataset[0].Y)
    expected = fitted.decision_function(test.X)
    np.testing.assert_array_equal(found.decision_function(test.X), expected)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def _read(screen):
    try:
        return os.read(screen, 1 << 12)
    except OSError:  # so Linux tells the end
        return b""

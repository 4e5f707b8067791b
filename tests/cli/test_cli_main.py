"""What every verb has in common: help, statuses, streams, signals."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest
import typer

from manylabel import __version__
from manylabel.cli import console, main
from manylabel.cli.inputs import DataFile
from manylabel.cli.main import run

VERBS = (
    *("demo", "describe", "split", "convert", "fit", "predict", "evaluate"),
    *("explain", "audit", "stream", "serve", "shard", "warmup", "log export"),
    "log import",
    *("log verify", "token add", "token remove", "token list"),
)


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example(cli, verb):
    outcome = cli(*verb.split(), "--help")
    assert outcome.status == 0
    assert f"Example: manylabel {verb}" in " ".join(outcome.out.split())


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("fit", ("--seed", "--jobs", "--text-column", "--labels-column")),
        ("predict", ("--jobs", "--text-column", "--skip-bad-lines")),
        ("evaluate", ("--seed", "--jobs", "--label-separator", "--label-names")),
        ("audit", ("--seed", "--jobs", "--text-column", "--label-names")),
        ("stream", ("--seed", "--jobs")),
        ("demo", ("--seed",)),
    ],
)
def test_options_stand_where_they_make_sense(cli, verb, options):
    words = cli(verb, "--help").out.split()
    assert {*options, "--config"} <= set(words)
    assert ("--labels-column" in words) == (verb in ("fit", "evaluate", "audit"))


def test_no_argument_is_a_call_for_help(cli):
    outcome = cli()
    assert outcome.status == 0
    assert all(verb.split()[0] in outcome.out for verb in VERBS)


def test_the_version_is_printed(cli):
    assert cli("--version").out == f"manylabel {__version__}\n"


def test_help_waits_for_no_heavy_import():
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'joblib', 'matplotlib'}"
    code = f"import sys, manylabel.cli.main; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, env=_environment())


def test_help_takes_less_than_half_a_second_of_computing(process):
    process("--help")  # compiles what is not yet compiled
    spent = []
    for _ in range(5):  # the least of them: a busy machine slows its cores down
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert process("--help").status == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        )
    assert min(spent) < 0.5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nosuch"], "No such command 'nosuch'. See 'manylabel --help'."),
        (["fit", "--nosuch"], "No such option: --nosuch. See 'manylabel fit --help'."),
        (["fit", "x.txt"], "Missing option '--model'. See 'manylabel fit --help'."),
    ],
)
def test_wrong_usage_is_one_sentence(cli, arguments, sentence):
    outcome = cli(*arguments)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == f"error: {sentence}\n"


def test_what_nobody_expected_shows_a_traceback(files, monkeypatch):
    def break_down(self):
        raise RuntimeError("a bug")

    monkeypatch.setattr(DataFile, "chunks", break_down)
    with pytest.raises(RuntimeError, match="a bug"):
        run(["describe", str(files / "train.txt")])


def test_what_nobody_expected_has_status_1():
    code = "from manylabel.cli import main\nmain.app = 0\nmain.run(['demo'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=_environment()
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == "TypeError: 'int' object is not callable"


@pytest.mark.parametrize("status", [0, 1, 7])
def test_the_status_of_a_verb_is_that_of_the_process(cli, files, monkeypatch, status):
    def stop(self):
        raise typer.Exit(status)

    monkeypatch.setattr(DataFile, "chunks", stop)
    assert cli("describe", files / "train.txt").status == status


def test_lack_of_memory_is_one_sentence(cli, files, monkeypatch):
    def run_out(self):
        raise MemoryError

    monkeypatch.setattr(DataFile, "chunks", run_out)
    outcome = cli("describe", files / "train.txt")
    assert (outcome.status, outcome.err) == (2, "error: not enough memory.\n")


def test_nothing_but_text_without_a_terminal(process, files):
    outcome = process("describe", files / "train.txt")
    assert (outcome.status, outcome.err) == (0, "")
    assert "\x1b" not in outcome.out


@pytest.mark.slow
def test_a_closed_pipe_is_no_news(started, model, files, tmp_path):
    long = tmp_path / "long.txt"
    header, *rows = (files / "test.txt").read_text().splitlines()
    n_features, n_labels = header.split()[1:]
    rows = rows * 40
    long.write_text("\n".join([f"{len(rows)} {n_features} {n_labels}", *rows, ""]))
    running = started("predict", model, long)
    assert running.stdout.readline() == b"row\tlabel\tscore\n"
    running.stdout.close()
    assert running.stderr.read() == b""
    assert running.wait() == 1
    running.stderr.close()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_ctrl_c_is_heard_even_while_kernels_compile(started, tmp_path):
    running = started("warmup", NUMBA_CACHE_DIR=str(tmp_path))
    while running.poll() is None and not any(tmp_path.rglob("*.nbi")):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    said, *told = err.decode().splitlines()
    assert said.startswith("note: compiling all kernels")
    assert told == [f"note: {console.COMPILING}.", main.STOPPED]
    assert (running.returncode, out) == (130, b"")


def _environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def test_a_closed_output_is_no_error(tmp_path):
    data = tmp_path / "data.txt"
    data.write_text("1 1 1\n0 0:1\n")
    command = f"{sys.executable} -m manylabel.cli.main describe {data} >&-"
    result = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_full_disk_is_one_sentence(process, model, files):
    with open("/dev/full", "w") as full:
        outcome = process("predict", model, files / "test.txt", stdout=full)
    assert outcome.status == 2
    assert outcome.err == "error: standard output: no space left on device.\n"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("manylabel ev", ["evaluate"]),
        ("manylabel fit --labels-c", ["--labels-column", "--labels-columns"]),
        ("manylabel fit --learner pl", ["plst"]),
    ],
)
def test_the_shell_completes_verbs_options_and_learners(process, words, found):
    changes = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    outcome = process(changes={"_MANYLABEL_COMPLETE": "complete_bash"} | changes)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.split() == found


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such terminals")
@pytest.mark.parametrize("colourless", [False, True])
def test_a_terminal_has_colours_unless_told_not_to(
    process, files, colourless, screen_text
):
    screen, terminal = os.openpty()
    changes = {"TERM": "xterm", "NO_COLOR": "1" if colourless else ""}
    outcome = process("describe", files / "train.txt", changes=changes, stderr=terminal)
    os.close(terminal)
    shown = screen_text(screen)
    assert outcome.status == 0
    assert "\x1b[" not in outcome.out  # standard output is no terminal here
    assert ("\x1b[32m" in shown) != colourless

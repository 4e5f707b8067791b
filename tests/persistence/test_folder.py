"""A model folder is whole at every moment, whoever is interrupted."""

import errno
import itertools
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from manylabel import Propensity
from manylabel.exceptions import ArchiveError
from manylabel.persistence import folder, load, save, tensors

resource = pytest.importorskip("resource", reason="limits files as a full disk does")
OLD, NEW = (Propensity.given(np.full(3_000, p)) for p in (0.25, 0.75))


def names(path):
    return sorted(entry.name for entry in path.iterdir())


def assert_whole(path):
    """Check that the folder holds one model and nothing else; return its value."""
    assert len(names(path)) == 2
    values = set(load(path).values_.tolist())
    assert len(values) == 1
    return values.pop()


def fail_at(monkeypatch, call, error):
    """Let the ``call``-th use of the file system raise; return how many there were."""
    count = itertools.count(1)
    used = []

    def failing(function):
        def wrapped(*arguments, **options):
            used.append(function.__name__)
            if next(count) == call:
                raise error
            return function(*arguments, **options)

        return wrapped

    for name in ("mkdir", "open", "fsync", "replace", "listdir"):
        monkeypatch.setattr(os, name, failing(getattr(os, name)))
    monkeypatch.setattr(folder, "open", failing(open), raising=False)
    return used


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "raised"),
    [(FULL, ArchiveError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
@pytest.mark.parametrize("fresh", [False, True])
def test_a_failing_call_leaves_the_old_or_the_new_model(tmp_path, error, raised, fresh):
    outcomes = []
    for call in itertools.count(1):
        path = tmp_path / f"model-{call}"
        if not fresh:
            save(OLD, path)
        with pytest.MonkeyPatch.context() as patch:
            used = fail_at(patch, call, error)
            try:
                save(NEW, path)
                failed = False
            except raised:
                failed = True
        found = assert_whole(path) if path.exists() else None
        if failed:
            outcomes.append(found)
        else:
            assert found == 0.75
        if len(used) < call:
            break
    # Only the last syncs come after the instant of replacement.
    assert outcomes.count(None if fresh else 0.25) >= 8
    assert set(outcomes) == {None if fresh else 0.25, 0.75}


@pytest.mark.parametrize("size", [0, 1, 8, 200, 5_000, 24_100])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_full_disk_leaves_the_old_model(tmp_path, size, fresh):
    path = tmp_path / "model"
    if not fresh:
        save(OLD, path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        with pytest.raises(ArchiveError, match="the model cannot be written: File too"):
            save(NEW, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not path.exists() if fresh else assert_whole(path) == 0.25


@pytest.mark.filterwarnings("ignore:unclosed file", "ignore:Exception ignored")
def test_ctrl_c_at_any_line_leaves_a_whole_model(tmp_path):
    files = {module.__file__ for module in (folder, tensors)}
    path = tmp_path / "model"
    outcomes = []
    for target in itertools.count(1):
        save(OLD, path)
        lines = itertools.count(1)

        def interrupt(frame, event, argument, lines=lines, target=target):
            # Not where the lock is given back, or the next save would wait for it.
            name = frame.f_code.co_name
            if frame.f_code.co_filename not in files or name == "_held":
                return None
            if event == "line" and next(lines) == target:
                raise KeyboardInterrupt
            return interrupt

        tracer = sys.gettrace()
        sys.settrace(interrupt)
        try:
            save(NEW, path)
            break
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(tracer)
        outcomes.append(assert_whole(path))
    assert len(outcomes) > 100
    assert set(outcomes) == {0.25, 0.75}


def test_the_same_arrays_under_new_parameters_survive_a_failure(tmp_path, monkeypatch):
    save(Propensity(a=0.5), tmp_path)
    monkeypatch.setattr(folder, "_sealed", lambda manifest: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(Propensity(a=0.6), tmp_path)
    assert load(tmp_path).a == 0.5


def test_a_damaged_model_is_not_swept_away_by_a_failure(tmp_path, monkeypatch):
    save(OLD, tmp_path)
    (tmp_path / "manifest.json").write_text('{"manylabel": damaged')
    before = names(tmp_path)
    monkeypatch.setattr(folder, "_sealed", lambda manifest: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        save(NEW, tmp_path)
    assert names(tmp_path) == before


def run(code, path):
    """Start a program that has ``save``, ``load``, ``Propensity`` and ``path``."""
    head = f"""
        import os, time
        import numpy as np
        from manylabel import Propensity
        from manylabel.persistence import load, save
        path = {str(path)!r}
    """
    program = textwrap.dedent(head) + textwrap.dedent(code)
    return subprocess.Popen([sys.executable, "-c", program])


@pytest.mark.slow
def test_writers_and_readers_at_once_see_whole_models(tmp_path):
    path = tmp_path / "model"
    code = """
        for i in range(60):
            save(Propensity.given(np.full(3_000, {} + i / 1000)), path)
    """
    writers = [run(code.format(start), path) for start in (0.2, 0.6)]
    while not path.exists() or "manifest.json" not in names(path):
        time.sleep(0.001)
    n_read = 0
    while any(writer.poll() is None for writer in writers):
        values = load(path).values_
        assert (values == values[0]).all()
        n_read += 1
    assert [writer.wait() for writer in writers] == [0, 0]
    assert n_read > 0
    assert assert_whole(path) in (0.259, 0.659)


@pytest.mark.slow
def test_a_failing_writer_does_not_take_the_folder_from_a_waiting_one(tmp_path):
    """One makes the folder and fails while another waits for its lock."""
    path = tmp_path / "model"
    waiting = """
        while not os.path.exists(path):
            time.sleep(0.001)
        save(Propensity(a=0.7), path)
    """
    writer = run(waiting, path)
    for _ in range(10_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(folder, "_sealed", lambda manifest: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                save(OLD, path)
        if writer.poll() is not None:
            break
        time.sleep(0.001)  # or the other might never have its turn
    assert writer.wait() == 0
    assert load(path).a == 0.7


@pytest.mark.slow
def test_a_killed_writer_leaves_a_whole_model(tmp_path):
    code = """
        import random, signal
        save(Propensity.given(np.full(3_000, 0.5)), path)
        for trial in range(1_000):
            child = os.fork()
            if child == 0:
                for i in range(1_000):
                    save(Propensity.given(np.full(3_000, 0.5 + i / 10_000)), path)
                os._exit(0)
            time.sleep(random.uniform(0, 0.02))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            values = load(path).values_
            assert (values == values[0]).all()
        save(Propensity(), path)
    """
    assert run(code, tmp_path / "model").wait() == 0
    assert len(names(tmp_path / "model")) == 2

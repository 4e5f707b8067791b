"""How far the work is: on a narrow terminal, and where there is none."""

from types import SimpleNamespace

from manylabel import parallel
from manylabel.cli import console


def test_the_time_left_is_seen_on_a_terminal_of_80_columns(monkeypatch, capsys):
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "80", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    what = "Fitting a blend of one-vs-rest and label-tree to 18,000 rows, 16,104 labels"
    with console.fitting(what, 20.0), parallel.stage("level 2", share=0.5):
        for show in console.SHOWN:
            show(f"{console.COMPILING_SHORT}: 3")
        parallel.run(pow, [(2, 2), (3, 2)], n_jobs=1)
    shown = capsys.readouterr().err
    assert "level 2, 50%, about 0 s left " in shown
    assert "compiling kernels" in shown.split("left")[1]
    (line,) = {each for each in shown.splitlines() if "about 0 s left" in each}
    assert "Fitting" in line  # which is cut, and not on two lines
    assert "…" in line


def test_a_pipe_is_told_now_and_then_of_what_takes_long(monkeypatch, capsys):
    now = iter([0.0, *(7.0, 14.0, 19.0, 21.0, 30.0, 41.0), 0.0, 60.0])
    clock = SimpleNamespace(monotonic=lambda: next(now))
    monkeypatch.setattr(console, "time", clock)
    for quiet in (False, True):
        list(console.track(["r"] * (1 if quiet else 6), "Predicting", quiet=quiet))
    noted = [f"note: predicting: {n} rows.\n" for n in (2, 4, 6)]
    assert capsys.readouterr().err == "".join(noted)

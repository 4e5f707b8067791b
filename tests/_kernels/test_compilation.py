"""People are told when kernels are compiled, and how long it takes is known."""

import pytest
from numba.core import event

from manylabel._kernels import compilation
from manylabel.cli import console


def test_people_are_told_once_that_kernels_are_compiled(capsys):
    with console.telling_of_kernels():
        for _ in range(3):
            for tell in compilation.watchers:
                tell()
    assert capsys.readouterr().err == f"note: {console.COMPILING}.\n"
    assert not compilation.watchers


def test_a_bar_counts_the_kernels_that_are_compiled(monkeypatch, capsys):
    shown = []
    monkeypatch.setattr(console, "SHOWN", [shown.append])
    with console.telling_of_kernels():
        for _ in range(3):
            for tell in compilation.watchers:
                tell()
    assert shown[-1] == f"{console.COMPILING_SHORT}: 3"
    assert capsys.readouterr().err == ""


def test_seconds_of_compiling_count_once(monkeypatch):
    now, before = [0.0], compilation.seconds[0]
    monkeypatch.setattr(event, "timer", lambda: now[0])
    for _ in range(2):
        with event.trigger_event("numba:compile"):
            with event.trigger_event("numba:compile"):  # what a function calls
                now[0] += 3
            now[0] += 1
        now[0] += 5
    assert compilation.seconds[0] == pytest.approx(before + 8)

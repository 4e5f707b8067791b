"""People are told when kernels are compiled."""

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

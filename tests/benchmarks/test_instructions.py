"""Instruction counts: only the kernel counts, and only growth is a failure."""

import json
import subprocess
from functools import partial

import pytest

from benchmarks import hot_kernels, instructions

AMOUNTS = {"one kernel": 500, "another": 2000}


def fake_counter(per_unit):
    """Return a counter by which a kernel takes so many instructions a unit."""

    def count(jobs):
        return [10**9 + int(n * per_unit * AMOUNTS[name]) for name, n in jobs]

    return count


@pytest.fixture
def fake(monkeypatch, tmp_path):
    monkeypatch.setattr(instructions, "RECORD", tmp_path / "instructions.json")
    monkeypatch.setattr(instructions, "run", lambda command: None)
    kernels = {
        name: partial(hot_kernels.Work, None, amount, "row")
        for name, amount in AMOUNTS.items()
    }
    monkeypatch.setattr(instructions, "KERNELS", kernels)

    def use(per_unit):
        counter = None if per_unit is None else fake_counter(per_unit)
        monkeypatch.setattr(instructions, "find_counter", lambda: counter)

    return use


def test_what_comes_before_the_kernel_does_not_count(fake):
    counts = instructions.per_unit(fake_counter(3))
    assert counts == pytest.approx(dict.fromkeys(AMOUNTS, 3.0))


@pytest.mark.parametrize(("share", "code"), [(0.5, 0), (1.04, 0), (1.06, 1)])
def test_only_a_kernel_that_grew_fails(fake, capsys, share, code):
    fake(100.0)
    assert instructions.main(["--write"]) == 0
    record = json.loads(instructions.RECORD.read_text())
    assert set(record) == {"counter", "processor", "numba", "python", "counts"}
    fake(100.0 * share)
    assert instructions.main(["--check"]) == code
    said = capsys.readouterr().out
    assert ("6.0 % more than 100.00" in said) == bool(code)


def test_a_machine_without_a_counter_says_so(fake, capsys):
    fake(None)
    assert instructions.main(["--check"]) == 0
    assert capsys.readouterr().out.strip() == instructions.NO_COUNTER


def test_counters_are_read_run_by_run(monkeypatch):
    told = iter(
        [
            subprocess.CompletedProcess([], 0, "", "1200,,instructions:u,99,100.00,,"),
            subprocess.CompletedProcess([], 0, "", "<not supported>,,instructions:u"),
            subprocess.CompletedProcess(
                [],
                0,
                "8\n9\n",
                "==9== I refs:  1,500\n==8== I   refs: 30\n==7== I refs: 2",
            ),
        ]
    )
    monkeypatch.setattr(instructions, "run", lambda command: next(told))
    assert instructions.perf([("forest router", 1)]) == [1200]
    assert instructions.perf([("forest router", 1)]) == []
    assert instructions.valgrind([("forest router", 1), ("forest router", 2)]) == [
        30,
        1500,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", hot_kernels.KERNELS)
def test_the_kernels_can_run_again(name):
    work = hot_kernels.KERNELS[name]()
    work.run()
    work.run()
    assert work.amount > 0

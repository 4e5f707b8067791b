"""Ratios, their table and the page, from records made by hand."""

from dataclasses import replace

import pytest

from benchmarks.peers.contest import plan
from benchmarks.peers.programme import Entrant, Peer
from benchmarks.peers.ratios import (
    Result,
    compare,
    figures,
    gather,
    losses,
    write_table,
)
from benchmarks.peers.report import Contents, draw, write_page

VALUES = {
    "train_cpu": 2.0,
    "train_rows": 100,
    "given_rows": 100,
    "batch_cpu": 0.01,
    "batch_rows": 50,
    "test_rows": 50,
    "features": 1_200,
    "labels": 30,
    "single_ms": 0.5,
    "model_bytes": 3_000_000,
    "peak_bytes": 45_600_000,
    **{f"P@{k}": 0.6 / k for k in (1, 3, 5)},
    **{f"PSP@{k}": 0.5 / k for k in (1, 3, 5)},
}
MACHINE = {"processor": "A", "cores": 2, "system": "Linux", "python": "3.11"}


def _result(name, beside=None, **values):
    run = {
        "values": VALUES | values,
        "version": "1.0",
        "commit": "abc",
        "finished": "2026-11-16T10:00:00+00:00",
        "machine": MACHINE,
    }
    return Result(name, f"{name}-lib", "tiny", beside, (run,), None)


OURS = _result("ours")


def test_a_ratio_is_theirs_over_ours():
    theirs = _result("theirs", "ours", train_cpu=5.0, batch_cpu=0.001, single_ms=1.0)
    ratios = compare([OURS, theirs])
    assert ratios == {
        "theirs": {
            "train": pytest.approx(2.5),
            "batch": pytest.approx(0.1),
            "single": pytest.approx(2.0),
        }
    }


def test_times_are_those_of_all_rows():
    slow = _result("slow", "ours", train_rows=25, batch_rows=10)
    assert slow.times["train"] == pytest.approx(8.0)  # 2 s for a quarter of the rows
    assert slow.times["batch"] == pytest.approx(0.001)
    assert compare([OURS, slow])["slow"]["train"] == pytest.approx(4.0)
    table = write_table([OURS, slow])
    assert "| ~8.0 | 4.0 |" in table
    assert "learnt 25 of 100 rows in 2 s, 12 a second" in table
    assert "judged on 10 of 50 test rows" in table
    whole = write_table([OURS, _result("whole", "ours", batch_rows=10)])
    assert "- whole: judged on 10 of 50 test rows." in whole


def test_a_figure_is_the_median_of_the_runs():
    runs = [_result("ours", train_cpu=each).runs[0] for each in (1.0, 9.0, 2.0)]
    assert replace(OURS, runs=tuple(runs))["train_cpu"] == 2.0


def test_nobody_is_compared_with_who_has_no_figures():
    failed = replace(OURS, runs=(), failure="took over 10 minutes")
    assert compare([failed, _result("theirs", "ours")]) == {}


def test_a_loss_is_at_equal_quality_only():
    quick = {"train_cpu": 1.0, "batch_cpu": 0.01 / 1.4}
    assert [
        (result.name, kind, by)
        for result, kind, by in losses([OURS, _result("a", "ours", **quick)])
    ] == [("a", "train", pytest.approx(2.0))]
    nearly = _result("a", "ours", **quick | {"P@1": 0.591})
    assert len(losses([OURS, nearly])) == 1
    for worse in ({"P@1": 0.589}, {"PSP@5": 0.089}):
        assert losses([OURS, _result("a", "ours", **quick | worse)]) == []


def test_a_table_has_all_figures_of_an_entrant():
    *_, ours, theirs = write_table([OURS, _result("b", "ours")]).splitlines()
    cells = "60.0 | 20.0 | 12.0 | 50.0 | 16.7 | 10.0 |"
    assert ours == f"| ours | 2.0 |  | 200 |  | 0.5 |  | 3.0 | 46 | {cells}"
    assert theirs == f"| b | 2.0 | 1.0 | 200 | 1.0 | 0.5 | 1.0 | 3.0 | 46 | {cells}"


def _peer(tmp_path):
    entrants = tuple(
        Entrant(name, {"C": 1}, rows, beside, None)
        for name, rows, beside in (
            ("ours", "given", None),
            ("theirs", "unit", "ours"),
            ("late", "given", "ours"),
        )
    )
    for name in ("lib", "contract"):
        (tmp_path / f"{name}.py").touch()
    return Peer("lib", tmp_path / "lib.py", (), (), "one is all", entrants)


@pytest.fixture
def contents(tmp_path):
    """Return a page of two entrants with figures and one without."""
    peer = _peer(tmp_path)
    bouts = plan([peer], {"tiny": 2})
    records = {
        bout.key: _result(
            "any", train_cpu=1.0 + 3 * (bout.entrant.name == "ours")
        ).runs[0]
        | {"entrant": bout.entrant.name}
        for bout in bouts
        if bout.entrant.name != "late"
    }
    late = {"entrant": "late", "data": "tiny", "failure": "took over 10 minutes"}
    results = gather(bouts, records, [late])
    lost = {"big": "no big.txt; see its makers"}
    command = "python -m benchmarks peers --data DATA"
    return Contents(command, results, [peer], lost, limit=10)


def test_the_page_says_how_who_and_what_failed(contents):
    page = write_page(contents, {"tiny": "peers-tiny.png"})
    assert "```console\n$ python -m benchmarks peers --data DATA\n```" in page
    assert "4 runs by commit abc, 2026-11-16, on A (2 cores), Linux" in page
    assert "| theirs | 1.0 | C = 1 | of unit length | ours | one is all |" in page
    assert "- A run has 10 minutes of CPU time" in page
    assert "- late: took over 10 minutes." in page
    assert "big was skipped: no big.txt; see its makers." in page
    assert "| tiny | 100 | 50 | 1,200 | 30 | 2 |" in page
    assert "![tiny: quality against time](peers-tiny.png)" in page
    assert "| tiny | theirs | training | 4.0 |" in page.split("## Where we lose")[1]
    assert page.endswith("|\n")


def test_remarks_come_last(contents):
    page = write_page(replace(contents, remarks="## Why\n\nSlow.\n"), {})
    assert page.endswith("## Why\n\nSlow.\n")


def test_a_page_without_runs_says_so(contents):
    page = write_page(replace(contents, results={}), {})
    assert "No run is finished." in page
    assert page.endswith("Nowhere.\n")


def test_figures_for_other_programs_have_the_failure_or_the_values(contents):
    ours, theirs, late = contents.results["tiny"]
    ratios = compare(contents.results["tiny"])
    assert figures(late, {})["failure"] == "took over 10 minutes"
    found = figures(theirs, ratios["theirs"])
    assert found["ratios"]["train"] == pytest.approx(0.25)
    assert (found["beside"], found["runs"]) == ("ours", 2)
    assert found["values"]["train_cpu"] == 1.0
    assert figures(ours, {})["ratios"] == {}


def test_quality_is_drawn_against_time(contents, tmp_path):
    draw(contents.results["tiny"], tmp_path / "tiny.png", ours="lib")
    assert (tmp_path / "tiny.png").read_bytes().startswith(b"\x89PNG")

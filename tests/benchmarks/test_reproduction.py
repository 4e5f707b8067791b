"""Runs are made once, failures are told, and the page shows what was found."""

import json
import math
import re
from dataclasses import replace

import pytest

from benchmarks.reproduce import performing
from benchmarks.reproduce.protocols import PROTOCOLS, Outcome
from benchmarks.reproduce.report import figure, rows_of, write_cells
from benchmarks.reproduce.table import read_table
from benchmarks.reproduce.verdict import Cell, compare


@pytest.fixture
def counted(monkeypatch):
    """Stand in for the stream protocol and count its runs."""
    runs = []

    def stream(trial, data):
        if data is not performing.STAGE:
            runs.append(trial)
        values = dict.fromkeys(trial.metrics, 0.25 + 0.5 * trial.seed)
        rows = {"rows": [1, 2]} | {name: [v, v] for name, v in values.items()}
        return Outcome(values, rows)

    monkeypatch.setitem(PROTOCOLS, "stream", stream)
    return runs


def run(reproduction, *names, n_jobs=1, watch=None):
    specs = [spec for name in names for spec in reproduction.select("paper", name)]
    return reproduction.run(reproduction.trials(specs), n_jobs=n_jobs, watch=watch)


def cells(reproduction, name):
    (spec,) = reproduction.select("paper", name)
    section = reproduction.section(spec)
    return {(cell.data, cell.row, cell.metric): cell for cell in section.cells}


def test_a_finished_run_is_never_repeated(reproduction, counted):
    assert run(reproduction, "table-1") == []
    assert len(counted) == 6
    assert {trial.data for trial in counted} == {"tiny"}  # the other set is lost
    again = replace(reproduction)
    assert run(again, "table-1", "figure-1") == []
    assert len(counted) == 6


def test_a_run_that_was_stopped_goes_on(reproduction, counted):
    def stop(done, total, record):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(reproduction, "table-1", watch=stop)
    assert len(reproduction.ledger.records) == 2
    run(reproduction, "table-1")
    assert len(reproduction.ledger.records) == 6
    lines = reproduction.ledger.path.read_text().splitlines()
    assert len({json.loads(line)["key"] for line in lines}) == len(lines) == 6


def test_quick_runs_are_the_first_of_the_full_ones(reproduction, counted):
    quick = replace(reproduction, quick=True)
    run(quick, "table-1")
    assert len(counted) == 3
    run(reproduction, "table-1")
    assert len(counted) == 6


def test_a_line_says_what_made_it(reproduction, counted):
    run(reproduction, "table-1")
    record = next(iter(reproduction.ledger.records.values()))
    assert record["seed"] == 0
    assert record["parameters"] == {"n_components": 2, "cost": "hamming"}
    assert record["values"] == {"hamming": 0.25}
    assert record["machine"]["cores"] >= 1
    assert {"version", "commit", "seconds", "finished", "curves"} <= record.keys()


def test_a_failure_is_told_and_tried_again(reproduction, monkeypatch):
    def fail(trial, data):
        raise ValueError("no such luck")

    monkeypatch.setitem(PROTOCOLS, "stream", fail)
    failed = run(reproduction, "table-1")
    assert {each["failure"] for each in failed} == {"ValueError: no such luck"}
    assert reproduction.ledger.records == {}
    assert len(run(reproduction, "table-1")) == len(failed) == 6


@pytest.mark.slow
def test_processes_find_what_one_process_finds(reproduction, tmp_path):
    run(reproduction, "table-2", n_jobs=1)
    other = replace(reproduction, out=tmp_path / "b")
    run(other, "table-2", "table-1", n_jobs=2)
    (key,) = reproduction.ledger.records
    mine, theirs = (r.ledger.records[key]["values"] for r in (reproduction, other))
    for name in ("P@1", "PSP@3", "F1@5"):
        assert mine[name] == theirs[name]


def test_a_learner_is_rehearsed_once_before_it_is_timed(reproduction, monkeypatch):
    stages = []

    def stream(trial, data):
        stages.append((trial.learner, trial.parameters.get("cost"), data.name))
        return Outcome(dict.fromkeys(trial.metrics, 0.5))

    monkeypatch.setitem(PROTOCOLS, "stream", stream)
    monkeypatch.setattr(performing, "_rehearsed", set())
    run(reproduction, "table-1")
    for learner in (("CSDPP", "f1"), ("CSDPP", "hamming")):
        assert [stage for *who, stage in stages if tuple(who) == learner] == [
            *("few rows", "tiny", "tiny")
        ]


def test_cells_are_means_over_seeds(reproduction, counted):
    run(reproduction, "table-1")
    cell = cells(reproduction, "table-1")["tiny", "O-BR", "f1"]
    assert cell.values == (0.25, 0.75)
    assert (cell.mean, cell.stderr) == (0.5, pytest.approx(0.25))


def test_verdicts_are_honest(reproduction, counted):
    found = cells(reproduction, "table-1")
    assert found["tiny", "DPP", "hamming"].verdict == "not run"
    assert found["tiny", "DPP", "hamming"].reason == "0 of 2 runs finished"
    run(reproduction, "table-1")
    found = {
        place: (cell.verdict, cell.reason)
        for place, cell in cells(reproduction, "table-1").items()
    }
    assert found["tiny", "DPP", "hamming"] == ("worse", "Not explained.")
    assert found["tiny", "DPP", "f1"] == ("not comparable", "another F1")
    assert found["tiny", "O-BR", "hamming"] == ("", "")  # nothing published
    assert found["lost", "DPP", "f1"] == (
        "not run",
        "lost_train.txt and lost_test.txt not found",
    )
    run(reproduction, "table-2")
    assert cells(reproduction, "table-2")["tiny", "Popularity", "P@1"].reason == (
        "not in the paper"
    )


@pytest.mark.parametrize(
    ("ours", "lower", "higher"),
    [
        (1.0, "matched", "matched"),
        (1.09, "matched", "matched"),
        (0.91, "matched", "matched"),
        (1.11, "worse", "better"),
        (0.89, "better", "worse"),
    ],
)
def test_a_tenth_is_tolerated_on_either_side(home, ours, lower, higher):
    assert compare(ours, 1.0, read_table("paper", "table-1", home=home)) == lower
    assert compare(ours, 1.0, read_table("paper", "table-2", home=home)) == higher


@pytest.mark.slow
def test_the_page_has_every_table_and_every_figure(reproduction):
    for spec in reproduction.specs:
        assert run(reproduction, spec.name) == []
    page = reproduction.write().read_text()
    pictures = re.findall(r"!\[.*\]\((.*)\)", page)
    assert pictures == [f"paper-figure-{n}.png" for n in range(1, 7)]
    for picture in pictures:
        content = (reproduction.pages / picture).read_bytes()
        assert content.startswith(b"\x89PNG")
    assert "| lost | lost_train.txt, lost_test.txt | the makers of lost |" in page
    assert "`python -m benchmarks reproduce paper table-10 --data DATA`" in page
    assert page.count("| two | BAC, budget = 1 | error |") == 1
    assert "nan" not in page
    assert "Runs that are not finished" not in page


def test_a_page_without_runs_says_so(reproduction):
    page = reproduction.write().read_text()
    assert "No run is finished." in page
    assert "Runs that are not finished" in page
    assert "Not run: 0 of 2 runs finished" in page
    # Frequencies are of the data, not of runs.
    assert re.findall(r"!\[.*\]\((.*)\)", page) == ["paper-figure-5.png"]


def test_reasons_are_told_once_beneath_the_table():
    text = write_cells(
        [
            Cell("a", "x", "f1", (0.5,), 0.4, "worse"),
            Cell("a", "y", "f1", (0.5, 0.7), math.nan, "not comparable", "why"),
            Cell("b", "y", "f1", (0.5,), 0.6, "not comparable", "why"),
            Cell("c", "y", "f1", (), 0.6, "not run", "lost"),
        ]
    )
    assert text.splitlines()[2:] == [
        "| a | x | f1 | 0.5000 | 0.4000 | +0.1000 | worse |",
        "| a | y | f1 | 0.6000 ± 0.1000 |  |  | not comparable (1) |",
        "| b | y | f1 | 0.5000 | 0.6000 | -0.1000 | not comparable (1) |",
        "",
        "1. why",
    ]


def test_values_have_as_many_digits_as_the_papers_print():
    values = (0.123456, 12.3456, 123.456, 12345.6, math.nan)
    assert [figure(v) for v in values] == ["0.1235", "12.35", "123.5", "12,346", ""]
    assert figure(0.0123, 62.7) == "0.01"
    assert [figure(v) for v in (0.0, 0.0000912, 0.001)] == [
        "0.0000",
        "0.000091",
        "0.0010",
    ]
    assert figure(0.5, 0.1, "+") == "+0.5000"


def test_rows_for_other_programs_are_valid_json():
    cell = Cell("a", "x", "f1", (), math.nan, "not run", "lost")
    assert json.loads(json.dumps(list(rows_of([cell])), allow_nan=False)) == [
        {
            "data": "a",
            "learner": "x",
            "metric": "f1",
            "ours": None,
            "stderr": None,
            "published": None,
            "role": "own",
            "verdict": "not run",
            "reason": "lost",
        }
    ]

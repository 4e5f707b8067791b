"""Verdicts: a number is judged once, with its ±, and counted by whose row it is."""

import math

import pytest

from benchmarks.reproduce.report import Section
from benchmarks.reproduce.summary import tally, write_counts
from benchmarks.reproduce.table import read_table
from benchmarks.reproduce.verdict import Cell, compare, find_repeats, judge
from manylabel.exceptions import DataError

SAME = """
title = "The same again"
protocol = "stream"
data = ["tiny"]
metrics = ["f1", "hamming"]
better = "lower"
tolerance = 0.1
repetitions = 5

[[learners]]
name = "DPP again"
class = "CSDPP"
parameters = { n_components = 2 }
optimises = true

[[learners]]
name = "another code"
class = "CSDPP"
parameters = { n_components = 3 }
optimises = true

[[learners]]
name = "BR again"
class = "OnlineBinaryRelevance"

[published.tiny]
"DPP again" = [0.5, 0.0002]
"BR again" = [0.7, 0.3]
"another code" = [0.5, 0.0001]
"""


@pytest.fixture
def judged(home, reproduction):
    """Judge a table on made-up values, the same for all metrics of a seed."""

    def call(name, values, repeats=None):
        table = read_table("paper", name, home=home)
        records = {}
        for _, data, row, metric in table.cells():
            for trial in table.trials(data, row, metric):
                if data == "tiny":
                    told = dict.fromkeys(table.metrics, values[trial.seed])
                    records[trial.key] = {"values": told}
        cells = judge(table, records, reproduction.catalogue, repeats)
        return {(c.data, c.row, c.metric): c for c in cells if c.values}

    return call


def test_a_number_that_an_earlier_table_has_is_judged_there(edited, home, judged):
    (home / "paper" / "table-3.toml").write_text(SAME)
    edited("table-1", ("[0.0001, 0.5]", "[0.0001, 0.5]\nO-BR = [0.1, 0.7]"))
    tables = [read_table("paper", name, home=home) for name in ("table-1", "table-3")]
    repeats = find_repeats(tables)
    # Not the Hamming loss, which differs, nor the other code, whose number happens to.
    # One row is run for each metric, the other for all of them, in another order.
    assert repeats == {
        ("paper", "table-3", "tiny", "DPP again", "f1"): "Table 1, DPP",
        ("paper", "table-3", "tiny", "BR again", "f1"): "Table 1, O-BR",
    }
    found = judged("table-3", [0.5] * 5, repeats)
    cell = found["tiny", "DPP again", "f1"]
    assert (cell.verdict, cell.reason) == ("repeated", "Judged in Table 1, DPP.")
    assert found["tiny", "another code", "f1"].verdict == "matched"
    assert set(find_repeats(tables[::-1]).values()) == {
        *("Table 3, DPP again", "Table 3, BR again")
    }


def test_the_first_label_has_one_number_by_two_names(edited, home):
    edited(
        "table-2",
        ('"PSP@3", "F1@5"', '"nDCG@1", "F1@5"'),
        ("[1.0, 1.0, nan]", "[1.0, 1.0, 2.0]"),
    )
    repeats = find_repeats([read_table("paper", "table-2", home=home)])
    assert [where[-1] for where in repeats] == ["nDCG@1"]


@pytest.mark.parametrize(
    ("spread", "spread_of", "verdict"),
    [
        (None, '"mean"', "worse"),
        (0.05, '"mean"', "worse"),  # 0.13 is more than 0.05 and our 0.05
        (0.09, '"mean"', "matched"),
        (0.09, "4", "worse"),  # a standard deviation of four values: half of it
        (0.17, "4", "matched"),
    ],
)
def test_a_difference_within_both_standard_errors_is_matched(
    edited, judged, spread, spread_of, verdict
):
    edited(
        "table-1",
        ("[0.0001, 0.5]", "[0.5, 0.5]"),
        ("repetitions = 2", f"repetitions = 2\nspread_of = {spread_of}"),
    )
    if spread is not None:
        edited("table-1", ("[quick]", f"[spread.tiny]\nDPP = [{spread}, 0]\n\n[quick]"))
    cell = judged("table-1", [0.58, 0.68])["tiny", "DPP", "hamming"]
    assert cell.stderr == pytest.approx(0.05)
    assert cell.verdict == verdict


def test_our_standard_error_alone_excuses_nothing(edited, judged):
    edited("table-1", ("[0.0001, 0.5]", "[0.5, 0.5]"))
    cell = judged("table-1", [0.1, 1.3])["tiny", "DPP", "hamming"]
    assert (cell.stderr, cell.verdict) == (pytest.approx(0.6), "worse")


@pytest.mark.parametrize(
    ("values", "units", "verdict"),
    [
        ([0.4, 0.4], "", "better"),
        ([0.2, 0.6], "", "matched"),  # a standard error of 0.2, a gain of 0.1
        (
            [0.44, 0.44],
            "[units]\nhamming = 0.01",
            "better",
        ),  # 0.06 is over 0.05 + 0.005
        ([0.44, 0.44], "[units]\nhamming = 0.1", "matched"),  # it may have been 0.45
        ([0.56, 0.56], "[units]\nhamming = 0.1", "worse"),
    ],
)
def test_better_is_more_than_chance_and_than_the_digits_in_print(
    edited, judged, values, units, verdict
):
    edited(
        "table-1",
        ("[0.0001, 0.5]", "[0.5, 0.5]"),
        ("[incomparable]", f"{units}\n[incomparable]"),
    )
    assert judged("table-1", values)["tiny", "DPP", "hamming"].verdict == verdict


def test_cells_of_a_data_set_may_not_be_comparable(edited, judged):
    reason = '[[reasons]]\ndata = ["tiny"]\ncomparable = false\nwhy = "sorted rows"'
    edited("table-1", ("[published.tiny]", f"{reason}\n\n[published.tiny]"))
    cell = judged("table-1", [0.5, 0.5])["tiny", "DPP", "hamming"]
    assert (cell.verdict, cell.reason) == ("not comparable", "sorted rows")


def test_slack_and_tolerance_are_not_added(home):
    table = read_table("paper", "table-1", home=home)  # a tenth
    assert compare(1.12, 1.0, table, slack=0.11) == "worse"
    assert compare(1.12, 1.0, table, slack=0.13) == "matched"


def test_what_is_worse_has_the_reason_of_its_cell(edited, judged):
    reasons = """
        [[reasons]]
        rows = ["O-BR"]
        why = "of another row"

        [[reasons]]
        rows = ["DPP"]
        metrics = ["hamming"]
        why = "a known one"

        [published.tiny]
        """
    edited("table-1", ("[published.tiny]", reasons))
    found = judged("table-1", [0.5, 0.5])
    cell = found["tiny", "DPP", "hamming"]
    assert (cell.verdict, cell.reason) == ("worse", "a known one")
    better = judged("table-1", [0.0001, 0.0001])["tiny", "DPP", "hamming"]
    assert (better.verdict, better.reason) == ("matched", "")


@pytest.mark.parametrize("role", ["comparator", "ablation", "variant"])
def test_what_is_worse_and_not_of_the_paper_needs_a_reason_too(edited, judged, role):
    edited("table-1", ('name = "DPP"', f'name = "DPP"\nrole = "{role}"'))
    cell = judged("table-1", [0.5, 0.5])["tiny", "DPP", "hamming"]
    assert (cell.verdict, cell.reason) == ("worse", "Not explained.")
    assert cell.role == role


def test_what_stands_beside_another_row_is_our_variant(edited, home):
    edited("table-1", ('name = "O-BR"', 'name = "O-BR"\nagainst = "DPP"'))
    rows = read_table("paper", "table-1", home=home).entrants
    assert [row.role for row in rows] == ["own", "variant"]


def test_an_unknown_role_is_refused(edited, home):
    edited("table-1", ('name = "DPP"', 'name = "DPP"\nrole = "rival"'))
    with pytest.raises(DataError, match=r"role = own, comparator, .*found 'rival'"):
        read_table("paper", "table-1", home=home)


def test_verdicts_are_counted_by_role_and_only_of_what_was_run(home):
    cells = [
        Cell("a", "x", "f1", (1.0,), 1.0, "matched"),
        Cell("a", "x", "hamming", (1.0,), 2.0, "better"),
        Cell("b", "x", "f1", (), 1.0, "not run"),
        Cell("a", "y", "f1", (1.0,), 0.5, "worse", role="comparator"),
        Cell("a", "z", "f1", (1.0,), math.nan, ""),
        Cell("a", "x", "rank", (1.0,), 1.0, "repeated", "elsewhere"),
        Cell("a", "y", "rank", (1.0,), 1.0, "not comparable", "no", role="comparator"),
    ]
    assert tally(cells)["own"] == {"matched": 1, "better": 1, "": 1, "repeated": 1}
    section = Section(read_table("paper", "table-1", home=home), cells)
    row, total = write_counts([section]).splitlines()[-2:]
    assert row == "| paper, table-1 | 1 / 1 / 0 | 0 / 0 / 1 |  |  | 1 | 1 |"
    assert total == row.replace("paper, table-1", "all")

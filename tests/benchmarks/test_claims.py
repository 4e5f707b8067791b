"""Claims in words: each rule by cases that are true of it and cases that are not."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.reproduce.claim import ROLES, Topic, read_claims
from benchmarks.reproduce.finding import Case, Finding, decide, find
from benchmarks.reproduce.report import Section
from benchmarks.reproduce.summary import Review, write_claims, write_overview
from benchmarks.reproduce.table import read_table
from benchmarks.reproduce.verdict import Cell
from manylabel.exceptions import DataError

CLAIMS = """
[topics.codes]
title = "codes pay"
why = "They do not."

[topics.numbers]
title = "its figures"
why = "Few rows."

[[claims]]
topic = "codes"
says = "DPP beats O-BR."
where = "section 1"
rule = "better"
tables = ["table-1"]
metrics = ["hamming", "f1"]
rows = ["DPP"]
than = ["O-BR"]
why = "It rained."
"""


@pytest.fixture
def claim(home):
    """Return the claim of the file, with changes."""
    (home / "paper" / "claims.toml").write_text(CLAIMS)
    _, (found,) = read_claims("paper", home=home)
    return lambda **changes: replace(found, **changes)


@pytest.fixture
def table(home):
    return read_table("paper", "table-1", home=home)  # less is better


@pytest.mark.parametrize(
    ("rule", "ours", "theirs", "bound", "true"),
    [
        ("better", [1, 2, 3], [2, 3, 4], 1, True),  # by seed: each by one
        ("better", [1, 2, 3], [4, 2, 1], 1, False),
        ("better", [1, 2, 3], [1, 2, 3.1], 1, False),  # one standard error
        ("better", [1], [1.1], 1, False),  # one seed: a tenth is tolerated
        ("better", [1], [1.2], 1, True),
        ("better", [1, 1], [1, 1], 1, False),  # a tie is not better
        ("as good", [1, 1], [1, 1], 1, True),
        ("as good", [1.09, 1.09], [1, 1], 1, True),  # a tenth is tolerated
        ("as good", [1.11, 1.11], [1, 1], 1, False),
        ("as good", [1.9, 0.9], [1, 1], 1, True),  # within two standard errors
        ("times", [1, 2], [6, 6], 4, True),
        ("times", [1, 2], [6, 6], 4.1, False),
        ("at most", [4, 6], [], 5, True),
        ("at most", [4, 6.1], [], 5, False),
        ("at least", [4, 6], [], 5, True),
        ("at least", [4, 5.9], [], 5, False),
        ("steady", [1, 1.1, 0.9], [], 0.11, True),
        ("steady", [1, 1.1, 0.9], [], 0.09, False),
    ],
)
def test_a_rule_decides(claim, table, rule, ours, theirs, bound, true):
    made = claim(rule=rule, bound=bound)
    given = np.array(ours, float), np.array(theirs, float)
    assert decide(made, *given, table, "hamming") is true


def test_more_is_better_where_the_table_says_so_but_never_of_time(claim, home):
    table = read_table("paper", "table-9", home=home)
    less, more = np.array([1.0, 1.0]), np.array([2.0, 2.0])
    assert decide(claim(), more, less, table, "f1")
    assert not decide(claim(), less, more, table, "f1")
    assert decide(claim(), less, more, table, "predict_seconds")


def records_of(table, values):
    """Return runs of the set that is there, with values by row and metric."""
    records = {}
    for _, data, row, metric in table.cells():
        for trial in table.trials(data, row, metric):
            if data == "tiny":
                told = records.setdefault(trial.key, {"values": {}})["values"]
                told |= {m: values[row.name, m] for m in trial.metrics}
    return records


VALUES = {
    ("DPP", "hamming"): 0.1,
    ("O-BR", "hamming"): 0.2,
    ("DPP", "f1"): 0.6,
    ("O-BR", "f1"): 0.5,
}


def test_a_claim_is_decided_by_the_runs_of_its_cells(claim, table):
    finding = find(claim(), records_of(table, VALUES))
    assert [(c.data, c.metric, c.holds) for c in finding.cases] == [
        ("tiny", "hamming", True),  # nothing of the set that is lost
        ("tiny", "f1", False),
    ]
    assert finding.verdict == "holds in part"
    assert find(claim(metrics=("f1",)), records_of(table, VALUES)).verdict == (
        "does not hold"
    )
    assert find(claim(), {}).verdict == "not run"


def test_a_cell_with_a_run_to_come_decides_nothing(claim, table):
    records = records_of(table, VALUES)
    row = table.entrants[0]
    del records[table.trials("tiny", row, "hamming")[-1].key]
    assert [case.metric for case in find(claim(), records).cases] == ["f1"]


MADE = {
    "version": "1",
    "commit": "a+",
    "machine": {"processor": "one", "cores": 2},
    "finished": "2026-11-17T23:00:00+00:00",
}


@pytest.fixture
def timed(claim, home):
    """Return the claim that the second row takes twice as long, and runs of it."""
    (home / "paper" / "table-5.toml").write_text(TIMED)
    table = read_table("paper", "table-5", home=home)
    pair = (("BR", "slow"),)
    made = claim(
        rule="times", bound=2, tables=(table,), metrics=("predict_seconds",), pairs=pair
    )
    runs = {}
    for row, values in zip(table.entrants, ((1, 1, 9), (4, 4, 9)), strict=True):
        trials = table.trials("tiny", row, "predict_seconds")
        for trial, value in zip(trials, values, strict=True):
            runs[trial.key] = MADE | {"values": {"predict_seconds": value}}
    return made, runs, [trial.key for trial in trials]  # the latter of the slow one


TIMED = """
title = "Times"
protocol = "folds"
data = ["tiny"]
metrics = ["predict_seconds"]
better = "lower"
tolerance = 0.1
repetitions = 3

[[learners]]
name = "BR"
class = "OneVsRest"

[[learners]]
name = "slow"
class = "FastXML"
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("commit", "b"),
        ("commit", "a"),  # without what had changed
        ("version", "2"),
        ("machine", {"processor": "another", "cores": 2}),
        ("finished", "2026-11-18T23:00:01+00:00"),
        ("finished", "2026-11-16T22:59:59+00:00"),
    ],
)
def test_times_of_runs_apart_are_not_compared(timed, name, value):
    made, runs, slow = timed
    (case,) = find(made, runs).cases
    assert (case.ours, case.theirs, case.holds) == (11 / 3, 17 / 3, False)
    runs[slow[2]] |= {name: value}
    (case,) = find(made, runs).cases  # of the other two repetitions
    assert (case.ours, case.theirs, case.holds) == (1, 4, True)
    for key in slow:
        runs[key] |= {name: value}
    finding = find(made, runs)
    assert finding.cases == []
    assert finding.apart == ["tiny, predict_seconds: BR and slow"]
    assert "| not run together: tiny, predict_seconds: BR and slow |" in (
        write_claims([finding])
    )


def test_times_of_runs_within_a_day_are_compared(timed):
    made, runs, slow = timed
    for key in slow:
        runs[key] |= {"finished": "2026-11-18T22:59:59+00:00"}
    (case,) = find(made, runs).cases
    assert case.theirs == 17 / 3


def test_only_times_ask_who_ran_them(timed):
    made, runs, slow = timed
    for key in slow:
        del runs[key]["commit"]
    assert len(find(replace(made, rule="better"), runs).cases) == 1


def test_rows_are_compared_by_the_seeds_that_both_have(claim, edited, home):
    edited("table-1", ('name = "O-BR"', 'name = "O-BR"\nfirst_seed = { tiny = 1 }'))
    table = read_table("paper", "table-1", home=home)
    runs = runs_by_seed(table, {"DPP": [7, 1], "O-BR": [3, 7]})
    (case,) = find(claim(tables=(table,), metrics=("f1",)), runs).cases
    assert (case.ours, case.theirs) == (1, 3)  # of seed 1, one run
    edited("table-1", ("tiny = 1", "tiny = 2"))
    table = read_table("paper", "table-1", home=home)
    runs = runs_by_seed(table, {"DPP": [7, 1], "O-BR": [3, 7]})
    finding = find(claim(tables=(table,), metrics=("f1",)), runs)
    assert (finding.verdict, finding.cases) == ("not decided", [])


def test_best_of_all_is_one_case_that_one_rival_can_spoil(claim, table):
    pairs = (("DPP", "O-BR"), ("DPP", "DPP"))
    finding = find(claim(pairs=pairs, of_all=True), records_of(table, VALUES))
    told = [(case.metric, case.rival, case.holds) for case in finding.cases]
    assert told == [("hamming", "DPP", False), ("f1", "O-BR", False)]


@pytest.mark.parametrize(
    ("true", "generally", "verdict"),
    [
        ((1, 1, 1), False, "holds"),
        ((1, 1, 0), False, "holds in part"),
        ((0, 0, 0), False, "does not hold"),
        ((1, 1, 0), True, "holds"),
        ((1, 0), True, "does not hold"),  # half is not most
        ((), False, "not run"),
    ],
)
def test_a_claim_of_all_cases_needs_all_and_one_of_most_needs_most(
    claim, true, generally, verdict
):
    cases = [Case("a", "f1", "x", "y", 1.0, 2.0, bool(one)) for one in true]
    assert Finding(claim(generally=generally), cases).verdict == verdict


def runs_by_seed(table, values):
    """Return runs of the set that is there, with values by row and seed."""
    return {
        trial.key: {"values": dict.fromkeys(trial.metrics, values[row.name][seed])}
        for _, data, row, metric in table.cells()
        if data == "tiny"
        for seed, trial in enumerate(table.trials(data, row, metric))
    }


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ([1, 1], "holds"),
        ([3, 3], "does not hold"),
        ([1, 2.5], "not decided"),  # ahead on average
        ([1.5, 3], "not decided"),
    ],
)
def test_differences_that_may_be_chance_decide_nothing(claim, table, ours, verdict):
    runs = runs_by_seed(table, {"DPP": ours, "O-BR": [2, 2]})
    for generally in (False, True):
        assert find(claim(generally=generally), runs).verdict == verdict


def test_a_single_run_decides_nothing_within_the_tolerance(claim, home):
    table = read_table("paper", "table-1", quick=True, home=home)
    runs = runs_by_seed(table, {"DPP": [1.9], "O-BR": [2]})
    assert find(claim(tables=(table,)), runs).verdict == "not decided"


def test_one_comparison_beyond_chance_decides(claim):
    cases = [
        Case("a", "f1", "x", "y", 1.0, 2.0, holds=False),
        Case("b", "f1", "x", "y", 3.0, 4.0, holds=False, decided=False),
    ]
    for order in (cases, cases[::-1]):
        finding = Finding(claim(), order)
        assert finding.verdict == "does not hold"
        assert (
            "| 0 of 2; 1 not decided | a, f1: x 1.00, y 2.00; b, f1: x 3.00, y 4.00 |"
            in write_claims([finding])
        )


def test_what_speaks_against_the_best_of_all_comes_before_what_is_not_decided(
    claim, table
):
    runs = runs_by_seed(table, {"DPP": [3, 3], "O-BR": [2, 2]})
    pairs = (("DPP", "DPP"), ("DPP", "O-BR"))
    finding = find(claim(pairs=pairs, of_all=True), runs)
    assert {(case.rival, case.decided) for case in finding.cases} == {("O-BR", True)}


def test_each_repetition_may_be_a_case(claim, table):
    runs = runs_by_seed(table, {"DPP": [1, 9], "O-BR": [9, 9]})
    made = claim(
        rule="at most", bound=4, each=True, metrics=("f1",), pairs=(("DPP", ""),)
    )
    finding = find(made, runs)
    assert [(case.ours, case.holds) for case in finding.cases] == [
        (1.0, True),
        (9.0, False),
    ]
    assert finding.verdict == "holds in part"
    assert finding.rule == "at most 4 in each repetition"
    assert find(replace(made, each=False), runs).verdict == "does not hold"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('why = "It', 'role = "theirs"\nwhy = "It', "role = own, .*found 'theirs'"),
        (
            'why = "It',
            'each = true\nwhy = "It',
            "rule of each repetition = at most, at least, found 'better'",
        ),
        ('rule = "better"', 'rule = "best"', "rule = better, as good, .*'best'"),
        ('topic = "codes"', 'topic = "trees"', "topic = codes, numbers, .*'trees'"),
        ('than = ["O-BR"]', 'than = ["BR"]', "row = DPP, O-BR, found 'BR'"),
        ("where = ", "when = ", "expected one of topic, .*found 'when'"),
    ],
)
def test_what_no_claim_may_say_is_refused(claim, home, old, new, sentence):
    path = home / "paper" / "claims.toml"
    path.write_text(CLAIMS.replace(old, new))
    with pytest.raises(DataError, match=sentence):
        read_claims("paper", home=home)


def test_a_paper_without_claims_has_none(home):
    assert read_claims("paper", home=home) == ({}, [])


def test_claims_are_shown_with_what_speaks_against_them(claim, table):
    text = write_claims([find(claim(), records_of(table, VALUES)), find(claim(), {})])
    rows = text.splitlines()[4:6]
    told = "| DPP beats O-BR. | its own | section 1 (table-1) | better than "
    assert rows[0].startswith(told)
    assert rows[0].endswith(
        "| 1 of 2 | tiny, f1: DPP 0.6000, O-BR 0.5000 | holds in part (1) |"
    )
    assert rows[1].endswith("|  |  | not run |")
    assert "1. It rained." in text


def test_claims_of_others_stand_below_those_of_the_paper(claim, table):
    roles = ("ours", "comparator", "own")
    found = [find(claim(role=role), records_of(table, VALUES)) for role in roles]
    rows = write_claims(found).splitlines()[4:7]
    assert [row.split(" | ")[1] for row in rows] == ["its own", "comparators", "ours"]
    assert [row[-4:-3] for row in rows] == ["1", "2", "3"]  # the numbers of the notes


def test_the_first_table_says_what_holds_and_why_the_rest_does_not(claim, table):
    cells = [
        Cell("a", "x", "f1", (1.0,), 1.0, "matched"),
        Cell("a", "x", "f1", (1.0,), 0.5, "worse", "why"),
        Cell("a", "y", "f1", (1.0,), 0.5, "worse", role="comparator"),
    ]
    topics = {
        "numbers": Topic("its figures", "Few rows."),
        "codes": Topic("codes pay", "They do not."),
    }
    findings = [find(claim(), records_of(table, VALUES)), find(claim(), {})]
    review = Review("paper", [Section(table, cells)], topics, findings)
    assert write_overview([review]).splitlines()[4:] == [
        "| paper | its figures | 1 matched, 0 better, of 2 | 1 worse | Few rows. |",
        "| paper | codes pay | 0 of 1 claims | 1 in part | They do not. |",
    ]
    held = find(claim(metrics=("hamming",)), records_of(table, VALUES))
    others = [replace(held, claim=replace(held.claim, role=role)) for role in ROLES[1:]]
    for n_own, made in (
        (1, [held, *others]),
        (0, others),
    ):
        alone = replace(review, sections=[], findings=made)
        rows = write_overview([alone]).splitlines()[4:]
        assert rows == [
            *["| paper | codes pay | 1 of 1 claims |  |  |"] * n_own,
            "| paper | what it says of comparators | 1 of 1 claims |  |  |",
        ]
    review = replace(review, sections=[], findings=[held])
    (row,) = write_overview([review]).splitlines()[4:]
    assert row == "| paper | codes pay | 1 of 1 claims |  |  |"

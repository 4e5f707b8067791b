"""Tables are read from files; what no file may say is refused by name."""

import math

import pytest

from benchmarks import toml_files
from benchmarks.reproduce.figure import read_figure
from benchmarks.reproduce.report import Section, write_section
from benchmarks.reproduce.table import read_table
from benchmarks.reproduce.trial import Trial
from manylabel.exceptions import DataError


def keys(table):
    return [trial.key for place in table.cells() for trial in table.trials(*place[1:])]


def test_tables_are_listed_by_number_and_before_figures(home):
    assert toml_files.papers(home) == {
        "paper": [
            *("table-1", "table-2", "table-9", "table-10"),
            *(f"figure-{number}" for number in range(1, 7)),
        ]
    }


def test_a_learner_that_optimises_is_run_for_each_metric(home):
    table = read_table("paper", "table-1", home=home)
    costs = {
        (row.name, metric): [
            (trial.parameters.get("cost"), trial.metrics, trial.seed)
            for trial in table.trials(data, row, metric)
        ]
        for _, data, row, metric in table.cells()
        if data == "tiny"
    }
    assert costs["DPP", "f1"] == [("f1", ("f1",), 0), ("f1", ("f1",), 1)]
    both = ("hamming", "f1")
    assert (
        costs["O-BR", "f1"]
        == costs["O-BR", "hamming"]
        == [
            (None, both, 0),
            (None, both, 1),
        ]
    )


def test_quick_takes_less(home):
    assert read_table("paper", "table-1", home=home).seeds == (0, 1)
    assert read_table("paper", "table-1", quick=True, home=home).seeds == (0,)


def test_a_slow_set_may_get_fewer_repetitions(edited, home):
    edited("table-1", ("repetitions = 2", "repetitions = 2\nlimits = { lost = 1 }"))
    table = read_table("paper", "table-1", home=home)
    n_runs = {place[1]: len(table.trials(*place[1:])) for place in table.cells()}
    assert n_runs == {"tiny": 2, "lost": 1}


def test_a_row_may_begin_at_another_seed(edited, home):
    edited(
        "table-1",
        ("repetitions = 2", "repetitions = 3\nlimits = { lost = 2 }"),
        ('name = "O-BR"', 'name = "O-BR"\nfirst_seed = { tiny = 30, lost = 6 }'),
    )
    table = read_table("paper", "table-1", home=home)
    seeds = {
        (data, row.name): [trial.seed for trial in table.trials(data, row, "f1")]
        for _, data, row, _ in table.cells()
    }
    assert seeds == {
        ("tiny", "DPP"): [0, 1, 2],
        ("tiny", "O-BR"): [30, 31, 32],
        ("lost", "DPP"): [0, 1],
        ("lost", "O-BR"): [6, 7],
    }
    assert (
        "seeds 0 to 2 (lost: 0 to 1); O-BR on tiny 30 to 32; O-BR on lost 6 to 7; "
        in write_section(Section(table, []), "{}")
    )


def test_a_sweep_is_a_row_for_each_value(home):
    rows = read_table("paper", "table-10", home=home).entrants
    assert [(row.name, row.line) for row in rows] == [
        ("SVM", "SVM"),
        ("BAC, budget = 1", "BAC"),
        ("BAC, budget = 2", "BAC"),
        ("SBT", "SBT"),
    ]
    assert [dict(row.parameters) for row in rows[1:3]] == [
        {"max_planes": 1, "budget": 1},
        {"max_planes": 1, "budget": 2},
    ]


def test_a_data_set_may_have_its_own_parameters(home):
    table = read_table("paper", "table-10", home=home)
    row = table.entrants[1]
    assert "C" not in table.trials("two", row, "error")[0].parameters
    assert table.trials("xor", row, "error")[0].parameters["C"] == 0.5


def test_published_values_stand_by_metric(home):
    table = read_table("paper", "table-2", home=home)
    row = table.entrants[0]
    assert table.aim("tiny", row, "PSP@3") == 1
    assert math.isnan(table.aim("tiny", row, "F1@5"))
    assert math.isnan(table.aim("elsewhere", row, "P@1"))


def test_equal_trials_have_equal_keys_and_others_have_not(home):
    table = read_table("paper", "table-1", home=home)
    assert keys(table) == keys(read_table("paper", "table-1", home=home))
    # Two sets, two seeds: DPP for each of two costs, O-BR once for both.
    assert len(set(keys(table))) == 2 * 2 * 3
    plain = dict(parameters={}, choices=(), settings={}, metrics=("f1",))
    trials = {
        Trial("stream", "a", "CSDPP", seed=0, **plain).key,
        Trial("split", "a", "CSDPP", seed=0, **plain).key,
        Trial("stream", "b", "CSDPP", seed=0, **plain).key,
        Trial("stream", "a", "PLST", seed=0, **plain).key,
        Trial("stream", "a", "CSDPP", seed=1, **plain).key,
        Trial("stream", "a", "CSDPP", seed=0, **plain | {"parameters": {"M": 1}}).key,
        Trial("stream", "a", "CSDPP", seed=0, **plain | {"settings": {"hide": 1}}).key,
        Trial("stream", "a", "CSDPP", seed=0, **plain | {"choices": ({},)}).key,
        Trial("stream", "a", "CSDPP", seed=0, **plain | {"metrics": ("rank",)}).key,
    }
    assert len(trials) == 9


def test_a_trial_seeds_its_learner_unless_the_table_does():
    plain = dict(choices=(), settings={}, metrics=(), seed=7)
    learner = Trial("split", "a", "FastXML", {"n_estimators": 2}, **plain).make(C=3.0)
    assert (learner.n_estimators, learner.C, learner.random_state) == (2, 3.0, 7)
    given = Trial("split", "a", "FastXML", {"random_state": 1}, **plain).make()
    assert given.random_state == 1
    assert not hasattr(Trial("split", "a", "Popularity", {}, **plain).make(), "seed")


def test_an_unknown_key_is_refused(edited, home):
    path = edited("table-1", ("tolerance", "tolerence"))
    with pytest.raises(DataError, match=r"expected one of title, .*'tolerence'") as e:
        read_table("paper", "table-1", home=home)
    assert e.value.path == path


def test_a_missing_key_is_refused(edited, home):
    edited("table-1", ("tolerance = 0.1\n", ""))
    with pytest.raises(DataError, match=r"expected 'tolerance', found nothing"):
        read_table("paper", "table-1", home=home)


def test_what_is_better_must_be_told(edited, home):
    edited("table-1", ('better = "lower"', 'better = "less"'))
    with pytest.raises(DataError, match=r"better = lower or higher, found 'less'"):
        read_table("paper", "table-1", home=home)


def test_broken_toml_is_refused(edited, home):
    edited("table-1", ("[[learners]]", "[[learners"))
    with pytest.raises(DataError, match=r"table-1.toml: expected TOML"):
        read_table("paper", "table-1", home=home)


def test_an_unknown_kind_of_figure_is_refused(edited, home):
    edited("figure-1", ('kind = "curves"', 'kind = "curve"'))
    with pytest.raises(DataError, match=r"kind = curves, .*found 'curve'"):
        read_figure("paper", "figure-1", home=home)


def test_a_figure_needs_only_what_it_draws(home):
    places = list(read_figure("paper", "figure-3", home=home).cells())
    assert [(data, row.name, metric) for _, data, row, metric in places] == [
        ("xor", "SVM", "error")
    ]


def test_a_quick_figure_draws_the_sets_of_the_quick_table_only(edited, home):
    edited("figure-2", ('data = "two"', 'data = ["two", "xor"]'))
    edited("table-10", ("tolerance", 'quick = { data = ["xor"] }\ntolerance'))
    drawn = read_figure("paper", "figure-2", quick=True, home=home).cells()
    assert {data for _, data, _, _ in drawn} == {"xor"}


def test_a_figure_leaves_out_what_a_learner_is_not_run_on(edited, home):
    edited("figure-2", ('data = "two"', 'data = ["two", "xor"]'))
    edited("table-10", ('name = "BAC"', 'name = "BAC"\nonly = ["two"]'))
    drawn = read_figure("paper", "figure-2", home=home).cells()
    assert {data for _, data, row, _ in drawn if row.line == "BAC"} == {"two"}

"""The race in which a tree's parameters are chosen."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manylabel.model_selection.race import is_more, race


def judge_of(chances, n_rows=200, seed=0):
    """Return a judge of plans that are wrong with a chance, and its calls."""
    calls, rng = [], np.random.default_rng(seed)
    draws = rng.random((10, n_rows))

    def judge(plans, number):
        calls.append(list(plans))
        return np.array([draws[number] < chances[plan] for plan in plans], float)

    return judge, calls


def test_what_surely_errs_more_drops_out_after_a_round():
    judge, calls = judge_of({"good": 0.1, "near": 0.11, "bad": 0.5})
    left, lost = race(["bad", "near", "good"], 5, judge)
    assert calls[0] == ["bad", "near", "good"]
    assert calls[1:] == [["near", "good"]] * 4
    assert left == ["good", "near"]
    assert lost.shape == (2, 1000)


def test_a_plan_that_is_alone_ends_the_race():
    judge, calls = judge_of({"good": 0.0, "bad": 1.0})
    left, _ = race(["bad", "good"], 5, judge)
    assert left == ["good"]
    assert len(calls) == 1


def test_a_single_plan_does_not_run():
    left, lost = race(["only"], 5, lambda *_: pytest.fail("judged"))
    assert left == ["only"]
    assert lost.shape == (1, 0)


def test_of_equal_plans_the_first_wins():
    judge, _ = judge_of({"first": 0.2, "second": 0.2})
    assert race(["first", "second"], 2, judge)[0][0] == "first"


def test_more_is_told_by_the_rows_that_differ():
    than = np.zeros(100)
    lost = np.zeros((3, 100))
    lost[1, :9], lost[2, :10] = 1, 1  # 9 is 3 standard errors of 9 rows, not above
    assert_array_equal(is_more(lost, than, 3.0), [False, False, True])

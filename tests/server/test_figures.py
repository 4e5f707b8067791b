"""Running costs, drift, and the search for labels."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manylabel.server.costs import HALF_LIFE, NAMES, RunningCosts
from manylabel.server.curve import MOST, Curve
from manylabel.server.drift import WINDOW, Drift
from manylabel.server.label_index import FEW, LabelIndex

NAMED = "abcde"
sets = st.sets(st.sampled_from(NAMED))


def naive_costs(best, given_labels, accepted, rejected, complete):
    """Return the costs by going through all labels."""
    known = set(NAMED) if complete else accepted | rejected
    pairs = [(n in given_labels, n in accepted) for n in NAMED if n in known]
    shown = [n for n in best if n in known]
    found = {}
    if complete:
        judged = len(accepted | rejected | given_labels)
    else:
        judged = len(pairs)
    if judged:
        found["hamming"] = sum(a != b for a, b in pairs) / judged
        size = sum(a + b for a, b in pairs)
        both = sum(a and b for a, b in pairs)
        found["f1"] = 1 - 2 * both / size if size else 0.0
    if shown:
        found["P@1"] = float(shown[0] in accepted)
        found["P@5"] = sum(n in accepted for n in shown) / len(shown)
    return found


@given(st.permutations(NAMED), sets, sets, sets, st.booleans())
def test_costs_are_of_what_somebody_said(best, given_labels, yes, no, complete):
    no = no - yes
    costs = RunningCosts()
    said = {"accepted": sorted(yes), "rejected": sorted(no), "complete": complete}
    costs.add(best, given_labels, said)
    expected = naive_costs(best, given_labels, yes, no, complete)
    found = {n: it["mean"] for n, it in costs.to_dict().items() if it["count"]}
    assert found == pytest.approx(expected)
    again = RunningCosts()
    again.set_state(costs.get_state())
    assert again.to_dict() == costs.to_dict()


def test_what_is_recent_counts_more():
    costs = RunningCosts()
    for n in range(2 * HALF_LIFE):
        label = "a" if n >= HALF_LIFE else "b"
        costs.add(["a"], ["a"], {"accepted": [label], "rejected": [], "complete": True})
    found = costs.to_dict()["P@1"]
    assert found["mean"] == 0.5
    assert found["recent"] == pytest.approx(2 / 3, abs=0.01)
    assert set(costs.to_dict()) == set(NAMES)


def test_drift_is_small_for_like_scores_and_large_for_others():
    rng = np.random.default_rng(0)
    same, moved = Drift(), Drift()
    for drift, shift in ((same, 0.0), (moved, 2.0)):
        drift.add(rng.normal(size=WINDOW).tolist())
        assert drift.index() is None
        drift.add((shift + rng.normal(size=WINDOW)).tolist())
    assert same.index() < 0.1 < 0.25 < moved.index()


@given(st.lists(st.text("aB: é", min_size=1), unique=True, max_size=8), st.text("aBé"))
def test_labels_are_found_by_their_beginnings(names, prefix):
    folded = prefix.casefold()
    expected = {
        name
        for name in names
        if name.casefold().startswith(folded)
        or any(w.startswith(folded) for w in name.casefold().replace(":", " ").split())
    }
    assert set(LabelIndex(names).find(prefix, 100)) == expected
    half = LabelIndex(names[: len(names) // 2]).extended(names)
    assert set(half.find(prefix, 100)) == expected


def test_names_come_before_words_and_frequent_ones_first():
    index = LabelIndex(["x::game", "game::b", "game::a", "gamer"])
    counts = {"gamer": 5, "x::game": 99}
    found = index.find("game", 9, lambda name: counts.get(name, 0))
    assert found == ["gamer", "game::a", "game::b", "x::game"]
    assert index.find("game", 2) == ["game::a", "game::b"]


def test_what_is_called_just_so_comes_before_frequent_names():
    index = LabelIndex(["games", "Game", "x game"])
    assert index.find("game", 2, lambda name: 9 * (name != "Game")) == ["Game", "games"]


def test_an_index_of_other_names_is_made_anew():
    index = LabelIndex(["a", "b"])
    assert index.extended(["a", "b"]) is index
    assert index.extended(["c"]).find("", 9) == ["c"]
    many = [f"name{n}" for n in range(FEW + 5)]
    assert len(index.extended(["a", "b", *many]).find("name", 5000)) == FEW + 5


def test_100000_labels_are_searched_without_lag():
    import time

    index = LabelIndex([f"topic {n:06d} of many" for n in range(100_000)])
    start = time.process_time()
    assert len(index.find("to", 20)) == 20
    assert index.find("0999", 1) == ["topic 099900 of many"]
    assert time.process_time() - start < 0.5


@given(st.integers(1, 400), st.data())
def test_the_curve_is_a_function_of_the_log_however_it_is_cut(n, data):
    said = {"accepted": ["a"], "rejected": [], "complete": True}
    whole, costs = Curve(), RunningCosts()
    parts, others = Curve(), RunningCosts()
    at = data.draw(st.integers(0, n))
    for number in range(1, n + 1):
        label = "a" if number % 3 else "b"
        if number == at:  # a snapshot is taken, and read as JSON
            state = json.loads(json.dumps([parts.get_state(), others.get_state()]))
            parts, others = Curve(), RunningCosts()
            parts.set_state(state[0])
            others.set_state(state[1])
        for curve, sums in ((whole, costs), (parts, others)):
            sums.add([label], [label], said)
            curve.note(number, sums)
    assert parts.points == whole.points
    assert len(whole.points) <= MOST
    assert len(whole.points) > MOST / 3 or len(whole.points) == n

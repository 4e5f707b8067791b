"""Sensitivity to propensities: figures by hand, flips, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel import Propensity, make_corpus, metrics, sensitivity

Y = np.array([[1, 0], [1, 0], [0, 1]])
SCORES = {"often": [[0.9, 0.1]] * 3, "seldom": [[0.1, 0.9]] * 3}


def test_figures_are_psp_at_k_under_each_setting():
    found = sensitivity(Y, SCORES, k=1, propensity=[0.9, 0.2])
    assert found.settings[2:4] == ("odds x 1", "odds x 2")
    for at, factor in enumerate((0.25, 0.5, 1, 2, 4)):
        p = np.array([0.9, 0.2])
        odds = factor * p / (1 - p)
        for name, scores in SCORES.items():
            expected = metrics.psp_at_k(Y, scores, 1, propensity=odds / (1 + odds))
            assert found.figures[name][at] == pytest.approx(expected)
    assert found.figures["often"][-1] == pytest.approx(2 / 3)


def test_a_flip_is_named_with_where_it_happens():
    found = sensitivity(Y, SCORES, k=1, propensity=[0.9, 0.2])
    (flip,) = found.flips
    assert (flip.usual, flip.other) == ("seldom", "often")
    assert flip.settings == ("odds x 4", "all recorded")
    assert found.rankings[0] == ["seldom", "often"]
    assert found.rankings[-1] == ["often", "seldom"]
    assert "often is ahead of seldom only for odds x 4; all recorded" in repr(found)


def test_the_range_of_an_audit_is_that_of_its_intervals():
    corpus = make_corpus(n_rows=300, n_labels=20)
    audit = Propensity.from_audit(corpus.Y[:50], corpus.complete[:50], Y=corpus.Y)
    scores = {"one": corpus.X[:, :20]}
    found = sensitivity(corpus.Y, scores, k=3, propensity=audit)
    low, high = (
        metrics.psp_at_k(corpus.Y, scores["one"], 3, propensity=end)
        for end in audit.interval_
    )
    assert_allclose(found.figures["one"][[0, 4]], [low, high])


def test_laws_that_contradict_the_data_are_told_and_cause_no_flip():
    many = np.repeat([[1, 0], [1, 1]], 500, axis=0)
    scores = {"often": [[0.9, 0.1]] * 1000, "seldom": [[0.1, 0.9]] * 1000}
    found = sensitivity(many, scores, k=1)
    assert not found.is_possible[:9].any()  # a label of all rows is not forgotten
    assert found.is_possible[-1]
    n_wrong = np.count_nonzero(~found.is_possible)
    assert repr(found).count("(contradicts the data)") == n_wrong
    assert found.flips == []


@given(st.permutations(["a", "b", "c"]))
def test_the_order_of_the_models_does_not_matter(names):
    rng = np.random.default_rng(0)
    labels = rng.random((50, 6)) < 0.3
    scores = {name: rng.random((50, 6)) for name in "abc"}
    flips = sensitivity(labels, scores, k=2).flips
    again = sensitivity(labels, {name: scores[name] for name in names}, k=2).flips
    assert {(frozenset(f[:2])) for f in flips} == {(frozenset(f[:2])) for f in again}


def test_no_model_is_refused():
    with pytest.raises(ValueError, match="scores must be of at least one model"):
        sensitivity(Y, {})

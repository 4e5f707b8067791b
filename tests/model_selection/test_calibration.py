"""Calibration: from scores to how often they are right, within and beyond the knots."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel.model_selection.calibration import calibration, shares_of


@pytest.fixture
def curve():
    return np.array([[-1.0, 0.0, 2.0], [0.0, 0.4, 0.9]])


@given(st.integers(0, 2**32 - 1), st.integers(1, 300))
def test_a_calibration_ascends_from_0_within_the_probabilities(seed, n_pairs):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_pairs).astype(np.float32)
    x, y = calibration(scores, rng.random(n_pairs) < 0.3)
    assert (np.diff(x) >= 0).all()
    assert (np.diff(y) >= 0).all()
    assert y[0] == 0
    assert y[-1] <= 1
    assert (x[0], x[-1]) == (scores.min(), scores.max())


def test_calibrated_scores_are_as_often_right_as_they_say():
    rng = np.random.default_rng(0)
    margins = rng.normal(size=40_000)
    chances = 1 / (1 + np.exp(-3 * margins))
    curve = calibration(margins, rng.random(len(margins)) < chances)
    middle = np.abs(margins) < 2
    found = shares_of(margins, curve)
    assert np.abs(found - chances)[middle].max() < 0.06


def test_the_best_of_all_is_half_way_from_its_stretch_to_certainty():
    scores, is_hit = np.arange(100.0), np.arange(100) >= 60
    is_hit[-1] = False  # of the last two
    *_, before, last = calibration(scores, is_hit)[1]
    assert before < 1
    assert last == (1 + before) / 2


def test_lines_join_the_knots(curve):
    assert_array_equal(shares_of(np.array([-0.5, 1.0]), curve), [0.2, 0.65])
    assert_array_equal(shares_of(curve[0], curve), curve[1])


def test_a_score_beyond_the_knots_is_as_probable_as_the_nearest(curve):
    found = shares_of(np.array([-np.inf, -7, 2.001, 50, np.inf]), curve)
    assert_array_equal(found, [0, 0, 0.9, 0.9, 0.9])

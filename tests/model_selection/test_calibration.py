"""Calibration: from scores to how often they are right, within and beyond the knots."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

from manylabel.model_selection.calibration import (
    METHODS,
    Curves,
    calibration,
    shares_of,
    weigh_ranks,
)


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


def test_pairs_that_weigh_twice_are_as_two():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=400)
    is_hit = rng.random(400) < 0.3
    weight = np.where(is_hit, 2.0, 1.0)
    twice = np.repeat(np.arange(400), weight.astype(int))
    found, plain, expected = (
        shares_of(np.linspace(-2, 2, 50), curve)
        for curve in (
            calibration(scores, is_hit, weight / weight.mean()),
            calibration(scores, is_hit),
            calibration(scores[twice], is_hit[twice]),
        )
    )
    assert np.abs(found - expected).mean() < 0.03 < (found - plain).min()


def test_labels_weigh_by_their_rank_in_the_row():
    found = weigh_ranks(np.array([[3.0, 1.0, 2.0], [-1.0, 5.0, -np.inf]]))
    first, second, third = 1 / np.log2([2, 3, 4])
    assert_array_equal(found, [[first, third, second], [second, first, third]])


@pytest.mark.parametrize("method", METHODS)
def test_what_the_best_labels_are_is_told_where_scores_of_rows_differ(method):
    rng = np.random.default_rng(0)
    means = rng.normal(size=(4000, 50))
    chances = 1 / (1 + np.exp(3 - 2 * means))
    moved = means + rng.normal(size=(4000, 1))  # which says nothing of the labels
    indptr, labels = np.arange(0, 200_001, 50), np.tile(np.arange(50), 4000)
    best = sp.csr_array((moved.ravel(), labels, indptr), shape=moved.shape)
    Y = sp.csr_array((rng.random(chances.shape) < chances).astype(np.int64))
    counts = np.full(50, 1000)
    curves = Curves.fit(best, Y, counts, np.ones(50), method)
    found = curves.apply(best.data, best.indices).reshape(moved.shape)
    first = np.argsort(-moved, axis=1)[:, :5]
    gap = np.take_along_axis(found - chances, first, axis=1).mean()
    assert abs(gap) < 0.2  # 0.28 where all ranks count alike


@pytest.mark.parametrize("n_pairs", [9, 24, 300])
@pytest.mark.parametrize("propensity", [0.3, 0.5, 1.0])
def test_a_curve_of_scores_that_tell_labels_apart_has_as_many_as_count(
    n_pairs, propensity
):
    is_recorded = np.arange(n_pairs) % 5 == 0
    scores = np.where(is_recorded, 1.0, -1.0) + np.linspace(0, 0.1, n_pairs)
    pairs = scores, np.zeros(n_pairs, np.int64), is_recorded / propensity
    counts = np.array([is_recorded.sum()])
    curves = Curves.fit_pairs(*pairs, np.ones(n_pairs), counts, 0.0, "sigmoid")
    chances = curves.apply(scores, pairs[1])
    few = 1.5  # a true label is added, and one that is not
    assert chances.sum() == pytest.approx(pairs[2].sum(), abs=few)
    assert chances[is_recorded].min() > chances[~is_recorded].max()


@pytest.mark.parametrize("seed", range(4))
def test_few_labels_among_scores_of_long_tails_have_the_curve_of_least_loss(seed):
    rng, n = np.random.default_rng(seed), 18_000
    scores, is_true = rng.exponential(0.02, n), np.arange(n) < 50
    is_far = rng.random(n) < 0.005
    scores[is_far] = rng.uniform(0, 30, is_far.sum())
    scores[is_true] = rng.exponential(1, 50) ** 3
    pairs = scores, np.zeros(n, np.int64), is_true.astype(np.float64)
    curves = Curves.fit_pairs(*pairs, np.ones(n), np.array([50]), 0.0, "sigmoid")
    best = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-9)
    prior = np.full(2, scores.mean())  # of Platt: one that is true, and one that is not
    best.fit(np.append(scores, prior)[:, None], np.append(is_true, [False, True]))
    expected = best.predict_proba(scores[:, None])[:, 1]
    found = curves.apply(scores, pairs[1])
    np.testing.assert_allclose(found, expected, rtol=0.01, atol=1e-4)

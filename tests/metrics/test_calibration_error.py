"""The calibration error: a ten-line reference, and the laws."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel.metrics import CalibrationErrorAtK, calibration_error_at_k

seeds = st.integers(0, 2**32 - 1)


def problem(seed, n_rows=12, n_labels=7):
    rng = np.random.default_rng(seed)
    Y = rng.random((n_rows, n_labels)) < 0.3
    proba = rng.choice([0.0, 0.1, 0.25, 0.3, 0.99, 1.0], Y.shape) * rng.random(Y.shape)
    return Y, rng.random(Y.shape), proba, rng.uniform(0.2, 1, n_labels)


def reference(Y, scores, proba, k, propensity):
    pairs = []
    for y, s, p in zip(Y, scores, proba, strict=True):
        best = np.argsort(-s, kind="stable")[:k]
        pairs += [(p[c], y[c] / propensity[c]) for c in best]
    p, worth = np.array(pairs).T
    place = np.minimum((p * 10).astype(int), 9)
    bins = [place == b for b in range(10)]
    return sum(abs(p[b].sum() - worth[b].sum()) for b in bins) / len(p)


@given(seeds, st.integers(1, 9))
def test_it_is_that_of_the_paper(seed, k):
    Y, scores, proba, propensity = problem(seed)
    for given_one in (np.ones(7), propensity):
        found = calibration_error_at_k(Y, scores, k, proba=proba, propensity=given_one)
        assert_allclose(found, reference(Y, scores, proba, k, given_one), atol=1e-6)


@given(seeds, st.integers(1, 9))
def test_it_is_a_fraction_and_chunks_and_order_do_not_matter(seed, k):
    Y, scores, proba, _ = problem(seed)
    whole = calibration_error_at_k(Y, scores, k, proba=proba)
    assert 0 <= whole <= 1
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(Y)), rng.permutation(Y.shape[1])
    metric, cut = CalibrationErrorAtK(k), int(rng.integers(len(Y)))
    for part in (rows[:cut], rows[cut:]):
        metric.update(Y[part], scores[part], proba[part])
    assert metric.value == whole  # bits
    moved = Y[:, columns], scores[:, columns], k
    assert calibration_error_at_k(*moved, proba=proba[:, columns]) == whole


@given(seeds)
def test_merging_is_seeing_both(seed):
    Y, scores, proba, _ = problem(seed)
    left, right = (
        CalibrationErrorAtK(2).update(Y[part], scores[part], proba[part])
        for part in (slice(5), slice(5, None))
    )
    whole = CalibrationErrorAtK(2).update(Y, scores, proba)
    assert_array_equal(left.merge(right).reliability, whole.reliability)


@given(seeds)
def test_sparse_and_dense_probabilities_are_the_same(seed):
    Y, scores, proba, _ = problem(seed)
    dense = calibration_error_at_k(Y, scores, 3, proba=proba)
    assert calibration_error_at_k(Y, scores, 3, proba=sp.csr_array(proba)) == dense


def test_scores_are_the_probabilities_where_no_others_are_given():
    Y, _, proba, _ = problem(0)
    alone = calibration_error_at_k(Y, proba, 3)
    assert alone == calibration_error_at_k(Y, proba, 3, proba=proba)


def test_sure_and_right_has_no_error_sure_and_wrong_has_all():
    Y = np.eye(4)
    assert calibration_error_at_k(Y, Y, 1) == 0
    assert calibration_error_at_k(np.roll(Y, 1, axis=1), Y, 1) == 1


def test_bins_say_how_probable_and_how_true():
    proba = np.full((1000, 1), 0.25)
    Y = np.arange(1000)[:, None] % 5 == 0
    bins = CalibrationErrorAtK(1).update(Y, proba).reliability
    assert [each.n_pairs for each in bins] == [0, 0, 1000, 0, 0, 0, 0, 0, 0, 0]
    assert bins[2] == pytest.approx((0.2, 0.3, 0.25, 0.2, 1000))


def test_true_labels_that_are_forgotten_are_made_up_for():
    rng = np.random.default_rng(0)
    proba = rng.random((20_000, 3))
    propensity = np.array([0.5, 0.8, 1.0])
    true = rng.random(proba.shape) < proba
    recorded = true & (rng.random(proba.shape) < propensity)
    found = calibration_error_at_k(recorded, proba, 3, propensity=propensity)
    assert found < 0.02 < calibration_error_at_k(recorded, proba, 3)


def test_rows_of_few_predictions_count_only_these():
    scores = sp.csr_array(([0.9], [0], [0, 1, 1]), shape=(2, 3))
    assert calibration_error_at_k([[1, 0, 0]] * 2, scores, 3) == pytest.approx(0.1)


def test_no_rows_have_no_error_to_tell():
    assert np.isnan(calibration_error_at_k(np.zeros((0, 2)), np.zeros((0, 2))))
    assert len(CalibrationErrorAtK().reliability) == 10


def test_another_propensity_is_not_merged():
    Y, scores, proba, _ = problem(0)
    left, right = (
        CalibrationErrorAtK(2, p).update(Y, scores, proba) for p in (0.5, 0.6)
    )
    with pytest.raises(ValueError, match="PSECE@2 can be merged only with"):
        left.merge(right)

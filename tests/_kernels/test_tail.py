"""The tail-label classifiers against their formulas."""

from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels.forest import tail as kernels
from manylabel.lists import Lists
from manylabel.persistence import records
from manylabel.trees import _tail
from manylabel.trees._grower import Plan
from manylabel.trees._tail import (
    Surface,
    Tail,
    exact_centroids,
    mean_centroids,
    unit_rows,
)


@st.composite
def plans(draw, most_rows=30):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_features = draw(st.integers(1, most_rows)), draw(st.integers(1, 8))
    n_labels = draw(st.integers(1, 9))
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.5)
    Y = (rng.random((n_rows, n_labels)) < 0.3).astype(np.float32)
    return Plan(
        X=sp.csr_array(X.astype(np.float32)),
        Y=sp.csr_array(Y),
        gain=np.ones(n_labels),
        weight=np.ones(n_rows),
        mass=rng.random(n_rows) + 0.5 if draw(st.booleans()) else np.ones(n_rows),
        cost=1.0,
        bias=draw(st.sampled_from([0.0, 0.4, 1.0, 2.5])),
        leaf_size=10,
        labels_per_leaf=10,
    )


def augmented(X, bias):
    """Return dense rows with a constant feature, at unit length unless they are 0."""
    rows = np.hstack([X.toarray().astype(float), np.full((X.shape[0], 1), bias)])
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def slow_centroids(plan):
    rows, weights = augmented(plan.X, plan.bias), plan.Y.toarray() * plan.mass[:, None]
    total = weights.sum(axis=0)
    return (rows.T @ weights) / np.where(total > 0, total, 1)


def all_labels(n_rows, n_labels):
    labels = np.tile(np.arange(n_labels, dtype=np.int32), n_rows)
    return Lists(np.arange(n_rows + 1) * n_labels, labels, np.ones(len(labels)))


def likelihood(point, rows, has, mass, p, surface):
    """Return the objective of equation 43, v as in equation 41."""
    square = (point**2).sum() + 1 - 2 * rows @ point
    log_odds = np.logaddexp(0, surface.steepness * square + surface.shift)
    return (
        mass * np.where(has, np.log(p) - log_odds, np.log1p(-p * np.exp(-log_odds)))
    ).sum()


@given(plans())
def test_a_centroid_is_the_mean_of_unit_rows(plan):
    rows = unit_rows(plan.X, plan.bias)
    assert_allclose(rows.toarray(), augmented(plan.X, plan.bias), atol=1e-12)
    found = mean_centroids(plan, np.ones(plan.Y.shape[1]), Surface(30.0, 0.0), None)
    assert_allclose(found.toarray(), slow_centroids(plan), atol=1e-12)


@given(plans(), st.sampled_from([0.5, 30.0, 1e5]), st.floats(-10, 10))
def test_shares_follow_the_formula(plan, steepness, shift):
    n_rows, n_labels = plan.Y.shape
    points = slow_centroids(plan)
    classifier = Tail.of(sp.csr_array(points))
    lists, surface = all_labels(n_rows, n_labels), Surface(steepness, shift)
    found = classifier.log_shares(plan.X, lists, bias=plan.bias, surface=surface)
    rows = augmented(plan.X, plan.bias)
    square = (points**2).sum(axis=0) + 1 - 2 * rows @ points
    expected = -np.logaddexp(0, steepness * square + shift)
    assert_allclose(found.reshape(n_rows, n_labels), expected, atol=2e-4 * steepness)


@pytest.fixture
def all_wide(monkeypatch):
    """Let every centroid stand by feature."""
    monkeypatch.setattr(_tail, "MOST_OWN", 0)


@given(plans(), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_a_centroid_may_stand_by_label_or_by_feature(plan, most_own, seed):
    n_rows, n_labels = plan.Y.shape
    points, whole = sp.csr_array(slow_centroids(plan)), all_labels(n_rows, n_labels)
    kept = np.random.default_rng(seed).random(len(whole.labels)) < 0.5
    ends = np.concatenate([[0], np.cumsum(kept)])[whole.indptr]
    some = Lists(ends, whole.labels[kept], whole.values[kept])
    usual = Tail.of(points)
    with patch.object(_tail, "MOST_OWN", most_own):
        other = Tail.of(points)
    sizes = {"n_features": plan.X.shape[1], "n_labels": n_labels}
    records.check(other, "tail_", sizes)
    assert_array_equal(other.csr().toarray(), usual.csr().toarray())
    for lists in (whole, some):
        found, expected = (
            tail.log_shares(plan.X, lists, bias=1.0, surface=Surface(3.0, 0.0))
            for tail in (other, usual)
        )
        assert_array_equal(found, expected)


@given(plans(), st.integers(0, 2**32 - 1))
def test_a_label_has_the_same_share_in_any_company(plan, seed):
    n_rows, n_labels = plan.Y.shape
    classifier = Tail.of(sp.csr_array(slow_centroids(plan)))
    whole = all_labels(n_rows, n_labels)
    kept = np.random.default_rng(seed).random(len(whole.labels)) < 0.3
    ends = np.concatenate([[0], np.cumsum(kept)])[whole.indptr]
    some = Lists(ends, whole.labels[kept], whole.values[kept])
    every, few = (
        classifier.log_shares(plan.X, lists, bias=1.0, surface=Surface(30.0, 0.0))
        for lists in (whole, some)
    )
    assert_array_equal(every[kept], few)


def test_long_columns_are_looked_up_with_the_same_result(all_wide):
    rng = np.random.default_rng(0)
    points = sp.random_array((9, 2000), density=0.3, rng=rng, format="csr")
    classifier = Tail.of(points / 10)
    assert np.diff(classifier.starts).max() < 2000, "stored in full"
    X = sp.csr_array(rng.random((4, 8), np.float32))
    few = Lists(np.arange(5) * 3, np.tile(np.int32([5, 900, 1999]), 4), np.ones(12))
    whole = classifier.log_shares(
        X, all_labels(4, 2000), bias=1.0, surface=Surface(3.0, 0.0)
    )
    found = classifier.log_shares(X, few, bias=1.0, surface=Surface(3.0, 0.0))
    assert_array_equal(found.reshape(4, 3), whole.reshape(4, 2000)[:, [5, 900, 1999]])
    assert kernels.SCANNED * 3 < 500  # shorter than the columns


def test_features_that_many_labels_share_are_stored_in_full(all_wide):
    points = np.array([[0.1, 0.2, 0.0, 0.3], [0.0, 0.0, 0.4, 0.0], [0, 0, 0, 0.5]])
    classifier = Tail.of(sp.csr_array(points))
    assert_array_equal(np.diff(classifier.starts), [4, 1])
    assert_allclose(classifier.csr().toarray(), points[:2], atol=1e-5)
    assert classifier.values.dtype == np.int16
    assert classifier.numbers.dtype == np.uint16


@pytest.mark.slow
@given(
    *(plans(), st.floats(0.05, 1.0)),
    *(st.sampled_from([0.5, 3.0, 30.0]), st.sampled_from([0.0, -2.0, 2.0])),
)
@settings(max_examples=60)
def test_exact_centroids_are_stationary_and_no_worse_than_means(
    plan, p, steepness, shift
):
    surface = Surface(steepness, shift)
    propensity = np.full(plan.Y.shape[1], p)
    points = exact_centroids(plan, propensity, surface, None).toarray()
    means, rows = slow_centroids(plan), augmented(plan.X, plan.bias)
    for label in np.flatnonzero(plan.Y.sum(axis=0)):
        has = plan.Y.toarray()[:, label] > 0
        problem = (rows, has, plan.mass, p, surface)
        best = likelihood(points[:, label], *problem)
        assert best >= likelihood(means[:, label], *problem) - 1e-6
        slope = [
            likelihood(points[:, label] + step, *problem)
            - likelihood(points[:, label] - step, *problem)
            for step in 1e-4 * np.eye(len(points))
        ]
        steepest = 2 * steepness * plan.mass[has].sum()  # of a single direction
        assert np.abs(slope).max() / 2e-4 < 3e-3 * steepest


@given(plans())
@settings(max_examples=30)
def test_exact_centroids_are_means_where_all_rows_are_far(plan):
    """Equations 47-49: no row near a centroid, and a large gamma."""
    propensity, means = np.full(plan.Y.shape[1], 0.5), slow_centroids(plan)
    rows = augmented(plan.X, plan.bias)
    square = (means**2).sum(axis=0) + 1 - 2 * rows @ means
    points = exact_centroids(plan, propensity, Surface(1e5, 0.0), None).toarray()
    far = square.min(axis=0) > 1e-3
    assert_allclose(points[:, far], means[:, far], atol=1e-4)


def test_a_likelihood_pulls_centroids_from_rows_without_the_label():
    X = sp.csr_array(np.float32([[1, 0], [0.6, 0.8], [0, 1]]))
    Y = sp.csr_array(np.float32([[1], [1], [0]]))
    plan = Plan(
        *(X, Y, np.ones(1), np.ones(3), np.ones(3), 1.0, 0.0, 10, 10),
    )
    near = Surface(1.0, 0.0)
    mean = mean_centroids(plan, np.ones(1), near, None).toarray()[:, 0]
    exact = exact_centroids(plan, np.full(1, 0.9), near, None).toarray()[:, 0]
    away = X.toarray()[2]
    assert exact[:2] @ away < mean[:2] @ away - 0.05


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exact_centroids_do_not_depend_on_blocks_and_threads(n_jobs, monkeypatch):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((20, 5), np.float32))
    Y = sp.csr_array((rng.random((20, 7)) < 0.3).astype(np.float32))
    plan = Plan(
        *(X, Y, np.ones(7), np.ones(20), np.ones(20), 1.0, 1.0, 10, 10),
    )
    expected = exact_centroids(plan, np.full(7, 0.5), Surface(3.0, 0.0), 1).toarray()
    monkeypatch.setattr("manylabel.trees._tail.VALUES_AT_ONCE", 12)
    found = exact_centroids(plan, np.full(7, 0.5), Surface(3.0, 0.0), n_jobs).toarray()
    assert_array_equal(found, expected)

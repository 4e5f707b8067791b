"""Forests on data that is odd but allowed: what they do is defined."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

from manylabel import FastXML, PfastreXML, PfastXML

FORESTS = [kind(n_estimators=5, C=10.0) for kind in (FastXML, PfastXML, PfastreXML)]
each_forest = pytest.mark.parametrize("forest", FORESTS, ids=lambda f: type(f).__name__)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((60, 8)) < 0.4).astype(np.float32))
    Y = X[:, :4].toarray().astype(int)
    return X, Y


@each_forest
def test_a_single_label_is_first_everywhere_and_keeps_its_frequency(forest, rows):
    X, Y = rows
    model = clone(forest).fit(X, Y[:, :1])
    assert_array_equal(model.predict_topk(X, k=5).indices, 0)
    for start, stop in pairwise(
        model.forest_.roots
    ):  # splits are random: all rank alike
        leaves = model.leaves_[start:stop].toarray()[:, 0]
        recorded = leaves @ model.forest_.node_rows[start:stop]
        assert round(recorded) == Y[:, 0].sum()


@pytest.mark.parametrize("forest", FORESTS[:2])  # nearness may speak against it
def test_a_label_on_every_row_is_always_predicted(forest, rows):
    X, Y = rows
    Y[:, 2] = 1
    assert_array_equal(clone(forest).fit(X, Y).predict(X)[:, 2], 1)


@each_forest
def test_identical_rows_end_in_one_leaf_with_their_frequencies(forest, rows):
    _, Y = rows
    model = clone(forest).fit(np.ones((60, 3)), Y)
    assert model.forest_.roots[-1] == model.n_estimators
    assert np.unique(model.decision_function(np.ones((60, 3))), axis=0).shape[0] == 1


@each_forest
def test_rows_without_features_are_led_by_the_intercepts(forest, rows):
    X, Y = rows
    empty = sp.csr_array(X.shape, dtype=np.float32)
    model = clone(forest).fit(sp.vstack([X, empty]), np.vstack([Y, Y]))
    scores = model.decision_function(empty)
    assert_array_equal(scores, np.repeat(scores[:1], 60, axis=0))
    assert np.isfinite(scores).all()


@each_forest
def test_rows_without_labels_count_in_the_leaves(forest, rows):
    X, Y = rows
    model = clone(forest).set_params(leaf_size=500)
    alone = model.fit(X, Y).leaves_
    half = model.fit(sp.vstack([X, X]), np.vstack([Y, 0 * Y])).leaves_
    assert np.abs(alone.toarray() / 2 - half.toarray()).max() < 1e-4


@each_forest
def test_without_any_label_nothing_is_predicted(forest, rows):
    X, Y = rows
    model = clone(forest).fit(X, 0 * Y)
    assert model.predict(X).sum() == 0
    assert_array_equal(model.predict_topk(X, k=2).indices.reshape(60, 2), [[0, 1]] * 60)


@each_forest
def test_more_labels_a_leaf_than_labels_are_all_labels(forest, rows):
    few, many = (clone(forest).set_params(labels_per_leaf=n) for n in (4, 10**30))
    assert_array_equal(
        few.fit(*rows).decision_function(rows[0]),
        many.fit(*rows).decision_function(rows[0]),
    )


@each_forest
@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_a_few_rows_are_enough(forest, rows, n_rows):
    X, Y = rows
    model = clone(forest).fit(X[:n_rows], Y[:n_rows])
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict_topk(X, k=2).nnz == 120


@each_forest
def test_stored_zeros_change_nothing(forest, rows):
    X, Y = rows
    full = sp.csr_array(np.ones(X.shape, np.float32))
    full.data = X.toarray().ravel()
    plain, stored = (clone(forest).fit(M, Y) for M in (X, full))
    assert_array_equal(plain.forest_.weight_bits, stored.forest_.weight_bits)
    assert full.nnz == full.shape[0] * full.shape[1], "the input was changed"


@each_forest
@pytest.mark.parametrize("weight", [1e308, 5e-324])
def test_weights_of_any_size_count_in_proportion(forest, rows, weight):
    plain = clone(forest).fit(*rows)
    weighed = clone(forest).fit(*rows, sample_weight=np.full(60, weight))
    assert_array_equal(plain.forest_.leaf_steps, weighed.forest_.leaf_steps)
    drowned = np.where(np.arange(60) % 2, 1e-320, 1e300)
    half = clone(forest).fit(*rows, sample_weight=drowned)
    assert np.isfinite(half.decision_function(rows[0])).all()


@each_forest
def test_labels_that_only_earlier_trees_saw_remain_seen(forest, rows):
    X, Y = rows
    model = clone(forest).set_params(warm_start=True, n_estimators=1).fit(X, Y)
    Y[:, 1] = 0
    assert model.set_params(n_estimators=2).fit(X, Y).seen_.all()

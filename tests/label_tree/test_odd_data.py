"""Label trees on data that is odd but allowed, and on much of it."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import LabelTree, make_corpus

SHAPES = [
    {"n_clusters": 3, "leaf_labels": 2},
    {"leaf_labels": 1},
    {"n_clusters": 4, "balanced": True, "n_estimators": 2},
    {},
]
each_shape = pytest.mark.parametrize("shape", SHAPES)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = sp.csr_array((rng.random((60, 8)) < 0.4).astype(np.float32))
    return X, X[:, :4].toarray().astype(int)


@each_shape
def test_a_single_label_is_first_everywhere(shape, rows):
    X, Y = rows
    model = LabelTree(**shape).fit(X, Y[:, :1])
    assert_array_equal(model.predict_topk(X, 5).indices, 0)
    assert_array_equal(model.predict(X), Y[:, :1])


@each_shape
def test_without_any_label_nothing_is_predicted(shape, rows):
    X, Y = rows
    model = LabelTree(**shape).fit(X, 0 * Y)
    assert model.predict(X).sum() == 0
    assert_array_equal(model.predict_topk(X, 2).indices.reshape(60, 2), [[0, 1]] * 60)
    assert_array_equal(model.predict_proba(X), 0)


@each_shape
def test_a_label_on_every_row_is_always_predicted(shape, rows):
    X, Y = rows
    Y[:, 2] = 1
    assert_array_equal(LabelTree(**shape).fit(X, Y).predict(X)[:, 2], 1)


@each_shape
def test_equal_labels_score_alike(shape, rows):
    X, Y = rows
    model = LabelTree(**shape, beam=None).fit(X, np.tile(Y[:, :1], (1, 9)))
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    if not shape:  # in a tree, some stand deeper than others
        assert_array_equal(scores, np.repeat(scores[:, :1], 9, axis=1))


@each_shape
def test_rows_of_zeros_are_led_by_the_intercepts(shape, rows):
    empty = sp.csr_array((60, 8), dtype=np.float32)
    model = LabelTree(**shape).fit(empty, rows[1])
    scores = model.decision_function(rows[0])
    assert_array_equal(scores, np.repeat(scores[:1], 60, axis=0))
    assert np.isfinite(scores).all()


@each_shape
@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_a_few_rows_are_enough(shape, n_rows, rows):
    X, Y = rows
    model = LabelTree(**shape).fit(X[:n_rows], Y[:n_rows])
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict_topk(X, 2).nnz == 120


@each_shape
def test_labels_that_no_row_has_rank_last(shape, rows):
    X, Y = rows
    Y[:, 1] = 0
    model = LabelTree(**shape).fit(X, Y)
    assert_array_equal(model.decision_function(X).argmin(axis=1), 1)
    assert_array_equal(model.predict_topk(X, 3).toarray()[:, 1], 0)


@each_shape
def test_features_below_zero_and_stored_zeros_change_nothing_else(
    shape, rows, dense_weights
):
    X, Y = rows
    signs = sp.csr_array(np.where(X.toarray() > 0, 1.0, -1.0).astype(np.float32))
    assert np.isfinite(LabelTree(**shape).fit(signs, Y).decision_function(signs)).all()
    full = signs.copy()
    full.data = X.toarray().ravel()
    plain, stored = (LabelTree(**shape).fit(M, Y) for M in (X, full))
    # Four features are added up at a time, so a zero between them moves the rounding.
    assert_allclose(*map(dense_weights, (plain, stored)), rtol=2**-6, atol=1e-3)


def traced(action):
    """Return the bytes that an action takes at most."""
    action()  # compiles, and keeps what is kept
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_million_empty_columns_take_what_a_column_takes(corpus):
    Y = sp.csr_array(
        (corpus.Y.data, corpus.Y.indices * 25_000, corpus.Y.indptr),
        shape=(400, 1_000_000),
    )
    model, X = LabelTree(n_clusters=4, leaf_labels=5), corpus.X
    assert traced(lambda: model.fit(X, Y)) < 100e6
    assert traced(lambda: model.predict_topk(X, 5)) < 50e6
    found = model.predict_topk(X, 5)
    plain = LabelTree(n_clusters=4, leaf_labels=5).fit(X, corpus.Y).predict_topk(X, 5)
    seen = plain.data > -1
    assert_array_equal(found.indices[found.data > -1], plain.indices[seen] * 25_000)


def size_of(*arrays):
    return sum(array.nbytes for array in arrays)


@pytest.mark.slow
def test_fitting_takes_memory_for_the_data_and_the_model_alone():
    corpus = make_corpus(n_rows=20_000, n_features=20_000, n_labels=20_000)
    X, Y, model = corpus.X, corpus.Y, LabelTree(n_jobs=1)
    taken = traced(lambda: model.fit(X, Y))
    data = sum(size_of(M.data, M.indices, M.indptr) for M in (X, Y))
    assert taken < 3 * (data + size_of(*model.nodes_)) + 100e6
    assert taken < 20_000 * 20_000 / 2


@pytest.mark.slow
def test_predicting_takes_memory_for_few_rows_at_a_time():
    corpus = make_corpus(n_rows=5_000, n_features=5_000, n_labels=20_000)
    model = LabelTree().fit(corpus.X, corpus.Y)
    assert traced(lambda: model.predict(corpus.X)) < 250e6
    assert traced(lambda: model.predict_topk(corpus.X, 5)) < 50e6

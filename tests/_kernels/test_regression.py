"""Linear regression on a stream: exact ridge, gradient descent, and decoding."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels.cs_dpp import regression

problems = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "n_rows": st.integers(1, 15),
        "n_features": st.integers(1, 8),
        "n_targets": st.integers(1, 5),
    }
)
DECAYING = np.zeros(0)  # the spread of a schedule that needs none
biases = st.sampled_from([0.0, 1.0, 2.5])


def draw(seed, n_rows, n_features, n_targets):
    """Return sparse rows, and targets of which no row depends on another."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    return sp.csr_array(X, dtype=np.float32), rng.normal(size=(n_rows, n_targets))


def pad(X, bias):
    return np.column_stack([X.toarray(), np.full(X.shape[0], bias)]).astype(float)


@given(problem=problems, bias=biases, reg=st.sampled_from([0.1, 1.0, 10.0]))
def test_ridge_on_a_stream_is_ridge_on_the_whole(problem, bias, reg):
    X, targets = draw(**problem)
    size = X.shape[1] + 1
    weights, inverse = np.zeros((size, targets.shape[1])), np.eye(size) / reg
    regression.learn_ridge(*csr(X), targets.copy(), bias, inverse, weights)
    P = pad(X, bias)
    expected = np.linalg.solve(P.T @ P + reg * np.eye(size), P.T @ targets)
    assert_allclose(weights, expected, rtol=1e-8, atol=1e-8)


@given(problem=problems, bias=biases, step=st.sampled_from([0.01, 0.5, 1.0, 50.0]))
def test_gradient_descent_follows_its_definition(problem, bias, step):
    X, targets = draw(**problem)
    weights = np.zeros((X.shape[1] + 1, targets.shape[1]))
    codes = targets.copy()
    regression.learn_gradient(*csr(X), codes, bias, step, 1.0, 3, DECAYING, weights)
    expected = np.zeros_like(weights)
    for t, (x, target) in enumerate(zip(pad(X, bias), targets, strict=True), start=4):
        rate = min(step / np.sqrt(t), 1 / (x @ x) if x.any() else np.inf)
        assert_allclose(codes[t - 4], x @ expected, rtol=1e-10, atol=1e-10)
        expected -= rate * np.outer(x, x @ expected - target)
    assert_allclose(weights, expected, rtol=1e-10, atol=1e-10)


def test_many_targets_are_learnt_as_if_each_were_alone():
    n_targets = 3 * regression.MIN_TARGETS + 5
    X, targets = draw(0, 20, 2 * regression.WEIGHTS_AT_ONCE // n_targets, n_targets)
    assert X.nnz > regression.MIN_MOVES * X.shape[1]
    learnt = []
    for codes in (targets.copy(), targets[:, [40]]):
        weights = np.zeros((X.shape[1] + 1, codes.shape[1]))
        regression.learn_gradient(*csr(X), codes, 1.0, 1.0, 1.0, 0, DECAYING, weights)
        learnt.append((codes, weights))
    for many, alone in zip(*learnt, strict=True):
        assert_array_equal(many[:, [40]], alone)


def test_long_rows_do_not_make_gradient_descent_diverge():
    X, targets = draw(0, 3000, 8, 3)
    X *= np.float32(1000)
    weights = np.zeros((9, 3))
    regression.learn_gradient(*csr(X), targets, 1.0, 1.0, 1.0, 0, DECAYING, weights)
    assert np.abs(weights).max() < 1


@given(problem=problems, bias=biases)
def test_predictions_are_products(problem, bias):
    X, weights = draw(**problem)
    weights = np.random.default_rng(0).normal(size=(X.shape[1] + 1, weights.shape[1]))
    out = np.full((X.shape[0], weights.shape[1]), np.nan)
    regression.predict(*csr(X), bias, weights, out)
    assert_allclose(out, pad(X, bias) @ weights, rtol=1e-10, atol=1e-10)


def test_decoding_is_a_product_that_takes_each_row_alone():
    rng = np.random.default_rng(0)
    codes, decoder = rng.normal(size=(30, 7)), rng.normal(size=(7, 50))
    out, alone = np.full((30, 50), np.nan), np.full((1, 50), np.nan)
    regression.decode(codes, decoder, out)
    regression.decode(codes[3:4], decoder, alone)
    assert_allclose(out, codes @ decoder, rtol=1e-10, atol=1e-10)
    assert_array_equal(out[3:4], alone)


def csr(X):
    return X.indptr, X.indices, X.data

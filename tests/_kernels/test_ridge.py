"""Recursive least squares: the inverse that it keeps, against the definition."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import ridge


@kernel
def update(*arguments):
    return ridge.update(*arguments)


def draw_rows(seed, n_rows, n_features):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    return sp.csr_array(X, dtype=np.float32)


def take_rows(X, bias, inverse):
    """Return the gains and leverages of all rows; ``inverse`` changes in place."""
    gains, leverages = np.empty((X.shape[0], X.shape[1] + 1)), []
    for i, gain in enumerate(gains):
        start, end = X.indptr[i], X.indptr[i + 1]
        leverages.append(update(start, end, X.indices, X.data, bias, inverse, gain))
    return gains, leverages


@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 12),
    n_features=st.integers(1, 8),
    bias=st.sampled_from([0.0, 1.0, 2.5]),
    reg=st.sampled_from([0.1, 1.0, 10.0]),
)
def test_inverse_gain_and_leverage_are_those_of_the_definition(
    seed, n_rows, n_features, bias, reg
):
    X = draw_rows(seed, n_rows, n_features)
    inverse = np.eye(n_features + 1) / reg
    gains, leverages = take_rows(X, bias, inverse)
    A = reg * np.eye(n_features + 1)
    padded = np.column_stack([X.toarray(), np.full(n_rows, bias)]).astype(float)
    for x, gain, leverage in zip(padded, gains, leverages, strict=True):
        assert_allclose(leverage, x @ np.linalg.inv(A) @ x, rtol=1e-8)
        A += np.outer(x, x)
        assert_allclose(gain, np.linalg.inv(A) @ x, rtol=1e-8, atol=1e-10)
    assert_allclose(inverse, np.linalg.inv(A), rtol=1e-8, atol=1e-10)


def test_the_inverse_stays_exact_and_symmetric_over_thousands_of_rows():
    X = draw_rows(0, 5000, 20)
    inverse = np.eye(21)
    take_rows(X, 1.0, inverse)
    assert_array_equal(inverse, inverse.T)
    padded = np.column_stack([X.toarray(), np.ones(5000)]).astype(float)
    assert_allclose(inverse @ (np.eye(21) + padded.T @ padded), np.eye(21), atol=1e-8)


def test_without_a_bias_the_last_row_and_column_stay():
    inverse = np.eye(6)
    take_rows(draw_rows(1, 30, 5), 0.0, inverse)
    assert_array_equal(inverse[-1], np.eye(6)[-1])
    assert_array_equal(inverse[:, -1], np.eye(6)[-1])

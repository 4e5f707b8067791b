"""Sums over observed entries, against dense matrices."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel._kernels.low_rank import observed


def draw(seed, n_rows, n_columns, rank):
    rng = np.random.default_rng(seed)
    dense = rng.random((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.4)
    weights = sp.csr_array(dense)
    entries = (weights.indptr, weights.indices, weights.data)
    codes, factors = rng.normal(size=(n_rows, rank)), rng.normal(size=(n_columns, rank))
    return dense, entries, codes, factors


sizes = given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 9),
    n_columns=st.integers(1, 9),
    rank=st.integers(1, 4),
)


@sizes
def test_products_are_those_of_the_dense_matrix(seed, n_rows, n_columns, rank):
    dense, entries, codes, factors = draw(seed, n_rows, n_columns, rank)
    out = np.ones((n_rows, rank))
    observed.add_products(*entries, codes, factors, out)
    assert_allclose(out, 1 + (dense * (codes @ factors.T)) @ factors, atol=1e-12)


@sizes
def test_squares_are_those_of_the_dense_matrix(seed, n_rows, n_columns, rank):
    dense, entries, _, factors = draw(seed, n_rows, n_columns, rank)
    out = np.ones((n_rows, rank, rank))
    observed.add_squares(*entries, factors, out)
    expected = 1 + np.einsum("il,la,lb->iab", dense, factors, factors)
    assert_allclose(out, expected, atol=1e-12)

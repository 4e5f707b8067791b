"""Counting hits, summing gains and adding rows against the obvious loops."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels import costs, exact_sums, ranking

SHAPES = st.tuples(st.integers(0, 5), st.integers(0, 9))
PAIRS = SHAPES.flatmap(lambda s: st.tuples(arrays(np.bool_, s), arrays(np.bool_, s)))


@given(PAIRS)
def test_hits_are_counted_by_row_and_by_label(pair):
    Y, P = (sp.csr_array(dense, dtype=np.float32) for dense in pair)
    by_row, by_label = np.full(Y.shape[0], 99), np.zeros(Y.shape[1], np.int64)
    costs.count_hits(Y.indptr, Y.indices, P.indptr, P.indices, by_row, by_label)
    both = pair[0] & pair[1]
    assert_array_equal(by_row, both.sum(axis=1))
    assert_array_equal(by_label, both.sum(axis=0))


@given(arrays(np.bool_, (3, 9)), arrays(np.int64, (3, 4), elements=st.integers(-1, 8)))
def test_hits_are_found_in_sorted_rows_and_never_at_the_padding(Y, columns):
    truth, out = sp.csr_array(Y), np.empty(columns.shape, np.bool_)
    ranking.find_hits(truth.indptr, truth.indices, columns, out)
    expected = np.take_along_axis(Y, np.maximum(columns, 0), axis=1) & (columns >= 0)
    assert_array_equal(out, expected)


@given(
    arrays(np.float64, (3, 5), elements=st.floats(-9, 9)),
    arrays(np.float64, st.integers(0, 5), elements=st.floats(-9, 9)),
)
def test_discounted_sums_are_a_matrix_product(gains, discounts):
    out = np.empty(3)
    ranking.discounted_sums(gains, discounts, out)
    assert_allclose(out, gains[:, : len(discounts)] @ discounts, atol=1e-12)


def test_rows_are_added_to_what_is_there():
    limbs = np.zeros((1, exact_sums.N_LIMBS), np.int64)
    for _ in range(2):
        exact_sums.add_rows(np.array([[1.0], [-0.25]]).view(np.int64), limbs)
    (nonzero,) = np.flatnonzero(limbs)
    units = 1074 - exact_sums.LIMB * nonzero
    assert limbs[0, nonzero] / 2**units == 1.5

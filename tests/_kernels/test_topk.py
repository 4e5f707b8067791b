"""Selecting the best columns: a full sort is the reference."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from manylabel._kernels import topk

FEW_VALUES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 2.0, np.inf])
ROWS = st.tuples(st.integers(0, 4), st.integers(0, 30)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=FEW_VALUES)
)


def reference(scores, columns, k):
    """Sort by score descending, then by column ascending; pad with -1."""
    order = sorted(range(len(columns)), key=lambda p: (-scores[p], columns[p]))[:k]
    return [columns[p] for p in order] + [-1] * (k - len(order))


@given(ROWS, st.integers(0, 35))
def test_dense_rows_follow_a_full_sort(scores, k):
    out = np.full((len(scores), k), 99)
    topk.dense_rows(scores, k, out)
    columns = range(scores.shape[1])
    assert_array_equal(
        out, np.reshape([reference(row, columns, k) for row in scores], out.shape)
    )


@given(ROWS, st.integers(0, 30))
def test_the_best_of_rows_sorted_by_column(scores, k):
    k = min(k, scores.shape[1])
    columns, best = np.empty((len(scores), k), np.int32), np.empty((len(scores), k))
    topk.best_of_rows(scores, columns, best)
    names = range(scores.shape[1])
    expected = [sorted(reference(row, names, k)) for row in scores]
    assert_array_equal(columns, np.reshape(expected, columns.shape))
    assert_array_equal(best, np.take_along_axis(scores, columns, axis=1))


@given(ROWS, st.integers(0, 35), st.integers(0, 2**32 - 1))
def test_csr_rows_rank_what_is_stored(scores, k, seed):
    stored = np.random.default_rng(seed).random(scores.shape) < 0.5
    S = sp.csr_array(stored.astype(float))
    S.data = scores[stored]
    out = np.full((len(scores), k), 99)
    topk.csr_rows(S.indptr, S.indices, S.data, k, out)
    expected = [
        reference(row[mask], np.flatnonzero(mask), k)
        for row, mask in zip(scores, stored, strict=True)
    ]
    assert_array_equal(out, np.reshape(expected, out.shape))


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("data_type", [np.float32, np.float64])
def test_read_only_arrays_of_any_width_are_ranked(index_type, data_type):
    indptr, indices = np.array([0, 3], index_type), np.array([1, 4, 7], index_type)
    data = np.array([0.1, 0.3, 0.3], data_type)
    for array in (indptr, indices, data):
        array.flags.writeable = False
    out = np.empty((1, 2), np.int64)
    topk.csr_rows(indptr, indices, data, 2, out)
    assert_array_equal(out, [[4, 7]])


@given(st.integers(0, 2**32 - 1))
def test_a_permutation_of_distinct_scores_permutes_the_columns(seed):
    rng = np.random.default_rng(seed)
    scores, shuffle = rng.normal(size=(1, 40)), rng.permutation(40)
    plain, permuted = np.empty((1, 7), np.int64), np.empty((1, 7), np.int64)
    topk.dense_rows(scores, 7, plain)
    topk.dense_rows(np.ascontiguousarray(scores[:, shuffle]), 7, permuted)
    assert_array_equal(shuffle[permuted], plain)

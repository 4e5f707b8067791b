"""Stratified splits: sizes, shares, rare labels, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from manylabel import Dataset, make_corpus, stratified_split

LABELS = st.tuples(st.integers(2, 40), st.integers(1, 8)).flatmap(
    lambda shape: arrays(np.bool_, shape)
)


@given(LABELS, st.floats(0.1, 0.9), st.integers(0, 9))
def test_every_row_is_on_one_side_and_sizes_are_as_asked(Y, share, seed):
    n_test = round(share * len(Y))
    if not 0 < n_test < len(Y):
        return
    split = stratified_split(Y, test_size=share, random_state=seed)
    assert len(split.test) == n_test
    both = np.concatenate([split.train, split.test])
    assert_array_equal(np.sort(both), np.arange(len(Y)))
    counts, there = Y.sum(axis=0), Y[split.test].sum(axis=0)
    assert split.n_both == np.count_nonzero((there > 0) & (there < counts))
    assert split.n_possible == np.count_nonzero(counts > 1)
    rare = (counts > 1) & (counts < 10)
    on_both = (there > 0) & (there < counts)
    assert (split.n_rare_both, split.n_rare) == ((on_both & rare).sum(), rare.sum())


def test_labels_have_their_share_on_both_sides():
    Y = make_corpus(n_rows=3000, n_labels=300, random_state=0).Y
    split = stratified_split(Y, test_size=0.25)
    rng = np.random.default_rng(0)
    drawn = rng.permutation(3000)[:750]
    counts = Y.sum(axis=0)
    frequent = counts >= 10
    gap = {
        name: np.abs(Y[rows].sum(axis=0) / np.maximum(counts, 1) - 0.25)[frequent]
        for name, rows in (("split", split.test), ("drawn", drawn))
    }
    assert split.deviation == pytest.approx(gap["split"].mean())
    assert gap["split"].mean() < 0.25 * gap["drawn"].mean()
    both = ((Y[drawn].sum(axis=0) > 0) & (Y[drawn].sum(axis=0) < counts)).sum()
    assert both < split.n_both > 0.98 * split.n_possible


def test_a_label_of_one_row_is_learnt():
    Y = sp.vstack([sp.eye_array(50), sp.csr_array((50, 50))])
    split = stratified_split(Y, test_size=0.3)
    assert_array_equal(split.train[:50], np.arange(50))


def test_the_seed_decides():
    Y = make_corpus(n_rows=300, n_labels=20, random_state=0).Y
    first, again, other = (
        stratified_split(Y, random_state=seed).test for seed in (1, 1, 2)
    )
    assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.parametrize("size", [0.001, 0.999, 1.5])
def test_a_side_without_rows_is_refused(size):
    with pytest.raises(ValueError, match="test_size must leave rows on both sides"):
        stratified_split(np.ones((10, 2)), test_size=size)


def test_a_size_of_nothing_is_refused():
    with pytest.raises(ValueError, match="test_size == 0, must be > 0"):
        stratified_split(np.ones((10, 2)), test_size=0)


def test_a_dataset_in_place_of_its_labels_is_refused():
    data = Dataset(None, np.ones((10, 2)), texts=["a"] * 10)
    with pytest.raises(TypeError, match="of a Dataset, its Y"):
        stratified_split(data)

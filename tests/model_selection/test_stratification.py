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


def test_few_labels_of_one_row_are_learnt():
    often = sp.csr_array(np.ones((400, 2)))
    once = sp.vstack([sp.eye_array(5), sp.csr_array((395, 5))])
    split = stratified_split(sp.hstack([often, once]), test_size=0.3)
    assert_array_equal(split.train[:5], np.arange(5))


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_rows_are_alike_on_both_sides_where_most_labels_are_rare(share):
    """Rows of many labels are not needed in ``test`` for the sake of rare ones."""
    rng = np.random.default_rng(0)
    sizes = np.minimum(rng.geometric(0.2, 5000), 20)
    labels = np.minimum(rng.zipf(1.3, sizes.sum()), 10**5) % 6000
    Y = sp.csr_array(
        (np.ones(len(labels)), (np.repeat(np.arange(5000), sizes), labels)),
        shape=(5000, 6000),
    ).minimum(1)
    sizes = np.diff(sp.csr_array(Y).indptr)
    split = stratified_split(Y, test_size=share)
    assert split.n_possible > 800
    more = sizes[split.test].mean() / sizes[split.train].mean() - 1
    assert abs(more) < 0.07
    drawn = rng.permutation(5000)[: len(split.test)]
    there, counts = Y[drawn].sum(axis=0), Y.sum(axis=0)
    assert split.n_both > ((there > 0) & (there < counts)).sum()


def test_rows_without_labels_have_their_share():
    Y = make_corpus(n_rows=3000, n_labels=300, random_state=0).Y
    is_empty = np.asarray(Y.sum(axis=1)).ravel() == 0
    split = stratified_split(Y, test_size=0.25)
    assert is_empty[split.test].sum() == pytest.approx(0.25 * is_empty.sum(), abs=1)


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

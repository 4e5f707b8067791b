"""Which rows are held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse as sp

from manylabel import LabelTree, OneVsRest, TextVectorizer, make_corpus
from manylabel.model_selection.holdout import (
    FEWEST,
    MOST,
    MOST_RARE,
    hold_out,
    hold_out_in_turn,
)


@given(st.integers(FEWEST, 60_000), st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_a_share_of_the_rows_is_held_out_and_no_row_is_in_both(n_rows, seed, one_in):
    train, held = hold_out(n_rows, seed, one_in=one_in)
    assert len(held) == min(n_rows // one_in, MOST)
    assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(n_rows))
    assert (np.diff(train) > 0).all()
    assert (np.diff(held) > 0).all()


@given(st.integers(5, 999), st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_in_turn_each_row_is_held_out_once(n_rows, seed, n_folds):
    splits = hold_out_in_turn(n_rows, seed, n_folds=n_folds)
    held = np.concatenate([split.held for split in splits])
    assert_array_equal(np.sort(held), np.arange(n_rows))
    for train, some in splits:
        assert_array_equal(np.sort(np.concatenate([train, some])), np.arange(n_rows))


@pytest.mark.parametrize("n_rows", [0, 1, FEWEST - 1])
def test_few_rows_are_all_learnt(n_rows):
    for part in hold_out(n_rows, 0):
        assert_array_equal(part, np.arange(n_rows))


def test_the_seed_decides_and_a_generator_goes_on():
    assert_array_equal(hold_out(99, 3).held, hold_out(99, 3).held)
    assert (hold_out(99, 3).held != hold_out(99, 4).held).any()
    rng = np.random.default_rng(3)
    first, second = hold_out(99, rng).held, hold_out(99, rng).held
    assert (first != second).any()
    assert_array_equal(first, hold_out(99, np.random.default_rng(3)).held)


@given(st.integers(0, 2**32 - 1), st.integers(1, 2 * MOST_RARE))
def test_rows_held_out_have_the_features_of_rows_to_come(seed, min_df):
    rng = np.random.default_rng(seed)
    X = sp.csr_array((rng.random((60, 40)) < rng.random(40) * 0.5).astype(np.float32))
    X = X[:, np.flatnonzero(np.bincount(X.indices, minlength=40) >= min_df)]
    split = hold_out(60, seed)
    found = split.as_new(X).toarray()
    counts = X.toarray().astype(bool).sum(axis=0)
    fewest = min(MOST_RARE, *counts)  # the vectorizer may have asked for more
    known = (X[split.train].toarray() > 0).sum(axis=0) >= fewest
    expected = X[split.held].toarray() * (known | (fewest == 1))
    assert_array_equal(found, expected)


def test_rows_that_are_all_learnt_keep_their_features():
    X = sp.csr_array(np.eye(4)[[0, 0, 1, 1]])
    assert_array_equal(hold_out(4, 0).as_new(X).toarray(), X.toarray())


@pytest.mark.parametrize("kind", [OneVsRest, LabelTree])
def test_words_that_rows_to_come_lack_do_not_bend_probabilities(kind):
    rng = np.random.default_rng(0)
    corpus = make_corpus(n_rows=6000, n_features=200, n_labels=20, random_state=0)
    words = [
        " ".join(
            [f"w{w}" for w in row.indices]
            + [f"r{n}" for n in rng.integers(0, 9000, 12)]
        )
        for row in (corpus.X[[i]] for i in range(6000))
    ]  # half of each text is words that hardly any other has
    vectorizer = TextVectorizer(min_df=2).fit(words[:3000])
    X, new = vectorizer.transform(words[:3000]), vectorizer.transform(words[3000:])
    proba = (
        kind(calibrate="auto").fit(X, corpus.Y[:3000]).predict_topk(new, 3, proba=True)
    )
    rows = np.repeat(np.arange(3000), np.diff(proba.indptr))
    is_true = np.asarray(corpus.Y[3000:][rows, proba.indices]).ravel()
    assert abs(proba.data.mean() - is_true.mean()) < 0.01

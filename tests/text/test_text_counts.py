"""Words counted in shards: the sum is that of all texts at once, bit for bit."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import manylabel as ml

corpora = st.lists(st.text("abAB_1 .\n\u2019éÉ日", max_size=15), min_size=1, max_size=9)
TEXTS = ["red wine", "red wine, white wine", "white bread", "", "red bread"]


def same(one, other):
    """Demand that two vectorizers learnt the same bits."""
    for mine, theirs in zip(one.terms_, other.terms_, strict=True):
        assert mine.dtype == theirs.dtype
        assert_array_equal(mine, theirs)


@given(
    corpora,
    st.sampled_from(["word", "char"]),
    st.integers(1, 3),
    st.sampled_from([None, 3]),
    st.randoms(),
)
def test_shards_in_any_order_are_all_texts_at_once(
    texts, analyzer, min_df, max_features, random
):
    new = {"analyzer": analyzer, "min_df": min_df, "max_features": max_features}
    whole, merged = ml.TextVectorizer(**new), ml.TextVectorizer(**new)
    shards = [merged.count(texts[start::3]) for start in range(3)]
    random.shuffle(shards)
    total = pickle.loads(pickle.dumps(shards[0] + shards[1])) + shards[2]
    try:
        whole.fit(texts)
    except ValueError as error:  # no word is frequent enough
        with pytest.raises(ValueError, match=str(error).partition("=")[0]):
            merged.fit_counts(total)
    else:
        same(merged.fit_counts(total), whole)


def test_a_word_that_is_rare_in_each_shard_is_kept():
    vectorizer = ml.TextVectorizer(min_df=2)
    counts = vectorizer.count(TEXTS[:1]) + vectorizer.count(TEXTS[1:])
    assert counts.n_texts == len(TEXTS)
    assert "red wine" in vectorizer.fit_counts(counts).get_feature_names_out()


def test_counts_of_other_runs_are_refused():
    words, letters = ml.TextVectorizer(), ml.TextVectorizer(analyzer="char")
    with pytest.raises(
        ValueError, match=r"counts must be of one analyzer, 'char'\. Got 'word'"
    ):
        words.count(TEXTS) + letters.count(TEXTS)
    with pytest.raises(ValueError, match="counts must be of one analyzer"):
        letters.fit_counts(words.count(TEXTS))


def test_hashed_columns_have_nothing_to_count():
    with pytest.raises(ValueError, match="n_features must be None to count words"):
        ml.TextVectorizer(n_features=64).count(TEXTS)


def test_a_language_is_named_not_told():
    with pytest.raises(ValueError, match="language must be named to count words in sh"):
        ml.TextVectorizer(language="auto").count(TEXTS)
    vectorizer = ml.TextVectorizer(language="zh")
    texts = ["中国人", "中国", "国人"]
    counts = vectorizer.count(texts[:2]) + vectorizer.count(texts[2:])
    again = ml.TextVectorizer(language="zh").fit_counts(counts)
    same(again, vectorizer.fit(texts))
    assert again.language_ == vectorizer.language_

"""Vectorizers of other packages: rows as they make them, and what is refused."""

import re

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer

import manylabel as ml

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 10
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 10


def count_letters(texts):
    return np.array([[text.count(letter) for letter in "wnbd"] for text in texts])


TRANSFORMERS = {
    "sparse": TfidfVectorizer(),
    "dense": make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0)),
    "function": FunctionTransformer(count_letters),
    "union": make_union(
        TfidfVectorizer(), make_pipeline(FunctionTransformer(count_letters))
    ),
    "ours in a union": make_union(ml.TextVectorizer(), TfidfVectorizer()),
}


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_any_transformer_serves(name):
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=TRANSFORMERS[name]).fit(TEXTS, TAGS)
    assert tagger.predict(["wine", "bread"]) == [["drink"], ["food"]]
    rows = tagger.vectorizer_.transform(TEXTS)
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    np.testing.assert_allclose(tagger.transform(TEXTS).toarray(), rows, rtol=1e-6)


def test_texts_are_explained_by_their_words():
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=TRANSFORMERS["dense"])
    (reason,) = tagger.fit(TEXTS, TAGS).explain("red wine", tags=["drink"]).reasons
    assert dict(reason.words)["wine"] > 0


def test_a_tagger_with_another_vectorizer_learns_corrections():
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=TfidfVectorizer()).fit(TEXTS, TAGS)
    model = ml.Corrected(tagger).correct(["rye"], [["grain"]])
    assert model.tag("rye", k=1)[0][0] == "grain"


def test_names_of_labels_are_compared_by_its_rows():
    vocabulary = ml.Vocabulary({"drink": {}, "food": {}, "brown": {}})
    learner = ml.NameMatch(ml.OneVsRest())
    tagger = ml.Tagger(learner, vectorizer=TfidfVectorizer(), vocabulary=vocabulary)
    best = tagger.fit(TEXTS, TAGS).tag("brown", k=3)
    assert {name for name, _ in best} == {"drink", "food", "brown"}


def test_streams_take_what_needs_no_fit():
    learner = ml.CSDPP(regressor="gradient", n_components=2)
    hashing = HashingVectorizer(n_features=2**8)
    tagger = ml.Tagger(learner, vectorizer=hashing).partial_fit(TEXTS, TAGS)
    assert tagger.n_rows_ == 40
    with pytest.raises(ValueError, match="vectorizer must hash to learn a stream"):
        ml.Tagger(learner, vectorizer=TfidfVectorizer()).partial_fit(TEXTS, TAGS)


def test_a_folder_does_not_hold_it(tmp_path):
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=TfidfVectorizer()).fit(TEXTS, TAGS)
    message = re.escape("no code. Got TfidfVectorizer. Fit the tagger to rows that it")
    with pytest.raises(TypeError, match=message):
        tagger.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("vectorizer", ["words", TfidfVectorizer, 3])
def test_refuses_what_is_no_transformer(vectorizer):
    with pytest.raises(TypeError, match="vectorizer must be a TextVectorizer or anoth"):
        ml.Tagger(vectorizer=vectorizer).fit(TEXTS, TAGS)


def test_refuses_rows_that_are_none():
    broken = FunctionTransformer(lambda texts: np.full((len(texts), 2), np.nan))
    with pytest.raises(ValueError, match="rows of vectorizer must"):
        ml.Tagger(vectorizer=broken).fit(TEXTS, TAGS)

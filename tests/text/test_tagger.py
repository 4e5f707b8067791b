"""Taggers: verbs, streams, laws of saving, and what is refused."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import manylabel as ml
from manylabel.text import choose

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine", "water"]
TAGS = [["drink"], ["drink", "white"], {"food"}, ("food", "drink"), []]
EVERY_WORD = ml.TextVectorizer(min_df=1)
HASHING = ml.TextVectorizer(n_features=256)
STREAM = ml.CSDPP(regressor="gradient", n_components=1.0)


@pytest.fixture(scope="module")
def tagger():
    return ml.Tagger(vectorizer=EVERY_WORD).fit(TEXTS, TAGS)


def test_tags_come_by_name_the_best_first(tagger):
    assert tagger.label_names_.tolist() == ["drink", "food", "white"]
    (first, score), (_, second) = tagger.tag("much white wine", k=2)
    assert first == "drink"
    assert score > second
    assert len(tagger.tag("wine", k=9)) == 3


def test_many_texts_are_tagged_as_one(tagger):
    assert tagger.tag_many(iter(TEXTS), k=2) == [tagger.tag(t, k=2) for t in TEXTS]
    assert tagger.tag_many([]) == []


def test_scores_are_those_of_the_learner(tagger):
    X = tagger.vectorizer_.transform(TEXTS)
    scores = tagger.learner_.decision_function(X)
    for row, tags in enumerate(tagger.tag_many(TEXTS, k=3)):
        columns = [tagger.label_names_.tolist().index(name) for name, _ in tags]
        assert [score for _, score in tags] == scores[row, columns].tolist()


def test_predicts_sets_of_names(tagger):
    assert tagger.predict(["bread", "wine"]) == [["food"], ["drink"]]
    few = ml.Tagger(vectorizer=EVERY_WORD).fit(TEXTS, [["food"], [], [], [], []])
    assert few.predict(["bread"]) == [[]]


def test_says_which_learner_it_chose_and_why(tagger):
    assert isinstance(tagger.learner_, ml.OneVsRest)
    assert tagger.choice_.startswith("OneVsRest, because 5 rows")
    for n_rows, n_labels, words in (
        (10**4, 500, "Blend, because several learners"),
        (10**5, 10**4, "Blend of two forests, because 10,000 labels"),
        (10**7, 500, "PfastreXML, because 10,000,000 rows"),
    ):
        assert choose(n_rows, 10**5, n_labels).reason.startswith(words)
    assert ml.Tagger(ml.Popularity()).fit(TEXTS, TAGS).choice_ == ""


def test_judges_texts_by_the_names_of_their_tags(tagger):
    report = tagger.evaluate(["bread", "wine"], [["food"], ["food"]], k=(1, 3))
    assert report["P@1"] == 0.5
    assert report["PSP@3"] == 1.0
    assert report["hamming"] == pytest.approx(2 / 6)


def test_tags_never_learnt_count_as_misses(tagger):
    known = tagger.evaluate(["bread", "wine"], [["food"], ["drink"]], k=2)
    other = tagger.evaluate(["bread", "wine"], [["food", "new"], ["drink"]], k=2)
    assert (known["recall@2"], other["recall@2"]) == (1.0, 0.75)
    assert other["hamming"] == pytest.approx(1 / 8)


def test_propensities_come_from_the_tags_that_were_learnt(tagger):
    texts, tags = ["bread", "wine"], [["white"], ["drink"]]
    Y = ml.LabelSpace(["drink", "food", "white"]).encode(TAGS)
    propensity = ml.Propensity(a=1.0, b=2.0)
    scores = tagger.learner_.decision_function(tagger.vectorizer_.transform(texts))
    asked = ml.LabelSpace(tagger.label_names_).encode(tags)
    expected = ml.evaluate(asked, scores, k=1, propensity=propensity.fit(Y))
    found = tagger.evaluate(texts, tags, k=1, propensity=ml.Propensity(a=1.0, b=2.0))
    assert found["PSP@1"] == expected["PSP@1"]


@pytest.mark.parametrize("mmap", [False, True])
def test_a_saved_tagger_is_the_same_when_loaded(tagger, tmp_path, mmap):
    tagger.save(tmp_path / "model")
    for load in (ml.load, ml.Tagger.load):
        loaded = load(tmp_path / "model", mmap=mmap)
        assert loaded.tag_many(TEXTS) == tagger.tag_many(TEXTS)
        assert loaded.predict(TEXTS) == tagger.predict(TEXTS)
        assert loaded.choice_ == tagger.choice_
        assert repr(loaded.evaluate(TEXTS, TAGS)) == repr(tagger.evaluate(TEXTS, TAGS))
        assert str(loaded.explain(TEXTS[0])) == str(tagger.explain(TEXTS[0]))
    assert {path.suffix for path in (tmp_path / "model").iterdir()} <= {
        *(".json", ".safetensors", ".lock", "")
    }


def test_fit_forgets(tagger):
    other = clone(tagger).fit(TEXTS[::-1][:3], TAGS[::-1][:3]).fit(TEXTS, TAGS)
    assert other.tag_many(TEXTS) == tagger.tag_many(TEXTS)
    assert (other.n_rows_, other.label_counts_.tolist()) == (5, [3, 2, 1])


def test_a_failed_fit_leaves_the_tagger_as_it_was(tagger):
    other = clone(tagger).fit(TEXTS, TAGS)
    with pytest.raises(TypeError):
        other.fit([*TEXTS, None], [*TAGS, []])
    with pytest.raises(ValueError, match="tags must have"):
        other.fit(["a b", "c d"], [["x"]])
    assert other.tag_many(TEXTS) == tagger.tag_many(TEXTS)


def test_a_stream_is_learnt_however_it_is_cut():
    tagger = ml.Tagger(STREAM, vectorizer=HASHING)
    names = ["drink", "food", "white"]
    whole = clone(tagger).partial_fit(TEXTS, TAGS, classes=names)
    parts = clone(tagger).partial_fit(TEXTS[:1], TAGS[:1], classes=names)
    parts.partial_fit(TEXTS[1:], TAGS[1:])
    batch = clone(tagger).fit(TEXTS, TAGS)
    assert whole.tag_many(TEXTS) == parts.tag_many(TEXTS) == batch.tag_many(TEXTS)
    assert_array_equal(parts.label_counts_, batch.label_counts_)
    assert parts.n_rows_ == batch.n_rows_ == 5


def test_a_stream_goes_on_after_loading(tmp_path):
    tagger = ml.Tagger(STREAM, vectorizer=HASHING).fit(TEXTS, TAGS)
    tagger.save(tmp_path / "model")
    loaded = ml.load(tmp_path / "model").partial_fit(TEXTS, TAGS)
    assert loaded.tag_many(TEXTS) == tagger.partial_fit(TEXTS, TAGS).tag_many(TEXTS)


def test_new_tags_are_learnt_by_learners_that_grow():
    growing = clone(STREAM).set_params(grow=True)
    tagger = ml.Tagger(growing, vectorizer=HASHING).partial_fit(TEXTS, TAGS)
    tagger.partial_fit(["green tea"] * 20, [["tea", "drink"]] * 20)
    assert tagger.label_names_.tolist() == ["drink", "food", "white", "tea"]
    assert "tea" in [name for name, _ in tagger.tag("green tea", k=2)]
    assert tagger.label_counts_.tolist() == [23, 2, 1, 20]


def test_new_tags_are_refused_by_learners_that_do_not_grow():
    tagger = ml.Tagger(STREAM, vectorizer=HASHING).partial_fit(TEXTS, TAGS)
    before = tagger.tag_many(TEXTS)
    message = "among the 3 of the first call or of its classes. Got 'tea' at row 1."
    with pytest.raises(ValueError, match=re.escape(message)):
        tagger.partial_fit(["a", "b"], [["drink"], ["tea"]])
    assert tagger.tag_many(TEXTS) == before
    with pytest.raises(ValueError, match=re.escape("among the 1 of the first call")):
        ml.Tagger(STREAM, vectorizer=HASHING).partial_fit(TEXTS, TAGS, classes=["food"])


@pytest.mark.parametrize(
    ("tagger", "message"),
    [
        (ml.Tagger(vectorizer=HASHING), "learner must be named to learn a stream"),
        (ml.Tagger(ml.OneVsRest(), vectorizer=HASHING), "OneVsRest has not"),
        (ml.Tagger(STREAM), "vectorizer must hash to learn a stream"),
    ],
)
def test_refuses_streams_for_what_cannot_learn_them(tagger, message):
    with pytest.raises((TypeError, ValueError), match=message):
        tagger.partial_fit(TEXTS, TAGS)


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (TAGS[:-1], "tags must have 5 rows, one per text. Got 4."),
        ([[]] * 5, "tags must name at least one tag. Got none."),
        ("drink", "tags must be a list that has a list of names for each text"),
        (None, "tags must be a list that has a list of names for each text. Got None"),
        (
            ["drink"] * 5,
            "tags must have a list of names for each text. Got 'drink' at ",
        ),
        ([["a"], None, [], [], []], "for each text. Got None at row 1."),
        ([["a", 3], [], [], [], []], "tags must be strings. Got 3 at row 0."),
    ],
)
def test_refuses_wrong_tags(tags, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        ml.Tagger().fit(TEXTS, tags)


@pytest.mark.parametrize("parameter", [{"learner": "CSDPP"}, {"vectorizer": 3}])
def test_refuses_wrong_parameters(parameter):
    (name,) = parameter
    with pytest.raises(TypeError, match=f"{name} must be a"):
        ml.Tagger(**parameter).fit(TEXTS, TAGS)


def test_refuses_wrong_texts_and_names(tagger):
    with pytest.raises(TypeError, match="text must be a string"):
        tagger.tag(["red wine"])
    with pytest.raises(TypeError, match="text must be a string"):
        tagger.explain(None)
    with pytest.raises(ValueError, match="Got 'tea'"):
        tagger.explain("wine", tags=["tea"])
    with pytest.raises(ValueError, match="k must be a positive integer"):
        tagger.tag("wine", k=0)


def test_needs_fit():
    for verb in (lambda t: t.tag("a"), lambda t: t.explain("a"), lambda t: t.save("a")):
        with pytest.raises(NotFittedError):
            verb(ml.Tagger())


def test_a_state_that_does_not_fit_together_is_refused(tagger):
    state = tagger.get_state() | {"label_counts_": np.zeros(2, np.int64)}
    with pytest.raises(ValueError, match="label_counts_"):
        clone(tagger).set_state(state)


def test_load_refuses_what_is_no_tagger(tmp_path):
    ml.OneVsRest().fit([[1.0], [0.0]], [[1], [0]]).save(tmp_path / "model")
    with pytest.raises(TypeError, match="must hold a Tagger"):
        ml.Tagger.load(tmp_path / "model")

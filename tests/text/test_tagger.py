"""Taggers: verbs, streams, laws of saving, and what is refused."""

import json
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import manylabel as ml
from manylabel.exceptions import ArchiveError

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
    assert ml.Tagger(ml.Popularity()).fit(TEXTS, TAGS).choice_ == ""


def test_quality_chooses_where_no_learner_is_named(tmp_path):
    corpus = ml.make_corpus(n_rows=2000, n_features=50, n_labels=4)
    data = ml.Dataset(corpus.X, corpus.Y)
    tagger = ml.Tagger(quality="fast").fit(data)
    assert isinstance(tagger.learner_, ml.LabelTree)
    assert tagger.choice_ == ml.choose(2000, 50, 4, "fast").reason
    tagger.save(tmp_path / "model")
    assert ml.load(tmp_path / "model").quality == "fast"
    named = ml.Tagger(ml.Popularity(), quality="fast").fit(data)
    assert isinstance(named.learner_, ml.Popularity)


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


def test_propensities_that_are_given_are_those_of_the_models_labels():
    texts, tags = ["a", "b", "a b"], [["x"], ["y"], ["x", "y"]]
    tagger = ml.Tagger(ml.Popularity()).fit(texts, tags)
    given = ml.Propensity.given([0.9, 0.2])
    found = tagger.evaluate(texts, tags, k=1, propensity=given)
    judged = tagger.judge(texts, tags)
    expected = ml.evaluate(judged.Y, judged.scores, k=1, propensity=given)
    assert found["PSP@1"] == expected["PSP@1"]
    assert found["PSP@1"] != tagger.evaluate(texts, tags, k=1)["PSP@1"]
    new = tagger.propensities(given, 3)
    assert new[:2].tolist() == [0.9, 0.2]
    assert new[2] == tagger.propensities(ml.Propensity(), 3)[2]
    with pytest.raises(ValueError, match=r"propensity must have .*2.* Got .*3"):
        tagger.evaluate(texts, tags, propensity=ml.Propensity.given([0.9, 0.2, 0.5]))


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


class Frame:
    """Rows of numbers as Polars has them: with a shape, without ``ndim``."""

    shape = (3, 3)

    def __array__(self, dtype=None, copy=None):
        return np.eye(3, dtype=dtype)


def test_frames_without_ndim_are_rows_of_features():
    tagger = ml.Tagger().fit(Frame(), [["a"], ["b"], ["a"]])
    assert tagger.predict(Frame()) == tagger.predict(np.eye(3))
    with pytest.raises(TypeError, match="Got a matrix: rows of 0 and 1 are fitted as"):
        ml.Tagger().fit(TEXTS[:3], Frame())


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
    for verb in (
        lambda t: t.predict(["a"]),
        lambda t: t.tag("a"),
        lambda t: t.explain("a"),
        lambda t: t.save("a"),
    ):
        with pytest.raises(NotFittedError):
            verb(ml.Tagger())


def test_a_state_that_does_not_fit_together_is_refused(tagger):
    state = tagger.get_state() | {"label_counts_": np.zeros(2, np.int64)}
    with pytest.raises(ValueError, match="label_counts_"):
        clone(tagger).set_state(state)


def test_thresholds_leave_probabilities_and_rankings_as_they_are():
    texts, tags = ["red wine", "rye bread"] * 20, [["drink"], ["food"]] * 20
    tagger = ml.Tagger(ml.Calibrated(ml.OneVsRest())).fit(texts, tags)
    before = tagger.judge(texts, tags, 2)
    after = tagger.choose_thresholds(texts, tags).judge(texts, tags, 2)
    assert (before.proba != after.proba).nnz == 0
    assert np.array_equal(before.scores.indices, after.scores.indices)
    assert ml.Tagger(ml.OneVsRest()).fit(texts, tags).judge(texts, tags).proba is None


def test_load_refuses_what_is_no_classifier(tmp_path):
    ml.TextVectorizer(min_df=1).fit(["a"]).save(tmp_path / "model")
    with pytest.raises(ArchiveError, match="expected a tagger or a classifier"):
        ml.Tagger.load(tmp_path / "model")


FEATURES = ml.make_corpus(n_rows=60, n_features=9, n_labels=4, random_state=0)
NAMES = ("d", "c", "b", "a")


@pytest.fixture
def rows():
    """Return rows of features whose labels have names, not in their order."""
    return ml.Dataset(FEATURES.X, FEATURES.Y, label_names=NAMES)


def test_features_and_names_are_learnt_as_the_learner_would(rows):
    model = ml.Tagger().fit(rows)
    learner = ml.OneVsRest().fit(rows.X, rows.Y)
    assert model.vectorizer_ == "passthrough"
    assert tuple(model.label_names_) == NAMES
    assert model.predict(rows) == rows.labels.decode(learner.predict(rows.X))
    by_names = ml.Tagger().fit(rows.X, rows.labels.decode(rows.Y))
    assert tuple(by_names.label_names_) == tuple(sorted(NAMES))
    assert by_names.tag(rows.X[:1], k=4) == by_names.tag(rows.X.toarray()[0], k=4)
    assert dict(by_names.tag(rows.X[:1])) == pytest.approx(dict(model.tag(rows.X[:1])))


def test_labels_are_encoded_once_between_a_data_set_and_the_learner(rows, monkeypatch):
    def refuse(*_):
        raise AssertionError("labels were encoded again")

    for verb in ("encode", "decode"):
        monkeypatch.setattr(ml.LabelSpace, verb, refuse)
    model = ml.Tagger().fit(rows)
    model.evaluate(rows)
    model.tag_many(rows)


def test_labels_are_matched_by_name_whatever_their_order(rows):
    model = ml.Tagger().fit(rows)
    turned = ml.Dataset(rows.X, rows.Y[:, ::-1], label_names=NAMES[::-1])
    assert repr(model.evaluate(turned)) == repr(model.evaluate(rows))
    nameless = ml.Dataset(rows.X, rows.Y)
    assert repr(model.evaluate(nameless)) == repr(model.evaluate(rows))
    with pytest.raises(ValueError, match=r"items must have 4 labels.* Got 3\."):
        model.evaluate(ml.Dataset(rows.X, rows.Y[:, :3]))


def test_columns_without_names_are_called_by_their_numbers():
    model = ml.Tagger().fit(ml.Dataset(FEATURES.X, FEATURES.Y))
    assert model.label_names_.tolist() == ["0", "1", "2", "3"]


@pytest.mark.parametrize("verb", ["fit", "predict", "evaluate"])
def test_texts_and_features_are_not_taken_for_each_other(tagger, rows, verb):
    texts = ml.Dataset(None, [[1], [0]], texts=["red wine", "rye bread"])
    of_features = ml.Tagger(vectorizer="passthrough").fit(rows)
    with pytest.raises(ValueError, match="items must have features, not texts"):
        getattr(clone(of_features) if verb == "fit" else of_features, verb)(texts)
    of_texts = clone(tagger) if verb == "fit" else tagger
    with pytest.raises(ValueError, match="items must have texts, not features"):
        getattr(of_texts, verb)(rows)


def test_a_stream_of_features_needs_no_hashing(rows):
    tags = rows.labels.decode(rows.Y)
    model = ml.Tagger(STREAM, vectorizer="passthrough")
    whole = clone(model).partial_fit(rows.X, tags, classes=NAMES)
    parts = clone(model).partial_fit(rows.X[:9], tags[:9], classes=NAMES)
    parts.partial_fit(rows.X[9:], tags[9:])
    assert whole.tag_many(rows) == parts.tag_many(rows)
    assert parts.n_rows_ == 60


def test_thresholds_give_sets_and_leave_the_ranking(rows):
    model = ml.Tagger().fit(rows)
    ranking = [[name for name, _ in tags] for tags in model.tag_many(rows)]
    before = model.evaluate(rows)["f1"]
    model.choose_thresholds(rows, cost="f1")
    assert [[name for name, _ in tags] for tags in model.tag_many(rows)] == ranking
    assert model.evaluate(rows)["f1"] <= before
    given = [sorted(name for name, _ in tags) for tags in model.tag_many(rows, k=None)]
    assert given == [sorted(names) for names in model.predict(rows)]
    inner = model.learner_.estimator_
    with pytest.warns(UserWarning, match="min_recall=1 cannot be promised by 60 rows"):
        model.choose_thresholds(rows, min_recall=1.0)  # replaces the first
    assert model.learner_.estimator_ is inner
    assert {"a", "b", "c", "d"} == {
        name for names in model.predict(rows) for name in names
    }


def test_the_best_hyperparameters_are_those_of_a_search(rows):
    tried = {}
    found = ml.Tagger(ml.OneVsRest(tol=0.02)).search(
        rows,
        metric="P@1",
        watch=lambda setting, value: tried.update({setting["C"]: value}),
    )
    assert found.learner.C == max(tried, key=tried.get)
    assert found.learner.tol == 0.02
    assert len(tried) == 5


def test_the_card_of_a_blend_says_what_each_member_adds():
    corpus = ml.make_corpus(n_rows=100, n_labels=5, random_state=0)
    learner = ml.Blend([ml.OneVsRest(), ml.OneVsRest(C=0.1)], metrics=["P@1"])
    card = ml.Tagger(learner).fit(ml.Dataset(corpus.X, corpus.Y)).card()
    assert list(card["members"]) == ["OneVsRest 1", "OneVsRest 2"]
    assert all("gain" in words for words in card["members"].values())
    assert list(card["validation"]) == ["P@1"]
    json.dumps(dict(card))


@pytest.mark.parametrize(
    ("learner", "cost", "words"),
    [
        (ml.LabelTree(calibrate="auto", cost="f1"), None, "least expected cost f1"),
        (ml.LabelTree(calibrate="auto", cost="f1"), "hamming", "expected cost hamming"),
        (ml.OneVsRest(), "f1", "sets of the least expected cost f1"),
        (ml.OneVsRest(), None, "labels of positive score"),
        (ml.LabelTree(cost="f1"), None, "positive score, chosen by the learner for f1"),
    ],
)
def test_a_card_says_how_sets_are_made(rows, learner, cost, words):
    assert ml.Tagger(learner, cost=cost).fit(rows).card()["decision"].endswith(words)


def test_a_card_says_what_the_model_is(tagger, rows, tmp_path):
    card = tagger.card()
    assert (card["rows"], card["labels"], card["learner"]) == (5, 3, "OneVsRest")
    assert card["most_frequent"] == {"drink": 3, "food": 2, "white": 1}
    assert card["version"] == ml.__version__
    assert "texts" in card["reads"]
    json.dumps(dict(card))
    model = ml.Tagger().fit(rows).choose_thresholds(rows, min_precision=0.5)
    model.annotate(source="rows.txt", figures={"P@1": 0.25}, date="2026-01-31")
    model.save(tmp_path / "model")
    loaded = ml.load(tmp_path / "model").card()
    assert dict(loaded) == dict(model.card())
    assert (
        loaded["decision"] == "scores above one threshold, chosen for min_precision=0.5"
    )
    for words in ("rows.txt", "P@1 0.25", "2026-01-31", "rows of features"):
        assert words in str(loaded)
    assert "date" not in model.annotate(date=None).card()
    with pytest.raises(TypeError, match="note cannot be saved"):
        model.annotate(note=b"bytes")


def test_a_classifier_saved_alone_is_a_tagger_of_its_columns(rows, tmp_path):
    ml.OneVsRest().fit(rows.X, rows.Y).save(tmp_path / "model")
    loaded = ml.Tagger.load(tmp_path / "model", n_jobs=2)
    named = ml.Tagger().fit(rows)
    assert loaded.label_names_.tolist() == ["0", "1", "2", "3"]
    assert loaded.learner_.n_jobs == 2
    found = [[NAMES[int(name)] for name in names] for names in loaded.predict(rows)]
    assert found == named.predict(rows)


@pytest.mark.parametrize(
    "change",
    [
        {"vectorizer_": "other"},
        {"n_rows_": -1},
        {"label_names_.strings": ["a", "a", "b"]},
        {"label_names_.strings": ["a", "b"]},
    ],
)
def test_a_hostile_state_is_refused(tagger, change):
    with pytest.raises(ValueError, match="must"):
        clone(tagger).set_state(tagger.get_state() | change)


def test_rows_in_a_list_are_features_and_the_ranker_stays_under_thresholds(rows):
    listed = rows.X.toarray().tolist()
    model = ml.Tagger().fit(listed, rows.labels.decode(rows.Y))
    ranker = model.ranker_
    assert model.choose_thresholds(rows).ranker_ is ranker
    assert model.card()["learner"] == "OneVsRest"


def test_parameters_of_a_part_need_the_part():
    sentence = "learner must be named before learner__C is set, as learner=ml.LabelTree"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        ml.Tagger().set_params(learner__C=1)
    with pytest.raises(
        ValueError, match=r"vectorizer=ml.TextVectorizer\(\). Got 'pass"
    ):
        ml.Tagger(vectorizer="passthrough").set_params(vectorizer__min_df=1)
    tagger = ml.Tagger().set_params(learner=ml.LabelTree(), learner__C=2)
    assert tagger.learner.C == 2

"""Scorers are metrics by name, and searches of scikit-learn take them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import manylabel as ml

TEXTS = ["red wine", "rye bread", "white wine", "brown bread and wine", "salt"] * 8
TAGS = [["drink"], ["food"], ["drink"], ["drink", "food"], []] * 8


@pytest.fixture(scope="module")
def corpus():
    return ml.make_corpus(n_rows=200, n_features=60, n_labels=8, random_state=0)


@pytest.fixture(scope="module")
def fitted(corpus):
    return ml.OneVsRest().fit(corpus.X[:150], corpus.Y[:150])


def test_a_scorer_is_its_metric(corpus, fitted):
    X, Y = corpus.X[150:], corpus.Y[150:]
    report = ml.evaluate(
        *(Y, fitted.predict_topk(X, 5)),
        propensity=ml.Propensity().fit(corpus.Y[:150]),
        predictions=fitted.predict(X),
    )
    assert set(ml.scorers) == set(report)
    assert len(ml.scorers) == len(report)
    for name, scorer in ml.scorers.items():
        sign = -1 if report.is_loss(name) else 1
        assert scorer(fitted, X, Y) == pytest.approx(sign * report[name])


def test_a_scorer_of_any_depth_can_be_asked_for_and_pickled(corpus, fitted):
    scorer = pickle.loads(pickle.dumps(ml.scorers["P@2"]))
    X, Y = corpus.X[150:], corpus.Y[150:]
    expected = ml.metrics.precision_at_k(Y, fitted.predict_topk(X, 2), 2)
    assert scorer(fitted, X, Y) == expected
    assert "P@2" in ml.scorers
    assert repr(scorer) == "manylabel.scorers['P@2']"


@pytest.mark.parametrize("name", ["P", "P@0", "Q@5", "F2"])
def test_an_unknown_name_is_refused(name):
    assert name not in ml.scorers
    refused = "metric must be one of P, nDCG.* Others are micro-F1, .*hamming"
    with pytest.raises(KeyError, match=refused):
        ml.scorers[name]
    assert "P@3, " in repr(ml.scorers)


def test_the_score_of_a_learner_is_ndcg_at_5(corpus, fitted):
    X, Y = corpus.X[150:], corpus.Y[150:]
    assert fitted.score(X, Y) == pytest.approx(ml.scorers["nDCG@5"](fitted, X, Y))
    weight = np.arange(50)
    rows = np.repeat(np.arange(50), weight)
    assert_allclose(fitted.score(X, Y, weight), fitted.score(X[rows], Y[rows]))


def test_learners_are_searched_and_cross_validated(corpus):
    X, Y = corpus.X, corpus.Y
    grid = {"C": [0.01, 1.0]}
    for name in ("P@3", "PSP@3", "hamming"):
        search = GridSearchCV(
            ml.OneVsRest(), grid, scoring=ml.scorers[name], cv=3, error_score="raise"
        ).fit(X, Y)
        values = search.cv_results_["mean_test_score"]
        assert np.isfinite(values).all()
        assert search.best_params_["C"] == grid["C"][values.argmax()]
    several = {name: ml.scorers[name] for name in ("P@1", "micro-F1")}
    search = GridSearchCV(ml.OneVsRest(), grid, scoring=several, refit="P@1", cv=3)
    assert "mean_test_micro-F1" in search.fit(X, Y).cv_results_


def test_propensities_are_those_of_the_training_rows_of_each_split(corpus):
    X, Y = corpus.X, corpus.Y.toarray()  # scikit-learn takes no sparse one here
    split = [(np.arange(150), np.arange(150, 200))]
    (found,) = cross_val_score(
        ml.OneVsRest(), X, Y, scoring=ml.scorers["PSP@3"], cv=split
    )
    model = ml.OneVsRest().fit(X[:150], Y[:150])
    expected = ml.metrics.psp_at_k(
        *(Y[150:], model.predict_topk(X[150:], 3), 3),
        propensity=ml.Propensity().fit(Y[:150]),
    )
    assert found == expected


def test_a_pipeline_is_scored_too(corpus):
    pipeline = make_pipeline(MaxAbsScaler(), ml.OneVsRest())
    for name in ("P@3", "PSP@3", "f1"):
        values = cross_val_score(
            *(pipeline, corpus.X, corpus.Y.toarray()),
            scoring=ml.scorers[name], cv=2, error_score="raise",
        )  # fmt: skip
        assert np.isfinite(values).all()


def test_a_loaded_model_does_not_know_its_training_labels(corpus, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = ml.load(tmp_path / "model")
    with pytest.raises(ValueError, match="estimator must have been fitted in this"):
        ml.scorers["PSP@1"](loaded, corpus.X, corpus.Y)


@pytest.mark.parametrize("form", [list, lambda rows: np.array(rows, dtype=object)])
def test_taggers_are_searched_and_cross_validated_by_texts_and_tags(form):
    tagger = ml.Tagger(ml.OneVsRest(), vectorizer=ml.TextVectorizer(min_df=1))
    grid = {"learner__C": [0.1, 1.0], "vectorizer__analyzer": ["word", "char"]}
    search = GridSearchCV(
        tagger, grid, scoring=ml.scorers["PSP@1"], cv=4, error_score="raise"
    ).fit(form(TEXTS), form(TAGS))
    assert set(search.best_params_) == set(grid)
    assert search.predict(["wine"]) == [["drink"]]
    values = cross_val_score(tagger, form(TEXTS), form(TAGS), cv=4)
    assert len(values) == 4
    assert values.min() > 0.5


def test_the_score_of_a_tagger_is_that_of_its_learner():
    tagger = ml.Tagger(ml.OneVsRest()).fit(TEXTS, TAGS)
    assert tagger.score(TEXTS, TAGS) == tagger.evaluate(TEXTS, TAGS)["nDCG@5"]
    unseen = tagger.score(["red wine"], [["drink", "new"]])
    assert 0 < unseen < 1


def test_a_tagger_that_is_cloned_has_the_same_parts():
    tagger = ml.Tagger(ml.OneVsRest(C=3.0), vectorizer=ml.TextVectorizer(min_df=1))
    copy = clone(tagger)
    assert copy.get_params()["learner__C"] == 3.0
    assert copy.get_params()["vectorizer__min_df"] == 1
    copy.set_params(learner__C=5.0)
    assert tagger.learner.C == 3.0

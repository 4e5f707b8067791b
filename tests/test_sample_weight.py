"""Rows of integer weights are rows repeated; what cannot weigh rows says so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.model_selection import cross_validate
from sklearn.utils.validation import has_fit_parameter

import manylabel as ml
from manylabel.base import OnlineClassifier

# A learner whose solver stops when it is near enough, and how near two may be.
WEIGHING = [
    (ml.Popularity(), 1e-6),
    (ml.OneVsRest(tol=1e-4), 1e-3),
    (ml.OneVsRest(tol=1e-4, loss="log_loss"), 1e-3),
    (ml.OneVsRest(tol=1e-4, class_weight="balanced"), 1e-3),
    (ml.LabelPowerset(), 0.2),
    (ml.ClassifierChain(tol=1e-4), 1e-3),
    (ml.ClassifierChain(method="cft", n_rounds=2, tol=1e-4), 1e-3),
    (ml.HOMER(n_clusters=8, tol=1e-4), 1e-3),
    (ml.LPSR(n_clusters=1, ranker=ml.OneVsRest(tol=1e-4)), 1e-3),
    (ml.LPSR(n_clusters=1, ranker="naive_bayes"), 1e-5),
    (ml.PLST(n_components=3), 1e-8),
    (ml.CPLST(n_components=3), 1e-8),
    (ml.MLCSSP(n_components=3), 1e-8),
    (ml.CompressedSensing(), 1e-8),
    (ml.LEML(n_components=3), 1e-6),
    (ml.LEML(n_components=3, missing_weight=0.3, propensity=0.8), 1e-6),
    (ml.LabelTree(tol=1e-4), 1e-2),
    (ml.PDSparse(tol=1e-5, max_iter=10_000), 1e-3),
    (
        ml.PDSparse(loss="margin", l1_regularization=0.01, tol=1e-4, max_iter=10_000),
        1e-2,
    ),
]
REFUSING = [
    (ml.SLEEC(), "a neighbour is one row"),
    (ml.WSABIE(), "it takes one step for each row"),
    (ml.PowersetTree(), "the shape of the tree follows from counts of rows"),
    (ml.AnnotationTree(), "the shape of the tree follows from counts of rows"),
    (ml.Blend(), "learners are chosen on rows held out, which count alike"),
    (ml.NameMatch(), "what names are worth is told on rows held out"),
    (ml.Calibrated(ml.OneVsRest()), "probabilities are shares of rows held out"),
    (ml.MacroAtK(ml.OneVsRest()), "probabilities are shares of rows held out"),
    (ml.Thresholds(ml.OneVsRest()), "thresholds are chosen on rows held out"),
]
each_weighing = pytest.mark.parametrize(
    ("learner", "near"), WEIGHING, ids=[str(each) for each, _ in WEIGHING]
)


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(60, 8))).astype(np.float32)
    Y = (rng.random((60, 5)) < 0.3) | (X[:, :5] > 1.5)
    return X, Y.astype(int), rng.integers(0, 4, 60)


@each_weighing
def test_integer_weights_are_rows_repeated(learner, near):
    X, Y, weight = problem()
    rows = np.repeat(np.arange(60), weight)
    weighed = learner.fit(X, Y, sample_weight=weight).decision_function(X)
    repeated = learner.fit(X[rows], Y[rows]).decision_function(X)
    alike = learner.fit(X, Y).decision_function(X)
    assert_allclose(weighed, repeated, atol=near)
    assert np.abs(weighed - alike).max() > 3 * near


@each_weighing
def test_weights_of_one_are_none(learner, near):
    X, Y, _ = problem()
    ones = learner.fit(X, Y, sample_weight=np.ones(60)).decision_function(X)
    assert_array_equal(ones, learner.fit(X, Y).decision_function(X))


@each_weighing
def test_a_label_of_weightless_rows_was_never_seen(learner, near):
    X, Y, weight = problem()
    weight[Y[:, 2] > 0] = 0
    weight[Y[:, 2] == 0] += 1
    model = learner.fit(X, Y, sample_weight=weight)
    without = learner.fit(X[weight > 0], Y[weight > 0], weight[weight > 0])
    assert_array_equal(
        model.decision_function(X).argmin(axis=1),
        without.decision_function(X).argmin(axis=1),
    )


@pytest.mark.parametrize(
    ("learner", "reason"), REFUSING, ids=[str(each) for each, _ in REFUSING]
)
def test_what_cannot_weigh_rows_says_why(learner, reason):
    X, Y, weight = problem()
    message = f"sample_weight must be None for {type(learner).__name__}: {reason}"
    with pytest.raises(ValueError, match=message):
        learner.fit(X, Y, sample_weight=weight)
    assert not hasattr(learner, "classes_")


def test_every_batch_learner_takes_weights_or_refuses_them():
    kinds = [getattr(ml, name) for name in ml.__all__]
    batch = {
        kind
        for kind in kinds
        if isinstance(kind, type)
        and issubclass(kind, ml.base.MultiLabelClassifier)
        and not issubclass(kind, OnlineClassifier)
    }
    assert all(has_fit_parameter(kind, "sample_weight") for kind in batch)
    known = {type(each) for each, _ in WEIGHING + REFUSING}
    forests = {ml.FastXML, ml.PfastXML, ml.PfastreXML}
    assert batch == known | forests


def test_weights_that_are_wrong_are_refused():
    X, Y, weight = problem()
    with pytest.raises(ValueError, match="sample_weight must have 60 values"):
        ml.PLST().fit(X, Y, weight[1:])
    with pytest.raises(ValueError, match="sample_weight must be above 0 for a row"):
        ml.LEML().fit(X, Y, 0 * weight)


def test_weights_are_routed_to_fit_and_to_score():
    X, Y, weight = problem()
    with config_context(enable_metadata_routing=True):
        learner = ml.PLST(n_components=3).set_fit_request(sample_weight=True)
        learner.set_score_request(sample_weight=True)
        found = cross_validate(
            *(learner, X, Y), params={"sample_weight": weight}, cv=3,
            return_estimator=True, return_indices=True,
        )  # fmt: skip
    folds = zip(*found["indices"].values(), strict=True)
    parts = zip(found["estimator"], found["test_score"], folds, strict=True)
    for model, score, (train, test) in parts:
        alone = ml.PLST(n_components=3).fit(X[train], Y[train], weight[train])
        assert_array_equal(model.coef_, alone.coef_)
        assert score == alone.score(X[test], Y[test], weight[test])


def test_a_tagger_hands_weights_on():
    X, Y, weight = problem()
    tags = [[str(label) for label in np.flatnonzero(y)] for y in Y]
    rows = np.repeat(np.arange(60), weight)
    tagger = ml.Tagger(ml.PLST(n_components=2))
    weighed = tagger.fit(X, tags, sample_weight=weight).predict_topk(X)
    repeated = tagger.fit(X[rows], [tags[row] for row in rows]).predict_topk(X)
    assert_allclose(weighed.toarray(), repeated.toarray(), atol=1e-6)
    with pytest.raises(TypeError, match="learner must have sample_weight in fit"):
        ml.Tagger(ml.CSDPP()).fit(X, tags, weight)

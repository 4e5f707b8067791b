"""Probabilities, propensities, and what is chosen on a validation set."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import LabelTree, make_corpus
from manylabel.metrics import as_metric
from manylabel.model_selection.holdout import hold_out

CLUSTERS = {"n_clusters": 4, "leaf_labels": 3, "beam": None, "normalize": False}


def draw(n_rows, seed):
    """Return rows of six flags, labels, and how probable they were."""
    rng = np.random.default_rng(seed)
    weights = np.random.default_rng(7).normal(size=(6, 12)) * 1.5
    X = (rng.random((n_rows, 6)) < 0.5).astype(np.float32)
    P = 1 / (1 + np.exp(2 - X @ weights))
    return X, (rng.random(P.shape) < P).astype(int), P


def calibration_error(found, Y, n_bins=20):
    """Return how far probabilities and frequencies differ (ECE)."""
    bins = np.minimum(found * n_bins, n_bins - 1).astype(int).ravel()
    said, came = (np.bincount(bins, each.ravel(), n_bins) for each in (found, Y))
    return np.abs(said - came).sum() / Y.size


@pytest.mark.parametrize("shape", [CLUSTERS, CLUSTERS | {"leaf_labels": 400}])
def test_products_of_logistic_classifiers_are_probabilities(shape):
    X, Y, _ = draw(4000, 0)
    new, labels, known = draw(4000, 1)
    found = LabelTree(loss="log_loss", **shape).fit(X, Y).predict_proba(new)
    assert calibration_error(found, labels) < 0.01
    spread = np.abs(known - known.mean(axis=0)).mean()
    assert np.abs(found - known).mean() < 0.2 * spread


def test_the_tilt_does_not_touch_probabilities():
    X, Y, _ = draw(1000, 0)
    plain, tilted = (
        LabelTree(loss="log_loss", tilt=tilt, **CLUSTERS).fit(X, Y).predict_proba(X)
        for tilt in (0.0, 0.5)
    )
    assert_allclose(plain, tilted, rtol=1e-4)


def test_calibration_makes_scores_of_the_hinge_probabilities():
    X, Y, _ = draw(4000, 0)
    new, labels, _ = draw(4000, 1)
    plain, calibrated = (
        LabelTree(calibrate=c, **CLUSTERS).fit(X, Y).predict_proba(new)
        for c in (None, "auto")
    )
    error = calibration_error(calibrated, labels)
    assert error < 0.02
    assert error < 0.5 * calibration_error(plain, labels)
    assert 0 <= calibrated.min() <= calibrated.max() <= 1


def test_a_validation_set_moves_no_weight(corpus):
    plain, chosen = (
        LabelTree(n_clusters=4, leaf_labels=5, **options).fit(corpus.X, corpus.Y)
        for options in ({}, {"cost": "f1", "tilt": "auto"})
    )
    for one, other in zip(plain.nodes_, chosen.nodes_, strict=True):
        assert_array_equal(one, other)
    assert chosen.threshold_ != plain.threshold_


def test_labels_that_only_the_rows_held_out_have_are_no_fault():
    """Rare labels in small clusters: some nodes have no row left to learn from."""
    corpus = make_corpus(n_rows=200, n_features=100, n_labels=100, random_state=0)
    for options in ({"tilt": "auto"}, {"cost": "f1"}, {"calibrate": "auto"}):
        model = LabelTree(n_clusters=10, leaf_labels=3, **options)
        scores = model.fit(corpus.X, corpus.Y).decision_function(corpus.X)
        assert np.isfinite(scores).all()


def test_a_cost_moves_the_threshold_and_helps(corpus, fresh):
    plain, chosen = (
        LabelTree(n_clusters=4, leaf_labels=5, cost=cost).fit(corpus.X, corpus.Y)
        for cost in (None, "f1")
    )
    Y = fresh[1].toarray()
    f1 = [
        (2 * (Y * found).sum(axis=1) / np.maximum(1, (Y + found).sum(axis=1))).mean()
        for found in (model.predict(fresh[0]).toarray() for model in (plain, chosen))
    ]
    assert f1[1] > f1[0] + 0.02


def test_propensities_of_1_change_no_bit(corpus):
    plain, complete = (
        LabelTree(n_clusters=4, leaf_labels=5, tilt=0.0, propensity=p).fit(
            corpus.X, corpus.Y
        )
        for p in (None, 1.0)
    )
    for one, other in zip(plain.nodes_, complete.nodes_, strict=True):
        assert_array_equal(one, other)


def ranked(model, X, Y, name, propensity=None):
    return as_metric(name, propensity).update(Y, model.predict_topk(X, 5)).value


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
def test_propensities_rank_the_complete_labels_better(loss):
    """One label in two is seldom recorded, whatever its frequency."""
    seldom = np.where(np.arange(100) % 2, 0.2, 1.0)
    corpus = make_corpus(4000, 500, 100, propensity=seldom, noise=0.7, random_state=1)
    X, Y, complete = corpus.X[2500:], corpus.Y[:2500], corpus.complete[2500:]
    plain, weighed = (
        LabelTree(n_clusters=8, leaf_labels=20, tilt=0.0, propensity=p, loss=loss).fit(
            corpus.X[:2500], Y
        )
        for p in (None, corpus.propensity)
    )
    for name in ("P@1", "P@3", "P@5"):
        gain = ranked(weighed, X, complete, name) - ranked(plain, X, complete, name)
        assert gain > 0.02, name


@pytest.fixture(scope="module")
def half_hidden():
    return make_corpus(4000, 500, 100, random_state=0)


def test_the_tilt_finds_labels_that_are_seldom_recorded(half_hidden):
    X, Y, p = half_hidden.X, half_hidden.Y, half_hidden.propensity
    found = {}
    for tilt in (0.0, 0.3):
        model = LabelTree(n_clusters=8, leaf_labels=20, tilt=tilt)
        model.fit(X[:2500], Y[:2500])
        found[tilt] = [ranked(model, X[2500:], Y[2500:], f"PSP@{k}", p) for k in (3, 5)]
    assert (np.array(found[0.3]) > np.array(found[0.0]) + 0.002).all()


def test_the_tilt_is_chosen_for_the_metric(half_hidden):
    X, Y = half_hidden.X, half_hidden.Y
    tilts = [
        LabelTree(n_clusters=8, leaf_labels=20, tilt="auto", metric=metric)
        .fit(X[:2500], Y[:2500])
        .tilt_
        for metric in ("P@1", None, "PSP@5")
    ]
    assert tilts[0] <= tilts[1] <= tilts[2]
    assert tilts[0] < 0.2 < tilts[2]


@pytest.mark.parametrize("metric", ["P@1", "PSP@3"])
def test_the_tilt_is_the_best_of_those_tried_on_rows_held_out(half_hidden, metric):
    X, Y, p = half_hidden.X[:2500], half_hidden.Y[:2500], half_hidden.propensity
    train, held = hold_out(2500, 0)
    learnt = Y[train].sum(axis=0) > 0
    Y, p = Y[:, learnt], p[learnt]
    how = {"n_clusters": 8, "leaf_labels": 20, "beam": None, "propensity": p}
    # Clusters by points that are given are the same, whichever rows are learnt.
    how["label_features"] = np.random.default_rng(0).normal(size=(len(p), 5))
    values = {}
    for tilt in (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6):
        model = LabelTree(tilt=tilt, **how).fit(X[train], Y[train])
        values[tilt] = ranked(model, X[held], Y[held], metric, p)
    chosen = LabelTree(tilt="auto", metric=metric, **how).fit(X, Y).tilt_
    assert max(values.values()) - min(values.values()) > 0.002
    assert values[chosen] > max(values.values()) - 1e-6


@pytest.mark.parametrize("n_rows", [1, 2, 19, 20, 21])
def test_few_rows_are_enough(n_rows, corpus):
    model = LabelTree(tilt="auto", cost="f1", calibrate="auto", leaf_labels=3)
    model.fit(corpus.X[:n_rows], corpus.Y[:n_rows])
    assert np.isfinite(model.decision_function(corpus.X[:50])).all()
    assert model.predict_proba(corpus.X[:50]).max() <= 1
    assert model.predict(corpus.X[:50]).shape == (50, corpus.Y.shape[1])
    plain = model.set_params(calibrate=None).fit(corpus.X[:n_rows], corpus.Y[:n_rows])
    assert n_rows >= 20 or plain.threshold_ == 0.5
    scores = plain.decision_function(corpus.X[:50])
    assert_array_equal(plain.predict(corpus.X[:50]).toarray(), scores > 0)

"""Calibrated learners: probabilities that are known are found again."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import Calibrated, OneVsRest, load, make_corpus
from manylabel.base import BatchClassifier

N_LABELS = 12


class Oracle(BatchClassifier):
    """Its scores are the features: one for each label."""

    def _learn(self, X, Y):
        """Learn nothing."""

    def _scores(self, X):
        return X.toarray()


def draw(n_rows, random_state, propensity=1.0):
    """Return scores, the probabilities that they stand for, and labels by them.

    There are frequent labels, rarer ones and rare ones; a score means less the rarer.
    """
    rng = np.random.default_rng(random_state)
    scores = rng.normal(size=(n_rows, N_LABELS)).astype(np.float32)
    chances = 1 / (1 + np.exp(-(2 * scores - np.repeat([0.0, 3.5, 6.5], 4))))
    is_true = rng.random(chances.shape) < chances
    return scores, chances, is_true & (rng.random(chances.shape) < propensity)


@pytest.mark.parametrize("method", ["auto", "sigmoid", "isotonic"])
@pytest.mark.parametrize("propensity", [None, np.linspace(1, 0.4, N_LABELS)])
def test_known_probabilities_are_found_again(method, propensity):
    recorded = 1.0 if propensity is None else propensity
    X, _, Y = draw(20_000, 0, recorded)
    model = Calibrated(Oracle(), method=method, propensity=propensity).fit(X, Y)
    fresh, chances, _ = draw(2_000, 1)
    found = model.predict_proba(fresh)
    assert np.abs(found - chances).mean() < 0.03
    assert np.abs(found.mean(axis=0) - chances.mean(axis=0)).max() < 0.03


def test_without_a_propensity_they_are_of_labels_that_are_recorded():
    X, _, Y = draw(20_000, 0, 0.5)
    fresh, chances, _ = draw(2_000, 1)
    found = Calibrated(Oracle()).fit(X, Y).predict_proba(fresh)
    assert np.abs(found - chances / 2).mean() < 0.03


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["auto", "sigmoid", "isotonic"]))
def test_the_ranking_within_a_label_stays(seed, method):
    X, _, Y = draw(60, seed)
    found = Calibrated(Oracle(), method=method).fit(X, Y).predict_proba(X)
    for score, chance in zip(X.T, found.T, strict=True):
        assert (np.diff(chance[np.argsort(score)]) >= 0).all()


def test_the_best_labels_keep_their_order_and_have_their_probabilities():
    corpus = make_corpus(n_rows=500, n_labels=30, random_state=0)
    model = Calibrated(OneVsRest()).fit(corpus.X, corpus.Y)
    best = model.predict_topk(corpus.X, 4, proba=True)
    plain = OneVsRest().fit(corpus.X, corpus.Y).predict_topk(corpus.X, 4)
    assert_array_equal(best.indices, plain.indices)
    rows = np.repeat(np.arange(500), 4)
    assert_allclose(best.data, model.predict_proba(corpus.X)[rows, best.indices])


def test_sets_serve_the_cost_that_is_named():
    X, _, Y = draw(5_000, 0)
    fresh, chances, true = draw(4_000, 1)
    cost = {}
    for name in ("f1", "hamming"):
        sets = Calibrated(Oracle(), cost=name).fit(X, Y).predict(fresh)
        hits, either = (sets & true).sum(1), sets.sum(1) + true.sum(1)
        f1 = np.where(either > 0, 2 * hits / np.maximum(either, 1), 1.0)
        cost[name] = 1 - f1.mean(), (sets != true).mean()
    assert cost["f1"][0] < cost["hamming"][0] - 0.01
    assert cost["hamming"][1] < cost["f1"][1] - 0.005
    assert_allclose(
        cost["hamming"][1], np.minimum(chances, 1 - chances).mean(), atol=0.02
    )


def test_labels_of_like_frequency_share_a_curve():
    X, _, Y = draw(20_000, 0)
    bands = Calibrated(Oracle()).fit(X, Y).calibration_.bands
    assert_array_equal(bands, np.repeat([2, 1, 0], 4))


def test_saving_keeps_the_bits(tmp_path):
    corpus = make_corpus(n_rows=300, n_labels=8, random_state=0)
    model = Calibrated(OneVsRest(), propensity=0.7).fit(corpus.X, corpus.Y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert_array_equal(again.predict_proba(corpus.X), model.predict_proba(corpus.X))
    assert_array_equal(
        again.predict(corpus.X).toarray(), model.predict(corpus.X).toarray()
    )


def test_a_curve_that_falls_is_refused():
    corpus = make_corpus(n_rows=300, n_labels=8, random_state=0)
    model = Calibrated(OneVsRest()).fit(corpus.X, corpus.Y)
    state = model.get_state()
    name = "calibration_.shares"
    state[name] = np.ascontiguousarray(state[name][:, ::-1])
    with pytest.raises(ValueError, match="must ascend"):
        Calibrated(OneVsRest()).set_state(state)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "beta"}, "method must be one of auto, sigmoid, isotonic"),
        ({"cost": "f2"}, "cost must be one of"),
        ({"propensity": 0.0}, r"propensity must lie in \(0, 1\]"),
    ],
)
def test_parameters_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Calibrated(OneVsRest(), **options).fit(sp.eye_array(30, 3), np.eye(30, 3))


def test_true_labels_beyond_the_listed_ones_are_counted():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2500, 80)).astype(np.float32)
    Y = rng.random((2500, 80)) < 0.1  # whatever the score
    model = Calibrated(Oracle()).fit(scores, Y)
    assert_allclose(model.calibration_.n_unlisted, 0.1 * (80 - 50), rtol=0.1)
    assert_allclose(
        Calibrated(Oracle(), propensity=0.5).fit(scores, Y).calibration_.n_unlisted,
        2 * model.calibration_.n_unlisted,
    )


@pytest.mark.parametrize(
    ("n_rows", "n_fits"), [(19, 2), (100, 6), (4999, 6), (5000, 2)]
)
def test_few_rows_are_held_out_in_turn(n_rows, n_fits, monkeypatch):
    seen = []
    monkeypatch.setattr(Oracle, "_learn", lambda self, X, Y: seen.append(X.shape[0]))
    X, _, Y = draw(n_rows, 0)
    Calibrated(Oracle()).fit(X, Y)
    assert len(seen) == n_fits
    assert seen[0] == n_rows
    if n_fits > 2:
        assert sum(n_rows - n for n in seen[1:]) == n_rows

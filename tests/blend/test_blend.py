"""Blends: the score, and the choice of weights and tilt."""

from contextlib import suppress
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import (
    Blend,
    FastXML,
    OneVsRest,
    Popularity,
    evaluate,
    load,
    make_corpus,
    parallel,
)


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(n_rows=800, n_labels=30, random_state=0)


@pytest.fixture(scope="module")
def model(corpus):
    learners = [OneVsRest(), FastXML(n_estimators=5), Popularity()]
    return Blend(learners).fit(corpus.X[:500], corpus.Y[:500])


def test_a_score_is_the_calibrated_lists_weighed_and_tilted():
    corpus = make_corpus(n_rows=400, n_labels=80, random_state=0)
    learners = [OneVsRest(), FastXML(n_estimators=5)]
    model = Blend(learners, metrics=["PSP@3"]).fit(corpus.X, corpus.Y)
    rows, expected, listed = corpus.X[:50], np.zeros((50, 80)), np.zeros((50, 80), bool)
    for weight, member, curve in zip(
        model.weights_, model.estimators_, model.curves_, strict=True
    ):
        best = member.predict_topk(rows, k=50).tocoo()
        expected[best.row, best.col] += weight * np.interp(best.data, *curve)
        listed[best.row, best.col] = True
    expected *= model.inverse_propensity_**model.tilt_
    expected[~listed] = -1
    found = model.decision_function(rows)[:, model.seen_]
    assert listed.any()
    assert not listed.all()
    assert_allclose(found, (expected - model.threshold_)[:, model.seen_], atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_point_chosen_is_as_good_as_a_grid(seed):
    """Of fewer than 20 rows none is held out, so the choice can be made again."""
    corpus = make_corpus(n_rows=19, n_features=8, n_labels=6, random_state=seed)
    learners = [OneVsRest(C=0.01), FastXML(n_estimators=2, random_state=seed)]
    names = {"metrics": ["P@1", "PSP@3"]}
    model = Blend(learners, **names).fit(corpus.X, corpus.Y)

    def values(blend, **changes):
        scores = load_state(blend, **changes).predict_topk(corpus.X, k=3)
        propensity = 1 / model.inverse_propensity_
        report = evaluate(corpus.Y, scores, k=(1, 3), propensity=propensity)
        return np.array([report["P@1"], report["PSP@3"]])

    def judged(weights, tilt):
        ratios = values(model, weights_=np.array(weights), tilt_=tilt) / alone
        mean = np.average(np.minimum(ratios, 1.03), weights=[2, 1])
        return (mean + ratios.min()) / 2

    singles = [Blend([one], **names).fit(corpus.X, corpus.Y) for one in learners]
    alone = np.max([values(single, tilt_=0.0) for single in singles], axis=0)
    best = judged(model.weights_, model.tilt_)
    for first, tilt in product(np.linspace(0, 1, 6), (0.0, 0.2, 0.4, 0.6)):
        weights = (first, 1 - first) if len(model.weights_) > 1 else (1.0,)
        assert best >= judged(weights, tilt) - 1e-9


def test_a_blend_ranks_new_rows_no_worse_than_its_learners(model, corpus):
    def value(learner):
        scores = learner.predict_topk(corpus.X[500:], k=5)
        report = evaluate(corpus.Y[500:], scores, k=5)
        return report["P@5"]

    assert value(model) >= max(map(value, model.estimators_)) - 0.01


def test_a_tilt_lifts_rare_labels(model, corpus):
    ranked = model.predict_topk(corpus.X[500:], k=5)
    tilted = load_state(model, tilt_=1.0).predict_topk(corpus.X[500:], k=5)
    assert (
        model.inverse_propensity_[tilted.indices].mean()
        > model.inverse_propensity_[ranked.indices].mean()
    )


def load_state(model, **changes):
    copy = Blend(model.estimators).set_state(model.get_state())
    vars(copy).update(changes)
    return copy


def test_a_saved_blend_ranks_as_before(model, corpus, tmp_path):
    model.save(tmp_path / "blend")
    again = load(tmp_path / "blend")
    kinds = [[type(member) for member in each.estimators_] for each in (model, again)]
    assert kinds[0] == kinds[1]
    assert str(model.trial_) == str(again.trial_)
    before, after = (m.predict_topk(corpus.X, k=3) for m in (model, again))
    assert_array_equal(before.indices, after.indices)
    assert_array_equal(before.data, after.data)
    assert_array_equal(model.predict(corpus.X).indices, again.predict(corpus.X).indices)


def test_members_that_know_other_labels_are_refused(model, corpus):
    other = OneVsRest().fit(corpus.X, corpus.Y[:, :7])
    state = Blend(model.estimators).set_state(model.get_state())
    state.estimators_ = [other, *model.estimators_[1:]]
    message = "classes_ must be the same for all estimators_"
    with pytest.raises(ValueError, match=message):
        Blend(model.estimators).set_state(state.get_state())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metrics": ["Q@1"]}, "metric must be one of"),
        ({"metrics": []}, "metrics must name at least one"),
        ({"estimators": []}, "estimators must have at least one"),
        ({"estimators": [3]}, "each of estimators must be a multi-label learner"),
        ({"cost": lambda y, z: 0.0}, "cost must depend on counts"),
        ({"propensity": 2.0}, "propensity must lie in"),
        ({"refit": "sometimes"}, "refit must be one of auto"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message, corpus):
    with pytest.raises((ValueError, TypeError), match=message):
        Blend(**parameters).fit(corpus.X, corpus.Y)


def test_a_fit_that_is_stopped_is_watched_no_more(corpus):
    told = []

    def stop(stage, done):
        told.append(stage)
        if "OneVsRest, training" in stage:
            raise InterruptedError

    def fit():
        Blend([OneVsRest(), Popularity()]).fit(corpus.X[:50], corpus.Y[:50])

    with suppress(InterruptedError), parallel.watched(stop):
        fit()
    assert "OneVsRest, training" in told[-1]
    told.clear()
    fit()
    assert told == []

"""Members of a blend: which are tried, which are kept, and what is said of them."""

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manylabel import (
    Blend,
    FastXML,
    LabelTree,
    OneVsRest,
    Popularity,
    evaluate,
    load,
    make_corpus,
)
from manylabel.exceptions import ArchiveError
from manylabel.persistence import folder, tensors

PLAIN = {"metrics": ["P@1", "P@3"]}


class Misled(OneVsRest):
    """Learns labels of other rows."""

    n_learnt: ClassVar[list[int]] = []

    def fit(self, X, Y, sample_weight=None):  # noqa: D102
        self.n_learnt.append(Y.shape[0])
        order = np.random.default_rng(0).permutation(Y.shape[0])
        return super().fit(X, Y[order], sample_weight)


class Even(OneVsRest):
    """Learns labels of even columns alone."""

    parity = 0

    def fit(self, X, Y, sample_weight=None):  # noqa: D102
        known = (np.arange(Y.shape[1]) + self.parity + 1) % 2
        return super().fit(X, Y.toarray() * known, sample_weight)


class Odd(Even):
    """Learns labels of odd columns alone."""

    parity = 1


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(n_rows=1500, n_labels=30, random_state=1)


@pytest.fixture(scope="module")
def model(corpus):
    learners = [Popularity(), OneVsRest(), FastXML(n_estimators=5)]
    return Blend(learners).fit(corpus.X[:1000], corpus.Y[:1000])


def kinds(blend):
    return [type(member).__name__ for member in blend.estimators_]


def test_a_learner_that_knows_nothing_is_left_out(model):
    assert "Popularity" not in kinds(model)
    assert model.trial_.names.tolist() == ["Popularity", "OneVsRest", "FastXML"]
    assert model.trial_.weights[0] == 0
    assert model.trial_.gains[0] <= model.trial_.errors[0]


@pytest.mark.parametrize("seed", range(3))
def test_a_learner_of_shuffled_labels_is_left_out(seed):
    corpus = make_corpus(n_rows=1000, n_labels=30, random_state=seed)
    model = Blend([Misled(), OneVsRest()]).fit(corpus.X, corpus.Y)
    assert kinds(model) == ["OneVsRest"]


def test_what_is_kept_has_weight_and_gains_more_than_noise(model):
    kept = model.trial_.weights > 0
    assert (model.trial_.gains[kept] > model.trial_.errors[kept]).all()
    assert_array_equal(model.weights_, model.trial_.weights[kept])
    assert len(model.estimators_) == len(model.weights_) == len(model.curves_)
    assert model.weights_.sum() == pytest.approx(1)


def test_learners_that_know_different_labels_are_both_kept(corpus):
    model = Blend([Even(), Odd()], **PLAIN).fit(corpus.X, corpus.Y)
    assert kinds(model) == ["Even", "Odd"]
    assert (model.weights_ > 0.2).all()


def test_the_tilt_is_that_which_the_metrics_ask_for(corpus):
    rows = corpus.X[:1000], corpus.Y[:1000]
    plain, rare = (
        Blend([OneVsRest()], metrics=[metric]).fit(*rows) for metric in ("P@1", "PSP@1")
    )
    assert plain.tilt_ < rare.tilt_


def test_equal_learners_are_one(corpus):
    rows = corpus.X[:1000], corpus.Y[:1000]
    twice = Blend([OneVsRest(), OneVsRest()], **PLAIN).fit(*rows)
    once = Blend([OneVsRest()], **PLAIN).fit(*rows)
    assert kinds(twice) == ["OneVsRest"]
    assert_array_equal(
        *(each.predict_topk(corpus.X[1000:], k=5).data for each in (once, twice))
    )


def test_the_better_learner_weighs_more(corpus):
    good, poor = OneVsRest(), FastXML(n_estimators=1)
    for learners in ([good, poor], [poor, good]):
        trial = Blend(learners, **PLAIN).fit(corpus.X, corpus.Y).trial_
        weight = dict(zip(trial.names.tolist(), trial.weights, strict=True))
        assert weight["OneVsRest"] > weight["FastXML"]


def test_a_single_learner_is_kept_whatever_it_is(corpus):
    model = Blend([Popularity()]).fit(corpus.X, corpus.Y)
    assert kinds(model) == ["Popularity"]
    assert_array_equal(model.weights_, [1.0])


def test_usual_learners_are_of_all_kinds():
    corpus = make_corpus(n_rows=60, n_labels=10, random_state=0)
    names = Blend().fit(corpus.X, corpus.Y).trial_.names.tolist()
    assert names == ["OneVsRest", "LabelTree", "FastXML", "PfastreXML", "CPLST"]


def test_past_some_pairs_of_rows_and_labels_one_vs_rest_is_left_out(monkeypatch):
    corpus = make_corpus(n_rows=60, n_labels=10, random_state=0)
    monkeypatch.setattr("manylabel.blend._members.MOST_PAIRS", 599)
    names = Blend().fit(corpus.X, corpus.Y).trial_.names.tolist()
    assert names == ["LabelTree", "FastXML", "PfastreXML", "CPLST"]


@pytest.mark.parametrize("limit", ["FEW_LABELS", "MOST_SQUARE"])
def test_ridge_regression_is_left_out_where_it_is_slow(limit, monkeypatch):
    corpus = make_corpus(n_rows=60, n_labels=10, random_state=0)
    monkeypatch.setattr(f"manylabel.blend._members.{limit}", 9)
    assert "CPLST" not in Blend().fit(corpus.X, corpus.Y).trial_.names


def test_many_rows_are_learnt_only_by_those_that_help_on_a_sample(corpus, monkeypatch):
    for name, n_rows in {"MANY_ROWS": 1000, "SAMPLE": 600, "FEW_ROWS": 20}.items():
        monkeypatch.setattr(f"manylabel.blend._blend.{name}", n_rows)
    Misled.n_learnt = []
    model = Blend([Misled(), OneVsRest()]).fit(corpus.X, corpus.Y)
    assert Misled.n_learnt == [600]
    assert model.trial_.names.tolist() == ["Misled", "OneVsRest"]
    assert_array_equal(model.trial_.weights, [0, 1])
    usual = Blend([OneVsRest()], refit=False).fit(corpus.X, corpus.Y)
    assert_array_equal(*(m.predict_topk(corpus.X, 3).data for m in (model, usual)))


def test_figures_lie_in_their_intervals(model):
    value, low, high = model.trial_.figures.T
    assert (low <= value).all()
    assert (value <= high).all()
    assert (low < high).all()
    assert model.trial_.metrics.tolist() == list(model.metrics)


@pytest.mark.slow
def test_intervals_cover_what_many_new_rows_say():
    covered = []
    for seed in range(12):
        corpus = make_corpus(n_rows=6000, n_labels=20, random_state=seed)
        learners = [OneVsRest(), LabelTree(n_estimators=2)]
        model = Blend(learners, refit=False).fit(corpus.X[:1000], corpus.Y[:1000])
        scores = model.predict_topk(corpus.X[1000:], k=5)
        propensity = 1 / model.inverse_propensity_
        report = evaluate(corpus.Y[1000:], scores, k=(1, 3, 5), propensity=propensity)
        for name, (_, low, high) in zip(*model.trial_[4:], strict=True):
            covered.append(low <= report[name] <= high)
    assert np.mean(covered) > 0.8


def test_without_refit_learners_are_those_of_the_rows_not_held_out(corpus):
    rows = corpus.X[:400], corpus.Y[:400]
    usual, once = (
        Blend([OneVsRest()], refit=how).fit(*rows) for how in ("auto", False)
    )
    found, pilot = (each.estimators_[0].coef_ for each in (usual, once))
    assert_array_equal(found.data, OneVsRest().fit(*rows).coef_.data)
    assert pilot.nnz < found.nnz


def test_a_label_of_rows_held_out_alone_is_not_known_without_refit(corpus):
    Y = corpus.Y[:400].toarray()
    Y[:, 3] = 0
    Y[7, 3] = 1
    seeds = range(30)
    blends = [
        Blend([OneVsRest()], refit=False, random_state=seed).fit(corpus.X[:400], Y)
        for seed in seeds
    ]
    seen = [bool(blend.seen_[3]) for blend in blends]
    assert any(seen)
    assert not all(seen)
    blend = blends[seen.index(False)]
    assert blend.predict_topk(corpus.X[:5], k=30).toarray()[:, 3].max() < -1


def test_threads_do_not_matter(corpus):
    learners = [OneVsRest(), FastXML(n_estimators=5), LabelTree(n_estimators=2)]
    one, two = (
        Blend(learners, n_jobs=n_jobs).fit(corpus.X[:400], corpus.Y[:400])
        for n_jobs in (1, 2)
    )
    assert str(one.trial_) == str(two.trial_)
    assert_array_equal(*(each.predict_topk(corpus.X, 5).data for each in (one, two)))


def test_coverage_has_no_rows_to_draw_and_is_judged_all_the_same(corpus):
    model = Blend([OneVsRest(), Popularity()], metrics=["coverage@3"])
    model.fit(corpus.X[:400], corpus.Y[:400])
    assert kinds(model) == ["OneVsRest"]
    value, low, high = model.trial_.figures[0]
    assert low == value == high


def test_a_trial_is_told_in_words(model):
    lines = str(model.trial_).splitlines()
    assert len(lines) == 3 + 6
    assert lines[0].startswith("Popularity  weight 0.00, gain ")
    assert lines[-1].startswith("PSP@5 ")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("trial_.weights", np.array([0.5, np.nan, 0.5]), "hold numbers from 0 to 1"),
        ("trial_.weights", np.array([0.5, 0.5]), "must have shape"),
        ("trial_.errors", np.array([-1.0, 0.0, 0.0]), "of 0 or more"),
        ("trial_.gains", np.array([np.inf, 0.0, 0.0]), "finite"),
        ("trial_.figures", np.zeros((6, 2)), "must have shape"),
        ("curves_", np.zeros((7, 2, 3)), "must have shape"),
        ("weights_", np.zeros(9), "must have shape"),
    ],
)
def test_a_trial_made_to_deceive_is_refused(name, value, message, model, tmp_path):
    model.save(tmp_path / "blend")
    manifest, arrays = folder.read(tmp_path / "blend", mmap=False)
    arrays[f"state/{name}"] = value
    manifest["arrays"] = tensors.describe(arrays)
    folder.replace(tmp_path / "blend", manifest, arrays)
    with pytest.raises(ArchiveError, match=message):
        load(tmp_path / "blend")

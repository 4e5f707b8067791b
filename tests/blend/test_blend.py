"""Blends: candidates, the choice of weights, and the learner itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import Blend, FastXML, OneVsRest, Popularity, evaluate, load, make_corpus
from manylabel.blend._candidates import Candidates
from manylabel.blend._weights import TILTS, Judge, best_point, shares

seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(1, 6), st.integers(1, 8), st.integers(1, 3))
def test_candidates_are_the_weighted_lists(seed, n_rows, n_labels, n_learners):
    rng = np.random.default_rng(seed)
    shape = n_learners, n_rows, n_labels
    dense = rng.uniform(0.1, 1, shape) * (rng.random(shape) < 0.5)
    weights, gain = rng.dirichlet(np.ones(n_learners)), rng.uniform(1, 5, n_labels)
    same = np.tile([[0.0, 1.0], [0.0, 1.0]], (n_learners, 1, 1))
    candidates = Candidates.of([sp.csr_array(part) for part in dense], same)
    found = candidates.blended(weights, gain).csr(n_labels)
    expected = np.tensordot(weights, dense, 1) * gain
    assert_allclose(found.toarray(), expected, rtol=1e-6)
    assert_array_equal(candidates.labels, np.nonzero(dense.any(axis=0))[1])


@pytest.mark.parametrize(("n_learners", "n_points"), [(1, 1), (2, 6), (3, 21), (4, 56)])
def test_weights_to_try_are_all_that_sum_to_one(n_learners, n_points):
    found = list(shares(n_learners))
    assert len(set(found)) == n_points
    assert_allclose([sum(weights) for weights in found], 1)


@given(seeds)
def test_the_point_chosen_is_as_good_as_the_grid_and_each_learner_alone(seed):
    rng = np.random.default_rng(seed)
    Y = sp.csr_array((rng.random((20, 6)) < 0.4).astype(np.float32))
    lists = [sp.csr_array(rng.random((20, 6))) for _ in range(2)]
    same = np.tile([[0.0, 1.0], [0.0, 1.0]], (2, 1, 1))
    inverse_propensity = rng.uniform(1, 4, 6)
    judge = Judge(Candidates.of(lists, same), Y, inverse_propensity, ["P@1", "PSP@3"])
    best = judge(best_point(judge, 2))
    tried = [judge((weights, tilt)) for weights in shares(2) for tilt in TILTS]
    assert best >= max(tried)
    assert best >= judge(((1.0, 0.0), 0.0))


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(n_rows=800, n_labels=30, random_state=0)


@pytest.fixture(scope="module")
def model(corpus):
    learners = [OneVsRest(), FastXML(n_estimators=5), Popularity()]
    return Blend(learners).fit(corpus.X[:500], corpus.Y[:500])


def test_a_blend_ranks_new_rows_no_worse_than_its_learners(model, corpus):
    def value(learner):
        scores = learner.predict_topk(corpus.X[500:], k=5)
        report = evaluate(corpus.Y[500:], scores, k=5)
        return report["P@5"]

    assert value(model) >= max(map(value, model.estimators_)) - 0.01


def test_a_learner_that_knows_nothing_gets_little_weight(model):
    assert model.weights_[2] <= 0.2
    assert model.weights_.sum() == pytest.approx(1)


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
    assert [type(member) for member in again.estimators_] == [
        OneVsRest,
        FastXML,
        Popularity,
    ]
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
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message, corpus):
    with pytest.raises((ValueError, TypeError), match=message):
        Blend(**parameters).fit(corpus.X, corpus.Y)

"""Learners with thresholds, against trying every one."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel import FastXML, OneVsRest, Thresholds, load, make_corpus
from manylabel.losses import as_cost
from manylabel.model_selection.thresholds import Goal, choose


@st.composite
def columns(draw):
    """Return scores of one label, many of them equal, and which rows have it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, 12))
    scores = rng.integers(1, 6, (n_rows, 1)).astype(np.float32)
    return scores, (rng.random((n_rows, 1)) < 0.4).astype(np.float32)


def chosen(scores, Y, goal):
    Y = np.hstack([Y, np.ones_like(Y)])  # a label of no scores, which counts for none
    scores = sp.csr_array(np.hstack([scores, np.zeros_like(scores)]))
    return choose(scores, sp.csr_array(Y), goal, per_label=True).thresholds[0]


def least_share(n_hits, n):
    """Return the lower end of the interval, by another program."""
    if not n:
        return 0.0
    test = scipy.stats.binomtest(int(n_hits), int(n))
    return test.proportion_ci(confidence_level=0.9, method="wilson").low


def every(scores):
    return [-np.inf, *(scores + 0.5).ravel()]


@given(columns(), st.sampled_from([0.1, 0.3, 0.5]))
def test_precision_is_met_by_as_many_labels_as_can_be(problem, share):
    scores, Y = problem

    def is_good(cut):
        n_given = (scores > cut).sum()
        need = share * n_given + np.sqrt(share * (1 - share) * n_given)
        return Y[scores > cut].sum() >= need

    def is_promised(cut):
        n_given = (scores > cut).sum()
        return n_given and least_share(Y[scores > cut].sum(), n_given) >= share

    cut = chosen(scores, Y, Goal(None, share, of_given=True))
    good = [c for c in every(scores) if is_promised(c)]
    good = good or [c for c in [*every(scores), np.inf] if is_good(c)]
    assert (scores > cut).sum() == max((scores > c).sum() for c in good)


@given(columns(), st.sampled_from([0.3, 0.5, 1.0]))
def test_recall_is_met_by_as_few_labels_as_can_be(problem, share):
    scores, Y = problem
    cut = chosen(scores, Y, Goal(None, share))
    n_true, cuts = Y.sum(), every(scores)
    enough = [c for c in cuts if least_share(Y[scores > c].sum(), n_true) >= share]
    enough = enough or [c for c in cuts if Y[scores > c].sum() >= share * n_true]
    enough += [np.inf] * int(n_true == 0)
    assert (scores > cut).sum() == min((scores > c).sum() for c in enough)


@given(columns(), st.sampled_from(["f1", "accuracy", "hamming"]))
def test_no_threshold_costs_less(problem, name):
    scores, Y = problem
    cost = as_cost(name)

    def charge(cut):
        given_ = scores > cut
        return cost.from_counts((Y * given_).sum(), Y.sum(), given_.sum(), len(Y))

    best = chosen(scores, Y, Goal(cost))
    assert charge(best) <= min(map(charge, [*every(scores), np.inf])) + 1e-12


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(n_rows=1500, n_labels=20, random_state=0)


def test_precision_comes_near_on_new_rows():
    corpus = make_corpus(n_rows=4000, n_labels=20, random_state=0)
    model = Thresholds(OneVsRest(), min_precision=0.7).fit(
        corpus.X[:2000], corpus.Y[:2000]
    )
    given_, Y = model.predict(corpus.X[2000:]), corpus.Y[2000:]
    assert given_.multiply(Y).sum() / given_.sum() == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"min_precision": 1.0}, "min_precision=1 cannot be promised by 300 rows"),
        ({"min_recall": 1.0}, "min_recall=1 cannot be promised by 300 rows"),
        (
            {"min_precision": 0.99, "per_label": True},
            "min_precision=0.99 cannot be promised for [0-9]+ of 20 labels by 300",
        ),
    ],
)
def test_a_goal_that_cannot_be_promised_warns(goal, message, corpus):
    with pytest.warns(UserWarning, match=message):
        model = Thresholds(OneVsRest(), **goal).fit(corpus.X, corpus.Y)
    assert not model.promised_.all()


@pytest.mark.slow
def test_promises_hold_nineteen_times_of_twenty():
    kept = []
    for seed in range(60):
        corpus = make_corpus(n_rows=3000, n_labels=10, random_state=seed)
        learner = OneVsRest().fit(corpus.X[:500], corpus.Y[:500])
        model = Thresholds(learner, min_precision=0.6)
        model.choose(learner, corpus.X[500:1000], corpus.Y[500:1000])
        given_, Y = model.predict(corpus.X[1000:]), corpus.Y[1000:]
        if model.promised_.all():
            kept.append(given_.multiply(Y).sum() / given_.sum() >= 0.6)
    assert len(kept) > 20
    assert np.mean(kept) > 0.85  # the best of many thresholds owes some to luck


def test_scores_stay_those_of_the_learner(corpus):
    model = Thresholds(OneVsRest()).fit(corpus.X, corpus.Y)
    own = OneVsRest().fit(corpus.X, corpus.Y)
    assert_array_equal(
        model.decision_function(corpus.X), own.decision_function(corpus.X)
    )
    best, theirs = (each.predict_topk(corpus.X, 3) for each in (model, own))
    assert_array_equal(best.data, theirs.data)
    above = own.decision_function(corpus.X) > model.thresholds_
    assert_array_equal(model.predict(corpus.X).toarray(), above)


def test_labels_have_their_own_thresholds_if_asked(corpus):
    common = Thresholds(OneVsRest()).fit(corpus.X, corpus.Y)
    own = Thresholds(OneVsRest(), per_label=True).fit(corpus.X, corpus.Y)
    assert len(set(common.thresholds_)) == 1 < len(set(own.thresholds_))
    best = own.predict_topk(corpus.X, k=3)
    assert_array_equal(best.indices, own.estimator_.predict_topk(corpus.X, 3).indices)


def test_a_fitted_estimator_keeps_its_ranking(corpus, tmp_path):
    learner = FastXML(n_estimators=3).fit(corpus.X[:1000], corpus.Y[:1000])
    model = Thresholds(learner, min_recall=0.9).choose(
        learner, corpus.X[1000:], corpus.Y[1000:]
    )
    assert model.estimator_ is learner
    model.save(tmp_path / "cut")
    again = load(tmp_path / "cut")
    assert_array_equal(again.thresholds_, model.thresholds_)
    assert_array_equal(
        again.predict(corpus.X).toarray(), model.predict(corpus.X).toarray()
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"min_precision": 2}, "min_precision == 2, must be <= 1"),
        ({"min_recall": "0.5"}, "min_recall must be an instance of"),
        ({"min_precision": 0.5, "min_recall": 0.5}, "must not both be given"),
        ({"cost": lambda y, z: 0.0}, "cost must depend on counts"),
        ({"cost": "beauty"}, "cost must be one of|must be"),
        ({"estimator": 3}, "estimator must be a multi-label learner"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message, corpus):
    with pytest.raises((TypeError, ValueError), match=message):
        Thresholds(**{"estimator": OneVsRest()} | parameters).fit(corpus.X, corpus.Y)


def test_a_estimator_of_other_labels_is_refused(corpus):
    model = Thresholds(OneVsRest()).fit(corpus.X, corpus.Y)
    model.estimator_ = OneVsRest().fit(corpus.X, corpus.Y[:, :7])
    with pytest.raises(ValueError, match="classes_ must be the same for estimator_"):
        Thresholds(OneVsRest()).set_state(model.get_state())

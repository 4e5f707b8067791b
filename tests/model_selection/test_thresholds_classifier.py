"""Learners with thresholds, against trying every one."""

import numpy as np
import pytest
import scipy.sparse as sp
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
    return choose(scores, sp.csr_array(Y), goal, per_label=True)[0]


def every(scores):
    return [-np.inf, *(scores + 0.5).ravel()]


@given(columns(), st.sampled_from([0.1, 0.3, 0.5]))
def test_precision_is_met_by_as_many_labels_as_can_be(problem, share):
    scores, Y = problem

    def is_good(cut):
        n_given = (scores > cut).sum()
        need = share * n_given + np.sqrt(share * (1 - share) * n_given)
        return Y[scores > cut].sum() >= need

    cut = chosen(scores, Y, Goal(None, share, of_given=True))
    good = [c for c in [*every(scores), np.inf] if is_good(c)]
    assert (scores > cut).sum() == max((scores > c).sum() for c in good)


@given(columns(), st.sampled_from([0.3, 0.5, 1.0]))
def test_recall_is_met_by_as_few_labels_as_can_be(problem, share):
    scores, Y = problem
    cut = chosen(scores, Y, Goal(None, share))
    enough = [c for c in every(scores) if Y[scores > c].sum() >= share * Y.sum()]
    enough += [np.inf] * int(Y.sum() == 0)
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

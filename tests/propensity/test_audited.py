"""Propensities from audits and from scores: references, coverage, refusals."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, stats

from manylabel import Propensity, load, make_corpus
from manylabel.persistence import save
from manylabel.propensity import check_possible

AUDITS = st.tuples(st.integers(1, 30), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(
        arrays(np.int64, shape, elements=st.integers(0, 1)),
        arrays(np.int64, shape, elements=st.integers(0, 1)),
    )
)


def reference(recorded, complete):
    """Beta-binomial about a line by log frequency: the largest posterior, slowly."""
    r, t, n_rows = recorded.sum(axis=0), complete.sum(axis=0), len(recorded)
    place = np.log(r + 1.5)
    c = max((np.log(n_rows) - 1) * 2.5**0.55, 1e-3)
    belief = np.array([0.55 * np.average(place, weights=t) - np.log(c), 0.55])

    def prior(theta):
        odds = theta[0] + theta[1] * (place - np.average(place, weights=t))
        return 1 / (1 + np.exp(-odds)), np.exp(theta[2])

    def surprise(theta):
        m, s = prior(theta)
        likelihood = stats.betabinom.logpmf(r, t, s * m, s * (1 - m)).sum()
        before = stats.norm.logpdf(theta, [*belief, np.log(10)], [2, 0.5, 1.5]).sum()
        return -likelihood - before

    start = [*belief, np.log(10)]
    found = optimize.minimize(
        surprise,
        start,
        method="Nelder-Mead",
        bounds=[(None, None), (None, None), (None, np.log(50))],
        options={"xatol": 1e-6, "fatol": 1e-10},
    )
    m, s = prior(found.x)
    return (r + s * m) / (t + s)


@settings(max_examples=12)
@given(AUDITS)
def test_values_are_those_of_the_slow_reference(audit):
    complete, kept = audit
    if complete.any():
        values = Propensity.from_audit(complete * kept, complete).values_
        assert_allclose(values, reference(complete * kept, complete), atol=2e-3)


@given(AUDITS)
def test_values_and_intervals_lie_in_the_unit_interval(audit):
    complete, kept = audit
    if complete.any():
        found = Propensity.from_audit(complete * kept, complete)
        low, high = found.interval_
        assert ((low > 0) & (low <= found.values_)).all()
        assert ((found.values_ <= high) & (high <= 1)).all()
        share, least, most = found.overall_
        assert 0 <= least <= share <= most <= 1
        assert share == pytest.approx((complete * kept).sum() / complete.sum())


def test_many_occurrences_have_their_own_share():
    rng = np.random.default_rng(0)
    truth = np.array([0.2, 0.5, 0.9])
    complete = rng.random((20_000, 3)) < 0.5
    recorded = complete & (rng.random(complete.shape) < truth)
    # 10,000 occurrences each: three standard errors are at most 0.015.
    found = Propensity.from_audit(sp.csr_array(recorded), sp.csr_array(complete))
    assert_allclose(found.values_, truth, atol=0.015)
    assert (np.diff(found.interval_, axis=0) < 0.03).all()


def test_a_label_that_was_never_true_has_the_value_of_its_frequency():
    corpus = make_corpus(n_rows=3000, n_labels=100, random_state=0)
    rows = np.arange(1000)
    Y = sp.hstack([corpus.Y, corpus.Y[:, [7]]], format="csr")  # one more, as frequent
    recorded = sp.hstack([corpus.Y[rows], sp.csr_array((1000, 1))], format="csr")
    complete = sp.hstack([corpus.complete[rows], sp.csr_array((1000, 1))], format="csr")
    found = Propensity.from_audit(recorded, complete, Y=Y)
    level, slope, _ = found.law_
    odds = level + slope * np.log(corpus.Y[:, [7]].sum() + 1.5)
    assert found.values_[-1] == pytest.approx(1 / (1 + np.exp(-odds)))
    assert abs(found.values_[-1] - corpus.propensity[7]) < 0.1


def test_an_audit_of_one_label_stays_near_the_law():
    corpus = make_corpus(n_rows=3000, n_labels=100, random_state=0)
    law = Propensity().fit(corpus.Y).values_
    row = np.flatnonzero(np.diff(corpus.complete.indptr) == 1)[:1]
    found = Propensity.from_audit(corpus.Y[row], corpus.complete[row], Y=corpus.Y)
    assert abs(found.values_ - law).mean() < 0.15


def test_more_audited_rows_come_nearer():
    corpus = make_corpus(n_rows=4000, n_labels=100, propensity=0.3, random_state=0)
    errors = []
    for n_rows in (20, 200, 2000):
        rows = np.arange(n_rows)
        found = Propensity.from_audit(corpus.Y[rows], corpus.complete[rows], Y=corpus.Y)
        errors.append(abs(found.values_ - 0.3).mean())
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.025


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Of 95 %: truths about a line, with spread, as the model has them; 40 audits."""
    inside, overall = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        corpus = make_corpus(
            n_rows=2000, n_labels=80, propensity=1.0, random_state=seed
        )
        counts = corpus.complete.sum(axis=0)
        mean = 1 / (1 + np.exp(1.5 - 0.4 * np.log(counts + 1.5)))
        truth = np.clip(rng.beta(8 * mean, 8 * (1 - mean)), 0.01, 1)
        Y = corpus.complete.copy()
        Y.data = Y.data * (rng.random(Y.nnz) < truth[Y.indices])
        Y.eliminate_zeros()
        rows = rng.permutation(2000)[:150]
        found = Propensity.from_audit(Y[rows], corpus.complete[rows], Y=Y)
        low, high = found.interval_
        inside.append(((low <= truth) & (truth <= high)).mean())
        overall.append(found.overall_[1] <= Y.nnz / counts.sum() <= found.overall_[2])
    assert 0.9 < np.mean(inside) < 0.99
    assert np.mean(overall) >= 0.875  # five of 40 have a chance of 5 %


def test_weights_tell_what_an_audited_row_stands_for():
    complete, recorded = np.array([[1, 1], [1, 1]]), np.array([[1, 1], [1, 0]])
    twice = Propensity.from_audit(recorded, complete, sample_weight=[1, 3])
    assert twice.overall_[0] == pytest.approx((2 + 3) / (2 + 6))


def test_what_an_audit_found_is_saved(tmp_path):
    model = Propensity.from_audit([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    for name in ("values_", "interval_", "overall_", "law_"):
        assert_array_equal(getattr(again, name), getattr(model, name))


@pytest.mark.parametrize("truth", [0.2, 0.5, 0.9])
def test_a_mixture_finds_what_was_planted(truth):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 5))
    is_true = rng.random(scores.shape) < 1 / (1 + np.exp(-6 * (scores - 1)))
    Y = is_true & (rng.random(scores.shape) < truth)
    found = Propensity.mixture(Y, scores).values_
    assert_allclose(found, truth, atol=0.05)


def test_a_mixture_tells_bands_of_frequency_apart():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6000, 2))
    is_true = rng.random(scores.shape) < 1 / (1 + np.exp(-8 * (scores - [0, 1.7])))
    Y = is_true & (rng.random(scores.shape) < [0.8, 0.3])
    found = Propensity.mixture(Y, sp.csr_array(scores)).values_
    assert_allclose(found, [0.8, 0.3], atol=0.06)


def test_a_mixture_warns_where_no_item_is_sure():
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=(4000, 1))
    Y = rng.random(scores.shape) < 0.2 * np.exp(3 * (scores - 1))
    with pytest.warns(UserWarning, match="is a guess: the highest scores are true"):
        Propensity.mixture(Y, scores)


def test_sure_items_are_no_cause_for_a_warning():
    scores = np.repeat([[-1.0], [1.0]], 100, axis=0)
    Y = np.array([[0]] * 100 + [[1], [0]] * 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(Propensity.mixture(Y, scores).values_, 0.5, atol=0.01)


def test_what_is_recorded_by_chance_is_no_contradiction():
    check_possible(np.array([0.3, 0.5]), np.array([1, 30]), 40)
    Propensity(values=0.3).fit([[1, 0, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Propensity.from_audit([[0, 0], [0, 1]], [[1, 1], [1, 0]]),
            "recorded must hold only labels of complete. Got label 1 in row 1",
        ),
        (
            lambda: Propensity.from_audit([[0, 0]], [[0, 0]]),
            "complete must hold at least one label. Got none",
        ),
        (
            lambda: Propensity.from_audit([[1]], [[1], [1]]),
            "recorded must have 2 rows. Got 1",
        ),
        (
            lambda: Propensity.from_audit([[1]], [[1]], sample_weight=[1, 2]),
            "sample_weight must have 1 values",
        ),
        (
            lambda: Propensity.mixture([[1, 0]], [[0.5]]),
            "scores must have 2 columns. Got 1",
        ),
        (
            lambda: Propensity.mixture([[0]], [[0.5]]),
            "scores must be of a recorded label. Got none",
        ),
        (
            lambda: check_possible(np.array([0.1]), np.array([90]), 100),
            "label 0 is recorded in 90 of 100 rows, which 0.1 does not",
        ),
    ],
)
def test_wrong_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()

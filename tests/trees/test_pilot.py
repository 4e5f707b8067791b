"""Choices on rows held out, against trying everything."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import FastXML, PfastXML, make_corpus
from manylabel.losses import NAMED, CountedCost, as_cost, unbiased_hamming
from manylabel.losses.compared import Compared
from manylabel.trees import _pilot
from manylabel.trees._lists import Lists

COSTS = ["f1", "accuracy", "hamming"]


class Weighted(CountedCost):
    """The user's own."""

    name, meaning = "weighted", "Twice the wrongly predicted, and the missed."

    def from_counts(self, hits, n_true, n_predicted, n_labels):
        """Return it."""
        return 2 * (n_predicted - hits) + (n_true - hits)


@st.composite
def problems(draw):
    """Return scores of some labels, many of them equal, true labels, weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 7))
    scores = rng.integers(1, 9, shape) * (rng.random(shape) < 0.6)
    Y = sp.csr_array((rng.random(shape) < 0.4).astype(np.float32))
    weights = 1 / rng.uniform(0.1, 1, shape[1])
    return scores.astype(np.float32), Y, weights


def listed(scores):
    matrix = sp.csr_array(scores)
    return Lists(matrix.indptr.astype(np.int64), matrix.indices, matrix.data)


@given(problems(), st.sampled_from(sorted(NAMED)))
def test_without_missing_labels_costs_of_heads_are_the_costs(problem, name):
    scores, Y, _ = problem
    values, columns = _pilot._ranked(listed(scores), Y.shape[1])
    cost = as_cost(name)
    found = _pilot.costs_of_heads(columns, Y, np.ones(Y.shape[1]), cost)
    for size in range(Y.shape[1] + 1):
        head = np.zeros(Y.shape)
        np.put_along_axis(head, columns[:, :size].astype(int), 1, axis=1)
        assert_allclose(found[:, size], cost.of_rows(Compared.of(Y, head)), atol=1e-9)
    assert (values[:, 1:] <= values[:, :-1]).all()


@given(problems())
def test_the_hamming_loss_is_the_unbiased_one(problem):
    scores, Y, weights = problem
    _, columns = _pilot._ranked(listed(scores), Y.shape[1])
    found = _pilot.costs_of_heads(columns, Y, weights, as_cost("hamming"))
    for size in range(Y.shape[1] + 1):
        head = np.zeros(Y.shape)
        np.put_along_axis(head, columns[:, :size].astype(int), 1, axis=1)
        assert_allclose(found[:, size], unbiased_hamming(Y, head, 1 / weights))


@pytest.mark.parametrize("cost", [*COSTS, Weighted()])
def test_estimates_from_recorded_labels_come_near_the_cost_on_complete_ones(cost):
    """Mean over all ways to record labels, by enumeration."""
    complete, p = np.array([1, 1, 0, 1, 0]), np.array([0.3, 0.6, 0.5, 0.8, 0.9])
    columns = np.array([[0, 2, 3, 4, 1]], np.int32)
    expected, plain = 0.0, 0.0
    for code in range(8):
        recorded = np.zeros(5)
        recorded[[0, 1, 3]] = [code & 1, code >> 1 & 1, code >> 2]
        chance = np.prod(np.where(recorded, p, 1 - p)[complete > 0])
        Y = sp.csr_array(recorded[None].astype(np.float32))
        estimate = _pilot.costs_of_heads(columns, Y, 1 / p, as_cost(cost))
        expected += chance * estimate
        plain += chance * _pilot.costs_of_heads(columns, Y, np.ones(5), as_cost(cost))
    Y = sp.csr_array(complete[None].astype(np.float32))
    truth = _pilot.costs_of_heads(columns, Y, np.ones(5), as_cost(cost))
    error, uncorrected = (np.abs(e - truth)[:, 1:] for e in (expected, plain))
    assert error.max() < 0.25 * uncorrected.max()
    if cost == "hamming" or isinstance(cost, Weighted):  # linear in the counts
        assert error.max() < 1e-12


@given(problems(), st.sampled_from([*COSTS, Weighted()]))
def test_no_threshold_costs_less(problem, cost):
    scores, Y, _ = problem
    cost = as_cost(cost)

    def mean_cost(threshold):
        predicted = (scores > max(threshold, 0)).astype(float)
        return cost.of_rows(Compared.of(Y, predicted)).mean()

    ones = np.ones(Y.shape[1])
    chosen = _pilot.best_threshold(listed(scores), Y, ones, cost)
    assert mean_cost(chosen) <= min(map(mean_cost, [*np.unique(scores), -1])) + 1e-9


@given(problems(), st.integers(0, 40))
def test_a_matching_threshold_lets_so_many_pass(problem, n_labels):
    rng = np.random.default_rng(0)
    scores = listed(problem[0])
    scores = scores._replace(values=rng.permutation(len(scores.values)).astype(float))
    threshold = _pilot.matching_threshold(scores, n_labels)
    assert (scores.values > threshold).sum() == min(n_labels, len(scores.values))


@pytest.mark.parametrize("low", np.float32([0.3, 0.4, 0.7]))
def test_a_threshold_parts_neighbouring_singles(low):
    values = np.array([low, np.nextafter(low, np.float32(1))])
    threshold = _pilot.matching_threshold(Lists(np.r_[0, 2], np.r_[0, 1], values), 1)
    assert float(low) < threshold < float(values[1])


@given(st.integers(1, 300), st.integers(0, 2**32))
def test_rows_are_held_out_once_and_the_same_again(n_rows, seed):
    parts = _pilot.divided(n_rows, seed)
    if n_rows < 10:
        assert parts is None
        return
    held = parts[0]
    assert len(held) == max(n_rows // 10, 3)
    assert_array_equal(np.sort(np.concatenate(parts)), np.arange(n_rows))
    assert_array_equal(held, _pilot.divided(n_rows, seed)[0])


def test_alpha_is_the_largest_of_the_best_for_the_metric():
    Y = sp.csr_array(np.float32([[1, 0], [0, 1]] * 5))
    starts, labels = np.arange(11) * 2, np.tile(np.int32([0, 1]), 10)
    right, wrong = (np.where(Y.toarray().ravel() == y, -1.0, -3.0) for y in (1, 0))
    for trees, tail, expected in ((right, wrong, 1.0), (wrong, right, 0.414)):
        lists = Lists(starts, labels, trees)
        for metric in ("P@1", "nDCG@2", None):
            alpha = _pilot.best_alpha(lists, tail, Y, metric, np.ones(2))
            assert_allclose(alpha, expected, atol=1e-3)


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(n_rows=400, n_features=80, n_labels=20, random_state=0)


@pytest.mark.parametrize("kind", [FastXML, PfastXML])
def test_a_cost_moves_the_threshold_and_no_tree(kind, corpus):
    plain = kind(n_trees=4, C=10.0).fit(corpus.X, corpus.Y)
    chosen = kind(n_trees=4, C=10.0, cost="f1").fit(corpus.X, corpus.Y)
    assert plain.threshold_ == 0.5
    assert 0 < chosen.threshold_ < 0.5
    difference = plain.decision_function(corpus.X) - chosen.decision_function(corpus.X)
    assert_allclose(difference, chosen.threshold_ - 0.5, atol=1e-6)
    assert_array_equal(plain.children_, chosen.children_)


def test_a_generator_grows_the_same_trees_with_and_without_a_pilot(corpus):
    plain, chosen = (
        FastXML(n_trees=2, cost=cost, random_state=np.random.default_rng(3))
        for cost in (None, "accuracy")
    )
    plain.fit(corpus.X, corpus.Y), chosen.fit(corpus.X, corpus.Y)
    assert_array_equal(plain.leaf_labels_, chosen.leaf_labels_)


@pytest.mark.parametrize("cost", [*COSTS, Weighted()])
def test_a_threshold_for_a_cost_helps_on_new_rows(cost, corpus):
    new = make_corpus(n_rows=800, n_features=80, n_labels=20, random_state=0)
    X, Y = new.X[400:], new.Y[400:]
    models = (FastXML(n_trees=10, C=10.0, cost=c) for c in (None, cost))
    plain, chosen = (
        as_cost(cost)
        .of_rows(Compared.of(Y, model.fit(new.X[:400], new.Y[:400]).predict(X)))
        .mean()
        for model in models
    )
    assert chosen <= plain + 0.01


@pytest.mark.parametrize("n_rows", [1, 2, 3, 9, 10, 11])
@pytest.mark.parametrize("kind", [FastXML, PfastXML])
def test_few_rows_are_enough(kind, n_rows, corpus):
    model = kind(n_trees=2, cost="f1").fit(corpus.X[:n_rows], corpus.Y[:n_rows])
    assert n_rows >= 10 or model.threshold_ == 0.5
    predicted = model.predict(corpus.X[:50]).toarray()
    assert_array_equal(predicted, model.decision_function(corpus.X[:50]) > 0)


def test_a_cost_that_is_no_function_of_counts_is_refused(corpus):
    with pytest.raises(ValueError, match=r"cost must depend on counts.* Got <function"):
        FastXML(cost=lambda y, y_hat: 0.0).fit(corpus.X, corpus.Y)
    with pytest.raises(ValueError, match="cost must be one of hamming"):
        FastXML(cost="f2").fit(corpus.X, corpus.Y)
    with pytest.raises(TypeError, match="cost must be a name"):
        FastXML(cost=0).fit(corpus.X, corpus.Y)


@pytest.mark.parametrize("kind", [FastXML, PfastXML])
def test_probabilities_are_means_of_the_leaves(kind, corpus):
    model = kind(n_trees=3, C=10.0).fit(corpus.X, corpus.Y)
    found = model.predict_proba(corpus.X)
    expected = np.clip(model.decision_function(corpus.X) + 0.5, 0, 1)
    assert_allclose(found, expected, atol=1e-6)
    assert found.max() <= 1
    assert found.dtype == np.float32


def test_too_many_probabilities_are_refused(corpus, monkeypatch):
    model = FastXML(n_trees=1).fit(corpus.X, corpus.Y)
    monkeypatch.setattr("manylabel.trees._forest.MOST_PAIRS", 1000)
    with pytest.raises(ValueError, match="at most 50 rows for 20 labels; use predict_"):
        model.predict_proba(corpus.X[:51])
    assert model.predict_proba(corpus.X[:50]).shape == (50, 20)


@pytest.mark.parametrize("most", [1, 2, 5, 19, 20, 100])
def test_the_best_labels_of_the_leaves_are_listed_by_column(most, corpus):
    model = FastXML(n_trees=2, C=10.0).fit(corpus.X, corpus.Y)
    means = model.decision_function(corpus.X) + np.float32(0.5)
    found = model._listed(corpus.X, most).csr(20)
    for row, expected in enumerate(means):
        best = np.argsort(-expected.round(6), kind="stable")[:most]
        best = np.sort(best[expected[best] > 0])
        assert_array_equal(found[[row]].indices, best)
        assert_allclose(found[[row]].data, expected[best], atol=1e-6)

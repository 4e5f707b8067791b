"""Choices on a validation set, against trying everything."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import FastXML, PfastXML, make_corpus
from manylabel.lists import Lists
from manylabel.losses import CountedCost, as_cost
from manylabel.losses.compared import Compared
from manylabel.trees import _tail_weight

COSTS = ["f1", "accuracy", "hamming"]


class Weighted(CountedCost):
    """The user's own."""

    name, meaning = "weighted", "Twice the wrongly predicted, and the missed."

    def from_counts(self, hits, n_true, n_predicted, n_labels):
        """Return it."""
        return 2 * (n_predicted - hits) + (n_true - hits)


def test_alpha_is_the_largest_of_the_best_for_the_metric():
    Y = sp.csr_array(np.float32([[1, 0], [0, 1]] * 5))
    starts, labels = np.arange(11) * 2, np.tile(np.int32([0, 1]), 10)
    right, wrong = (np.where(Y.toarray().ravel() == y, -1.0, -3.0) for y in (1, 0))
    for trees, tail, expected in ((right, wrong, 1.0), (wrong, right, 0.414)):
        lists = Lists(starts, labels, trees)
        for metric in ("P@1", "nDCG@2", None):
            alpha = _tail_weight.best_alpha(lists, tail, Y, metric, np.ones(2))
            assert_allclose(alpha, expected, atol=1e-3)


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(n_rows=400, n_features=80, n_labels=20, random_state=0)


@pytest.mark.parametrize("kind", [FastXML, PfastXML])
def test_a_cost_moves_the_threshold_and_no_tree(kind, corpus):
    plain = kind(n_estimators=4, C=10.0).fit(corpus.X, corpus.Y)
    chosen = kind(n_estimators=4, C=10.0, cost="f1").fit(corpus.X, corpus.Y)
    assert plain.threshold_ == 0.5
    assert 0 < chosen.threshold_ < 0.5
    difference = plain.decision_function(corpus.X) - chosen.decision_function(corpus.X)
    assert_allclose(difference, chosen.threshold_ - 0.5, atol=1e-6)
    assert_array_equal(plain.forest_.children, chosen.forest_.children)


def test_a_generator_grows_the_same_trees_with_and_without_a_validation_set(corpus):
    plain, chosen = (
        FastXML(n_estimators=2, cost=cost, random_state=np.random.default_rng(3))
        for cost in (None, "accuracy")
    )
    plain.fit(corpus.X, corpus.Y), chosen.fit(corpus.X, corpus.Y)
    assert_array_equal(plain.forest_.leaf_labels, chosen.forest_.leaf_labels)


@pytest.mark.parametrize("cost", [*COSTS, Weighted()])
def test_a_threshold_for_a_cost_helps_on_new_rows(cost, corpus):
    new = make_corpus(n_rows=800, n_features=80, n_labels=20, random_state=0)
    X, Y = new.X[400:], new.Y[400:]
    models = (FastXML(n_estimators=10, C=10.0, cost=c) for c in (None, cost))
    plain, chosen = (
        as_cost(cost)
        .of_rows(Compared.of(Y, model.fit(new.X[:400], new.Y[:400]).predict(X)))
        .mean()
        for model in models
    )
    assert chosen <= plain + 0.01


@pytest.mark.parametrize("n_rows", [1, 2, 19, 20, 21])
@pytest.mark.parametrize("kind", [FastXML, PfastXML])
def test_few_rows_are_enough(kind, n_rows, corpus):
    model = kind(n_estimators=2, cost="f1").fit(corpus.X[:n_rows], corpus.Y[:n_rows])
    assert n_rows >= 20 or model.threshold_ == 0.5
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
    model = kind(n_estimators=3, C=10.0).fit(corpus.X, corpus.Y)
    found = model.predict_proba(corpus.X)
    expected = np.clip(model.decision_function(corpus.X) + 0.5, 0, 1)
    assert_allclose(found, expected, atol=1e-6)
    assert found.max() <= 1
    assert found.dtype == np.float32


def test_too_many_probabilities_are_refused(corpus, monkeypatch):
    model = FastXML(n_estimators=1).fit(corpus.X, corpus.Y)
    monkeypatch.setattr("manylabel._validation.MAX_BYTES", 8000)
    refusal = "at most 50 rows for dense scores of 20 labels; use predict_topk"
    with pytest.raises(ValueError, match=refusal):
        model.predict_proba(corpus.X[:51])
    assert model.predict_proba(corpus.X[:50]).shape == (50, 20)


@pytest.mark.parametrize("most", [1, 2, 5, 19, 20, 100])
def test_the_best_labels_of_the_leaves_are_listed_by_column(most, corpus):
    model = FastXML(n_estimators=2, C=10.0).fit(corpus.X, corpus.Y)
    means = model.decision_function(corpus.X) + np.float32(0.5)
    found = model._listed(corpus.X, most).csr(20)
    for row, expected in enumerate(means):
        best = np.argsort(-expected.round(6), kind="stable")[:most]
        best = np.sort(best[expected[best] > 0])
        assert_array_equal(found[[row]].indices, best)
        assert_allclose(found[[row]].data, expected[best], atol=1e-6)

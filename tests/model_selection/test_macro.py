"""Macro measures at k: what is given against all that could be, and single rows."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import Calibrated, MacroAtK, OneVsRest, evaluate, load, make_corpus
from manylabel.model_selection import calibration, macro
from manylabel.model_selection.macro import KINDS, give_labels

PROBA = arrays(float, (3, 4), elements=st.floats(0.01, 0.99))
each_metric = pytest.mark.parametrize("metric", sorted(KINDS))


def measure(proba, sets, metric, true):
    """Return the sum over labels of the measure of expected counts."""
    hits, n = (proba * sets).sum(axis=0), sets.sum(axis=0)
    if metric == "coverage":
        return (1 - np.prod(1 - proba * sets, axis=0) + 1e-3 * hits).sum()
    below = {"precision": n, "recall": true, "f1": n + true}[metric]
    return ((1 + (metric == "f1")) * hits / np.where(below > 0, below, 1)).sum()


def all_sets(n_rows, n_labels, k):
    """Yield every way to give each row k labels."""
    rows = [np.isin(np.arange(n_labels), c) for c in combinations(range(n_labels), k)]
    for chosen in product(rows, repeat=n_rows):
        yield np.array(chosen)


@each_metric
@settings(max_examples=25)
@given(proba=PROBA)
def test_no_other_labels_of_one_row_would_add(metric, proba):
    true = proba.sum(axis=0)
    found = give_labels(sp.csr_array(proba), 2, metric, true)
    sets = found.is_given.reshape(proba.shape)
    assert_array_equal(sets.sum(axis=1), 2)
    assert_allclose(found.hits, (proba * sets).sum(axis=0), atol=1e-9)
    best = measure(proba, sets, metric, true)
    for i in range(3):
        for row in all_sets(1, 4, 2):
            other = sets.copy()
            other[i] = row[0]
            assert measure(proba, other, metric, true) <= best + 1e-5


@each_metric
def test_what_is_found_is_near_the_best_of_all(metric):
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(20):
        proba = rng.random((3, 4)) ** 2
        true = proba.sum(axis=0)
        found = give_labels(sp.csr_array(proba), 2, metric, true)
        got = measure(proba, found.is_given.reshape(3, 4), metric, true)
        best = max(measure(proba, s, metric, true) for s in all_sets(3, 4, 2))
        shares.append(got / best)
    assert np.mean(shares) > 0.97


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(n_rows=4000, n_labels=60, random_state=0)


@pytest.mark.parametrize(
    ("metric", "figure"), [("f1", "macro-F1@3"), ("coverage", "coverage@3")]
)
def test_the_measure_is_larger_than_that_of_the_ranking(corpus, metric, figure):
    train, fresh = slice(0, 3000), slice(3000, None)
    plain = OneVsRest().fit(corpus.X[train], corpus.Y[train])
    model = MacroAtK(OneVsRest(), metric=metric, k=3)
    model.fit(corpus.X[train], corpus.Y[train])
    X, Y = corpus.X[fresh], corpus.Y[fresh]
    before, alone = (
        evaluate(Y, m.predict_topk(X, 3), k=3)[figure] for m in (plain, model)
    )
    together = evaluate(Y, model.assign(X).astype(float), k=3)[figure]
    assert before < together
    assert before <= alone


@each_metric
def test_a_rule_is_what_one_more_row_adds(metric, corpus):
    model = MacroAtK(OneVsRest(), metric=metric, k=3).fit(corpus.X, corpus.Y)
    rng = np.random.default_rng(0)
    proba = rng.random((6, 60)) ** 3
    true = 6 * model.share_
    given = give_labels(sp.csr_array(proba), 3, metric, true)
    sets = np.vstack([given.is_given.reshape(proba.shape), np.zeros(60)])
    slope, offset = macro._rule(given, metric, true)
    row = rng.random(60)
    proba = np.vstack([proba, row])
    before = measure(proba, sets, metric, true)
    for label in range(0, 60, 12):
        more = sets.copy()
        more[-1, label] = 1
        added = measure(proba, more, metric, true) - before
        assert_allclose(slope[label] * row[label] + offset[label], added, atol=1e-9)


def test_rows_alone_have_the_bits_of_a_batch_and_saving_keeps_them(corpus, tmp_path):
    model = MacroAtK(OneVsRest(), k=4).fit(corpus.X, corpus.Y)
    together = model.predict_topk(corpus.X[:20], 4)
    alone = sp.vstack([model.predict_topk(corpus.X[[i]], 4) for i in range(20)])
    assert_array_equal(together.toarray(), alone.toarray())
    assert_array_equal(model.predict(corpus.X[:20]).sum(axis=1), 4)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model").predict_topk(corpus.X[:20], 4)
    assert_array_equal(again.toarray(), together.toarray())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f2"}, "metric must be one of precision, recall, f1, coverage"),
        ({"k": 0}, "k must be"),
    ],
)
def test_parameters_out_of_range_are_refused(options, message, corpus):
    with pytest.raises(ValueError, match=message):
        MacroAtK(OneVsRest(), **options).fit(corpus.X, corpus.Y)


def test_labels_of_any_rank_count_alike_for_the_curves(monkeypatch):
    corpus = make_corpus(n_rows=400, n_labels=40, random_state=0)
    found = MacroAtK(OneVsRest(), k=3).fit(corpus.X, corpus.Y).calibration_.shares
    by_rank = Calibrated(OneVsRest()).fit(corpus.X, corpus.Y).calibration_.shares
    assert np.abs(found - by_rank).max() > 0.01
    monkeypatch.setattr(calibration, "weigh_ranks", lambda scores: scores * 0 + 1)
    alike = Calibrated(OneVsRest()).fit(corpus.X, corpus.Y).calibration_.shares
    assert_allclose(found, alike)

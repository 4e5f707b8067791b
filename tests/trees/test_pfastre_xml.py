"""PfastreXML: its formula, its laws, its figures, its refusals."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfTransformer

from manylabel import (
    FastXML,
    PfastreXML,
    PfastXML,
    Propensity,
    evaluate,
    load,
    make_corpus,
    read,
)
from manylabel.exceptions import ArchiveError
from manylabel.lists import Lists
from manylabel.trees._tail_weight import TEMPERATURES, best_temperature

# The authors' program with 50 trees: P@1, 3, 5 and PSP@1, 3, 5.
AUTHORS = {"bibtex": (63.58, 39.92, 29.65, 52.55, 54.56, 60.78)}
SMALL = {"n_estimators": 3, "C": 10.0}
PROGRAM = PfastreXML.AUTHORS | SMALL


def slow_scores(model, X, Y, rows):
    """Return alpha log Q + (1 - alpha) log P where Q > 0, by the definitions."""
    Q = PfastXML(**SMALL).fit(X, Y).decision_function(rows) + 0.5
    units = [np.hstack([M.toarray(), np.ones((M.shape[0], 1))]) for M in (X, rows)]
    train, test = (U / np.linalg.norm(U, axis=1, keepdims=True) for U in units)
    labels = Y.toarray()
    points = (train.T @ labels) / np.maximum(labels.sum(axis=0), 1)
    square = (points**2).sum(axis=0) + 1 - 2 * test @ points
    gamma = model.gamma / (2 if model.tail == "paper" else 1)
    log_p = -np.logaddexp(0, gamma * square + np.log(model.beta))
    with np.errstate(divide="ignore"):
        log_q = np.log(np.where(Q > 1e-6, Q, 0))
    return model.alpha * log_q + (1 - model.alpha) * log_p


@pytest.mark.parametrize("tail", ["program", "paper"])
@pytest.mark.parametrize(("alpha", "beta"), [(0.01, 1.0), (0.8, 0.02), (0.3, 50.0)])
def test_scores_follow_the_formula(tail, alpha, beta, problem):
    X, Y = problem
    given = PROGRAM | {"tail": tail, "alpha": alpha, "gamma": 7.0, "beta": beta}
    model = PfastreXML(**given).fit(X, Y)
    found, expected = model.decision_function(X), slow_scores(model, X, Y, X)
    ranked = np.isfinite(expected)
    assert 0 < ranked.mean() < 1
    assert_allclose((found + model.threshold_)[ranked], expected[ranked], atol=2e-3)
    assert found[~ranked].max() < found[ranked].min() - 50


def test_by_default_scores_blend_frequencies_and_cosines(problem):
    X, Y = problem
    model = PfastreXML(**SMALL, alpha=0.4, temperature=None).fit(X, Y)
    Q = model.leaves_[model._reached(X).ravel()].toarray().reshape(200, 3, 15).mean(1)
    weighed = TfidfTransformer(norm="l2").fit_transform(X.toarray() + 0.0).toarray()
    points = weighed.T @ Y.toarray()
    points /= np.linalg.norm(points, axis=0)
    with np.errstate(divide="ignore"):
        expected = 0.4 * np.log(Q) + 0.6 * np.log(weighed @ points + 0.1)
    ranked, found = Q > 0, model.decision_function(X) + model.threshold_
    assert_allclose(found[ranked], expected[ranked], atol=2e-4)
    assert found[~ranked].max() < found[ranked].min() - 50


@pytest.mark.parametrize("temperature", [0.05, 0.7, 20.0])
def test_a_temperature_moves_the_scores_of_a_row_to_the_sum_of_the_trees(
    temperature, problem
):
    X, Y = problem
    plain = PfastreXML(**SMALL, alpha=0.4, temperature=None).fit(X, Y)
    model = PfastreXML(**SMALL, alpha=0.4, temperature=temperature).fit(X, Y)
    Q = model.leaves_[model._reached(X).ravel()].toarray().reshape(200, 3, 15).mean(1)
    found, scores = (
        each.decision_function(X).astype(float) + each.threshold_
        for each in (model, plain)
    )
    moved = np.ma.array(found - scores, mask=Q == 0)
    assert moved.std(axis=1).max() < 1e-4
    assert moved.mean(axis=1).std() > 1e-2
    sums = np.where(Q > 0, np.exp(found / temperature), 0).sum(axis=1)
    assert_allclose(sums, Q.sum(axis=1), rtol=1e-3)
    assert (np.where(Q > 0, -np.inf, found).max(axis=1) < found[Q > 0].min() - 50).all()
    assert_array_equal(
        model.predict_topk(X, 4).indices, plain.predict_topk(X, 4).indices
    )


def test_the_temperature_is_that_of_the_most_likely_labels():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 6)) + 3 * rng.normal(size=(300, 1))
    chance = np.exp(scores / 0.25)
    chance /= chance.sum(axis=1, keepdims=True)
    Y = np.array([rng.multinomial(1, row) for row in chance])
    lists = Lists(np.arange(0, 1801, 6), np.tile(np.arange(6), 300), scores.ravel())

    def likelihood(temperature):
        logs = scores / temperature
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
        return (Y * logs).sum()

    found = best_temperature(lists, sp.csr_array(Y), np.ones(6))
    assert found == max(TEMPERATURES, key=likelihood)
    assert 0.2 < found < 0.3


def test_by_default_probabilities_are_frequencies_divided_by_propensities(problem):
    X, Y = problem
    model = PfastreXML(**SMALL, alpha=0.4, propensity=0.25).fit(X, Y)
    Q = model.leaves_[model._reached(X).ravel()].toarray().reshape(200, 3, 15).mean(1)
    assert_allclose(model.predict_proba(X), np.clip(4 * Q, 0, 1), atol=1e-6)


def test_by_default_trees_gain_the_root_of_the_inverse_propensity_of_a_label(problem):
    X, Y = problem
    gain = Propensity().fit(Y).values_ ** -0.5
    trees = FastXML(**SMALL, label_gain=gain).fit(X, Y)
    model = PfastreXML(**SMALL).fit(X, Y)
    for mine, theirs in zip(model.forest_, trees.forest_, strict=True):
        assert_array_equal(mine, theirs)


@given(st.integers(1, 20), st.integers(1, 20), st.floats(0, 1))
@settings(max_examples=20)
def test_topk_is_the_head_of_the_scores(k, n_ranked, alpha):
    corpus = make_corpus(n_rows=60, n_features=30, n_labels=15, random_state=1)
    Y = corpus.Y.toarray()
    Y[:, 3] = 0
    model = PfastreXML(**SMALL, alpha=alpha, n_ranked=n_ranked).fit(corpus.X, Y)
    scores = model.decision_function(corpus.X)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    best = model.predict_topk(corpus.X, k=k)
    for row, columns in enumerate(order):
        assert_array_equal(best[[row]].indices, np.sort(columns))
        assert_array_equal(best[[row]].data, scores[row, np.sort(columns)])
    assert_array_equal(model.predict(corpus.X), scores > 0)
    assert order.shape[1] < 15 or not Y[:, order[:, -1]].any(), "unseen are last"


def test_only_the_best_labels_of_the_trees_are_ranked(problem):
    X, Y = problem
    trees = PfastXML(**SMALL).fit(X, Y).predict_topk(X, k=4)
    few = PfastreXML(**PROGRAM | {"alpha": 0.1}, n_ranked=4).fit(X, Y)
    found = few.predict_topk(X, k=4)
    trees.data[trees.data == -0.5] = 0  # of no leaf
    trees.eliminate_zeros()
    missing = trees.astype(bool).astype(int) - found.astype(bool).astype(int)
    assert (missing > 0).nnz == 0


def test_an_alpha_of_one_ranks_as_the_trees_do(problem):
    X, Y = problem
    trees = PfastXML(**SMALL).fit(X, Y).decision_function(X)
    scores = PfastreXML(**PROGRAM | {"alpha": 1}).fit(X, Y).decision_function(X)
    assert_array_equal(
        np.argsort(-scores, axis=1, kind="stable"),
        np.argsort(-trees, axis=1, kind="stable"),
    )


def test_the_authors_trees_are_those_of_pfastxml_whatever_is_chosen(problem):
    trees = PfastXML(**SMALL).fit(*problem)
    for given_ in ({"alpha": 0.8}, {"alpha": "auto"}, {"cost": "f1"}):
        model = PfastreXML(**PROGRAM | given_).fit(*problem)
        for mine, theirs in zip(model.forest_, trees.forest_, strict=True):
            assert_array_equal(mine, theirs)
        assert_array_equal(
            model.predict_proba(problem[0]), trees.predict_proba(problem[0])
        )


def test_rows_get_as_many_labels_as_they_are_estimated_to_have(problem):
    X, Y = problem
    model = PfastreXML(**SMALL, alpha=0.8, temperature=None).fit(X, Y)
    expected = (Y @ (1 / Propensity().fit(Y).values_)).sum()
    assert abs(model.predict(X).sum() - expected) <= 1


def test_a_cost_changes_the_threshold_only(problem):
    plain = PfastreXML(**SMALL).fit(*problem)
    chosen = PfastreXML(**SMALL, cost="f1").fit(*problem)
    assert plain.alpha_ == chosen.alpha_
    assert plain.threshold_ != chosen.threshold_
    difference = plain.decision_function(problem[0])
    difference -= chosen.decision_function(problem[0])
    assert_allclose(difference, chosen.threshold_ - plain.threshold_, atol=1e-4)


def test_a_metric_chooses_alpha():
    corpus = make_corpus(n_rows=600, n_features=60, n_labels=15, random_state=0)
    rng = np.random.default_rng(0)
    X = corpus.X.toarray()
    X[:, 0] = 100 * rng.normal(size=len(X))  # nearness says nothing any more
    model = PfastreXML(n_estimators=5, C=10.0, metric="PSP@3").fit(X, corpus.Y)
    assert model.alpha_ > 0.8


@pytest.mark.parametrize("n_rows", [1, 2, 19, 20, 21])
def test_few_rows_are_enough(n_rows, problem):
    X, Y = problem[0][:n_rows], problem[1][:n_rows]
    for cost in (None, "hamming"):
        model = PfastreXML(n_estimators=2, cost=cost).fit(X, Y)
        assert n_rows >= 20 or model.alpha_ == 0.8
        scores = model.decision_function(problem[0])
        assert np.isfinite(scores).all()
        assert_array_equal(model.predict(problem[0]).toarray(), scores > 0)


def test_rows_without_labels_or_features_are_learnt(problem):
    X, Y = problem
    nothing = PfastreXML(n_estimators=2).fit(X, 0 * Y)
    assert nothing.predict(X).nnz == 0
    assert nothing.predict_topk(X, k=2).nnz == 2 * X.shape[0]
    zeros = PfastreXML(n_estimators=2, intercept_scaling=0.0, alpha=0.5).fit(0 * X, Y)
    assert np.isfinite(zeros.decision_function(X)).all()


@pytest.mark.parametrize("largest", [1e30, 3e38])
def test_large_values_do_not_overflow(largest, problem):
    X, Y = problem[0] / problem[0].max() * np.float32(largest), problem[1]
    for tail in ("program", "cosine"):
        given_ = PROGRAM | {"alpha": 0.3, "gamma": 1e6, "tail": tail}
        model = PfastreXML(**given_).fit(X, Y)
        assert np.isfinite(model.decision_function(X)).all()


def test_weights_of_rows_count_in_centroids(problem, assert_same_state):
    X, Y = problem
    weights = np.arange(X.shape[0]) % 2
    weighted = PfastreXML(**SMALL, alpha=0.8).fit(X, Y, sample_weight=weights)
    half = PfastreXML(**SMALL, alpha=0.8).fit(X[1::2], Y[1::2])
    assert_same_state(weighted, half)


def test_a_warm_start_grows_the_same_forest_as_growing_it_at_once(
    problem, assert_same_state
):
    once = PfastreXML(n_estimators=4, C=10.0).fit(*problem)
    grown = PfastreXML(n_estimators=2, C=10.0, warm_start=True).fit(*problem)
    assert_same_state(grown.set_params(n_estimators=4).fit(*problem), once)


def test_merging_and_trimming_keep_centroids_and_choices(problem, assert_same_state):
    one = PfastreXML(**SMALL).fit(*problem)
    other = PfastreXML(**SMALL, random_state=5).fit(*problem)
    merged = one.merged(other)
    assert merged.n_estimators == 6
    assert_same_state(merged.trimmed(3), one)
    halves = one.predict_proba(problem[0]) / 2 + other.predict_proba(problem[0]) / 2
    close = np.abs(merged.predict_proba(problem[0]) - halves) < 1e-6
    assert close[halves < 0.5].all()  # above, they may have been cut to 1


def test_forests_of_other_data_are_not_merged(problem):
    X, Y = problem
    one = PfastreXML(**SMALL, propensity=0.5).fit(X, Y)
    other = PfastreXML(**SMALL, propensity=0.5).fit(X[::-1] * 2, Y)
    with pytest.raises(ValueError, match="same data: its centroids differ"):
        one.merged(other)


def test_a_memory_mapped_model_predicts_the_same(problem, tmp_path, assert_same_state):
    model = PfastreXML(**SMALL).fit(*problem)
    model.save(tmp_path / "model")
    mapped = load(tmp_path / "model", mmap=True)
    assert_same_state(mapped, model)
    expected = model.predict_topk(problem[0], k=3).toarray()
    assert_array_equal(mapped.predict_topk(problem[0], k=3).toarray(), expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tail_.scale", np.ones(3, np.float32)),
        ("tail_.number", np.zeros(15, np.int32)),
        ("tail_.square", np.full(15, np.nan, np.float32)),
        ("threshold_", float("nan")),
        ("alpha_", 2.0),
    ],
)
def test_a_folder_that_does_not_fit_together_is_refused(name, value, problem, tmp_path):
    model = PfastreXML(**SMALL).fit(*problem)
    if field := name.partition(".")[2]:
        model.tail_ = model.tail_._replace(**{field: value})
    else:
        setattr(model, name, value)
    model.save(tmp_path / "model")
    with pytest.raises(ArchiveError, match=re.escape(name)):
        load(tmp_path / "model")


def test_centroids_of_a_folder_must_be_in_order(problem, tmp_path):
    model = PfastreXML(**SMALL).fit(*problem)
    wrong = model.tail_.own_features[::-1].copy()
    model.tail_ = model.tail_._replace(own_features=wrong)
    model.save(tmp_path / "model")
    with pytest.raises(ArchiveError, match=r"tail_\.own_features must ascend"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 1.5}, "alpha == 1.5, must be <= 1"),
        ({"alpha": "best"}, "alpha must be .*auto.* Got 'best'"),
        ({"alpha": float("nan")}, "alpha must"),
        ({"temperature": "hot"}, "temperature must be one of auto. Got 'hot'"),
        ({"temperature": 0.0}, "temperature == 0.0, must be > 0"),
        ({"temperature": 101}, "temperature == 101, must be <= 100"),
        ({"beta": 0.0}, "beta == 0.0, must be >= 1e-06"),
        ({"beta": 1e9}, "beta == 1000000000.0, must be <= 1000000"),
        ({"gamma": 0.0}, "gamma == 0.0, must be > 0"),
        ({"gamma": 1e9}, "gamma == 1000000000.0, must be <= 1000000"),
        ({"tail": "gauss"}, "tail must be one of cosine, program, paper. Got 'gauss'"),
        ({"splits": "odd"}, "splits must be one of balanced, program. Got 'odd'"),
        ({"centroids": "exact"}, 'centroids="exact" needs tail="program" or "paper"'),
        ({"C": "little"}, "C must be one of auto. Got 'little'"),
        ({"centroids": "median"}, "centroids must be one of mean, exact"),
        ({"n_ranked": 0}, "n_ranked == 0, must be >= 1"),
        ({"metric": "P"}, "metric must be one of P, nDCG.* Got 'P'"),
        ({"metric": "P@0"}, "metric must be one of"),
        ({"metric": "f1"}, "metric must be one of .* Got 'f1'"),
        ({"cost": "f2"}, "cost must be one of"),
        ({"propensity": 0.0}, r"propensity must lie in \(0, 1\]"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message, problem):
    with pytest.raises(ValueError, match=message):
        PfastreXML(**parameters).fit(*problem)


@pytest.mark.slow
def test_reaches_the_figures_of_the_authors(data_folder):
    folder = data_folder / "xmc" / "bibtex"
    train, test = read(folder / "train.txt.gz"), read(folder / "test.txt.gz")
    model = PfastreXML(n_jobs=2, **PfastreXML.AUTHORS).fit(train.X, train.Y)
    best = model.predict_topk(test.X, k=5)
    report = evaluate(test.Y, best, propensity=Propensity().fit(train.Y))
    names = [f"{kind}@{k}" for kind in ("P", "PSP") for k in (1, 3, 5)]
    for name, published in zip(names, AUTHORS["bibtex"], strict=True):
        assert 100 * report[name] > published - 1.5, name  # seeds differ by 1

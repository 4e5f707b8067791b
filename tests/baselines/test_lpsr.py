"""LPSR: what a partition leaves to its ranker, against slow references."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import LPSR, OneVsRest, evaluate, load, make_corpus, read

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_rows=40, n_features=7, n_labels=9):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.8, size=(n_rows, n_features)).astype(np.float32)
    Y = (rng.random((n_rows, n_labels)) < rng.random(n_labels)).astype(int)
    Y[:n_labels] |= np.eye(n_labels, dtype=int)
    return X, Y


def clusters(model, X):
    return (X @ model.centres_.toarray()).argmax(axis=1)


def labels_of_most_rows(Y, n_kept):
    """Return labels by rows of a cluster, then by rows in all, then by column."""
    cluster, everywhere = Y
    ranked = np.lexsort((-everywhere.sum(axis=0), -cluster.sum(axis=0)))
    return sorted(ranked[:n_kept].tolist())


@given(seeds, st.integers(1, 6), st.integers(1, 10))
def test_clusters_keep_the_labels_of_most_rows(seed, n_clusters, leaf_labels):
    X, Y = draw(seed)
    model = LPSR(n_clusters=n_clusters, leaf_labels=leaf_labels).fit(X, Y)
    group = clusters(model, X)
    for c in range(n_clusters):
        expected = labels_of_most_rows((Y[group == c], Y), leaf_labels)
        assert model.leaf_labels_[c].tolist() == expected


@given(seeds, st.integers(1, 5), st.integers(1, 9))
def test_labels_of_the_cluster_have_the_scores_of_the_ranker(seed, n_clusters, kept):
    X, Y = draw(seed)
    model = LPSR(n_clusters=n_clusters, leaf_labels=kept).fit(X, Y)
    ranker = OneVsRest().fit(X, Y)
    is_kept = np.zeros(Y.shape, bool)
    np.put_along_axis(is_kept, model.leaf_labels_[clusters(model, X)], True, axis=1)
    scores, expected = model.decision_function(X), ranker.decision_function(X)
    assert_allclose(scores[is_kept], expected[is_kept], rtol=1e-4, atol=1e-4)
    assert (scores[~is_kept] < -1e30).all()
    assert_array_equal(model.predict(X), (scores > 0).astype(int))


def naive_bayes_reference(X, Y, prior_rows=20):
    """Return the log odds of labels, label by label and feature by feature."""
    share, a = X.sum(axis=0) / X.sum(), prior_rows * X.sum() / len(X)
    scores = np.empty(Y.shape)
    for n, label in enumerate(Y.T.astype(bool)):
        odds = [
            np.log((X[some].sum(axis=0) + a * share) / (X[some].sum() + a))
            for some in (label, ~label)
        ]
        prior = np.log((label.sum() + 0.5) / ((~label).sum() + 0.5))
        scores[:, n] = X @ np.nan_to_num(odds[0] - odds[1]) + prior
    return scores


@given(seeds)
def test_naive_bayes_is_that_of_the_reference(seed):
    X, Y = draw(seed)
    X[:, 0] += 1  # so that each feature has a share
    model = LPSR(ranker="naive_bayes", n_clusters=1).fit(X, Y)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = naive_bayes_reference(X.astype(float), Y)
    assert_allclose(model.decision_function(X), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("ranker", [None, "naive_bayes", OneVsRest(normalize=False)])
def test_rankers_are_kept_by_saving(ranker, tmp_path):
    X, Y = draw(0)
    model = LPSR(ranker=ranker, n_clusters=3, leaf_labels=4).fit(X, sp.csr_array(Y))
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert_array_equal(model.decision_function(X), other.decision_function(X))


def test_weights_of_few_and_of_all_features_score_alike():
    corpus = make_corpus(n_rows=300, n_features=200, n_labels=30, random_state=0)
    for min_weight in (0.0, 0.3):  # all features, few of them
        ranker = OneVsRest(min_weight=min_weight).fit(corpus.X, corpus.Y)
        model = LPSR(ranker=OneVsRest(min_weight=min_weight), leaf_labels=30)
        scores = model.fit(corpus.X, corpus.Y).decision_function(corpus.X)
        assert_allclose(
            scores, ranker.decision_function(corpus.X), rtol=1e-4, atol=1e-4
        )


def test_order_of_labels_does_not_matter_where_none_tie():
    corpus = make_corpus(n_rows=400, n_labels=30, random_state=0)
    Y, order = corpus.Y.toarray(), np.random.default_rng(0).permutation(30)
    one, other = (
        LPSR(leaf_labels=30, n_clusters=4).fit(corpus.X, Z).decision_function(corpus.X)
        for Z in (Y, Y[:, order])
    )
    assert_allclose(one[:, order], other, rtol=1e-5, atol=1e-6)


def test_more_labels_than_a_cluster_keeps_are_filled_up():
    X, Y = draw(0)
    best = LPSR(n_clusters=3, leaf_labels=2).fit(X, Y).predict_topk(X, k=5)
    assert best.nnz == 5 * len(X)


def test_state_that_kernels_would_stumble_over_is_refused():
    model = LPSR(n_clusters=2, leaf_labels=3).fit(*draw(0))
    state = model.get_state()
    state["leaf_labels_"] = state["leaf_labels_"][:, ::-1].copy()
    with pytest.raises(ValueError, match="leaf_labels_ must ascend in each cluster"):
        model.set_state(state)


@pytest.mark.parametrize(
    ("params", "kind", "message"),
    [
        ({"ranker": "knn"}, ValueError, "ranker must be one of naive_bayes. Got 'knn'"),
        ({"ranker": 3}, TypeError, "ranker must be a OneVsRest or"),
        ({"n_clusters": 0}, ValueError, "n_clusters == 0, must be >= 1"),
        ({"leaf_labels": 0}, ValueError, "leaf_labels == 0, must be >= 1"),
    ],
)
def test_parameters_out_of_range_are_refused(params, kind, message):
    with pytest.raises(kind, match=message):
        LPSR(**params).fit(*draw(0))


def test_naive_bayes_refuses_negative_features():
    X, Y = draw(0)
    with pytest.raises(ValueError, match="no negative number for naive Bayes"):
        LPSR(ranker="naive_bayes").fit(X - 1, Y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "published"),
    [("bibtex", (62.11, 36.65, 26.53)), ("delicious", (65.01, 58.96, 53.49))],
)
def test_published_precision_is_reached(name, published, data_folder):
    train, test = (
        read(data_folder / "xmc" / name / f"{part}.txt.gz")
        for part in ("train", "test")
    )
    scores = LPSR().fit(train.X, train.Y).predict_topk(test.X, k=5)
    report = evaluate(test.Y, scores, k=(1, 3, 5))
    for k, least in zip((1, 3, 5), published, strict=True):
        assert 100 * report[f"P@{k}"] > least - 2

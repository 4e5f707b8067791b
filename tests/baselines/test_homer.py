"""HOMER: its clusters, what a node learns, and which branches are followed."""

from math import ceil

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from manylabel import HOMER, OneVsRest, evaluate, load, make_corpus, read

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_rows=60, n_features=6, n_labels=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    Y = (X @ rng.normal(size=(n_features, n_labels)) > 1.5).astype(int)
    Y[:n_labels] |= np.eye(n_labels, dtype=int)
    return X, Y


def branches(nodes, node=1):
    """Yield, for each inner node, the labels below each of its children."""
    children = range(*nodes.child_starts[node : node + 2])
    if len(children):
        yield [nodes.labels_below(child) for child in children]
    for child in children:
        yield from branches(nodes, child)


def walk(model, X, Y):
    """Return path products, the smallest margin on each path, by one-vs-rest nodes."""
    product, least = np.ones(Y.shape), np.full(Y.shape, np.inf)
    for below in branches(model.nodes_):
        together = np.concatenate(below)
        rows = Y[:, together].any(axis=1) | (len(together) == Y.shape[1])
        meta = np.column_stack([Y[:, labels].any(axis=1) for labels in below])
        separator = OneVsRest(loss="log_loss", C=model.C, tol=model.tol)
        margins = separator.fit(X[rows], meta[rows].astype(int)).decision_function(X)
        for labels, margin in zip(below, margins.T, strict=True):
            product[:, labels] *= expit(margin)[:, None]
            least[:, labels] = np.minimum(least[:, labels], margin[:, None])
    return product, least


@given(seeds, st.integers(2, 8))
def test_nodes_are_one_vs_rest_and_paths_are_multiplied(seed, n_clusters):
    X, Y = draw(seed)
    model = HOMER(n_clusters=n_clusters, tol=1e-3).fit(X, Y)
    product, least = walk(model, X, Y)
    assert_allclose(model.decision_function(X), product, atol=0.02)
    clear = abs(least) > 0.1
    assert_array_equal(model.predict(X)[clear], (least > 0)[clear])


@given(seeds, st.integers(2, 5), st.integers(1, 40))
def test_clusters_are_balanced_and_hold_each_label_once(seed, n_clusters, n_labels):
    X, Y = draw(seed, n_labels=n_labels)
    nodes = HOMER(n_clusters=n_clusters, tol=1.0).fit(X, Y).nodes_
    assert sorted(nodes.labels[nodes.labels >= 0]) == list(range(n_labels))
    for below in branches(nodes):
        n_below = sum(map(len, below))
        assert len(below) <= n_clusters
        assert max(map(len, below)) <= ceil(n_below / n_clusters)


def test_labels_of_the_same_rows_are_in_one_cluster():
    which = np.random.default_rng(0).integers(0, 3, size=90)
    X = np.eye(3)[which]
    Y = np.repeat(np.eye(3, dtype=int)[which], 3, axis=1)  # three labels of each kind
    nodes = HOMER(n_clusters=3).fit(X, Y[:, np.random.default_rng(1).permutation(9)])
    order = np.random.default_rng(1).permutation(9)
    below = next(branches(nodes.nodes_))
    assert all(len(set(order[labels] // 3)) == 1 for labels in below)


def test_order_of_labels_does_not_matter():
    X, Y = draw(0, n_rows=200, n_labels=40)
    assert len({column.tobytes() for column in Y.T}) == 40, "equal ones are exchanged"
    order = np.random.default_rng(0).permutation(40)
    one, other = HOMER().fit(X, Y), HOMER().fit(X, Y[:, order])
    expected = one.decision_function(X)[:, order]
    assert_array_equal(other.decision_function(X), expected)


def test_one_cluster_is_binary_relevance():
    X, Y = draw(0)
    model = HOMER(n_clusters=1, tol=1e-3).fit(X, Y)
    plain = OneVsRest(loss="log_loss", C=4, tol=1e-3).fit(X, Y)
    assert_allclose(model.decision_function(X), plain.predict_proba(X), atol=0.01)


def test_the_best_labels_are_those_of_a_search_of_all(tmp_path):
    corpus = make_corpus(n_rows=300, n_labels=60, random_state=1)
    model = HOMER(n_clusters=2).fit(corpus.X, corpus.Y)
    model.save(tmp_path / "model")
    scores, best = model.decision_function(corpus.X), load(tmp_path / "model")
    best = best.predict_topk(corpus.X, k=4)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :4]
    assert_array_equal(best.indices.reshape(-1, 4), np.sort(order, axis=1))


def test_chunks_of_rows_do_not_matter(monkeypatch):
    corpus = make_corpus(n_rows=100, n_labels=30, random_state=2)
    model = HOMER().fit(corpus.X, corpus.Y)
    whole = model.predict(corpus.X), model.decision_function(corpus.X)
    monkeypatch.setattr("manylabel.baselines._homer.PAIRS_AT_ONCE", 60)
    assert (model.predict(corpus.X) != whole[0]).nnz == 0
    assert_array_equal(model.decision_function(corpus.X), whole[1])


def test_a_label_of_the_tree_that_was_not_seen_is_refused():
    model = HOMER().fit(*draw(0))
    state = model.get_state()
    state["seen_"] = np.zeros_like(state["seen_"])
    with pytest.raises(ValueError, match="seen_ must be true of the labels of nodes_"):
        model.set_state(state)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, "n_clusters == 0, must be >= 1"),
        ({"C": 0}, "C == 0, must be > 0"),
        ({"tol": -1}, "tol == -1, must be > 0"),
    ],
)
def test_parameters_out_of_range_are_refused(params, message):
    with pytest.raises(ValueError, match=message):
        HOMER(**params).fit(*draw(0))


@pytest.mark.slow
def test_published_f1_of_corel5k_is_reached(data_folder):
    train, test = (
        read(data_folder / "mulan" / f"Corel5k-{part}.arff.gz")
        for part in ("train", "test")
    )
    model = HOMER().fit(train.X, train.Y)
    sets = sp.csr_array(model.predict(test.X))
    report = evaluate(test.Y, model.predict_topk(test.X), predictions=sets)
    assert 1 - report["f1"] > 0.113  # budgeted-trees, Table 8

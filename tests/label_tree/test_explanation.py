"""Explanations: the way of a row to its labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from manylabel import LabelTree


@pytest.fixture(scope="module")
def fitted(corpus):
    model = LabelTree(n_clusters=4, leaf_labels=5, n_estimators=2, beam=None)
    return model.fit(corpus.X, corpus.Y), corpus.X


def test_a_way_goes_from_the_root_to_the_label(fitted):
    model, X = fitted
    nodes, parents = model.nodes_, model.nodes_.parents
    for i in range(10):
        explanation = model.explain(X[[i]], k=3)
        ways = [(path.label, path.tree) for path in explanation.paths]
        assert ways == [(n, tree) for n, _ in explanation.labels for tree in (0, 1)]
        for path in explanation.paths:
            at = nodes.roots[path.tree]
            for step in path.steps:
                assert parents[step.node] == at
                at = step.node
            assert nodes.labels[at] == path.label
            assert path.steps[-1].labels == [path.label]
            assert path.steps[-1].n_labels == 1


def test_the_margins_make_up_the_score(fitted):
    model, X = fitted
    explanation = model.explain(X[:1], k=4)
    total = dict.fromkeys((label for label, _ in explanation.labels), 0.0)
    for path in explanation.paths:
        margin = np.array([step.margin for step in path.steps])
        rest = 0.1 / (1 + np.maximum(0, margin))
        factor = np.exp(-(np.maximum(0, 1 - margin) ** 3) - rest)
        gain = model.inverse_propensity_[path.label] ** model.tilt_
        total[path.label] += factor.prod() * gain / 2
    for label, score in explanation.labels:
        assert_allclose(total[label] - 0.5, score, atol=1e-5)


def test_what_features_add_makes_up_a_margin(fitted):
    model, X = fitted
    for path in model.explain(X[:1]).paths:
        for step in path.steps:
            added = sum(push for _, push in step.features)
            expected = step.margin - model.nodes_.intercept[step.node]
            assert_allclose(added, expected, atol=1e-6)


def test_a_cluster_is_named_by_its_most_frequent_labels(fitted):
    model, X = fitted
    for path in model.explain(X[:1]).paths:
        for step in path.steps:
            below = model.nodes_.labels_below(step.node).tolist()
            best = sorted(below, key=lambda n: -model.counts_[n])[:3]
            assert [model.counts_[n] for n in step.labels] == [
                model.counts_[n] for n in best
            ]
            assert set(step.labels) <= set(below)
            assert step.n_labels == len(below)


def test_features_share_what_decided(fitted):
    model, X = fitted
    explanation = model.explain(X[1:2])
    total = np.zeros(80)
    for path in explanation.paths:
        for step in path.steps:
            for feature, push in step.features:
                total[feature] += abs(push)
    shares = dict(explanation.features)
    assert sum(shares.values()) == pytest.approx(1)
    assert {f: shares.get(f, 0) for f in range(80)} == pytest.approx(
        dict(enumerate(total / total.sum()))
    )


def test_in_words_it_has_names_and_clusters(fitted):
    model, X = fitted
    explanation = model.explain(X[:1], k=2)
    names = {"feature_names": [f"word{n}" for n in range(80)]}
    text = explanation.text(label_names=[f"tag{n}" for n in range(40)], **names)
    first = explanation.labels[0][0]
    assert text.startswith(f"labels    tag{first} ")
    assert f"tree 0, to tag{first}\n  cluster of " in text
    assert " by word" in text


def test_a_row_without_features_is_explained_by_the_intercepts(fitted):
    assert "by the intercept" in str(fitted[0].explain(np.zeros((1, 80))))


def test_labels_that_no_row_has_have_no_way(corpus):
    model = LabelTree().fit(corpus.X, 0 * corpus.Y)
    explanation = model.explain(corpus.X[:1])
    assert explanation.paths == []
    assert [label for label, _ in explanation.labels] == [0, 1, 2, 3, 4]

"""Explanations: they tell what the router did."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from manylabel import FastXML


@pytest.fixture(scope="module")
def fitted(problem):
    return FastXML(n_estimators=4, C=10.0).fit(*problem), problem[0]


def test_every_decision_leads_to_the_next_node_and_the_last_to_the_leaf(fitted):
    model, X = fitted
    for i in range(20):
        explanation = model.explain(X[i : i + 1])
        assert [path.tree for path in explanation.paths] == [0, 1, 2, 3]
        for path, leaf in zip(
            explanation.paths, model._reached(X[i : i + 1])[0], strict=True
        ):
            at = model.forest_.roots[path.tree]
            for decision in path.decisions:
                assert decision.node == at
                added = sum(push for _, push in decision.features)
                assert_allclose(
                    added + model.forest_.intercept[at], decision.score, atol=1e-6
                )
                at = model.forest_.children[at] + int(decision.score < 0)
            assert path.leaf == at == leaf
            assert path.n_rows == model.forest_.node_rows[leaf]


def test_the_leaves_make_up_the_scores(fitted):
    model, X = fitted
    explanation = model.explain(X[:1], k=3)
    mean = np.zeros(15)
    for path in explanation.paths:
        for label, share in path.labels:
            mean[label] += share / 4
    for label, score in explanation.labels:
        assert_allclose(mean[label] - 0.5, score, atol=1e-6)
    assert len(explanation.labels) == 3


def test_features_share_what_decided(fitted):
    model, X = fitted
    explanation = model.explain(X[1:2])
    total = np.zeros(60)
    for path in explanation.paths:
        for decision in path.decisions:
            for feature, push in decision.features:
                total[feature] += abs(push)
    shares = dict(explanation.features)
    assert sum(shares.values()) == pytest.approx(1)
    assert {f: shares.get(f, 0) for f in range(60)} == pytest.approx(
        dict(enumerate(total / total.sum()))
    )


def test_in_words_it_has_names_and_rows(fitted):
    model, X = fitted
    explanation = model.explain(X[:1])
    features = [f"word{n}" for n in range(60)]
    labels = [f"tag{n}" for n in range(15)]
    text = explanation.text(feature_names=features, label_names=labels, n_estimators=1)
    assert text.startswith(f"labels    tag{explanation.labels[0][0]} ")
    assert "tree 0\n  200 rows: " in text
    assert "child by word" in text
    assert "rows in the leaf: " in text
    assert "tree 1" not in text
    assert str(explanation).count("\ntree ") == 3


def test_a_row_that_meets_no_weight_is_explained_by_the_intercept(fitted):
    model, _ = fitted
    text = str(model.explain(np.zeros((1, 60))))
    assert "by the intercept" in text


def test_more_than_one_row_is_refused(fitted):
    model, X = fitted
    with pytest.raises(ValueError, match="must be one row to explain"):
        model.explain(X[:2])

"""What the paper's theorems say of a tree, beside loops over rows and nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel import AnnotationTree, BudgetedTree, PowersetTree, make_corpus

GIVEN = {"budget": 2, "max_planes": 2, "C": 1.0, "min_samples_split": 2}


def drawn(seed, n=80, m=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7)
    return X.astype(np.float32), (X[:, 0] > 0) != (X[:, 1] + X[:, 2] > 0.3)


def paths(tree, X):
    """Return the leaf of each row, and the nodes above with the turn at each."""
    found = []
    for x in X:
        at, path = 0, []
        while tree.children[at]:
            own = slice(tree.starts[at], tree.starts[at + 1])
            scores = x[tree.features[own]] @ tree.weights[own] + tree.intercept[at]
            turn = 1 if 2 * np.sum(scores > 0) > len(scores) else -1
            path.append((at, turn))
            at = tree.children[at] + (turn < 0)
        found.append((at, path))
    return found


def theorem_5(model, X, y, delta, c):
    """Return both sums of the bound, leaf by leaf as printed, and by shares of rows."""
    tree, n, d = model.tree_, len(y), model.depth_
    found, n_leaves = paths(tree, X), np.sum(model.tree_.children == 0)
    printed, shares = np.zeros(2), np.zeros(3)
    for leaf in {at for at, _ in found}:
        rows = [i for i in range(n) if found[i][0] == leaf]
        path, losses, capacity = found[rows[0]][1], 0.0, 0.0
        for place, (node, turn) in enumerate(path):
            own = slice(tree.starts[node], tree.starts[node + 1])
            w = np.append(tree.weights[own].mean(1), tree.intercept[node].mean())
            margin, trace = 1 / np.linalg.norm(w), 0.0
            for i in rows:
                row = np.append(X[i, tree.features[own]], 1)
                is_right = place < len(path) - 1 or (tree.value[leaf] > 0) == y[i]
                correct = turn if is_right else -turn
                slack = max(0, margin - correct * row @ (w * margin))
                losses += slack / (len(rows) * margin)
                trace += row @ row
            capacity += 4 / (len(rows) * margin) * np.sqrt(trace)
        printed += losses, capacity
        deviation = (3 * len(path) + 1) * np.sqrt(np.log(6 / delta) / (2 * len(rows)))
        shares += np.array([losses, capacity, deviation]) * len(rows) / n
    square = sum(1 + np.sum(x[model.selected_features_] ** 2) for x in X)
    gaussian, last = 2 / n * np.sqrt(square), np.sqrt(np.log(6 / delta) / (2 * n))
    rest = (5 / 2 * c * d * n_leaves * gaussian, ((3 * d + 1) * n**0.5 * n_leaves + 1))
    as_printed = (*printed, rest[0], rest[1] * last)
    return as_printed, sum(shares) + 5 / 2 * c * d * gaussian + last


@given(st.integers(0, 1000), st.sampled_from([1, 3]))
@settings(max_examples=20)
def test_theorem_5_is_that_of_the_paper(seed, cv):
    X, y = drawn(seed)
    y ^= np.random.default_rng(seed).random(len(y)) < 0.2  # for leaves that err
    model = BudgetedTree(**GIVEN, cv=cv, prune=False, max_depth=3).fit(X, y)
    found = model.bound(X, y, confidence=0.9, constant=0.5)
    printed, weighted = theorem_5(model, X, y, 0.1, 0.5)
    assert_allclose(found[:4], printed, rtol=1e-5)
    assert_allclose(found.total, sum(printed), rtol=1e-5)
    assert_allclose(found.weighted, weighted, rtol=1e-5)


def test_theorem_5_as_printed_says_nothing_however_many_rows():
    found = [
        BudgetedTree(**GIVEN, max_depth=1).fit(*drawn(0, n)).bound(*drawn(0, n))
        for n in (100, 10_000)
    ]
    assert min(one.deviation for one in found) > 1
    assert found[1].weighted < found[0].weighted


def theorem_17(model, delta):
    """Return the bound of each leaf by walking up from it."""
    tree, n, found = model.tree_, float(model.tree_.n_rows[0]), []
    weights = model.coef_.toarray().astype(np.float64)
    parent = {
        int(tree.children[at]) + k: at
        for at in np.flatnonzero(tree.children)
        for k in (0, 1)
    }
    for leaf in np.flatnonzero(tree.children == 0):
        at, n_decisions, complexity = leaf, 0, 0.0
        while at in parent:
            at, n_decisions = parent[at], n_decisions + 1
            complexity += np.sum(weights[at] ** 2)
        terms = complexity * np.log2(4 * np.e * n) * np.log2(4 * n)
        terms += n_decisions * np.log2(2 * n) + np.log2(2 / delta)
        bound = 130 * model.radius_**2 / n * terms
        found.append((leaf, n_decisions, complexity, bound))
    return np.array(found).T


@pytest.mark.parametrize("kind", [AnnotationTree, PowersetTree])
def test_theorems_17_and_18_are_those_of_the_paper(kind):
    corpus = make_corpus(n_rows=100, n_labels=6, random_state=0)
    model = kind().fit(corpus.X, corpus.Y)
    found = model.bounds(confidence=0.9)
    leaf, n_decisions, complexity, bound = theorem_17(model, 0.1)
    assert_allclose(found.leaf, leaf)
    assert_allclose(found.n_decisions, n_decisions)
    assert_allclose(found.complexity, complexity, rtol=1e-5)
    assert_allclose(found.bound, bound, rtol=1e-5)
    assert_allclose(found.n_rows, model.tree_.n_rows[found.leaf])
    assert sorted(map(tuple, found.labels)) == sorted(
        {tuple(np.flatnonzero(row)) for row in corpus.Y.toarray()}
    )


def test_the_mean_over_the_classes_is_that_of_the_diagnostics():
    corpus = make_corpus(n_rows=100, n_labels=6, random_state=0)
    model = PowersetTree().fit(corpus.X, corpus.Y)
    bounds, figures = model.bounds(), model.diagnostics()
    for name in ("bound", "complexity"):
        mean = np.average(getattr(bounds, name), weights=bounds.n_rows)
        assert_allclose(mean, getattr(figures, name), rtol=1e-6)


@pytest.mark.parametrize("confidence", [0, 1, 1.5])
def test_a_confidence_is_between_0_and_1(confidence):
    X, y = drawn(0)
    corpus = make_corpus(n_rows=50, n_labels=4, random_state=0)
    with pytest.raises(ValueError, match="confidence == "):
        BudgetedTree(**GIVEN).fit(X, y).bound(X, y, confidence=confidence)
    with pytest.raises(ValueError, match="confidence == "):
        PowersetTree().fit(corpus.X, corpus.Y).bounds(confidence=confidence)


def test_rows_of_other_classes_are_refused():
    X, y = drawn(0)
    model = BudgetedTree(**GIVEN).fit(X, y)
    with pytest.raises(ValueError, match="y must have the classes"):
        model.bound(X, np.where(y, "a", "b"))

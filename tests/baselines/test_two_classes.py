"""The comparators of two classes: contract, laws, saving, what they refuse."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel import (
    BoostedFeatureSelection,
    CostSensitiveTree,
    LocalDeepKernel,
    ObliqueTree,
    load,
)
from manylabel.baselines._cost_optimizer import Optimizer

SMALL = [
    ObliqueTree(n_restarts=3),
    ObliqueTree(method="cart-lc"),
    LocalDeepKernel(alpha=0.01, sigma=1.0),
    BoostedFeatureSelection(n_estimators=50),
    CostSensitiveTree(max_depth=2, max_iter=5),
]
each_model = pytest.mark.parametrize("model", SMALL, ids=repr)


@pytest.mark.slow
@parametrize_with_checks(SMALL)
def test_sklearn_contract(estimator, check):
    check(estimator)


def drawn(n=300, m=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.6)
    return X.astype(np.float32), X[:, 3] - X[:, 8] > 0.1


def crossed(n=2000, n_noisy=5, seed=0):
    """Return XOR of the signs of the first two features; the rest are noise."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.normal(size=(n, 2)), rng.random((n, n_noisy))])
    return X, (X[:, 0] > 0) == (X[:, 1] > 0)


@each_model
def test_learns_a_plane(model):
    model.fit(*drawn())
    assert model.score(*drawn(seed=1)) > 0.8
    assert {3, 8} <= set(model.selected_features_)


@each_model
def test_sparse_rows_are_as_dense_ones(model):
    X, y = drawn()
    dense = model.fit(X, y).decision_function(X)
    sparse = model.fit(sp.csr_array(X), y).decision_function(sp.csr_matrix(X))
    assert_array_equal(dense, sparse)


@each_model
def test_the_same_seed_is_the_same_model(model):
    X, y = drawn()
    first, second = (model.fit(X, y).decision_function(X) for _ in range(2))
    assert_array_equal(first, second)


@each_model
def test_what_was_saved_says_the_same(model, tmp_path):
    X, y = drawn()
    names = np.where(y, "yes", "no")
    model.fit(X, names).save(tmp_path / "model")
    other = load(tmp_path / "model")
    assert_array_equal(other.decision_function(X), model.decision_function(X))
    assert_array_equal(other.predict(X), model.predict(X))
    assert_array_equal(other.selected_features_, model.selected_features_)


@each_model
def test_features_that_are_not_selected_do_not_matter(model):
    X, y = drawn()
    X[:, 5] = 0
    model.fit(X, y)
    assert 5 not in model.selected_features_
    other = X.copy()
    other[:, np.setdiff1d(np.arange(12), model.selected_features_)] = 9
    assert_array_equal(model.decision_function(other), model.decision_function(X))


@each_model
@pytest.mark.parametrize("n", [2, 5, 19])
def test_few_rows_will_do(model, n):
    X, y = drawn(n=n)
    y[:2] = False, True
    assert model.fit(X, y).predict(X).shape == (n,)


@pytest.mark.parametrize(
    "model", [LocalDeepKernel(alpha=0.001, sigma=1.0), BoostedFeatureSelection()]
)
def test_learns_what_no_linear_classifier_can(model):
    assert model.fit(*crossed()).score(*crossed(seed=1)) > 0.9


def test_the_number_of_jobs_does_not_matter():
    X, y = drawn(n=60)
    one, two = (LocalDeepKernel(n_jobs=n, max_iter=5).fit(X, y) for n in (1, 2))
    assert (one.alpha_, one.sigma_) == (two.alpha_, two.sigma_)
    assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ObliqueTree(method="c45"), "method must be one of oc1, cart-lc"),
        (ObliqueTree(n_restarts=0), "n_restarts == 0"),
        (ObliqueTree(validation_fraction=1.0), "validation_fraction == 1.0"),
        (LocalDeepKernel(max_depth=11), "max_depth == 11"),
        (LocalDeepKernel(sigma=0.0), "sigma == 0.0"),
        (BoostedFeatureSelection(feature_cost=-1.0), "feature_cost == -1.0"),
        (CostSensitiveTree(alpha=-1.0), "alpha == -1.0"),
    ],
    ids=repr,
)
def test_parameters_out_of_range_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*drawn())


def test_a_damaged_number_of_columns_is_refused():
    model = LocalDeepKernel(alpha=0.01, sigma=1.0, max_iter=1).fit(*drawn())
    state = model.get_state()
    state["coef_"] = np.ascontiguousarray(state["coef_"][:, :-1])
    with pytest.raises(ValueError, match="5 n \\+ 2 columns"):
        LocalDeepKernel().set_state(state)


def test_a_feature_that_costs_more_than_it_gains_is_not_used():
    X, y = drawn()
    counts = [
        len(BoostedFeatureSelection(feature_cost=c).fit(X, y).selected_features_)
        for c in (0.0, 0.01, 1.0)
    ]
    assert counts[0] > counts[1] > counts[2] == 0


def test_features_of_a_tree_of_classifiers_become_fewer_as_they_cost_more():
    X, y = drawn()
    counts = [
        len(CostSensitiveTree(feature_cost=c).fit(X, y).selected_features_)
        for c in (0.0, 0.1, 10.0)
    ]
    assert counts[0] > counts[1] > counts[2] == 0


def test_a_tree_of_hyperplanes_is_pruned_by_rows_held_out():
    X, y = drawn(n=400)
    y = y != (np.random.default_rng(1).random(400) < 0.2)
    whole = ObliqueTree(method="cart-lc", validation_fraction=0.0).fit(X, y)
    pruned = ObliqueTree(method="cart-lc", validation_fraction=0.3).fit(X, y)
    assert len(pruned.tree_.children) < len(whole.tree_.children)


def test_a_node_of_few_rows_is_split_along_an_axis():
    X, y = drawn(n=60, m=40)
    tree = ObliqueTree(validation_fraction=0.0).fit(X, y).tree_
    assert (np.diff(tree.starts)[tree.children > 0] == 1).all()
    free = ObliqueTree(validation_fraction=0.0, rows_per_feature=0.0).fit(X, y).tree_
    assert np.diff(free.starts).max() > 1


def test_a_row_passes_local_kernels_as_by_hand():
    X, y = drawn()
    model = LocalDeepKernel(alpha=0.01, sigma=0.5, max_depth=2).fit(X, y)
    product = np.hstack([X, np.ones((len(X), 1))]) @ model.coef_
    theta, w, v = np.split(product, [3, 10], axis=1)
    parts, expected = np.tanh(0.5 * v) * w, np.zeros(len(X))
    for i in range(len(X)):
        k = 0
        while k < 3:
            expected[i] += parts[i, k]
            k = 2 * k + (1 if theta[i, k] > 0 else 2)
        expected[i] += parts[i, k]
    assert_allclose(model.decision_function(X), expected, rtol=1e-6, atol=1e-9)


def mean_square_falls_by(values, threshold, target):
    """Return how much a split lowers the mean squared error, by definition."""
    above, before = values > threshold, np.mean((target - target.mean()) ** 2)
    sides = [target[side] - target[side].mean() for side in (above, ~above)]
    return before - sum((side**2).sum() for side in sides) / len(target)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.2]))
def test_the_first_split_of_boosted_trees_is_the_best_of_all(seed, cost):
    X, y = drawn(n=19, m=9, seed=seed)
    y[:2] = False, True
    model = BoostedFeatureSelection(feature_cost=cost, max_depth=1, n_estimators=1)
    trees, target = model.fit(X, y).trees_, y - y.mean()  # what the loss falls along
    gains = [
        mean_square_falls_by(values, threshold, target) - cost
        for values in X.T
        for threshold in np.unique(values)[:-1]
    ]
    assert (model.n_iter_ == 1) == (max(gains) > 0)
    if model.n_iter_:
        found = X[:, trees.features[0]], trees.threshold[0], target
        assert_allclose(mean_square_falls_by(*found) - cost, max(gains), atol=1e-9)


def test_boosted_trees_say_what_they_would_by_hand():
    X, y = drawn()
    model = BoostedFeatureSelection(n_estimators=5).fit(X, y)
    trees, expected = model.trees_, np.full(len(X), model.prior_[0])
    for i, root in np.ndindex(len(X), model.n_iter_):
        at = trees.roots[root]
        while trees.children[at]:
            is_above = X[i, trees.features[at]] > trees.threshold[at]
            at = trees.children[at] + is_above
        expected[i] += trees.value[at]
    assert_allclose(model.decision_function(X), expected, rtol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 2))
def test_a_tree_of_classifiers_minimises_what_the_paper_says(seed, depth):
    X, y = drawn(n=30, m=9, seed=seed)
    side, cost, alpha = np.where(y, 1.0, -1.0), 0.3, 0.01
    nodes = Optimizer(sp.csr_array(X), side, depth)
    nodes.start()
    nodes.improve(cost, alpha)
    coef, intercept, threshold = nodes.planes()
    beta, f = coef.toarray(), X @ coef.T.toarray() + intercept

    def expected(k, chance, way):
        """Return what node k and those below it add; ``way`` is who is above it."""
        loss = np.mean(chance * (f[:, k] - side) ** 2) + alpha * abs(beta[k]).sum()
        if k >= nodes.n_inner:
            lengths = np.sqrt((beta[[*way, k]] ** 2).sum(axis=0))
            return loss + cost * chance.mean() * lengths.sum()
        first = 1 / (1 + np.exp(threshold[k] - f[:, k]))
        loss += expected(2 * k + 1, chance * first, [*way, k])
        return loss + expected(2 * k + 2, chance * (1 - first), [*way, k])

    found = nodes.objective(cost, alpha)
    assert_allclose(found, expected(0, np.ones(len(X)), []), rtol=1e-6)


def test_nodes_that_take_turns_lower_what_they_minimise():
    given = {"max_depth": 2, "tol": 0.0, "feature_cost": 0.05}
    reached = [
        CostSensitiveTree(max_iter=n, **given).fit(*drawn()).objective_
        for n in (1, 2, 4, 8)
    ]
    assert (np.diff(reached) < 0).all()


def test_a_row_passes_a_tree_of_classifiers_as_by_hand():
    X, y = drawn()
    y = y != (X[:, 1] > 0.5)
    model = CostSensitiveTree(feature_cost=0.001, max_depth=2).fit(X, y)
    tree, expected = model.tree_, np.zeros(len(X))
    coef = tree.coef.toarray()
    for i, x in enumerate(X):
        at, score = 0, x @ coef[0] + tree.intercept[0]
        while tree.children[at]:
            at = tree.children[at] + (score <= tree.threshold[at])
            score = x @ coef[at] + tree.intercept[at]
        expected[i] = score
    assert_allclose(model.decision_function(X), expected, rtol=1e-5, atol=1e-6)

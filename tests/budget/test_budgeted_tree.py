"""SBT: scikit-learn's contract, how it grows, how it is pruned, what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel import BudgetedClassifier, BudgetedTree, load
from manylabel.budget import _budgeted_tree
from manylabel.budget._voting_nodes import VotingNodes

GIVEN = {"budget": 1, "max_planes": 1, "C": 1.0, "random_state": 0}


def excused(_):
    no_splits = "cv is a number of folds: splits that the user made are not taken"
    return {
        "check_sample_weight_equivalence_on_dense_data": no_splits,
        "check_sample_weight_equivalence_on_sparse_data": no_splits,
        "check_non_transformer_estimators_n_iter": "max_iter bounds each solver",
    }


@parametrize_with_checks([BudgetedTree()], expected_failed_checks=excused)
def test_sklearn_contract(estimator, check):
    check(estimator)


def crossed(n=2000, n_noisy=5, seed=0):
    """Return XOR of the signs of the first two features; the rest are noise."""
    rng = np.random.default_rng(seed)
    X = np.hstack([rng.normal(size=(n, 2)), rng.random((n, n_noisy))])
    return X, (X[:, 0] > 0) == (X[:, 1] > 0)


def by_hand(model, x):
    """Return the value of the leaf that a row reaches, node by node."""
    at = 0
    while model.tree_.children[at]:
        own = slice(model.tree_.starts[at], model.tree_.starts[at + 1])
        scores = (
            x[model.tree_.features[own]] @ model.tree_.weights[own]
            + model.tree_.intercept[at]
        )
        at = model.tree_.children[at] + (2 * np.sum(scores > 0) <= len(scores))
    return model.tree_.value[at]


def test_learns_what_no_linear_classifier_can():
    model = BudgetedTree(**GIVEN).fit(*crossed())
    assert model.score(*crossed(seed=1)) > 0.95
    assert set(model.selected_features_) >= {0, 1}


def test_rows_descend_as_they_would_by_hand():
    X, y = crossed(n=300)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = 0
    model = BudgetedTree(**GIVEN | {"budget": 2, "max_planes": 3}).fit(X, y)
    X = X.astype(np.float32)
    expected = [by_hand(model, x) for x in X]
    assert_array_equal(model.decision_function(sp.csr_array(X)), expected)


@pytest.mark.parametrize("cv", [1, 2, 5])
def test_a_leaf_has_the_rows_that_reach_it(cv):
    X, y = crossed(n=300)
    model = BudgetedTree(**GIVEN, cv=cv, prune=False).fit(X, y)
    reached = model.tree_.leaves(sp.csr_array(X.astype(np.float32)))
    counts = np.bincount(reached, minlength=len(model.tree_.children))
    leaves = model.tree_.children == 0
    assert_array_equal(counts[leaves], model.tree_.n_rows[leaves])


def test_no_node_exceeds_the_budget_depth_and_size():
    X, y = crossed(n_noisy=30)
    limits = {"budget": 3, "max_planes": 2, "max_depth": 3, "min_samples_split": 50}
    model = BudgetedTree(**GIVEN | limits, prune=False).fit(X, y)
    assert np.diff(model.tree_.starts).max() <= 6
    assert model.depth_ <= 3
    assert model.tree_.n_rows[model.tree_.children > 0].min() >= 50


def test_children_are_kept_only_where_they_err_less():
    X, y = crossed(n_noisy=30)
    y ^= np.random.default_rng(0).random(len(y)) < 0.2
    whole, pruned = (
        BudgetedTree(**GIVEN | {"budget": 3}, prune=p).fit(X, y) for p in (False, True)
    )
    assert len(pruned.tree_.children) < len(whole.tree_.children)
    inner = np.flatnonzero(pruned.tree_.children)
    assert len(inner) > 1
    for at in inner[1:]:
        assert _error(pruned, at) < min(
            pruned.tree_.leaf_error[at], pruned.tree_.rest[at]
        )


@pytest.mark.parametrize(
    ("above", "rest", "kept"), [(5, 3, True), (5, 2, False), (2, 3, False)]
)
def test_a_node_is_split_only_if_both_errors_of_a_leaf_are_larger(above, rest, kept):
    tree = VotingNodes(
        children=np.array([1, 3, 0, 0, 0]),
        parent=np.array([-1, 0, 0, 1, 1]),
        starts=np.array([0, 1, 2, 2, 2, 2]),
        features=np.array([4, 7]),
        weights=np.ones((2, 5)),
        intercept=np.zeros((5, 5)),
        value=np.zeros(5),
        n_rows=np.full(5, 9),
        rest=np.array([9, rest, 0, 0, 0]),
        leaf_error=np.array([np.inf, above, 0, 1, 1]),
    ).prune()
    assert_array_equal(tree.children, [1, 3, 0, 0, 0] if kept else [1, 0, 0])
    assert_array_equal(tree.features, [4, 7] if kept else [4])


@pytest.mark.parametrize(
    ("first", "second", "kept"), [(2, 2, True), (3, 2, False), (5, 0, False)]
)
def test_pairs_go_if_both_together_err_more_than_the_node_above(first, second, kept):
    tree = VotingNodes(
        children=np.array([1, 3, 5, 0, 0, 0, 0]),
        parent=np.array([-1, 0, 0, 1, 1, 2, 2]),
        starts=np.array([0, 1, 2, 3, 3, 3, 3, 3]),
        features=np.array([4, 7, 8]),
        weights=np.ones((3, 5)),
        intercept=np.zeros((7, 5)),
        value=np.zeros(7),
        n_rows=np.full(7, 9),
        rest=np.zeros(7),  # says nothing here
        leaf_error=np.array([np.inf, 3, 1, first, 0, 0, second], float),
    ).prune_pairs()
    assert_array_equal(tree.children, [1, 3, 5, 0, 0, 0, 0] if kept else [1, 0, 0])
    assert_array_equal(tree.features, [4, 7, 8] if kept else [4])


def pairs_by_hand(tree, at=0):
    """Return the nodes that the paper's rule keeps, by its words."""

    def error(node):
        first = tree.children[node]
        return tree.leaf_error[[first, first + 1] if first else node].sum()

    first = tree.children[at]
    if not first:
        return [at]
    if error(first) + error(first + 1) > error(at):
        return [at, first, first + 1]
    return [at, *pairs_by_hand(tree, first), *pairs_by_hand(tree, first + 1)]


@pytest.mark.parametrize("seed", range(5))
def test_the_papers_pruning_is_that_of_its_words(seed):
    X, y = crossed(n=400, n_noisy=30, seed=seed)
    y ^= np.random.default_rng(seed).random(len(y)) < 0.2
    given = GIVEN | {"budget": 3, "max_planes": 2, "min_samples_split": 2}
    whole, pruned = (BudgetedTree(**given, prune=p).fit(X, y) for p in (False, "pair"))
    kept = sorted(pairs_by_hand(whole.tree_))
    assert 1 < len(kept) < len(whole.tree_.children)
    assert_array_equal(pruned.tree_.value, whole.tree_.value[kept])


def line(n=60, m=40, seed=0):
    """Return rows whose class one linear function of all features tells, mostly."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X @ rng.normal(size=m) + rng.normal(size=n) > 0


def test_one_linear_classifier_is_preferred_to_a_tree_that_is_not_surely_better():
    X, y = line()
    model = BudgetedTree().fit(X, y)
    assert (model.budget_, model.max_planes_, model.depth_) == (40, 1, 1)
    one = BudgetedClassifier(budget=40, max_planes=1, C=model.C_, tol=model.tol)
    assert_array_equal(model.predict(X), one.fit(X, y).predict(X))


def test_a_budget_that_is_given_is_kept():
    model = BudgetedTree(budget=(2, 0.1)).fit(*line())
    assert model.budget_ in (2, 4)
    assert np.diff(model.tree_.starts).max() <= model.budget_ * model.max_planes_


@pytest.mark.slow
def test_the_settings_of_the_paper_are_there_by_name():
    X, y = line(m=100)
    model = BudgetedTree(**BudgetedTree.PAPER).fit(X, y)
    assert model.budget_ in range(1, 10)  # percent of 100 features
    assert model.C_ in BudgetedTree.PAPER["C"]
    text = BudgetedTree.PAPER | {"budget": BudgetedTree.PAPER_BUDGETS, "C": 5.0}
    assert BudgetedTree(**text).fit(X, y).budget_ in (2, 5, 10, 20, 50, 100)


def _error(model, at):
    first = model.tree_.children[at]
    if first == 0:
        return model.tree_.leaf_error[at]
    return _error(model, first) + _error(model, first + 1)


@pytest.mark.slow
def test_what_is_not_given_is_chosen():
    model = BudgetedTree(random_state=0).fit(*crossed())
    assert model.budget_ == 1
    assert model.score(*crossed(seed=1)) > 0.9


@pytest.mark.parametrize("n_shares", [2, 5])  # 5 is also the number of folds
def test_a_share_of_many_rows_chooses_as_all_rows_do(monkeypatch, n_shares):
    X, y = crossed()
    monkeypatch.setattr(_budgeted_tree, "MAX_VALUES", X.size // n_shares)
    model = BudgetedTree(random_state=0).fit(X, y)
    assert (model.budget_, model.max_planes_) == (1, 1)
    assert model.score(*crossed(seed=1)) > 0.9


def test_a_saved_tree_is_the_same(tmp_path):
    X, y = crossed(n=300)
    model = BudgetedTree(**GIVEN).fit(X, np.where(y, "same", "other"))
    model.save(tmp_path / "tree")
    again = load(tmp_path / "tree", mmap=True)
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.predict(X), model.predict(X))
    assert (again.depth_, again.budget_, again.C_) == (model.depth_, 1, 1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {"children": 0 * t.children + 1}, "children must follow"),
        (lambda t: {"features": t.features + 7}, "features must hold numbers"),
        (lambda t: {"starts": t.starts + 1}, "starts must rise"),
        (lambda t: {"value": t.value[1:]}, "value must have shape"),
        (lambda t: {"value": t.value + 2}, "value must hold numbers from -1 to 1"),
        (lambda t: {"weights": t.weights[:, 1:].copy()}, "intercept must have shape"),
    ],
)
def test_nodes_that_lead_astray_are_refused(change, message):
    model = BudgetedTree(**GIVEN).fit(*crossed(n=300))
    changes = {f"tree_.{name}": v for name, v in change(model.tree_).items()}
    with pytest.raises(ValueError, match=message):
        model.set_state(model.get_state() | changes)


def test_features_that_are_zero_are_never_selected():
    X, y = crossed(n=300, n_noisy=3)
    X[:, 3:] = 0
    model = BudgetedTree(**GIVEN | {"budget": 5}).fit(X, y)
    assert model.selected_features_.max() < 3


def test_a_budget_above_the_features_is_all_of_them():
    X, y = crossed(n=300)
    more, all_ = (
        BudgetedTree(**GIVEN | {"budget": b}, prune=False).fit(X, y) for b in (100, 7)
    )
    assert more.budget_ == 7
    assert_array_equal(more.tree_.weights, all_.tree_.weights)


def test_jobs_do_not_matter():
    X, y = crossed(n=200)
    one, two = (BudgetedTree(random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(one.tree_.weights, two.tree_.weights)


def test_rows_that_cannot_be_split_are_one_leaf():
    X, y = np.ones((30, 2)), np.arange(30) < 12
    model = BudgetedTree(**GIVEN).fit(X, y)
    assert_array_equal(model.tree_.children, [0])
    assert not model.predict(X).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 0}, "budget == 0, must be >= 1"),
        ({"budget": (1, 0)}, "budget == 0, must be >= 1"),
        ({"C": -1}, "C == -1, must be > 0"),
        ({"C": (1.0, 0.0)}, "C == 0.0, must be > 0"),
        ({"max_planes": ()}, "max_planes must have a value to try"),
        ({"prune": "both"}, "prune must be one of pair"),
        ({"loss": "hinge"}, "loss must be one of squared_hinge, logistic"),
        ({"cv": 1}, "cv must be at least 2 to prune"),
        ({"max_depth": 0}, "max_depth == 0, must be >= 1"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        BudgetedTree(**GIVEN | parameters).fit(*crossed(n=50))


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        BudgetedTree().fit(np.eye(3), np.ones(3))

"""BAC: scikit-learn's contract, what it selects, and what it refuses."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from manylabel import FGM, BudgetedClassifier, load

LOSSES = ["squared_hinge", "logistic", "hinge"]


def excused(_):
    reason = (
        "max_iter bounds the steps after each plane: there is no one number of them"
    )
    return {"check_non_transformer_estimators_n_iter": reason}


@parametrize_with_checks([BudgetedClassifier()], expected_failed_checks=excused)
def test_sklearn_contract(estimator, check):
    check(estimator)


def drawn(n=60, m=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.6)
    return X, X[:, 3] - X[:, 8] + 0.2 * rng.normal(size=n) > 0.1


def test_a_budget_of_all_features_is_the_l2_svm():
    X, y = drawn()
    # scikit-learn takes C times the squared hinge, not half of it.
    theirs = LinearSVC(C=0.5, intercept_scaling=1e3, tol=1e-8, max_iter=10**6)
    theirs.fit(X, y)
    ours = BudgetedClassifier(budget=30, tol=1e-7).fit(X, y)
    assert_allclose(ours.coef_.toarray(), theirs.coef_, atol=2e-3)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    assert ours.n_planes_ == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_finds_the_features_that_count(loss):
    X, y = drawn()
    model = BudgetedClassifier(budget=2, max_planes=1, loss=loss, C=0.1).fit(X, y)
    assert_array_equal(model.selected_features_, [3, 8])
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("loss", LOSSES)
def test_never_selects_more_than_the_budget_of_each_plane(loss):
    X, y = drawn()
    model = BudgetedClassifier(budget=3, max_planes=4, loss=loss, C=0.1).fit(X, y)
    assert len(model.selected_features_) <= 3 * model.n_planes_ <= 12
    assert_array_equal(model.coef_.indices, model.selected_features_)


def test_the_gap_is_reported_and_small():
    X, y = drawn()
    model = BudgetedClassifier(budget=5, max_planes=100, tol=1e-5).fit(X, y)
    assert 0 <= model.duality_gap_ <= 1e-3 * model.objective_


def few_rows(seed):
    """Return a small problem of the hinge: rows, classes, parameters."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(4, 14), rng.integers(1, 7)
    X = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7)
    y = rng.random(n) < rng.uniform(0.2, 0.8)
    y[:2] = True, False
    least = 0.5 / min(y.sum(), (~y).sum())
    C, budget = rng.uniform(least, 0.95), rng.integers(1, m + 1)
    return X, y, {"C": C, "budget": budget, "fit_intercept": rng.random() < 0.5}


def hinge(seed, **parameters):
    X, y, drawn = few_rows(seed)
    model = BudgetedClassifier(loss="hinge", max_planes=100, **drawn, **parameters)
    return model.fit(X, y)


def hinge_optimum(X, y, C, budget, fit_intercept):
    """Return the optimum of the dual problem over all planes, by SciPy."""
    n, side = len(y), np.where(y, 1.0, -1.0)
    planes = combinations(range(X.shape[1]), budget)
    parts = [side[:, None] * X[:, plane].astype(np.float32) for plane in planes]

    def slack(v):
        return [v[n] - np.sum((part.T @ v[:n]) ** 2) / 2 for part in parts]

    sums = np.vstack([np.ones(n), side])[: 1 + fit_intercept]
    rules = [
        {"type": "ineq", "fun": slack},
        {"type": "eq", "fun": lambda v: sums @ v[:n] - [1, 0][: len(sums)]},
    ]
    alpha = np.where(y, 1 / y.sum(), 1 / (~y).sum()) / 2
    found = minimize(
        lambda v: v[n],
        np.append(alpha, -min(slack(np.append(alpha, 0)))),
        bounds=[(0, C)] * n + [(0, None)],
        constraints=rules,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return -found.fun


@pytest.mark.slow
def test_the_hinge_reaches_the_optimum_over_all_planes():
    for seed in range(150):
        X, y, drawn = few_rows(seed)
        model = hinge(seed, tol=1e-4, max_iter=10_000)
        assert_allclose(model.objective_, hinge_optimum(X, y, **drawn), atol=2e-4)


@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_a_plane_that_alone_gains_nothing_does_not_end_the_search(tol):
    gaps = [hinge(seed, tol=tol).duality_gap_ for seed in range(150)]
    assert 0 <= min(gaps)
    assert max(gaps) < 5e-3


def test_the_hinge_without_planes_has_the_objective_0():
    X, y = np.ones((6, 1)), [0, 1] * 3
    model = BudgetedClassifier(loss="hinge", C=0.5).fit(X, y)
    assert (model.n_planes_, model.objective_) == (0, 0)


def test_sparse_and_dense_rows_are_the_same():
    X, y = drawn()
    dense, sparse = (BudgetedClassifier().fit(M, y) for M in (X, sp.csr_array(X)))
    assert_array_equal(dense.coef_.toarray(), sparse.coef_.toarray())
    assert_array_equal(dense.predict(X), sparse.predict(sp.csc_array(X)))


def test_balance_moves_the_border_towards_the_larger_class():
    X, y = drawn(n=300)
    rare = y & (np.arange(300) % 10 == 0)
    plain, balanced = (
        BudgetedClassifier(class_weight=w).fit(X, rare) for w in (None, "balanced")
    )
    assert balanced.predict(X).sum() > plain.predict(X).sum()
    shares = {True: 300 / (2 * rare.sum()), False: 300 / (2 * (~rare).sum())}
    named = BudgetedClassifier(class_weight=shares).fit(X, rare)
    assert_allclose(named.coef_.toarray(), balanced.coef_.toarray())


def test_features_that_are_zero_are_never_selected():
    X, y = drawn()
    X[:, 10:] = 0
    model = BudgetedClassifier(budget=30).fit(X, y)
    assert model.selected_features_.max() < 10


def test_a_budget_above_the_features_is_all_of_them():
    X, y = drawn(m=9)
    more, all_ = (BudgetedClassifier(budget=b).fit(X, y) for b in (100, 9))
    assert_array_equal(more.coef_.toarray(), all_.coef_.toarray())


@pytest.mark.parametrize("names", [["no", "yes"], [0, 1], [False, True]])
def test_a_saved_classifier_is_the_same(tmp_path, names):
    X, y = drawn()
    model = BudgetedClassifier(budget=3).fit(X, np.array(names)[y.astype(int)])
    model.save(tmp_path / "model")
    again = load(tmp_path / "model", mmap=True)
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.selected_features_, model.selected_features_)


def test_weights_that_do_not_fit_are_refused():
    model = BudgetedClassifier().fit(*drawn())
    with pytest.raises(ValueError, match=r"coef_ must have shape \(1, n_features\)"):
        model.set_state(model.get_state() | {"n_features_in_": 31})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 0}, "budget == 0, must be >= 1"),
        ({"max_planes": 0}, "max_planes == 0, must be >= 1"),
        ({"C": 0}, "C == 0, must be > 0"),
        ({"loss": "square"}, "loss must be one of squared_hinge, logistic, hinge"),
        ({"class_weight": "even"}, "class_weight must be one of balanced"),
        ({"loss": "hinge", "C": 1.0}, "and below 1 for the hinge"),
        ({"loss": "hinge", "C": 1e-4}, "C must be at least 0.0"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        BudgetedClassifier(**parameters).fit(*drawn())


def test_one_class_is_refused_also_where_the_other_has_no_weight():
    X, y = drawn()
    with pytest.raises(ValueError, match=r"two classes\. Got one class, True"):
        BudgetedClassifier().fit(X, np.ones(60, bool))
    with pytest.raises(ValueError, match=r"two classes\. Got one class, False"):
        BudgetedClassifier().fit(X, y, sample_weight=~y)


def test_the_ends_of_the_valid_range_of_the_hinge_are_right():
    X, y = drawn()
    least = 1 / (2 * min(y.sum(), (~y).sum()))
    for C, valid in ((least * 1.001, True), (least * 0.999, False), (0.999, True)):
        model = BudgetedClassifier(loss="hinge", C=C)
        if valid:
            assert np.isfinite(model.fit(X, y).objective_)
        else:
            with pytest.raises(ValueError, match="for the hinge"):
                model.fit(X, y)


def test_fgm_is_the_same_class_and_is_saved_by_its_own_name(tmp_path):
    assert FGM is BudgetedClassifier
    FGM().fit(*drawn()).save(tmp_path / "model")
    assert type(load(tmp_path / "model")) is BudgetedClassifier

"""OneVsRest: published figures, pruning, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from manylabel import OneVsRest, evaluate, load, read
from manylabel.baselines import _lanes
from manylabel.exceptions import ArchiveError

# Extreme Classification Repository, row 1-vs-All: P@1, P@3, P@5.
PUBLISHED = {"bibtex": (62.62, 39.09, 28.79), "delicious": (65.02, 58.88, 53.28)}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.random((80, 10)) * (rng.random((80, 10)) < 0.5)
    return X, (X @ rng.normal(size=(10, 5)) > 0.3).astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_reaches_the_published_precision(name, data_folder):
    train = read(data_folder / "xmc" / name / "train.txt.gz")
    test = read(data_folder / "xmc" / name / "test.txt.gz")
    model = OneVsRest(n_jobs=2).fit(train.X, train.Y)
    report = evaluate(test.Y, model.predict_topk(test.X, k=5))
    for k, published in zip((1, 3, 5), PUBLISHED[name], strict=True):
        assert 100 * report[f"P@{k}"] > published - 1.0


def test_pruning_drops_small_weights_and_no_others(problem):
    X, Y = problem
    whole, pruned = (OneVsRest(min_weight=w).fit(X, Y) for w in (0, 0.3))
    weights = whole.coef_.toarray()
    assert (np.abs(weights[weights != 0]) <= 0.3).any()
    assert_array_equal(
        pruned.coef_.toarray(), np.where(np.abs(weights) > 0.3, weights, 0)
    )
    assert_array_equal(pruned.intercept_, whole.intercept_)


def test_normalizing_makes_the_length_of_rows_irrelevant(problem):
    X, Y = problem
    model = OneVsRest(min_weight=0).fit(X, Y)
    longer = OneVsRest(min_weight=0).fit(X * 2.0, Y)  # a power of two loses no bit
    assert_array_equal(model.coef_.toarray(), longer.coef_.toarray())
    assert_allclose(model.decision_function(8 * X), longer.decision_function(X))


def test_more_labels_than_lanes_are_all_fitted(problem):
    X, Y = problem
    many = OneVsRest().fit(X, np.tile(Y, 15))
    few = OneVsRest().fit(X, Y)
    assert_array_equal(many.decision_function(X), np.tile(few.decision_function(X), 15))


def test_slow_labels_are_packed_anew_without_changing_a_bit(problem, monkeypatch):
    X, Y = problem
    many = np.tile(Y, 15)
    slow = OneVsRest(tol=1e-3, C=10.0)
    expected = slow.fit(X, many).decision_function(X)
    assert slow.n_iter_.max() > 32
    monkeypatch.setattr(_lanes, "FIRST_STOP", 2)
    monkeypatch.setattr(_lanes, "LANES", 7)
    assert_array_equal(slow.fit(X, many).decision_function(X), expected)


def test_weights_are_sparse_and_single_precision(problem):
    X, Y = problem
    model = OneVsRest().fit(X, Y)
    assert sp.issparse(model.coef_)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32


def test_rows_more_than_a_third_full_are_stored_whole(problem):
    X, Y = problem
    model = OneVsRest(min_weight=0.3).fit(X, Y)
    used = (model.coef_.toarray() != 0).sum(axis=1)
    assert {used.min(), used.max()} != {Y.shape[1]}
    stored = np.diff(model.coef_.indptr)
    assert_array_equal(stored, np.where(3 * used > Y.shape[1], Y.shape[1], used))


def test_a_slow_label_is_reported(problem):
    with pytest.warns(ConvergenceWarning, match="5 of 5 labels did not converge"):
        OneVsRest(max_iter=1, tol=1e-6).fit(*problem)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C == 0, must be > 0"),
        ({"tol": -1.0}, "tol == -1.0, must be > 0"),
        ({"max_iter": 0}, "max_iter == 0, must be >= 1"),
        ({"min_weight": -0.1}, "min_weight == -0.1, must be >= 0"),
        ({"C": float("nan")}, "C must be finite. Got nan."),
        ({"C": 1e-300}, "C must be larger"),
        ({"tol": float("nan")}, "tol must be finite"),
        ({"min_weight": float("inf")}, "min_weight must be finite"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message, problem):
    with pytest.raises(ValueError, match=message):
        OneVsRest(**parameters).fit(*problem)


@pytest.mark.parametrize("k", [0, -1, 1.5, True])
def test_topk_needs_a_positive_k(k, problem):
    with pytest.raises(ValueError, match="k must be a positive integer"):
        OneVsRest().fit(*problem).predict_topk(problem[0], k=k)


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[1.0, np.nan]], [[1]], "X must hold finite .* Got NaN at row 0, column 1"),
        ([[np.inf, 1.0]], [[1]], "X must hold finite .* Got inf at row 0, column 0"),
        ([[1e300, 1.0]], [[1]], "Got inf at row 0, column 0"),
        ([[1.0]], [[2]], "Y must hold only 0 and 1. Got 2."),
        ([[1.0]], [[-1]], "Y must hold only 0 and 1. Got -1."),
        ([[1.0]], [[np.nan]], "Y must hold only 0 and 1. Got nan."),
        ([[1.0]], [[1.00000000001]], "Y must hold only 0 and 1. Got 1."),
        ([[1.0]], [[1e-60]], "Y must hold only 0 and 1. Got 1e-60."),
        ([[1.0]], np.zeros((1, 0)), "Y must have at least one column"),
        ([[1.0]], [[1], [0]], "Y must have 1 rows. Got 2."),
        ([[1.0]], [1], "Y must be a matrix"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_wrong_data_are_refused(X, Y, message):
    with pytest.raises(ValueError, match=message):
        OneVsRest().fit(X, Y)


def test_tiny_rows_are_scaled_as_others():
    X = np.array([[1e-40, 0.0], [0.0, 1e-40], [1.0, 0.0], [0.0, 1.0]], np.float32)
    model = OneVsRest().fit(X, [[1], [0], [1], [0]])
    assert_array_equal(model.predict(X), [[1], [0], [1], [0]])


def test_rows_used_as_they_are_are_not_touched(problem):
    X, Y = sp.csr_array(problem[0], dtype=np.float32), problem[1]
    before = X.copy()
    first = OneVsRest(normalize=False).fit(X, Y)
    assert_array_equal(X.data, before.data)
    assert_array_equal(X.indices, before.indices)
    again = OneVsRest(normalize=False).fit(before, Y)
    assert_array_equal(first.coef_.toarray(), again.coef_.toarray())


def test_a_new_fit_forgets_everything(problem):
    X, Y = problem
    model = OneVsRest().fit(X, Y)
    model.label_names_ = ("a", "b", "c", "d", "e")
    assert not hasattr(model.fit(X, Y[:, :2]), "label_names_")


@pytest.mark.parametrize("name", ["coef_", "intercept_", "n_iter_"])
def test_a_state_that_does_not_fit_together_is_refused(name, problem):
    model = OneVsRest().fit(*problem)
    wrong = OneVsRest().fit(problem[0][:, :4], problem[1][:, :3])
    before = model.decision_function(problem[0])
    mixed = model.get_state() | {
        key: value for key, value in wrong.get_state().items() if key.startswith(name)
    }
    with pytest.raises(ValueError, match=f"{name} must have shape"):
        model.set_state(mixed)
    assert_array_equal(model.decision_function(problem[0]), before)


def test_a_folder_whose_arrays_do_not_fit_together_is_refused(problem, tmp_path):
    model = OneVsRest().fit(*problem)
    model.classes_ = model.classes_[:2]
    model.save(tmp_path / "model")
    with pytest.raises(ArchiveError, match="coef_ must have shape"):
        load(tmp_path / "model")

"""OneVsRest: published figures, pruning, weights, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from manylabel import OneVsRest, Propensity, base, evaluate, load, make_corpus, read
from manylabel.baselines import _one_vs_rest
from manylabel.exceptions import ArchiveError
from manylabel.solvers import lanes

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
    monkeypatch.setattr(lanes, "FIRST_STOP", 2)
    monkeypatch.setattr(lanes, "LANES", 7)
    assert_array_equal(slow.fit(X, many).decision_function(X), expected)


@pytest.mark.parametrize("normalize", [True, False])
def test_rows_without_zeros_are_scored_to_the_bit_as_others(normalize, monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(70, 21)), rng.random((70, 5)) < 0.4
    model = OneVsRest(normalize=normalize, min_weight=0).fit(X, Y)
    scores, best = model.decision_function(X), model.predict_topk(X, k=2).toarray()
    assert_array_equal(model.decision_function(X[3:4]), scores[3:4])
    monkeypatch.setattr(base, "PAIRS_AT_ONCE", 40)  # many chunks
    assert_array_equal(model.predict_topk(X, k=2).toarray(), best)
    monkeypatch.setattr(_one_vs_rest, "_is_full", lambda _: False)
    assert_array_equal(model.decision_function(X), scores)


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


def weights_of(model):
    return np.vstack([model.coef_.toarray(), model.intercept_])


def test_logistic_regressions_are_those_of_scikit_learn(problem):
    X, Y = problem
    model = OneVsRest(loss="log_loss", min_weight=0, tol=1e-3).fit(X, Y)
    rows = np.hstack([normalize(X), np.ones((len(X), 1))])
    theirs = LogisticRegression(fit_intercept=False, tol=1e-8)
    for label, y in enumerate(Y.T):
        expected = theirs.fit(rows, y).predict_proba(rows)[:, 1]
        assert_allclose(model.predict_proba(X)[:, label], expected, atol=1e-3)


def test_only_logistic_regression_gives_probabilities(problem):
    assert hasattr(OneVsRest(loss="log_loss"), "predict_proba")
    assert not hasattr(OneVsRest().fit(*problem), "predict_proba")


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
@pytest.mark.parametrize(
    "propensity", [1, np.ones(5), Propensity.given(np.ones(5))], ids=str
)
def test_propensities_of_1_change_no_bit(loss, propensity, problem):
    plain = OneVsRest(loss=loss).fit(*problem)
    sure = OneVsRest(loss=loss, propensity=propensity).fit(*problem)
    assert_array_equal(weights_of(sure), weights_of(plain))


def test_a_recorded_label_weighs_as_its_propensity_says(problem):
    X, Y = problem
    p = np.array([0.1, 0.2, 0.5, 0.8, 1.0])
    model = OneVsRest(propensity=p, tol=1e-4, min_weight=0).fit(X, Y)
    for label, y in enumerate(Y.T):
        weight = np.where(y, 2 / p[label] - 1, 1)
        alone = OneVsRest(tol=1e-4, min_weight=0)
        alone.fit(X, y[:, None], sample_weight=weight)
        expected = weights_of(alone)[:, 0]
        assert_allclose(weights_of(model)[:, label], expected, atol=1e-3)


@pytest.mark.parametrize(
    ("loss", "costs"), [("squared_hinge", (0.1, 0.3, 1.0)), ("log_loss", (1.0, 3.0))]
)
def test_propensities_rank_complete_labels_better(loss, costs):
    """With the best C of each: heavier rows are also a larger C."""
    corpus = make_corpus(n_rows=1500, n_features=500, n_labels=50, random_state=0)
    train, test = slice(0, 1000), slice(1000, None)

    def best(propensity):
        models = [OneVsRest(loss=loss, C=C, propensity=propensity) for C in costs]
        for model in models:
            model.fit(corpus.X[train], corpus.Y[train])
        found = [model.predict_topk(corpus.X[test], k=5) for model in models]
        return max(evaluate(corpus.complete[test], each)["P@3"] for each in found)

    assert best(corpus.propensity) > best(None) + 0.02


def test_balanced_positives_weigh_as_much_as_all_others(problem):
    X, Y = problem
    balanced = OneVsRest(class_weight="balanced", tol=1e-4, min_weight=0).fit(X, Y)
    for label, y in enumerate(Y.T):
        alone = OneVsRest(tol=1e-4, min_weight=0)
        weight = np.where(y, (1 - y).sum() / y.sum(), 1)
        alone.fit(X, y[:, None], sample_weight=weight)
        expected = weights_of(alone)[:, 0]
        assert_allclose(weights_of(balanced)[:, label], expected, atol=1e-3)


def test_a_label_of_all_rows_or_none_is_balanced(problem):
    X, Y = problem
    Y = Y.copy()
    Y[:, 0], Y[:, 1] = 1, 0
    weight = np.random.default_rng(0).random(len(X))
    model = OneVsRest(class_weight="balanced").fit(X, Y, sample_weight=weight)
    assert model.predict(X)[:, 0].all()
    assert not model.predict(X)[:, 1].any()


@pytest.mark.parametrize("parameters", [{}, {"class_weight": "balanced"}], ids=str)
def test_a_row_of_no_weight_is_as_if_it_were_not_there(parameters, problem):
    X, Y = problem
    kept = np.random.default_rng(0).random(len(X)) < 0.7
    model = OneVsRest(**parameters).fit(X, Y, sample_weight=kept)
    without = OneVsRest(**parameters).fit(X[kept], Y[kept])
    assert_array_equal(weights_of(model), weights_of(without))


def test_weights_are_factors_of_C(problem):
    heavy = OneVsRest().fit(*problem, sample_weight=np.full(80, 4.0))
    assert_array_equal(weights_of(heavy), weights_of(OneVsRest(C=4.0).fit(*problem)))


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
@pytest.mark.parametrize("C", [1e-30, 1.0, 1e30])
@pytest.mark.filterwarnings("ignore:.*labels did not converge")
def test_weights_of_any_size_give_finite_scores(loss, C, problem):
    X, Y = problem
    weight = np.logspace(-200, 200, len(X))
    model = OneVsRest(C=C, loss=loss, propensity=1e-6, max_iter=100)
    assert np.isfinite(model.fit(X, Y, sample_weight=weight).decision_function(X)).all()


@pytest.mark.parametrize(
    "propensity", [0.5, np.full(5, 0.5), Propensity.given(np.full(5, 0.5))], ids=str
)
def test_propensities_are_saved(propensity, problem, tmp_path):
    model = OneVsRest(propensity=propensity).fit(*problem)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert str(loaded.get_params()) == str(model.get_params())
    assert_array_equal(weights_of(loaded.fit(*problem)), weights_of(model))


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
        ({"loss": "hinge"}, "loss must be one of squared_hinge, log_loss. Got 'hinge'"),
        ({"class_weight": "auto"}, "class_weight must be one of balanced. Got 'auto'"),
        ({"propensity": [0.5]}, "propensity must have 5 values"),
        ({"propensity": 1e-9}, "propensity must be at least 1e-06. Got 1e-09 for la"),
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

"""The baselines on a stream: their definitions, the stream law, refusals."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from manylabel import (
    OnlineBinaryRelevance,
    OnlineCompressedSensing,
    OnlineRandomProjection,
    load,
    online,
    read,
)
from manylabel.base import OnlineClassifier
from manylabel.online import _regression

N_ROWS, N_FEATURES, N_LABELS = 40, 6, 9
LEARNERS = [
    learner
    for how in (
        {"regressor": "ridge"},
        {"regressor": "gradient"},
        {"regressor": "gradient", "learning_rate": "adagrad"},
        {"regressor": "gradient", "clip_step": False},
    )
    for learner in (
        OnlineBinaryRelevance(**how),
        OnlineCompressedSensing(**how, n_components=5),
        OnlineRandomProjection(**how, n_components=5),
    )
]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=str)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X *= rng.random(X.shape) < 0.6
    Y = (X @ rng.normal(size=(N_FEATURES, N_LABELS)) > 0.7).astype(int)
    Y[:N_LABELS] |= np.eye(N_LABELS, dtype=int)
    return X, Y


def assert_same_state(one, other):
    mine, theirs = one.get_state(), other.get_state()
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        assert_array_equal(value, theirs[name], err_msg=name)


def batch_ridge(X, targets, reg):
    padded = np.column_stack([X.astype(np.float32), np.ones(len(X))]).astype(float)
    gram = padded.T @ padded + reg * np.eye(padded.shape[1])
    return padded @ np.linalg.solve(gram, padded.T @ targets)


@pytest.mark.parametrize("reg", [0.1, 1.0, 10.0])
def test_binary_relevance_by_ridge_is_batch_ridge_on_signs(problem, reg):
    X, Y = problem
    scores = OnlineBinaryRelevance(l2_regularization=reg).fit(X, Y).decision_function(X)
    assert_allclose(scores, batch_ridge(X, 2 * Y - 1, reg), rtol=1e-8, atol=1e-8)


def test_plain_steps_of_gradient_descent_may_overshoot_as_in_the_paper(problem):
    X, Y = problem
    X = (3 * X).astype(np.float32)
    W = np.zeros((N_FEATURES, N_LABELS))
    for t, (x, y) in enumerate(zip(X.astype(float), 2 * Y - 1, strict=True), start=1):
        W += np.outer(x, y - x @ W) / np.sqrt(t)
    how = {"regressor": "gradient", "fit_intercept": False}
    plain, clipped = (
        OnlineBinaryRelevance(**how, clip_step=clip).fit(X, Y) for clip in (False, True)
    )
    assert_allclose(plain.coef_[:-1], W, rtol=1e-8)
    assert np.abs(clipped.coef_).max() < 1 < 1e3 < np.abs(W).max()


def test_random_projection_is_batch_ridge_on_codes_and_the_pseudo_inverse(problem):
    X, Y = problem
    model = OnlineRandomProjection(n_components=4).fit(X, Y)
    P = model.code_.T
    codes = batch_ridge(X, (2 * Y - 1) @ P.T, reg=1.0)
    expected = codes @ np.linalg.pinv(P).T
    assert_allclose(model.decision_function(X), expected, rtol=1e-8, atol=1e-8)


def test_a_whole_random_code_is_binary_relevance(problem):
    X, Y = problem
    coded = OnlineRandomProjection(n_components=1.0).fit(X, Y).decision_function(X)
    plain = OnlineBinaryRelevance().fit(X, Y).decision_function(X)
    assert_allclose(coded, plain, rtol=1e-6, atol=1e-6)


def test_compressed_sensing_finds_at_most_the_mean_number_of_labels(problem):
    X, Y = problem
    model = OnlineCompressedSensing(n_components=6).fit(X, Y)
    found = (model.decision_function(X) != -0.5).sum(axis=1)
    assert found.max() == np.ceil(Y.sum(axis=1).mean()) < 6
    found = (model.set_params(sparsity=1).decision_function(X) != -0.5).sum(axis=1)
    assert found.max() == 1


def test_without_an_intercept_rows_of_zeros_score_zero(problem):
    X, Y = problem
    for regressor in ("ridge", "gradient"):
        model = OnlineBinaryRelevance(fit_intercept=False, regressor=regressor)
        assert not model.fit(X, Y).decision_function(0 * X[:1]).any()


@each_learner
@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=5).map(sorted))
def test_chunks_do_not_matter(problem, learner, cuts):
    X, Y = problem
    whole, cut = clone(learner).fit(X, Y), clone(learner)
    for start, end in zip([0, *cuts], [*cuts, N_ROWS], strict=True):
        if end > start:
            cut.partial_fit(X[start:end], sp.csr_array(Y[start:end]))
    cut.sparse_output_ = whole.sparse_output_
    assert_same_state(whole, cut)


@each_learner
def test_the_size_of_inner_blocks_does_not_matter(problem, learner, monkeypatch):
    X, Y = problem
    whole = clone(learner).fit(X, Y)
    monkeypatch.setattr(_regression, "PAIRS_AT_ONCE", 30)
    assert_same_state(whole, clone(learner).fit(X, Y))


@each_learner
@pytest.mark.parametrize("n_pairs", [1 << 20, 30])
def test_progress_is_to_predict_and_learn_row_by_row(
    problem, learner, n_pairs, monkeypatch
):
    X, Y = (sp.csr_array(part) for part in problem)
    X = X.astype(np.float32)
    whole, single = clone(learner).fit(X[:1], Y[:1]), clone(learner).fit(X[:1], Y[:1])
    expected = OnlineClassifier._progress(single, X[1:], Y[1:])
    monkeypatch.setattr(_regression, "PAIRS_AT_ONCE", n_pairs)
    found = whole._progress(X[1:], Y[1:])
    assert expected.nnz
    assert_array_equal(found.toarray(), expected.toarray())
    assert_same_state(whole, single)


@each_learner
def test_one_row_at_a_time_is_the_same_stream(problem, learner):
    X, Y = problem
    whole, single = clone(learner).fit(X, Y), clone(learner).fit(X[:1], Y[:1])
    for x, y in zip(X[1:], Y[1:], strict=True):
        row = {j: float(v) for j, v in enumerate(x) if v}
        single.learn_one(row, np.flatnonzero(y).tolist())
    assert_same_state(whole, single)
    row = {j: float(v) for j, v in enumerate(X[0]) if v}
    assert whole.predict_one(row) == set(np.flatnonzero(whole.predict(X[:1])[0]))


@each_learner
def test_a_state_taken_over_goes_on_as_the_first_would(problem, learner):
    X, Y = problem
    first = clone(learner).fit(X[:20], Y[:20])
    other = clone(learner).set_state(copy.deepcopy(first.get_state()))
    assert_same_state(first.partial_fit(X, Y), other.partial_fit(X, Y))


@each_learner
@pytest.mark.parametrize("name", ["state_.coef", "state_.counts"])
def test_a_state_that_does_not_fit_together_is_refused(problem, learner, name):
    state = clone(learner).fit(*problem).get_state()
    with pytest.raises(ValueError, match=f"{name} must have shape"):
        clone(learner).set_state(state | {name: state[name][:-1]})


@each_learner
def test_a_label_ranks_last_until_a_row_has_it(problem, learner):
    X, Y = problem
    late = Y.copy()
    late[:, 2] = 0
    model = clone(learner).fit(X, late)
    scores = model.decision_function(X)
    assert (scores[:, 2] < np.delete(scores, 2, axis=1).min(axis=1)).all()
    model.learn_one({0: 1.0}, {2})
    assert (model.decision_function(X)[:, 2] > -1e30).all()


@pytest.mark.parametrize(
    "cls", [OnlineCompressedSensing, OnlineRandomProjection], ids=lambda c: c.__name__
)
def test_the_seed_draws_the_code(problem, cls):
    X, Y = problem
    draws = [
        cls(n_components=3, random_state=seed).fit(X, Y).code_ for seed in (0, 0, 1)
    ]
    assert_array_equal(draws[0], draws[1])
    assert (draws[0] != draws[2]).all()


def bad_inputs(X, Y):
    nan = X.copy()
    nan[1, 2] = np.nan
    return {
        "X has 7 features": (np.column_stack([X, X[:, 0]]), Y),
        "X must hold finite float32 numbers. Got NaN at row 1, column 2": (nan, Y),
        "Y must have 9 columns. Got 10": (X, np.column_stack([Y, Y[:, 0]])),
        "Y must hold only 0 and 1. Got 2": (X, 2 * Y),
        "Y must have 40 rows. Got 39": (X, Y[1:]),
    }


@each_learner
def test_bad_input_in_mid_stream_changes_nothing(problem, learner):
    X, Y = problem
    model, expected = clone(learner).fit(X, Y), clone(learner).fit(X, Y)
    for message, bad in bad_inputs(X, Y).items():
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*bad)
        assert_same_state(model, expected)
    for x, y, message in [
        ({N_FEATURES: 1.0}, {0}, "x must have columns from 0 to 5. Got 6"),
        ({0: float("nan")}, {0}, "x must have finite float32 numbers. Got nan"),
        ({0: 1.0}, {N_LABELS}, "y must have columns from 0 to 8. Got 9"),
        ({0: 1.0}, {-1}, "y must have columns from 0 to 8. Got -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.learn_one(x, y)
        assert_same_state(model, expected)


@each_learner
def test_a_refused_fit_changes_nothing(problem, learner):
    X, Y = problem
    model, expected = clone(learner).fit(X, Y), clone(learner).fit(X, Y)
    with pytest.raises(ValueError, match="Y must hold only 0 and 1"):
        model.fit(np.column_stack([X, X]), 2 * Y)
    assert_same_state(model, expected)
    assert_same_state(model.partial_fit(X, Y), expected.partial_fit(X, Y))


def test_too_many_features_for_ridge_are_refused_with_the_way_out(problem, monkeypatch):
    X, Y = problem
    monkeypatch.setattr("manylabel._validation.MAX_RIDGE_FEATURES", N_FEATURES)
    model = OnlineBinaryRelevance().fit(X, Y)
    expected = OnlineBinaryRelevance().fit(X, Y)
    message = "at most 6 features. Got 12: use regressor=.gradient."
    with pytest.raises(ValueError, match=message):
        model.fit(np.column_stack([X, X]), Y)
    assert_same_state(model, expected)
    OnlineBinaryRelevance(regressor="gradient").fit(np.column_stack([X, X]), Y)


def test_weights_that_do_not_fit_into_memory_are_refused_with_the_way_out():
    X, Y = sp.csr_array((1, 10**9)), sp.csr_array((1, 10**6), dtype=int)
    message = "Got 1000000000 features and 1000000 labels: use CSDPP with"
    with pytest.raises(ValueError, match=message):
        OnlineBinaryRelevance(regressor="gradient").fit(X, Y)


@pytest.mark.parametrize(
    "other", [{"regressor": "ridge"}, {"learning_rate": "adagrad"}], ids=str
)
def test_a_stream_keeps_the_regressor_and_schedule_it_began_with(problem, other):
    X, Y = problem
    model = OnlineBinaryRelevance(regressor="gradient").fit(X[:20], Y[:20])
    model.set_params(**other).partial_fit(X[20:], Y[20:])
    expected = OnlineBinaryRelevance(regressor="gradient").fit(X, Y)
    assert_array_equal(model.coef_, expected.coef_)


def test_a_spread_that_does_not_fit_is_refused(problem):
    learner = OnlineBinaryRelevance(regressor="gradient", learning_rate="adagrad")
    state = learner.fit(*problem).get_state()
    with pytest.raises(ValueError, match="spread must have a row"):
        clone(learner).set_state(state | {"state_.spread": state["state_.spread"][:-1]})


def test_an_adaptive_schedule_does_not_mind_the_scale_of_the_rows(problem):
    X, Y = problem
    learner = OnlineBinaryRelevance(
        regressor="gradient", learning_rate="adagrad", fit_intercept=False
    )
    plain = clone(learner).fit(X, Y).decision_function(X)
    scaled = clone(learner).fit(1024 * X, Y).decision_function(1024 * X)
    assert_allclose(scaled, plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"regressor": "lasso"}, "regressor must be one of .* Got 'lasso'"),
        ({"learning_rate": "slow"}, "learning_rate must be one of .* Got 'slow'"),
        ({"l2_regularization": 0}, "l2_regularization == 0, must be > 0"),
        ({"eta0": -1.0}, "eta0 == -1.0, must be > 0"),
        ({"sparsity": 0}, "sparsity == 0, must be >= 1"),
        ({"n_components": 0}, "n_components == 0, must be >= 1"),
        ({"n_components": 1.5}, "n_components == 1.5, must be <= 1"),
    ],
)
def test_bad_parameters_are_refused(problem, parameters, message):
    with pytest.raises(ValueError, match=message):
        OnlineCompressedSensing(**parameters).fit(*problem)


@pytest.mark.parametrize(
    ("n_components", "expected"),
    [(0.1, 2), (0.5, 7), (1.0, 14), (1e-6, 1), (3, 3), (99, 14), (np.int64(2), 2)],
)
def test_a_fraction_of_the_labels_is_rounded_up(n_components, expected):
    learner = OnlineRandomProjection(n_components=n_components)
    learner.fit([[1.0], [2.0]], np.eye(2, 14, dtype=int))
    assert learner.state_.coef.shape[1] == expected


def test_binary_relevance_learns_yeast_in_one_pass(data_folder):
    data = read(data_folder / "mulan" / "yeast-train.arff.gz")
    X, Y = data.X, data.Y.toarray()
    model = OnlineBinaryRelevance().fit(X[:1000], Y[:1000])
    wrong = (model.predict(X[1000:]) != Y[1000:]).mean()
    assert wrong < 0.21


@pytest.mark.parametrize("name", online.__all__)
def test_a_learner_mapped_from_a_file_learns_on_and_leaves_the_file(name, tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 5)), rng.integers(0, 2, size=(30, 4))
    learner = getattr(online, name)().fit(X, Y)
    learner.save(tmp_path / "model")
    mapped = load(tmp_path / "model", mmap=True)
    before = learner.decision_function(X)
    mapped.partial_fit(X, Y)
    assert_array_equal(load(tmp_path / "model").decision_function(X), before)
    expected = learner.partial_fit(X, Y).decision_function(X)
    assert_array_equal(mapped.decision_function(X), expected)

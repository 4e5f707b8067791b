"""CSDPP(grow=True): labels and features that appear in mid-stream."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import manylabel as ml
from manylabel import CSDPP
from manylabel.losses import as_cost


def correlated(n_rows, n_features=12, n_labels=10, seed=0):
    """Return rows whose labels depend on them, some far rarer than others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    scores = X @ rng.normal(size=(n_features, n_labels))
    return X, (scores > np.linspace(0, 7, n_labels)).astype(int)


def in_order_of_appearance(Y):
    first = np.where(Y.any(axis=0), Y.argmax(axis=0), len(Y))
    return Y[:, np.argsort(first, kind="stable")]


def mean_cost(learner, X, Y, widths, cost="f1"):
    """Predict and learn rows, each shown with its first ``widths`` labels only."""
    total, n_labels = 0.0, Y.shape[1]
    for i in range(len(Y)):
        guess = np.zeros(n_labels, int)
        if i:
            known = learner.predict(X[i : i + 1])[0]
            guess[: len(known)] = known
        total += as_cost(cost)(Y[i], guess)
        learner.partial_fit(X[i : i + 1], Y[i : i + 1, : widths[i]])
    return total / len(Y)


@pytest.mark.slow
@pytest.mark.parametrize("cost", ["f1", "hamming"])
def test_labels_revealed_one_by_one_cost_at_most_2_percent_more(cost):
    means = {"known": 0.0, "revealed": 0.0}
    for seed in range(4):
        X, Y = correlated(600, seed=seed)
        Y = in_order_of_appearance(Y)
        last = [np.flatnonzero(y).max(initial=0) + 1 for y in Y]
        revealed = np.maximum.accumulate(last)
        assert revealed[0] < Y.shape[1]
        for name, widths in (
            ("known", np.full(len(Y), Y.shape[1])),
            ("revealed", revealed),
        ):
            learner = CSDPP(cost=cost, n_components=5, grow=name == "revealed")
            means[name] += mean_cost(learner, X, Y, widths, cost)
    assert means["revealed"] <= 1.02 * means["known"]


def begun(**parameters):
    X, Y = correlated(60)
    return CSDPP(**{"n_components": 0.4} | parameters, grow=True).fit(X, Y), X, Y


# Basis correction projects all labels' regressions on the new directions.
@pytest.mark.parametrize("basis", ["transform", "none", "unaligned"])
@pytest.mark.parametrize("regressor", ["ridge", "gradient"])
def test_growing_changes_no_score(basis, regressor):
    learner, X, Y = begun(basis=basis, regressor=regressor)
    before = learner.decision_function(X)
    learner._grow(20, 25)
    after = learner.decision_function(X)
    assert_allclose(after[:, : Y.shape[1]], before, atol=1e-10)
    assert (after[:, Y.shape[1] :] == np.finfo(np.float32).min).all()
    pca = learner.state_.pca
    rows = pca.mix[: pca.sizes[0]] @ pca.block
    assert_allclose(rows @ rows.T, np.eye(len(rows)), atol=1e-12)


# Left alone, a regressor mixes codes of other times: no label begins as it should.
@pytest.mark.parametrize("basis", ["transform", "correct"])
def test_a_new_label_begins_as_one_that_was_never_relevant(basis):
    learner, X, Y = begun(basis=basis, cost="hamming", n_components=0.8)
    learner._grow(X.shape[1], Y.shape[1] + 1)
    learner.state_.counts[Y.shape[1]] = 1  # so that its score is shown
    scores = learner.decision_function(X)[:, Y.shape[1]]
    assert (scores < 0).mean() > 0.95


@given(
    st.sampled_from(["ridge", "gradient"]), st.sampled_from(["invscaling", "adagrad"])
)
def test_features_that_appear_late_are_learnt_as_if_they_had_been_zero(
    regressor, learning_rate
):
    X, Y = correlated(40)
    X[:25, 9:] = 0
    whole = CSDPP(
        cost="f1", grow=True, regressor=regressor, learning_rate=learning_rate
    )
    late = CSDPP(cost="f1", grow=True, regressor=regressor, learning_rate=learning_rate)
    whole.fit(X, Y)
    late.fit(X[:25, :9], Y[:25]).partial_fit(X[25:], Y[25:])
    for name, value in whole.get_state().items():
        assert_array_equal(late.get_state()[name], value, err_msg=name)


def test_rows_may_be_narrower_than_those_before():
    learner, X, Y = begun()
    other, _, _ = begun()
    narrow = np.hstack([X[:5, :3], np.zeros((5, X.shape[1] - 3))])
    empty = np.hstack([Y[:5, :2], np.zeros((5, Y.shape[1] - 2), int)])
    learner.partial_fit(X[:5, :3], Y[:5, :2])
    other.partial_fit(narrow, empty)
    assert_array_equal(learner.coef_, other.coef_)
    assert_array_equal(learner.predict(X[:, :3]).shape, Y.shape)


def test_features_never_learnt_are_ignored_in_prediction():
    learner, X, _ = begun()
    wide = np.hstack([X, np.ones((len(X), 4))])
    assert_array_equal(learner.predict(wide), learner.predict(X))
    assert learner.predict_one({100: 1.0}) == learner.predict_one({})


def test_single_rows_bring_new_labels_and_features():
    learner = CSDPP(cost="f1", n_components=3, grow=True)
    for _ in range(20):
        learner.learn_one({0: 1.0}, {0}).learn_one({5: 1.0}, {0, 3})
        learner.learn_one({9: 1.0}, {7})
    assert (learner.n_features_in_, len(learner.classes_)) == (10, 8)
    assert learner.predict_one({5: 1.0}) == {0, 3}
    assert learner.predict_one({9: 1.0}) == {7}


def test_own_costs_see_the_labels_met_so_far():
    lengths = set()

    def cost(y, y_hat):
        lengths.add((len(y), len(y_hat)))
        return float((y != y_hat).mean())

    X, Y = correlated(6)
    learner = CSDPP(cost=cost, grow=True).fit(X[:3], Y[:3, :4])
    learner.partial_fit(X[3:], Y[3:, :6])
    assert lengths == {(4, 4), (6, 6)}


def test_progressive_follows_a_stream_that_widens_and_narrows():
    X, Y = correlated(60)
    parts = [(X[:20, :5], Y[:20, :4]), (X[20:40], Y[20:40]), (X[40:, :7], Y[40:, :6])]
    run = ml.progressive(CSDPP(grow=True), iter(parts), costs=["f1"])
    assert run.n_rows == 60


def test_a_saved_learner_goes_on_growing(tmp_path):
    learner, X, Y = begun(regressor="gradient")
    learner.save(tmp_path / "model")
    loaded = ml.load(tmp_path / "model")
    for each in (learner, loaded):
        each.partial_fit(np.hstack([X, X]), np.hstack([Y, Y]))
    assert_array_equal(loaded.coef_, learner.coef_)


def test_bad_rows_do_not_make_it_grow():
    learner, X, _ = begun()
    before = {key: np.copy(value) for key, value in learner.get_state().items()}
    wide = sp.csr_array((1, 40))
    for x, y, message in (
        (wide, [[2] * 30], "only 0 and 1"),
        (np.full((1, 40), np.nan), [[1] * 30], "Got NaN"),
        (sp.csr_array((1, 20_001)), [[1] * 30], "use regressor"),
        (wide, [[1] * 30] * 2, "must have 1 rows"),
    ):
        with pytest.raises(ValueError, match=message):
            learner.partial_fit(x, y)
    for key, value in learner.get_state().items():
        assert_array_equal(value, before[key], err_msg=key)
    assert learner.n_features_in_ == X.shape[1]


def test_given_propensities_must_reach_as_far_as_the_labels():
    X, Y = correlated(10)
    learner = CSDPP(grow=True, propensity=np.full(6, 0.5)).fit(X, Y[:, :4])
    learner.partial_fit(X, Y[:, :6])
    with pytest.raises(ValueError, match="propensity must have 7 values"):
        learner.partial_fit(X, Y[:, :7])


def test_parameters_that_shape_the_state_must_stay():
    learner, X, Y = begun()
    with pytest.raises(ValueError, match="must stay as they were"):
        learner.set_params(basis="correct").partial_fit(X, Y)


def test_a_refused_row_does_not_widen_the_learner():
    learner, X, Y = begun(regressor="gradient")
    learner.set_params(n_components=3)
    with pytest.raises(ValueError, match="must stay as they were"):
        learner.partial_fit(np.ones((1, 15)), Y[:1])
    assert learner.n_features_in_ == X.shape[1]


def test_weights_have_a_row_for_each_feature_and_the_constant():
    learner, X, _ = begun(regressor="gradient")
    assert learner.coef_.shape == (X.shape[1] + 1, 4)


def test_progressive_goes_on_with_a_learner_that_knows_more():
    learner, X, Y = begun()
    assert ml.progressive(learner, X[:, :3], Y[:, :3], costs=["f1"]).n_rows == len(X)

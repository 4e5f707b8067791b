"""CSDPP: Algorithm 1 written slowly, its theory, and the laws of streams."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import CSDPP, OnlineBinaryRelevance
from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import learning as cs_dpp
from manylabel.losses import as_cost, label_weights

UNSEEN = np.finfo(np.float32).min


def project(values, total):
    shifts = np.linspace(-values.max() - 1, 2 - values.min(), 3)
    for _ in range(100):
        shifts[1] = shifts[[0, 2]].mean()
        shifts[0 if np.clip(values + shifts[1], 0, 1).sum() < total else 2] = shifts[1]
    return np.clip(values + shifts[2], 0, 1)


def reference(X, Y, cost, M, basis="transform"):
    """Chu, Huang & Lin 2019, Algorithm 1: dense, slow, obvious. Returns P'W'x.

    ``H`` is W P, the regressor to labels, so that no sign or rotation matters: a basis
    transform projects it on the new P (equation 12), a correction leaves it whole. Ends
    where rounding decides: a score of nothing, or two directions of equal strength.
    """
    X = np.hstack([X, np.ones((len(X), 1))])
    K, scores = Y.shape[1], []
    inverse, H, U = np.eye(X.shape[1]), np.zeros((X.shape[1], K)), np.zeros((K, K))
    P, counts, order = np.zeros((0, K)), np.zeros(K), np.arange(K)
    for t, (x, y) in enumerate(zip(X, Y, strict=True), start=1):
        score = np.where(counts, (H.T @ x) @ P.T @ P, UNSEEN)
        scores.append(score)
        if (np.abs(score) < 1e-6).any():
            break
        weights = label_weights(y, (score > 0).astype(int), cost, order)
        target = np.sqrt(weights) * (2 * y - 1)
        for k in np.flatnonzero(y):  # of equal counts, the first to get there leads
            counts[k] += 1
            order = order[np.argsort(-counts[order], kind="stable")]
        v = target / max(1, np.linalg.norm(target))
        moved = U + 2 / np.sqrt(t) * M / K * np.outer(v, v)
        values, vectors = (part[..., ::-1] for part in np.linalg.eigh(moved))
        rank = min((values > 1e-9).sum(), M + 1)
        if rank > M and values[M - 1] - values[M] < 1e-6:
            break
        if v.any():
            Q = vectors.T[:rank]
            U = Q.T @ np.diag(project(values[:rank], min(M, rank))) @ Q
            P = Q[:M]
        gain = inverse @ x / (1 + x @ inverse @ x)
        inverse -= np.outer(gain, inverse @ x)
        H = H @ P.T @ P if basis == "transform" else H
        error = target - H.T @ x
        H = H + np.outer(gain, error @ P.T @ P if basis == "transform" else error)
    return np.array(scores)


def stream(learner, X, Y):
    """Return the scores of each row before it is learnt."""
    learner.fit(X[:1], Y[:1])
    scores = [np.full(Y.shape[1], UNSEEN)]
    for x, y in zip(X[1:], Y[1:], strict=True):
        scores.append(learner.decision_function(x[None])[0])
        learner.partial_fit(x[None], y[None])
    return np.array(scores)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, K = draw(st.tuples(st.integers(2, 15), st.integers(1, 5), st.integers(2, 6)))
    X = (rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)).astype(np.float32)
    return X, (rng.random((n, K)) < 0.4).astype(int)


@settings(max_examples=30)
@given(problems(), st.sampled_from(["hamming", "f1", "accuracy", "rank"]), st.data())
def test_follows_the_paper(problem, cost, data):
    X, Y = problem
    M = data.draw(st.integers(1, Y.shape[1]))
    basis = data.draw(st.sampled_from(["transform", "correct"]))
    learner = CSDPP(cost=cost, n_components=M, basis=basis)
    slow = reference(X, Y, cost, M, basis)
    assert_allclose(stream(learner, X, Y)[: len(slow)], slow, atol=1e-5)


@given(problems(), st.data())
def test_chunks_do_not_matter(problem, data):
    X, Y = problem
    settings = {
        "selection": data.draw(st.sampled_from(["greedy", "sampled"])),
        "order": data.draw(st.sampled_from(["frequent", "given", "random"])),
        "regressor": data.draw(st.sampled_from(["ridge", "gradient"])),
        "propensity": data.draw(st.sampled_from([None, 0.5, "running"])),
        "label_weights": data.draw(st.sampled_from(["recorded", "expected"])),
        "learning_rate": data.draw(st.sampled_from(["invscaling", "adagrad"])),
        "clip_step": data.draw(st.booleans()),
        "reference": data.draw(st.sampled_from(["zero", "mean"])),
        "grow": data.draw(st.booleans()),
    }
    cut = data.draw(st.integers(1, len(X) - 1))
    whole = CSDPP(cost="f1", **settings).fit(X, Y)
    parts = CSDPP(cost="f1", **settings).fit(X[:cut], Y[:cut])
    for x, y in zip(X[cut:], Y[cut:], strict=True):
        parts.learn_one({j: x[j] for j in np.flatnonzero(x)}, np.flatnonzero(y))
    for name, value in whole.get_state().items():
        assert_array_equal(parts.get_state()[name], value, err_msg=name)


@given(problems())
def test_plain_steps_to_a_whole_code_are_those_of_binary_relevance(problem):
    """Corrected, each label has a regression of its own, whatever the projection."""
    X, Y = problem
    how = {"regressor": "gradient", "clip_step": False}
    coded = CSDPP(n_components=1.0, basis="correct", **how).fit(X, Y)
    plain = OnlineBinaryRelevance(**how).fit(X, Y)
    scale = np.sqrt(Y.shape[1])
    assert_allclose(coded.coef_ * scale, plain.coef_, rtol=1e-6, atol=1e-9)


@given(problems())
def test_correction_is_batch_ridge_regression_on_encoded_labels(problem):
    """Equation 6: W of PBC solves the whole regression for the present code."""
    X, Y = problem
    learner = CSDPP(cost="hamming", n_components=0.5, basis="correct").fit(X, Y)
    rows = np.hstack([X, np.ones((len(X), 1))]).astype(float)
    P = learner.basis_[learner.state_.picked[: learner.state_.counters[1]]]
    codes = (2 * Y - 1) / np.sqrt(Y.shape[1]) @ P.T
    W = np.linalg.solve(rows.T @ rows + np.eye(rows.shape[1]), rows.T @ codes)
    seen = Y.any(axis=0)
    assert_allclose(
        learner.decision_function(X)[:, seen], (rows @ W @ P)[:, seen], atol=1e-8
    )


def left_alone(X, Y, basis):
    """Learn rows one by one; return the learner and the directions after each."""
    learner, directions = CSDPP(n_components=0.5, basis=basis), []
    for x, y in zip(X, Y, strict=True):
        learner.partial_fit(x[None], y[None])
        directions.append(learner.basis_)
    return learner, directions


@pytest.mark.parametrize("basis", ["none", "unaligned"])
@given(problem=problems())
def test_left_alone_the_regressor_is_ridge_on_the_codes_of_their_time(basis, problem):
    X, Y = problem
    learner, directions = left_alone(X, Y, basis)
    codes = np.zeros((len(X), len(learner.state_.picked)))
    for code, P, y in zip(codes, directions, 2 * Y - 1, strict=True):
        strongest = P[: len(code)]
        code[: len(strongest)] = strongest @ y / np.sqrt(len(y))
    rows = np.hstack([X, np.ones((len(X), 1))]).astype(float)
    W = np.linalg.solve(rows.T @ rows + np.eye(rows.shape[1]), rows.T @ codes)
    assert_allclose(learner.coef_, W, atol=1e-8)


def test_directions_turn_around_unless_they_are_aligned():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 3)), (rng.random((300, 8)) < 0.3).astype(int)
    turned = {}
    for basis in ("none", "unaligned"):
        _, directions = left_alone(X, Y, basis)
        pairs = pairwise(directions)
        along = [np.sum(old * new[: len(old)], axis=1) for old, new in pairs]
        turned[basis] = np.mean(np.concatenate(along) < 0)
    assert turned["none"] == 0
    assert turned["unaligned"] > 0.2


@pytest.mark.slow
@given(problems())
def test_transform_equals_correction_in_the_full_space(problem):
    """With as many components as labels a full basis loses nothing."""
    X, Y = problem
    X, Y = np.tile(X, (8, 1)), np.tile(Y, (8, 1))
    Y[: Y.shape[1]] = np.eye(Y.shape[1])  # the first rows span all labels
    basis_is_full = CSDPP(n_components=1.0).fit(X, Y)
    if basis_is_full.state_.counters[1] < Y.shape[1]:
        return
    transform = stream(CSDPP(n_components=1.0), X, Y)
    correct = stream(CSDPP(n_components=1.0, basis="correct"), X, Y)
    assert_allclose(transform, correct, atol=1e-6)


@pytest.mark.slow
def test_sampled_code_has_the_expectation_of_lemma_2():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 4)), rng.integers(0, 2, size=(40, 6))
    total, n_draws = np.zeros((6, 6)), 1000
    for seed in range(n_draws):
        learner = CSDPP(n_components=3, selection="sampled", random_state=seed)
        learner.fit(X, Y)
        P = learner.basis_[learner.state_.picked]
        total += P.T @ P
    rows, sigma = learner.basis_[:4], learner.state_.pca.sigma[:4]
    U = rows.T @ (sigma[:, None] * rows)
    assert_allclose(total / n_draws, U, atol=0.08)


@pytest.mark.parametrize("cost", ["hamming", "f1", "accuracy", "rank"])
def test_bound_of_theorem_5_holds_on_every_row(cost):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 5))
    Y = (X @ rng.normal(size=(5, 7)) > 0.5).astype(int)
    Y[0] = 1  # every label has been seen, so that all are predicted by their score
    learner = CSDPP(cost=cost, n_components=3, order="given").fit(X[:1], Y[:1])
    for x, y in zip(X[1:], Y[1:], strict=True):
        P = learner.basis_[learner.state_.picked[: learner.state_.counters[1]]]
        score = learner.decision_function(x[None])[0]
        y_hat = (score > 0).astype(int)
        target = np.sqrt(label_weights(y, y_hat, cost)) * (2 * y - 1)
        missed = target - P.T @ (P @ target)
        code = np.append(x, 1.0).astype(np.float32) @ learner.coef_
        bound = ((code[: len(P)] - P @ target) ** 2).sum() + (missed**2).sum()
        assert as_cost(cost)(y, y_hat) <= bound + 1e-9
        learner.partial_fit(x[None], y[None])


class OwnF1:
    """F1 loss, as a user would write it from counts."""

    def from_counts(self, hits, n_true, n_predicted, n_labels):
        """Return the cost of each row."""
        return 1 - 2 * hits / np.maximum(n_true + n_predicted, 1)


def own_f1(y, y_hat):
    return 1 - 2 * (y * y_hat).sum() / max(y.sum() + y_hat.sum(), 1)


@pytest.mark.parametrize("own", [OwnF1(), own_f1], ids=["counts", "function"])
def test_own_costs_learn_what_named_ones_do(own):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 5)) > 0.5).astype(int)
    Y[:, 0] = 1  # no row is empty: there the two conventions differ
    expected = CSDPP(cost="f1", n_components=3).fit(X, Y).coef_
    ours = CSDPP(cost=own, n_components=3).fit(X, Y).coef_
    assert_allclose(ours, expected, atol=1e-9)


def test_propensity_corrects_what_hidden_labels_cost():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    Y = (X @ rng.normal(size=(6, 8)) > 0.3).astype(int)
    hidden = Y * (rng.random(Y.shape) < 0.3)
    losses = {}
    for name, labels, propensity in (
        ("complete", Y, None),
        ("plain", hidden, None),
        ("corrected", hidden, 0.3),
    ):
        learner = CSDPP(cost="f1", n_components=4, propensity=propensity)
        predicted = learner.fit(X[:1000], labels[:1000]).predict(X[1000:])
        truths = zip(Y[1000:], predicted, strict=True)
        losses[name] = np.mean([as_cost("f1")(y, z) for y, z in truths])
    won_back = (losses["plain"] - losses["corrected"]) / (
        losses["plain"] - losses["complete"]
    )
    assert won_back > 0.6


@given(problems(), st.sampled_from(["hamming", "f1", "accuracy", "rank"]))
def test_a_propensity_of_one_changes_nothing(problem, cost):
    X, Y = problem
    plain = CSDPP(cost=cost, n_components=0.5).fit(X, Y).get_state()
    for kind in ("recorded", "expected"):
        sure = CSDPP(
            cost=cost, n_components=0.5, propensity=1.0, label_weights=kind
        ).fit(X, Y)
        for name, value in plain.items():
            assert_array_equal(sure.get_state()[name], value, err_msg=name)


@kernel
def set_target(*arguments):
    return cs_dpp._set_target(*arguments)


@pytest.mark.parametrize("cost", ["hamming", "f1", "accuracy", "rank"])
def test_target_and_its_square_less_noise_are_unbiased_for_each_label(cost):
    """Hide one true label by its propensity; the others are as they are."""
    p, y_hat, full = 0.3, np.array([1, 0, 1, 0]), np.array([1, 1, 0, 1])
    learner = CSDPP(cost=cost, order="given", propensity=[1, p, 1, 1])
    learner.fit(np.eye(4), full[None].repeat(4, 0))
    sides = {}
    for recorded in (0, 1):
        y = full * [1, recorded, 1, 1]
        rule, state = learner._settings(as_cost(cost).code), learner.state_
        room = cs_dpp.make_scratch(rule, state)
        order = np.arange(4)
        cs_dpp.label_weights(rule.cost, y, y_hat, order, room.delta, room.if_false)
        relevant = np.flatnonzero(y)
        room.relevant[: len(relevant)] = relevant
        set_target(len(relevant), rule, state, room)
        noise = room.noise[: len(relevant)][relevant == 1].sum()
        sides[recorded] = room.target[1], room.target[1] ** 2 - noise
    true = np.sqrt(label_weights(full, y_hat, cost)[1])
    mean, square = p * np.array(sides[1]) + (1 - p) * np.array(sides[0])
    assert_allclose([mean, square], [true, true**2], atol=1e-12)


@pytest.mark.parametrize("own", [OwnF1(), own_f1], ids=["counts", "function"])
def test_own_costs_are_corrected_as_named_ones_are(own):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 5)) > 0.5).astype(int)
    Y[:, :2] = 1  # without one label no row is empty: there the conventions differ
    learners = [CSDPP(cost=c, n_components=3, propensity=0.3) for c in ("f1", own)]
    expected, ours = (learner.fit(X, Y).decision_function(X) for learner in learners)
    assert_allclose(ours, expected, atol=1e-9)


def test_a_mean_reference_point_is_the_mean_of_the_weighed_labels():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)), rng.integers(0, 2, size=(30, 4))
    learner = CSDPP(reference="mean", fit_intercept=False).fit(X, Y)
    assert_allclose(learner.state_.centre, (2 * Y - 1).mean(axis=0) / 2)
    nothing = learner.decision_function(np.zeros((1, 3)))[0]
    assert_allclose(nothing, learner.state_.centre)


def test_adaptive_rates_move_a_feature_that_is_new_further_than_a_worn_one():
    X = np.tile([[1.0, 0.0]], (50, 1))
    Y = np.tile([[1, 0], [0, 1]], (25, 1))
    learner = CSDPP(
        n_components=2,
        regressor="gradient",
        learning_rate="adagrad",
        fit_intercept=False,
    ).fit(X, Y)
    before = learner.coef_
    learner.partial_fit([[1.0, 1.0]], [[1, 1]])
    worn, new = np.abs(
        learner.coef_ @ learner.basis_[:2] - before @ learner.basis_[:2]
    )[:2].max(axis=1)
    assert new > 3 * worn > 0


def test_sparse_rows_are_learnt_as_dense_ones():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 5)), rng.integers(0, 2, size=(30, 4))
    dense, sparse = CSDPP().fit(X, Y), CSDPP().fit(sp.csr_array(X), sp.csr_array(Y))
    assert_array_equal(dense.coef_, sparse.coef_)

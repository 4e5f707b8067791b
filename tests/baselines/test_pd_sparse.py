"""PDSparse: both problems against a general solver, laws, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from manylabel import PDSparse
from manylabel.testing import CHECKS

LOSSES = ("separable", "margin")
EXACT = {"max_iter": 20_000, "tol": 1e-5}


def draw(seed, n_rows=12, n_features=4, n_labels=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    X *= rng.random(X.shape) < 0.7
    X[:, 0] += 0.1  # no row of zeros
    Y = (X @ rng.normal(size=(n_features, n_labels)) > 0).astype(int)
    Y[:n_labels] |= np.eye(n_labels, dtype=int)
    return X, Y


def padded(X):
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.column_stack([X, np.ones(len(X))]).astype(float)


def separable_loss(scores, Y):
    return (np.maximum(0, 1 - (2 * Y - 1) * scores) ** 2).sum()


def margin_loss(scores, Y):
    total = 0.0
    for z, y in zip(scores, Y == 1, strict=True):
        if y.any() and not y.all():
            total += max(0.0, 1 + z[~y].max() - z[y].min())
    return total


def primal(W, X, Y, loss, C, l1):
    lost = {"separable": separable_loss, "margin": margin_loss}[loss](padded(X) @ W, Y)
    return (W**2).sum() / 2 + l1 * np.abs(W[:-1]).sum() + C * lost


def weights(model):
    return np.vstack([model.coef_.toarray(), model.intercept_]).astype(float)


def best_separable(X, Y, C, l1):
    """Split weights into parts of 0 or more, so that the problem is smooth."""
    rows, (n, k) = padded(X), (X.shape[1] + 1, Y.shape[1])
    l1s = np.append(np.full(n - 1, l1), 0.0)[:, None]
    signs = 2.0 * Y - 1

    def value(parts):
        up, down = parts.reshape(2, n, k)
        slack = np.maximum(0, 1 - signs * (rows @ (up - down)))
        gradient = up - down - 2 * C * rows.T @ (signs * slack)
        total = ((up - down) ** 2).sum() / 2 + (l1s * (up + down)).sum()
        both = np.stack([gradient + l1s, l1s - gradient])
        return total + C * (slack**2).sum(), both.ravel()

    start, bounds = np.zeros(2 * n * k), [(0, None)] * (2 * n * k)
    options = {"maxiter": 5000, "ftol": 1e-14, "gtol": 1e-9}
    return minimize(
        value, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options
    ).fun


def best_margin(X, Y, C, l1):
    """Solve the quadratic programme with a slack for each row."""
    rows, (n, k) = padded(X), (X.shape[1] + 1, Y.shape[1])
    size, constraints = n * k, []
    for i, y in enumerate(Y == 1):
        for p in np.flatnonzero(y):
            for q in np.flatnonzero(~y):
                line = np.zeros((n, k))
                line[:, p], line[:, q] = rows[i], -rows[i]
                slack = np.eye(len(X))[i]
                constraints.append(np.concatenate([line.ravel(), -line.ravel(), slack]))
    A = np.array(constraints).reshape(-1, 2 * size + len(X))
    l1s = np.tile(np.append(np.full(n - 1, l1), 0.0)[:, None], (2, 1, k)).ravel()

    def value(v):
        w = v[:size] - v[size : 2 * size]
        total = w @ w / 2 + l1s @ v[: 2 * size] + C * v[2 * size :].sum()
        return total, np.concatenate([w + l1s[:size], l1s[size:] - w, [C] * len(X)])

    start = np.concatenate([np.zeros(2 * size), np.ones(len(X))])
    found = minimize(
        value,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * len(start),
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda _: A},
        options={"maxiter": 500, "ftol": 1e-10},
    )
    return found.fun


@given(
    seed=st.integers(0, 2**32 - 1),
    C=st.sampled_from([0.1, 1.0]),
    l1=st.sampled_from([0.0, 0.1, 0.5]),
)
def test_the_separable_problem_is_solved(seed, C, l1):
    X, Y = draw(seed)
    model = PDSparse(C=C, l1_regularization=l1, **EXACT).fit(X, Y)
    reached = primal(weights(model), X, Y, "separable", C, l1)
    assert_allclose(reached, best_separable(X, Y, C, l1), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("C", "l1"), [(0.1, 0.0), (0.3, 0.1), (1.0, 0.1)])
def test_the_margin_problem_is_solved(seed, C, l1):
    X, Y = draw(seed, n_rows=8, n_features=3)
    model = PDSparse(loss="margin", C=C, l1_regularization=l1, **EXACT).fit(X, Y)
    W = weights(model)
    # All intercepts were shifted by the same, which no margin sees: in the solution
    # they sum to 0, because dual variables of a row do.
    W[-1] -= W[-1].mean()
    reached = primal(W, X, Y, "margin", C, l1)
    assert_allclose(reached, best_margin(X, Y, C, l1), rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_weights_solve_the_problem_of_rows_repeated(loss, seed):
    X, Y = draw(seed)
    weight = np.random.default_rng(seed).integers(1, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    learner = PDSparse(loss=loss, C=0.3, l1_regularization=0.1, **EXACT)

    def objective(model):
        W = weights(model)
        if loss == "margin":  # all intercepts were shifted by the same
            W[-1] -= W[-1].mean()
        return primal(W, X[rows], Y[rows], loss, 0.3, 0.1)

    weighed = objective(learner.fit(X, Y, sample_weight=weight))
    alike = objective(learner.fit(X, Y))
    assert_allclose(weighed, objective(learner.fit(X[rows], Y[rows])), rtol=2e-3)
    assert alike > weighed * 1.003


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_margins_keep_the_laws(check):
    if check.__name__ == "check_label_order_does_not_matter":
        pytest.skip("of labels that violate a margin alike the first column is taken")
    check(PDSparse(loss="margin"))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_larger_penalty_leaves_fewer_weights(loss):
    X, Y = draw(0, n_rows=60, n_features=20)
    counts = [
        np.count_nonzero(PDSparse(loss=loss, l1_regularization=l1).fit(X, Y).coef_.data)
        for l1 in (0.0, 0.2, 1.0, 100.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] == 0


def test_as_many_labels_are_predicted_by_margins_as_rows_have():
    X, Y = draw(1, n_rows=60, n_labels=6)
    model = PDSparse(loss="margin").fit(X, Y)
    assert abs(model.predict(X).sum() - Y.sum()) <= 1


def test_jobs_share_many_labels_without_a_change():
    X, Y = draw(2, n_rows=90, n_labels=80)
    one, two = (PDSparse(n_jobs=n).fit(X, Y) for n in (1, 2))
    assert_array_equal(weights(one), weights(two))
    assert_array_equal(one.n_iter_, two.n_iter_)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_without_labels_and_features_do_no_harm(loss):
    X, Y = draw(3)
    X[::4], Y[1::4] = 0, 0
    model = PDSparse(loss=loss, fit_intercept=False).fit(sp.csr_array(X), Y)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    assert (scores[0] == scores[4]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of separable, margin. Got 'hinge'"),
        ({"C": 0}, "C == 0, must be > 0"),
        ({"l1_regularization": -1}, "l1_regularization == -1, must be >= 0"),
        ({"tol": 0}, "tol == 0, must be > 0"),
        ({"max_iter": 0}, "max_iter == 0, must be >= 1"),
    ],
)
def test_parameters_out_of_range_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PDSparse(**settings).fit(*draw(0))


def test_margins_of_too_many_pairs_are_refused(monkeypatch):
    monkeypatch.setattr("manylabel._validation.MAX_BYTES", 59)
    with pytest.raises(ValueError, match='3 labels: use loss="separable"'):
        PDSparse(loss="margin").fit(*draw(0))

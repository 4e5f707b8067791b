"""The factored regressor, beside a plain matrix that is turned at every row."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import factored
from manylabel.online._memory import Regressor

D, M = 6, 4  # features and a constant one; components
W = factored.padded(M)


@kernel
def predict(*arguments):
    return factored.predict(*arguments)


@kernel
def turn(*arguments):
    return factored.turn(*arguments)


@kernel
def add_dense(*arguments):
    return factored.add_dense(*arguments)


@kernel
def add_sparse(*arguments):
    return factored.add_sparse(*arguments)


def make(most_epochs):
    return Regressor(
        ages=np.zeros(2, np.int64),
        raw=np.zeros((D + 1, W)),
        turn=np.eye(M, W),
        inverse_turn=np.eye(M, W),
        epochs=np.zeros((most_epochs, M, W)),
        stamp=np.zeros(D + 1, np.int64),
    )


def matrix(regressor):
    """Return W itself, one feature at a time."""
    scratch, rows = factored.make_scratch(regressor), np.empty((D + 1, M))
    for j in range(D + 1):
        indices, data = np.array([j]), np.ones(1)
        n_entries, bias = (1, 0.0) if j < D else (0, 1.0)
        row = 0, n_entries, indices, data, bias
        predict(*row, regressor, scratch, rows[j])
    return rows


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([0.05, 1.0]),
    st.booleans(),
)
def test_agrees_with_a_matrix_that_is_turned_at_once(seed, most_epochs, size, dense):
    rng = np.random.default_rng(seed)
    regressor, plain = make(most_epochs), np.zeros((D + 1, M))
    scratch = factored.make_scratch(regressor)
    for _ in range(25):
        whole, _ = np.linalg.qr(np.eye(M + 2) + size * rng.normal(size=(M + 2, M + 2)))
        if rng.random() < 0.2:
            whole = whole[rng.permutation(M + 2)]  # forgets directions for good
        scratch.step[:], scratch.lost[:] = whole[:M, :M], whole[M:, :M]
        turn(regressor, scratch)
        plain = plain @ whole[:M, :M].T
        error, indices = rng.normal(size=M), rng.permutation(D)[:3]
        factors = rng.normal(size=D + 1 if dense else 4)
        if dense:
            add_dense(factors, error, regressor, scratch)
            plain += np.outer(factors, error)
        else:
            add_sparse(0, 3, indices, factors, error, regressor, scratch)
            plain[np.append(indices, D)] += np.outer(factors, error)
        assert_allclose(matrix(regressor), plain, atol=1e-9 * (1 + np.abs(plain).max()))


def test_small_turns_end_no_epoch_and_large_ones_do():
    rng = np.random.default_rng(0)
    gentle, harsh = make(3), make(3)
    scratch = factored.make_scratch(gentle)
    for _ in range(20):
        whole, _ = np.linalg.qr(np.eye(M + 2) + 1e-3 * rng.normal(size=(M + 2, M + 2)))
        scratch.step[:], scratch.lost[:] = whole[:M, :M], whole[M:, :M]
        turn(gentle, scratch)
    scratch.step[:], scratch.lost[:] = np.diag([1, 1, 1, 0]), np.eye(M)[[3, 3]]
    scratch.lost[1] = 0
    turn(harsh, scratch)
    assert gentle.ages.tolist() == [0, 20]
    assert harsh.ages.tolist() == [1, 0]

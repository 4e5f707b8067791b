"""The rank-one eigenproblem, beside LAPACK's dense one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import secular


@kernel
def eigenpairs(*arguments):
    return secular.eigenpairs(*arguments)


def solve(poles, z, rate):
    n = len(poles)
    values, vectors = np.empty(n), np.empty((n, n))
    scratch = secular.make_scratch(n)
    eigenpairs(poles, z.copy(), rate, n, values, vectors, scratch)
    return values, vectors


def assert_solves(poles, z, rate):
    values, vectors = solve(poles, z, rate)
    matrix = np.diag(poles) + rate * np.outer(z, z)
    scale = np.abs(matrix).max() + 1e-300
    expected = np.linalg.eigvalsh(matrix)[::-1]
    assert_allclose(values, expected, atol=1e-13 * scale * len(z), rtol=0)
    assert_allclose(vectors @ vectors.T, np.eye(len(z)), atol=1e-13 * len(z))
    rebuilt = vectors.T @ (values[:, None] * vectors)
    assert_allclose(rebuilt, matrix, atol=1e-13 * scale * len(z))


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.sampled_from([1e-8, 1e-3, 1.0, 30.0]),
    st.sampled_from(["spread", "ties", "near ties", "clustered at one"]),
    st.sampled_from([0.0, 0.4]),
)
def test_agrees_with_lapack(seed, n, rate, kind, share_of_nothing):
    rng = np.random.default_rng(seed)
    poles = {
        "spread": rng.random(n),
        "ties": rng.integers(0, 3, n) / 2,
        "near ties": rng.integers(0, 3, n) / 2 + 1e-14 * rng.random(n),
        "clustered at one": 1 - 10.0 ** -rng.uniform(0, 16, n),
    }[kind]
    z = rng.normal(size=n) * 10.0 ** -rng.uniform(0, 9, n)
    z[rng.random(n) < share_of_nothing] = 0
    assert_solves(np.sort(poles)[::-1].copy(), z, rate)


@pytest.mark.parametrize("z", [np.zeros(4), np.eye(4)[2], np.full(4, 1e-170)])
def test_vectors_that_move_little_or_nothing(z):
    assert_solves(np.array([1.0, 1.0, 0.5, 0.0]), z, 0.7)

"""Rates of gradient descent, against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels._jit import kernel
from manylabel._kernels.cs_dpp import gradient

steps = st.sampled_from([0.01, 0.5, 1.0, 50.0])
seeds = st.integers(0, 2**32 - 1)
clips = st.sampled_from([1.0, np.inf])


@kernel
def rates(*arguments):
    return gradient.rates(*arguments)


def draw_rows(seed, n_rows=8, n_features=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.6)
    return sp.csr_array(X, dtype=np.float32)


def factors(X, bias, step, *, adaptive, clip=1.0, n_seen=0):
    """Return rate_j x_j of all rows, dense, by the kernel."""
    spread = np.zeros((X.shape[1] + 1) * adaptive)
    found = np.zeros((X.shape[0], X.shape[1] + 1))
    for i, (start, end) in enumerate(zip(X.indptr, X.indptr[1:], strict=False)):
        out = np.full(end - start + 3, np.nan)
        rates(
            *(start, end, X.indices, X.data),
            *(bias, step, clip, n_seen + i, spread, out, 2),
        )
        assert np.isnan(out[:2]).all()
        found[i, X.indices[start:end]], found[i, -1] = out[2:-1], out[-1]
    return found


def pad(X, bias):
    return np.column_stack([X.toarray(), np.full(X.shape[0], bias)]).astype(float)


def cut(rate, x, clip):
    return rate * x / max(1, rate @ x**2 / clip)


@given(seed=seeds, step=steps, bias=st.sampled_from([0.0, 1.0, 2.5]), clip=clips)
def test_decaying_rates_follow_their_definition(seed, step, bias, clip):
    X = draw_rows(seed)
    expected = [
        cut(np.full(len(x), step / np.sqrt(t)), x, clip)
        for t, x in enumerate(pad(X, bias), start=4)
    ]
    found = factors(X, bias, step, adaptive=False, clip=clip, n_seen=3)
    assert_allclose(found, expected, rtol=1e-12)


@given(seed=seeds, step=steps, bias=st.sampled_from([0.0, 1.0, 2.5]), clip=clips)
def test_adaptive_rates_follow_their_definition(seed, step, bias, clip):
    X = draw_rows(seed)
    spread, expected = np.zeros(X.shape[1] + 1), []
    for x in pad(X, bias):
        spread += x**2 * (x @ x)
        rate = step / (2 * np.sqrt(np.where(x == 0, np.inf, spread)))
        expected.append(cut(rate, x, clip))
    found = factors(X, bias, step, adaptive=True, clip=clip)
    assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("adaptive", [False, True])
def test_no_row_is_overshot(adaptive):
    X = 1000 * draw_rows(0, n_rows=200)
    met = (factors(X, 1.0, 50.0, adaptive=adaptive) * pad(X, 1.0)).sum(axis=1)
    assert met.max() <= 1 + 1e-12


@given(seed=seeds, scale=st.sampled_from([1e-6, 0.5, 1e6]))
def test_adaptive_rates_meet_scaled_rows_as_far(seed, scale):
    X = draw_rows(seed)
    plain = factors(X, 0.0, 1.0, adaptive=True)
    scaled = factors(scale * X, 0.0, 1.0, adaptive=True)
    assert_allclose(scaled * scale, plain, rtol=1e-5)


@pytest.mark.parametrize("adaptive", [False, True])
def test_rows_of_zeros_move_nothing(adaptive):
    zeros = sp.csr_array((np.zeros(2, np.float32), [0, 2], [0, 2, 2]), shape=(2, 3))
    found = factors(zeros, 0.0, 1.0, adaptive=adaptive)
    assert_array_equal(found, np.zeros((2, 4)))

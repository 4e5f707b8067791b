"""Orthogonal matching pursuit, against least squares on the labels chosen so far."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel._kernels.cs_dpp import pursuit


def draw_code(rng, n_labels, size):
    code = rng.normal(size=(n_labels, size))
    return code / np.linalg.norm(code, axis=1, keepdims=True)


def decode(codes, code, sparsity):
    out = np.full((len(codes), len(code)), np.nan)
    pursuit.decode(codes, code, np.full(len(codes), sparsity), out)
    return out


def pursue(z, code, sparsity):
    """Return the coefficients, by solving least squares anew at every step."""
    chosen, rest, found = [], z, np.zeros(len(code))
    for _ in range(sparsity):
        chosen.append(int(np.argmax(np.abs(code @ rest))))
        coefficients = np.linalg.lstsq(code[chosen].T, z, rcond=None)[0]
        rest = z - coefficients @ code[chosen]
    found[chosen] = coefficients
    return found


@given(
    seed=st.integers(0, 2**32 - 1),
    n_labels=st.integers(2, 30),
    size=st.integers(2, 10),
    data=st.data(),
)
def test_the_kernel_is_the_pursuit_of_the_definition(seed, n_labels, size, data):
    # With as many labels as components nothing is left, and what is next is rounding.
    sparsity = data.draw(st.integers(1, min(n_labels, size)))
    rng = np.random.default_rng(seed)
    code, codes = draw_code(rng, n_labels, size), rng.normal(size=(4, size))
    expected = [pursue(z, code, sparsity) for z in codes]
    assert_allclose(decode(codes, code, sparsity), expected, rtol=1e-6, atol=1e-6)


def test_sparse_labels_are_recovered_from_enough_sums():
    rng = np.random.default_rng(0)
    code, Y = draw_code(rng, 200, 80), np.zeros((50, 200))
    for y in Y:
        y[rng.choice(200, size=4, replace=False)] = 1
    assert_allclose(decode(Y @ code, code, 4), Y, atol=1e-8)
    assert_allclose(decode(Y @ code, code, 20), Y, atol=1e-8)  # stops when done


def test_a_code_of_zero_holds_no_label():
    code = draw_code(np.random.default_rng(0), 10, 4)
    assert_array_equal(decode(np.zeros((2, 4)), code, 4), np.zeros((2, 10)))


def test_equal_vectors_are_chosen_once_and_the_first_of_them():
    code = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    assert_array_equal(decode(np.array([[3.0, 0.5]]), code, 2), [[0.5, 3.0, 0.0]])


def test_each_row_has_its_own_sparsity():
    rng = np.random.default_rng(0)
    code, codes, out = draw_code(rng, 10, 4), rng.normal(size=(4, 4)), np.empty((4, 10))
    pursuit.decode(codes, code, np.array([2, 0, 4, 1]), out)
    for i, sparsity in enumerate([2, 0, 4, 1]):
        assert_array_equal(out[i], decode(codes, code, sparsity)[i])


def test_no_sparsity_finds_nothing():
    code = draw_code(np.random.default_rng(0), 10, 4)
    assert_array_equal(decode(np.ones((2, 4)), code, 0), np.zeros((2, 10)))

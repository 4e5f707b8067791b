"""Label weights: equation 14, Lemma 4, orders, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from manylabel.losses import NAMED, Rank, as_cost, label_weights

each_named = pytest.mark.parametrize("name", NAMED)


@st.composite
def problems(draw):
    n = draw(st.integers(0, 9))
    bits = arrays(np.int64, n, elements=st.integers(0, 1))
    return draw(bits), draw(bits), np.array(draw(st.permutations(range(n))), np.int64)


def reference(y, y_hat, cost, order):
    """Chu, Huang & Lin 2019, equation 14, main text: label k is flipped."""
    weights = np.zeros(len(y))
    for turn, k in enumerate(order):
        before = order[:turn]
        real, pred = y_hat.copy(), y_hat.copy()
        real[before] = pred[before] = y[before]
        real[k], pred[k] = y[k], 1 - y[k]
        weights[k] = abs(cost(y, pred) - cost(y, real))
    return weights


class Squared:
    """A user's cost of counts that is no known one."""

    def from_counts(self, hits, n_true, n_predicted, n_labels):  # noqa: D102
        return (n_true + n_predicted - 2 * hits) ** 2 / 7


def tangled(y, y_hat):
    """Charge, by no counts, right labels more than wrong ones at times."""
    return float(np.cos(y @ np.arange(len(y)) + y_hat @ np.arange(len(y)) ** 2))


@pytest.mark.parametrize("cost", [*NAMED, Rank(empty=1.0), Squared(), tangled])
@given(problem=problems())
def test_weights_follow_equation_14(cost, problem):
    y, y_hat, order = problem
    assert_allclose(
        label_weights(y, y_hat, cost, order),
        reference(y, y_hat, as_cost(cost), order),
        atol=1e-12,
    )


@each_named
@given(problem=problems())
def test_weights_of_wrong_labels_sum_to_the_cost(name, problem):  # Lemma 4
    y, y_hat, order = problem
    weights = label_weights(y, y_hat, name, order)
    assert_allclose(weights[y != y_hat].sum(), as_cost(name)(y, y_hat), atol=1e-12)


@each_named
@given(problem=problems())
def test_the_compiled_path_agrees_with_the_two_slower_ones(name, problem):
    y, y_hat, order = problem

    class Counted:
        def from_counts(self, *counts):
            return NAMED[name].from_counts(*counts)

    def called(y, y_hat):
        return NAMED[name](y, y_hat)

    weights = label_weights(y, y_hat, name, order)
    assert_allclose(label_weights(y, y_hat, Counted(), order), weights, atol=1e-14)
    assert_allclose(label_weights(y, y_hat, called, order), weights, atol=1e-14)


@given(problems())
def test_the_order_does_not_matter_to_hamming(problem):
    y, y_hat, order = problem
    assert_allclose(
        label_weights(y, y_hat, "hamming", order), label_weights(y, y_hat, "hamming")
    )


def test_no_order_is_the_order_of_the_columns():
    y, y_hat = [1, 0, 1, 0], [0, 0, 1, 1]
    assert_array_equal(
        label_weights(y, y_hat, "f1"), label_weights(y, y_hat, "f1", [0, 1, 2, 3])
    )


def test_a_function_is_called_once_per_label_and_once_more():
    calls = []

    def counting(y, y_hat):
        calls.append(1)
        return 0.0

    label_weights([0, 1, 1, 0], [1, 1, 0, 0], counting)
    assert len(calls) == 5


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [[0, 1, 2]]])
def test_what_is_no_permutation_is_refused(order):
    with pytest.raises(
        ValueError, match="order must hold each of the labels 0 to 2 once"
    ):
        label_weights([1, 0, 1], [1, 0, 1], "f1", order)


def test_vectors_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"y_hat must have 3 labels\. Got 2"):
        label_weights([1, 0, 1], [1, 0], "f1")

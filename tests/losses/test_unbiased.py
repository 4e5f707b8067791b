"""Unbiased losses: expectations by enumeration, the bound, the refusals."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from manylabel.losses import (
    concentration_bound,
    unbiased_dcg,
    unbiased_hamming,
    unbiased_normalized,
    unbiased_precision,
)
from manylabel.metrics import ndcg_at_k, precision_at_k, psp_at_k


@st.composite
def problems(draw):
    """Draw one row: complete labels, 0/1 predictions, scores, propensities and k."""
    n = draw(st.integers(1, 5))
    bits = arrays(np.int64, (1, n), elements=st.integers(0, 1))
    scores = arrays(np.float64, (1, n), elements=st.sampled_from([0.0, 0.5, 1.0]))
    propensity = arrays(np.float64, n, elements=st.floats(0.1, 1))
    k = st.integers(1, 6)
    return tuple(draw(part) for part in (bits, bits, scores, propensity, k))


def expectation(estimate, complete, propensity):
    """Sum an estimate over all that may be recorded, times its probability."""
    total = 0.0
    for recorded in product([0, 1], repeat=len(propensity)):
        kept = np.array(recorded)
        chances = np.where(kept, propensity, 1 - propensity)
        if (kept <= complete[0]).all():
            total += chances[complete[0] == 1].prod() * estimate(kept[None])[0]
    return total


@given(problems())
def test_hamming_is_right_on_average(problem):  # Theorem 4.4
    complete, predictions, _, p, _ = problem
    mean = expectation(lambda Y: unbiased_hamming(Y, predictions, p), complete, p)
    assert_allclose(mean, np.mean(complete != predictions), atol=1e-12)


@given(problems())
def test_precision_is_right_on_average(problem):  # Theorem 4.1
    complete, _, scores, p, k = problem
    mean = expectation(lambda Y: unbiased_precision(Y, scores, k, p), complete, p)
    assert_allclose(mean, precision_at_k(complete, scores, k), atol=1e-12)


@given(problems())
def test_dcg_is_right_on_average(problem):  # Theorem 4.1
    complete, _, scores, p, k = problem
    order = np.argsort(-scores[0], kind="stable")[:k]
    dcg = sum(complete[0, order] / np.log2(np.arange(2, len(order) + 2)))
    mean = expectation(lambda Y: unbiased_dcg(Y, scores, k, p), complete, p)
    assert_allclose(mean, dcg, atol=1e-12)


@given(problems())
def test_normalized_losses_are_right_where_labels_are_recorded_in_proportion(problem):
    """Corollary 4.2.1, for a g* that is not told: one more than true labels."""
    complete, _, losses, shares, _ = problem
    whole = complete.sum() + 1
    p = shares / whole
    mean = expectation(lambda Y: unbiased_normalized(Y, losses, shares), complete, p)
    assert_allclose(mean, (complete * losses).sum() / whole, atol=1e-12)


def test_normalized_losses_are_biased_where_propensities_know_no_row():
    losses, share = np.ones((1, 3)), np.full(3, 0.5)
    errors = []
    for n_true in (1, 3):
        complete = (np.arange(3) < n_true).astype(int)[None]
        mean = expectation(
            lambda Y: unbiased_normalized(Y, losses, share), complete, share
        )
        errors.append(mean - 1.0)  # the loss is n_true, divided by it
    assert_allclose(errors, [0.0, 2.0])


@pytest.mark.parametrize(
    ("losses", "shares", "message"),
    [
        (np.ones((1, 2)), 1.0, r"losses must hold finite numbers of shape \(1, 3\)"),
        (np.full((1, 3), np.nan), 1.0, "losses must hold finite numbers"),
        (np.ones((1, 3)), [1.0, 1.0], "shares must be one number or 3"),
        (np.ones((1, 3)), [1.0, 0.0, 1.0], "shares must be finite numbers above 0"),
    ],
)
def test_bad_parts_of_a_normalized_loss_are_refused(losses, shares, message):
    with pytest.raises(ValueError, match=message):
        unbiased_normalized([[1, 0, 1]], losses, shares)


@given(problems())
def test_ndcg_is_right_on_average_given_the_complete_counts(problem):  # Theorem 4.2
    complete, _, scores, p, k = problem
    mean = expectation(
        lambda Y: unbiased_dcg(Y, scores, k, p, n_relevant=complete.sum(axis=1)),
        complete,
        p,
    )
    assert_allclose(mean, ndcg_at_k(complete, scores, k), atol=1e-12)


@given(problems())
def test_sparse_input_gives_what_dense_input_gives(problem):
    Y, predictions, scores, p, k = problem
    for function, prediction, more in (
        (unbiased_hamming, predictions, ()),
        (unbiased_precision, scores + 1, (k,)),  # no score is 0, so all are stored
        (unbiased_dcg, scores + 1, (k,)),
    ):
        sparse = function(sp.csr_array(Y), sp.csr_array(prediction), *more, p)
        assert_allclose(sparse, function(Y, prediction, *more, p), atol=1e-15)


def test_raw_psp_is_the_mean_of_the_unbiased_precision():
    Y, scores = [[1, 0, 1], [0, 1, 1]], [[0.9, 0.5, 0.1], [0.3, 0.2, 0.8]]
    p = [0.2, 0.5, 0.9]
    raw = psp_at_k(Y, scores, 2, propensity=p, normalised=False)
    assert_allclose(raw, unbiased_precision(Y, scores, 2, p).mean())


def test_the_bound_is_the_printed_one():  # Theorem 4.3
    n_relevant = np.array([1, 2, 5, 0])
    printed = 3.0 * np.sqrt(np.mean(n_relevant**2)) * np.sqrt(np.log(2 / 0.1) / 8)
    assert_allclose(concentration_bound(3.0, n_relevant, n_rows=4, delta=0.1), printed)


def test_one_number_of_relevant_labels_stands_for_all_rows():
    assert concentration_bound(1.0, 3, n_rows=9) == concentration_bound(
        1.0, [3] * 9, n_rows=9
    )


def test_the_estimate_leaves_the_bound_no_more_often_than_promised():
    rng = np.random.default_rng(0)
    n_rows, p, delta = 40, 0.5, 0.2
    complete, predictions = np.ones((n_rows, 2), int), np.tile([1, 0], (n_rows, 1))
    bound = concentration_bound(1 / p / 2, 2, n_rows=n_rows, delta=delta)
    estimates = [
        unbiased_hamming(rng.random((n_rows, 2)) < p, predictions, p).mean()
        for _ in range(300)
    ]
    outside = np.abs(np.array(estimates) - np.mean(complete != predictions)) > bound
    assert outside.mean() <= delta


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rho": 0.0}, "rho must lie between 0 and inf. Got 0.0"),
        ({"delta": 1.0}, "delta must lie between 0 and 1. Got 1.0"),
        ({"n_rows": 0}, "n_rows must be a positive integer. Got 0"),
        ({"n_relevant": [1, 2]}, "n_relevant must be one number or 3, one per row"),
        ({"n_relevant": -1}, "n_relevant must hold integers of at least 0"),
    ],
)
def test_wrong_arguments_of_the_bound_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        concentration_bound(
            **({"rho": 1.0, "n_relevant": 1, "n_rows": 3, "delta": 0.1} | arguments)
        )


def test_propensities_outside_the_unit_interval_are_refused():
    with pytest.raises(ValueError, match=r"propensity must lie in \(0, 1\]. Got 0"):
        unbiased_hamming([[1]], [[1]], 0.0)


def test_a_depth_of_zero_is_refused():
    with pytest.raises(ValueError, match=r"k must be a positive integer\. Got 0"):
        unbiased_precision([[1]], [[0.5]], 0, 1.0)

"""Thresholds, against trying everything."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel.lists import Lists
from manylabel.losses import NAMED, CountedCost, as_cost, unbiased_hamming
from manylabel.losses.compared import Compared
from manylabel.model_selection import thresholds

COSTS = ["f1", "accuracy", "hamming"]


class Weighted(CountedCost):
    """The user's own."""

    name, meaning = "weighted", "Twice the wrongly predicted, and the missed."

    def from_counts(self, hits, n_true, n_predicted, n_labels):
        """Return it."""
        return 2 * (n_predicted - hits) + (n_true - hits)


@st.composite
def problems(draw):
    """Return scores of some labels, many of them equal, true labels, weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 7))
    scores = rng.integers(1, 9, shape) * (rng.random(shape) < 0.6)
    Y = sp.csr_array((rng.random(shape) < 0.4).astype(np.float32))
    weights = 1 / rng.uniform(0.1, 1, shape[1])
    return scores.astype(np.float32), Y, weights


def listed(scores):
    matrix = sp.csr_array(scores)
    return Lists(matrix.indptr.astype(np.int64), matrix.indices, matrix.data)


@given(problems(), st.sampled_from(sorted(NAMED)))
def test_without_missing_labels_costs_of_heads_are_the_costs(problem, name):
    scores, Y, _ = problem
    values, columns = thresholds._ranked(listed(scores), Y.shape[1])
    cost = as_cost(name)
    found = thresholds.costs_of_heads(columns, Y, np.ones(Y.shape[1]), cost)
    for size in range(Y.shape[1] + 1):
        head = np.zeros(Y.shape)
        np.put_along_axis(head, columns[:, :size].astype(int), 1, axis=1)
        assert_allclose(found[:, size], cost.of_rows(Compared.of(Y, head)), atol=1e-9)
    assert (values[:, 1:] <= values[:, :-1]).all()


@given(problems())
def test_the_hamming_loss_is_the_unbiased_one(problem):
    scores, Y, weights = problem
    _, columns = thresholds._ranked(listed(scores), Y.shape[1])
    found = thresholds.costs_of_heads(columns, Y, weights, as_cost("hamming"))
    for size in range(Y.shape[1] + 1):
        head = np.zeros(Y.shape)
        np.put_along_axis(head, columns[:, :size].astype(int), 1, axis=1)
        assert_allclose(found[:, size], unbiased_hamming(Y, head, 1 / weights))


@given(problems(), st.sampled_from(sorted(NAMED)))
def test_a_set_costs_what_a_head_of_the_same_labels_does(problem, name):
    scores, Y, weights = problem
    values, columns = thresholds._ranked(listed(scores), Y.shape[1])
    heads = thresholds.costs_of_heads(columns, Y, weights, as_cost(name))
    size = np.isfinite(values).sum(axis=1)
    found = thresholds.costs_of_sets(sp.csr_array(scores), Y, weights, as_cost(name))
    assert_allclose(found, heads[np.arange(len(size)), size], atol=1e-9)


@pytest.mark.parametrize("cost", [*COSTS, Weighted()])
def test_estimates_from_recorded_labels_come_near_the_cost_on_complete_ones(cost):
    """Mean over all ways to record labels, by enumeration."""
    complete, p = np.array([1, 1, 0, 1, 0]), np.array([0.3, 0.6, 0.5, 0.8, 0.9])
    columns = np.array([[0, 2, 3, 4, 1]], np.int32)
    expected, plain = 0.0, 0.0
    for code in range(8):
        recorded = np.zeros(5)
        recorded[[0, 1, 3]] = [code & 1, code >> 1 & 1, code >> 2]
        chance = np.prod(np.where(recorded, p, 1 - p)[complete > 0])
        Y = sp.csr_array(recorded[None].astype(np.float32))
        estimate = thresholds.costs_of_heads(columns, Y, 1 / p, as_cost(cost))
        expected += chance * estimate
        plain += chance * thresholds.costs_of_heads(
            columns, Y, np.ones(5), as_cost(cost)
        )
    Y = sp.csr_array(complete[None].astype(np.float32))
    truth = thresholds.costs_of_heads(columns, Y, np.ones(5), as_cost(cost))
    error, uncorrected = (np.abs(e - truth)[:, 1:] for e in (expected, plain))
    assert error.max() < 0.25 * uncorrected.max()
    if cost == "hamming" or isinstance(cost, Weighted):  # linear in the counts
        assert error.max() < 1e-12


@given(problems(), st.sampled_from([*COSTS, Weighted()]))
def test_no_threshold_costs_less(problem, cost):
    scores, Y, _ = problem
    cost = as_cost(cost)

    def mean_cost(threshold):
        predicted = (scores > max(threshold, 0)).astype(float)
        return cost.of_rows(Compared.of(Y, predicted)).mean()

    ones = np.ones(Y.shape[1])
    chosen = thresholds.best_threshold(listed(scores), Y, ones, cost)
    assert mean_cost(chosen) <= min(map(mean_cost, [*np.unique(scores), -1])) + 1e-9


@given(problems(), st.integers(0, 40))
def test_a_matching_threshold_lets_so_many_pass(problem, n_labels):
    rng = np.random.default_rng(0)
    scores = listed(problem[0])
    scores = scores._replace(values=rng.permutation(len(scores.values)).astype(float))
    threshold = thresholds.matching_threshold(scores, n_labels)
    assert (scores.values > threshold).sum() == min(n_labels, len(scores.values))


@pytest.mark.parametrize("low", np.float32([0.3, 0.4, 0.7]))
def test_a_threshold_parts_neighbouring_singles(low):
    values = np.array([low, np.nextafter(low, np.float32(1))])
    threshold = thresholds.matching_threshold(
        Lists(np.r_[0, 2], np.r_[0, 1], values), 1
    )
    assert float(low) < threshold < float(values[1])

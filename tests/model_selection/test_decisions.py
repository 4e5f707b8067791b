"""Sets of least expected cost, against the cost of every set and every truth."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import LeastCost, losses

COSTS = sorted(losses.NAMED)
CHANCES = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0]))
ROWS = st.integers(1, 4).flatmap(lambda n: arrays(float, n, elements=CHANCES))


class Missed(losses.CountedCost):
    """Missed labels cost five times as much as false ones."""

    name, meaning = "missed", ""

    def from_counts(self, hits, n_true, n_predicted, n_labels):
        """Return the cost of each row."""
        return 5 * (n_true - hits) + (n_predicted - hits)


def expected_costs(proba, cost):
    """Return what each set is expected to cost, by all truths there may be."""
    sets = list(product([0, 1], repeat=len(proba)))
    chance = [np.prod(np.where(y, proba, 1 - proba)) for y in np.array(sets)]
    charge = losses.as_cost(cost)
    return {
        given: sum(c * charge(y, given) for c, y in zip(chance, sets, strict=True))
        for given in sets
    }


@pytest.mark.parametrize("cost", [*COSTS, Missed()], ids=[*COSTS, "missed"])
@given(proba=ROWS)
def test_no_set_is_expected_to_cost_less(cost, proba):
    sets, costs = LeastCost(cost).weigh([proba])
    known = expected_costs(proba, cost)
    assert_allclose(costs[0], min(known.values()), atol=1e-9)
    assert_allclose(known[tuple(sets.toarray()[0].tolist())], costs[0], atol=1e-9)


@given(arrays(float, (4, 9), elements=CHANCES))
def test_the_hamming_loss_is_least_above_one_half(proba):
    unsure = np.abs(proba - 0.5) < 1e-9
    sets = LeastCost("hamming").decide(proba).toarray()
    assert_array_equal(sets[~unsure], (proba > 0.5)[~unsure])


@given(arrays(float, (5, 12), elements=CHANCES))
def test_rows_do_not_depend_on_each_other_nor_on_how_they_are_stored(proba):
    together = LeastCost("f1", n_candidates=7).decide(proba)
    alone = [LeastCost("f1", n_candidates=7).decide(sp.csr_array([r])) for r in proba]
    assert_array_equal(together.toarray(), sp.vstack(alone).toarray())


def test_labels_behind_the_candidates_count_as_true_ones_that_are_missed():
    rng = np.random.default_rng(0)
    proba = np.sort(rng.random((30, 60)) ** 6, axis=1)[:, ::-1]
    whole, cut = (LeastCost("f1", n_candidates=n).weigh(proba) for n in (60, 25))
    assert whole[0].sum(axis=1).max() < 25
    assert_allclose(cut[1], whole[1], rtol=1e-3)
    without = LeastCost("f1").weigh(proba[:, :25])[1]
    assert (np.abs(without - whole[1]) > 5 * np.abs(cut[1] - whole[1])).mean() > 0.9


def test_a_cost_that_rises_with_the_hits_is_refused():
    class Odd(losses.CountedCost):
        name, meaning = "odd", ""

        def from_counts(self, hits, n_true, n_predicted, n_labels):
            return np.asarray(hits) + 0.0

    message = "cost must fall with the hits. 'odd' charges 0 for 0 hits and 1 for 1"
    with pytest.raises(ValueError, match=message):
        LeastCost(Odd()).decide([[0.5, 0.5]])


@pytest.mark.parametrize("wrong", [-0.1, 1.5])
def test_what_is_no_probability_is_refused(wrong):
    with pytest.raises(ValueError, match=rf"proba must lie in \[0, 1\]. Got {wrong}"):
        LeastCost("f1").decide([[0.5, wrong]])


def test_a_function_of_two_vectors_is_refused():
    with pytest.raises(ValueError, match="cost must depend on counts"):
        LeastCost(lambda y, y_hat: 0.0)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["f1", "accuracy", "rank"]))
@settings(max_examples=25)
def test_known_numbers_of_labels_are_minded(seed, name):
    """Against all sets and all outcomes, of labels that are not independent."""
    rng = np.random.default_rng(seed)
    n = 5
    p, ratio, cost = rng.random(n), rng.random(4) * 2, losses.as_cost(name)
    outcomes = np.array(list(product([0, 1], repeat=n)))
    chance = np.prod(np.where(outcomes == 1, p, 1 - p), axis=1)
    chance *= ratio[np.minimum(outcomes.sum(axis=1), 3)]

    def charge(given_):
        hits, true = (outcomes * given_).sum(1), outcomes.sum(1)
        return (chance * cost.from_counts(hits, true, given_.sum(), n)).sum()

    found = LeastCost(name, size_ratio=ratio).decide(p[None]).toarray()[0]
    assert charge(found) <= min(map(charge, outcomes)) + 1e-9


def test_rows_that_always_have_a_label_are_given_one():
    sets = [
        LeastCost("f1", size_ratio=ratio).decide([[0.1, 0.01]]).toarray().sum()
        for ratio in (None, [0.0, 1.0])
    ]
    assert sets == [0, 1]


@pytest.mark.parametrize("ratio", [[], [-1.0], [[1.0]], [np.nan]])
def test_a_size_ratio_that_is_none_is_refused(ratio):
    with pytest.raises(ValueError, match="size_ratio must be a row of finite numbers"):
        LeastCost("f1", size_ratio=ratio)


def test_more_other_labels_than_there_can_be_cost_no_memory():
    sets, costs = LeastCost("f1").weigh([[0.9, 0.2], [0.5, 0.0]], rest=1e12)
    assert sets.shape == (2, 2)
    assert np.isfinite(costs).all()

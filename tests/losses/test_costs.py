"""Costs: the printed formulas, the laws, the user's own, the refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from manylabel.losses import F1, NAMED, Cost, CountedCost, Hamming, Rank, as_cost

LABELS = st.integers(0, 9).flatmap(
    lambda n: st.tuples(*[arrays(np.int64, n, elements=st.integers(0, 1))] * 2)
)
each_named = pytest.mark.parametrize("name", NAMED)


def rank_loss(y, y_hat):
    """Every pair of a true and a false label: 1 if reversed, 1/2 if tied."""
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    charges = [(y_hat[i] < y_hat[j]) + (y_hat[i] == y_hat[j]) / 2 for i, j in pairs]
    return np.mean(charges) if pairs else 0.0


def ratio_loss(part, whole):
    return 1 - part / whole if whole else 0.0


PRINTED = {  # Chu, Huang & Lin 2019, section 5.1
    "hamming": lambda y, z: np.mean(y != z) if len(y) else 0.0,
    "f1": lambda y, z: ratio_loss(2 * (y & z).sum(), y.sum() + z.sum()),
    "accuracy": lambda y, z: ratio_loss((y & z).sum(), (y | z).sum()),
    "rank": rank_loss,
    "subset": lambda y, z: float((y != z).any()),
}


@each_named
@given(pair=LABELS)
def test_named_costs_follow_the_printed_formula(name, pair):
    assert_allclose(as_cost(name)(*pair), PRINTED[name](*pair), atol=1e-15)


@each_named
@given(pair=LABELS)
def test_named_costs_lie_in_the_unit_interval_and_are_0_for_the_truth(name, pair):
    y, y_hat = pair
    assert 0 <= as_cost(name)(y, y_hat) <= 1
    assert as_cost(name)(y, y) == 0


@each_named
@given(pair=LABELS, k=st.integers(0, 8))
def test_a_right_label_never_costs_more_than_a_wrong_one(name, pair, k):
    y, y_hat = pair
    if k >= len(y):
        return
    right, wrong = y_hat.copy(), y_hat.copy()
    right[k], wrong[k] = y[k], 1 - y[k]
    assert as_cost(name)(y, right) <= as_cost(name)(y, wrong)


def test_accuracy_loss_is_never_below_f1_loss():
    counts = [
        (h, t, p) for t in range(6) for p in range(6) for h in range(min(t, p) + 1)
    ]
    hits, n_true, n_predicted = np.transpose(counts)
    f1, accuracy = (
        NAMED[name].from_counts(hits, n_true, n_predicted, 11)
        for name in ("f1", "accuracy")
    )
    assert (accuracy >= f1).all()


@given(pair=LABELS, empty=st.sampled_from([0.0, 0.5, 1.0]))
def test_a_row_without_true_labels_has_the_rank_loss_that_is_asked_for(pair, empty):
    y, y_hat = pair
    assert Rank(empty=empty)(y, y_hat) == (as_cost("rank")(*pair) if y.any() else empty)


def test_rank_loss_of_empty_rows_broadcasts_as_the_others_do():
    charged = Rank(empty=1.0).from_counts(0, [[0], [2]], [0, 1, 2], 4)
    assert_allclose(charged, [[1, 1, 1], [0.5, 0.75, 1]])
    assert np.ndim(Rank(empty=1.0).from_counts(0, 0, 0, 4)) == 0


@pytest.mark.parametrize("wrong", [-0.1, np.nan, np.inf])
def test_a_rank_loss_of_empty_rows_that_is_no_charge_is_refused(wrong):
    with pytest.raises(ValueError, match="empty"):
        Rank(empty=wrong)


def test_from_counts_broadcasts_and_a_scalar_gives_a_scalar():
    costs = Hamming().from_counts([[1], [0]], 2, [1, 2, 3], 10)
    assert costs.shape == (2, 3)
    assert np.ndim(Hamming().from_counts(1, 2, 2, 4)) == 0


def test_equal_costs_are_equal_and_print_as_they_are_made():
    assert F1() == as_cost("f1")
    assert len({F1(), F1(), Hamming()}) == 2
    assert repr(as_cost("subset")) == "Subset01()"


def test_a_cost_stays_the_same_object():
    cost = Hamming()
    assert as_cost(cost) is cost


class Misses:
    """Missed labels, by counts."""

    name = "misses"

    def from_counts(self, hits, n_true, n_predicted, n_labels):  # noqa: D102
        return n_true - hits


def misses(y, y_hat):
    return sum(y > y_hat)


@given(LABELS)
def test_a_users_object_and_function_are_costs(pair):
    counted, called = as_cost(Misses()), as_cost(misses)
    assert isinstance(counted, CountedCost)
    assert isinstance(called, Cost)
    assert counted.name == called.name == "misses"
    assert counted(*pair) == called(*pair) == misses(*pair)


def test_a_function_that_writes_to_its_arguments_harms_nobody():
    def vandal(y, y_hat):
        y[:] = y_hat[:] = 0
        return 0.0

    y = np.array([1, 1])
    as_cost(vandal)(y, y)
    assert y.tolist() == [1, 1]


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(
        ValueError, match=r"one of hamming, f1, accuracy, rank, subset\. Got 'f2'"
    ):
        as_cost("f2")


@pytest.mark.parametrize("wrong", [3, None, F1, Misses])
def test_what_is_no_cost_is_refused(wrong):
    with pytest.raises(
        TypeError, match=r"a name, an object with from_counts or a func"
    ):
        as_cost(wrong)


@pytest.mark.parametrize(
    ("y", "y_hat", "message"),
    [
        ([0, 2], [0, 1], "y must hold only 0 and 1. Got 2."),
        ([0, 1], [0, -1], "y_hat must hold only 0 and 1. Got -1."),
        ([0, 1], [0, 1, 1], "y_hat must have 2 labels. Got 3."),
        ([[0, 1]], [0, 1], r"y must be a vector .* Got shape \(1, 2\)"),
        (["a"], [1], "y must be a vector of numbers"),
        ([0.0, np.nan], [0, 1], "y must hold only 0 and 1. Got nan."),
    ],
)
def test_wrong_labels_are_refused(y, y_hat, message):
    with pytest.raises(ValueError, match=message):
        as_cost("f1")(y, y_hat)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (lambda y, y_hat: np.nan, "must be a finite number. Got nan"),
        (lambda y, y_hat: y, r"must return one number. Got shape \(2,\)"),
    ],
)
def test_a_function_that_returns_no_number_is_refused(cost, message):
    with pytest.raises(ValueError, match=f"The cost '<lambda>' {message}"):
        as_cost(cost)([1, 0], [1, 0])


def test_an_object_that_returns_the_wrong_shape_is_refused():
    class Wrong:
        def from_counts(self, hits, n_true, n_predicted, n_labels):
            return np.zeros(7)

    with pytest.raises(ValueError, match="The cost 'Wrong' must return one number per"):
        as_cost(Wrong())([1, 0], [1, 0])


def test_a_named_cost_cannot_be_changed_by_a_subclass():
    """Kernels go by its code, and would not see the change."""
    with pytest.raises(TypeError, match="Mine must derive from CountedCost"):

        class Mine(F1):
            pass

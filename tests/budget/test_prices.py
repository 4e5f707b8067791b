"""What a wrong decision costs, against its definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy import stats

from manylabel import AnnotationTree, PowersetTree
from manylabel.budget._prices import (
    Quality,
    _pairs,
    equal_prices,
    flip_prices,
    label_prices,
    set_prices,
)
from manylabel.budget._shape import annotation_shape, powerset_shape
from manylabel.losses import as_cost

COSTS = ["hamming", "f1", "accuracy", "rank"]
each_cost = pytest.mark.parametrize("cost", [as_cost(name) for name in COSTS], ids=str)


def labels(n_rows=30, n_labels=6):
    return (np.random.default_rng(1).random((n_rows, n_labels)) < 0.35).astype(float)


def pairs(shape):
    inner = np.flatnonzero(shape.children)
    rows, node, is_first = _pairs(shape, inner)
    return inner, list(zip(rows, inner[node], is_first, strict=True))


def test_prices_without_a_cost_are_one():
    Y = sp.csr_array(labels())
    shape = annotation_shape(Y)
    inner, each = pairs(shape)
    assert_allclose(equal_prices(shape, Y)(inner), np.ones(len(each)))


def grow(cost, quality, n, is_true, n_labels):
    """Return by how much the cost grows if one of n labels, or one more, is wrong."""
    rest = max(n - 1, 0) if is_true else n
    hits, given = quality.found * rest, quality.given * rest
    wrong = cost.from_counts(hits, n, given + 1 - is_true, n_labels)
    right = cost.from_counts(hits + is_true, n, given + is_true, n_labels)
    return float(wrong - right)


@each_cost
def test_a_wrong_answer_costs_what_flipping_its_label_adds(cost):
    Y, quality = labels(), Quality(0.6, 0.9)
    shape = annotation_shape(sp.csr_array(Y))
    inner, each = pairs(shape)
    found = label_prices(shape, sp.csr_array(Y), np.ones(6), cost, quality)(inner)
    unit = np.mean([grow(cost, quality, n, 0, 6) for n in Y.sum(axis=1)])
    expected = [grow(cost, quality, Y[i].sum(), is_first, 6) for i, _, is_first in each]
    assert_allclose(found, np.maximum(np.array(expected) / unit, 1e-3))


@each_cost
@pytest.mark.parametrize("n_hidden", [0.0, 0.4, 7.0])
def test_what_is_not_recorded_counts_as_often_as_it_may_be_there(cost, n_hidden):
    found = flip_prices(3, n_hidden, 60, cost, Quality(0.6, 0.9))
    chance = stats.poisson(n_hidden).pmf(np.arange(57))
    for is_true, prices in ((1, found[0]), (0, found[1])):
        for n, price in enumerate(prices):
            each = [
                grow(cost, Quality(0.6, 0.9), n + j, is_true, 60) for j in range(57)
            ]
            assert price == pytest.approx(each @ chance, abs=1e-6)


@each_cost
def test_the_mean_over_records_is_the_price_by_the_true_label(cost):
    Y, quality, p = sp.csr_array(labels()), Quality(0.6, 0.9), np.linspace(0.2, 1, 6)
    shape = annotation_shape(Y)
    inner, each = pairs(shape)
    price = label_prices(shape, Y, 1 / p, cost, quality)(inner)
    n_recorded = np.diff(Y.indptr)
    n_hidden = Y.mean(axis=0) @ (1 / p - 1)
    miss, extra = flip_prices(6, n_hidden, 6, cost, quality)
    unit = extra[n_recorded].mean()
    for (row, node, is_first), found in zip(each, price, strict=True):
        n, own = n_recorded[row], p[shape.asked[node]]
        if is_first:  # with probability 1 - own, it is a row of n - 1 without the label
            mean = own * found - (1 - own) * max(extra[n - 1] / unit, 1e-3)
            assert mean == pytest.approx(max(miss[n] / unit, 1e-3), abs=1e-9)
        else:
            assert found == pytest.approx(max(extra[n] / unit, 1e-3))


def test_missing_a_label_costs_more_the_worse_the_rest_is():
    Y = sp.csr_array(np.kron(np.eye(2), np.ones((4, 8))))  # 8 labels a row
    shape = annotation_shape(Y)
    for f in (0.2, 0.5, 1.0):
        price = label_prices(shape, Y, np.ones(16), as_cost("f1"), Quality(f, 1.0))
        miss, extra = price(np.array([0]))[[0, -1]]
        assert miss / extra == pytest.approx((2 - f) / f, rel=0.25)


def test_a_hidden_label_is_charged_back_where_it_is_recorded():
    Y = sp.csr_array([[1.0, 0], [1, 0], [0, 1]])
    shape = annotation_shape(Y)
    price = label_prices(
        shape, Y, np.array([4.0, 1.0]), as_cost("hamming"), Quality(0.5, 1.0)
    )
    assert_allclose(price(np.array([0])), [7, 7, 1])  # 7 / 4 - 3 / 4 is 1


@each_cost
@pytest.mark.parametrize("most", [1.0, 3.0])
def test_a_wrong_turn_costs_what_the_counts_expected_there_add(cost, most):
    Y, worth = labels(), np.linspace(1, most, 6)
    shape = powerset_shape(sp.csr_array(Y))
    inner, each = pairs(shape)
    found = set_prices(shape, sp.csr_array(Y), worth, cost)(inner)
    hidden = Y.mean(axis=0) * (worth - 1)
    chance = stats.poisson(hidden.sum()).pmf(np.arange(40))
    drawn = hidden / max(hidden.sum(), 1e-300)
    expected = []
    for i, g, is_first in each:
        first, middle, last = shape.bounds[g]
        other = slice(middle, last) if is_first else slice(first, middle)
        share, n, total = Y[shape.rows[other]].mean(axis=0), Y[i].sum(), 0.0
        for k in range(40):
            true = min(n + k, 6)
            hits = Y[i] @ share + k * (drawn * (1 - Y[i])) @ share
            wrong = cost.from_counts(min(hits, true, share.sum()), true, share.sum(), 6)
            total += chance[k] * float(wrong - cost.from_counts(n, true, n, 6))
        expected.append(total * (Y[i] @ worth / n if n else 1))
    unit = np.mean(expected[: len(Y)])
    assert_allclose(found, np.maximum(np.array(expected) / unit, 1e-3), rtol=1e-5)


def test_a_row_without_a_recorded_label_is_not_priced_as_an_empty_one():
    Y = sp.csr_array(np.vstack([np.zeros((6, 3)), np.kron(np.eye(3), np.ones((4, 1)))]))
    shape = powerset_shape(Y)
    rows, _, _ = _pairs(shape, np.array([0]))
    is_empty = rows < 6
    for p, least, most in ((1.0, 0.9, 1.1), (0.3, 0.0, 0.2)):
        price = set_prices(shape, Y, np.full(3, 1 / p), as_cost("f1"))(np.array([0]))
        assert least < price[is_empty].mean() / price[~is_empty].mean() < most


@pytest.mark.parametrize("kind", [AnnotationTree, PowersetTree])
def test_a_cost_that_does_not_count_is_refused(kind):
    with pytest.raises(ValueError, match="cost must depend on counts"):
        kind(cost=lambda y, y_hat: 0.0).fit(np.eye(3), np.eye(3))

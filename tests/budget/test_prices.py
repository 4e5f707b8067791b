"""What a wrong decision costs, against its definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from manylabel import AnnotationTree, PowersetTree
from manylabel.budget._prices import (
    Quality,
    _pairs,
    equal_prices,
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


@each_cost
def test_a_wrong_answer_costs_what_flipping_its_label_adds(cost):
    Y, quality = labels(), Quality(0.6, 0.9)
    shape = annotation_shape(sp.csr_array(Y))
    worth = np.linspace(1, 3, 6)
    inner, each = pairs(shape)
    found = label_prices(shape, sp.csr_array(Y), worth, cost, quality)(inner)

    def grows(n, rest, hit):
        """Return by how much the cost grows when one more label is wrong."""
        h, k = quality.found * rest, quality.given * rest
        wrong = cost.from_counts(h, n, k + 1 - hit, 6)
        return float(abs(wrong - cost.from_counts(h + hit, n, k + hit, 6)))

    unit = np.mean([grows(n, n, 0) for n in Y @ worth])
    expected = [
        worth[shape.asked[g]] * grows(Y[i] @ worth, max(Y[i] @ worth - 1, 0), 1)
        if is_first
        else grows(Y[i] @ worth, Y[i] @ worth, 0)
        for i, g, is_first in each
    ]
    assert_allclose(found, np.maximum(expected, 0) / unit, atol=2e-3 * max(worth))


def test_missing_a_label_costs_more_the_worse_the_rest_is():
    Y = sp.csr_array(np.kron(np.eye(2), np.ones((4, 8))))  # 8 labels a row
    shape = annotation_shape(Y)
    for f in (0.2, 0.5, 1.0):
        price = label_prices(shape, Y, np.ones(16), as_cost("f1"), Quality(f, 1.0))
        miss, extra = price(np.array([0]))[[0, -1]]
        assert miss / extra == pytest.approx((2 - f) / f, rel=0.25)


def test_propensities_price_a_recorded_label_by_what_it_stands_for():
    Y = sp.csr_array([[1.0, 0], [1, 0], [0, 1]])
    shape = annotation_shape(Y)
    price = label_prices(
        shape, Y, np.array([4.0, 1.0]), as_cost("hamming"), Quality(0.5, 1.0)
    )
    assert_allclose(price(np.array([0])), [4, 4, 1])


@each_cost
def test_a_wrong_turn_costs_the_counts_expected_there(cost):
    Y, worth = labels(), np.linspace(1, 3, 6)
    shape = powerset_shape(sp.csr_array(Y))
    inner, each = pairs(shape)
    found = set_prices(shape, sp.csr_array(Y), worth, cost)(inner)
    expected = []
    for i, g, is_first in each:
        first, middle, last = shape.bounds[g]
        other = slice(middle, last) if is_first else slice(first, middle)
        share = Y[shape.rows[other]].mean(axis=0)
        hits = (Y[i] * worth) @ share
        given = hits + (1 - Y[i]) @ share
        expected.append(float(cost.from_counts(hits, Y[i] @ worth, given, 6)))
    unit = np.mean(expected[: len(Y)])
    assert_allclose(found, np.maximum(np.array(expected) / unit, 1e-3))


@pytest.mark.parametrize("kind", [AnnotationTree, PowersetTree])
def test_a_cost_that_does_not_count_is_refused(kind):
    with pytest.raises(ValueError, match="cost must depend on counts"):
        kind(cost=lambda y, y_hat: 0.0).fit(np.eye(3), np.eye(3))

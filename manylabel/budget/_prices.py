"""What a wrong decision costs: how much each row counts where it is made.

Labels may be missing: each true label of a row is recorded with the probability that
is its propensity, whatever the others are. The price of a decision about a label is
then such that its mean, over whether the label is recorded, is the price by the true
label. Prices are relative, so ``C`` keeps its meaning.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

from manylabel._kernels.coding_tree import decisions as coding
from manylabel._kernels.coding_tree.annotation import Shape
from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.losses import CountedCost

Price = Callable[[Ints], Floats]  # of the rows of some nodes, one node after another
Pricing = Callable[[Shape, CSR], Price]  # of a tree, of the labels of its rows
LEAST = 1e-3  # of the mean price: no row is as if it were not there


class Quality(NamedTuple):
    """How well rows are labelled: labels found, and labels given, for each true one."""

    found: float
    given: float


def equal_prices(shape: Shape, _: CSR) -> Price:
    """Return prices of 1."""
    return lambda nodes: np.ones(np.ptp(shape.bounds[nodes], axis=1).sum())


def label_prices(
    shape: Shape, Y: CSR, worth: Floats, cost: CountedCost, quality: Quality
) -> Price:
    """Return what a wrong answer costs at nodes that ask for a label.

    It flips that label; the others of the row are as right as ``quality`` says. For F1
    of about F, a label missed then costs (2 - F) / F times as much as one too many.
    With p = 1 / ``worth`` of the label, a row that has it recorded pays

        (miss + (1 - p) extra) / p

    for an answer of no: what it misses, and what it gives back of the ``extra`` that
    true labels are charged where they are not recorded.
    """
    n_recorded = np.diff(Y.indptr)
    n_hidden = float(np.bincount(Y.indices, minlength=len(worth)) @ (worth - 1))
    miss, extra = flip_prices(
        int(n_recorded.max(initial=0)), n_hidden / Y.shape[0], len(worth), cost, quality
    )
    unit = max(np.abs(extra[n_recorded]).mean(), np.finfo(float).tiny)
    miss, extra = (np.maximum(np.abs(p) / unit, LEAST) for p in (miss, extra))

    def price(nodes: Ints) -> Floats:
        rows, node, is_first = _pairs(shape, nodes)
        gains, n = worth[shape.asked[nodes]][node], n_recorded[rows]
        recorded = gains * miss[n] + (gains - 1) * extra[np.maximum(n - 1, 0)]
        return np.asarray(np.where(is_first, recorded, extra[n]))

    return price


def flip_prices(
    most: int, n_hidden: float, n_labels: int, cost: CountedCost, quality: Quality
) -> tuple[Floats, Floats]:
    """Return what a label missed costs, and one too many, by the labels recorded.

    Rows have 0 to ``most`` of them, and beside these a number of true labels that are
    not recorded, of a Poisson distribution of mean ``n_hidden``: the mean over it.
    """
    recorded = np.arange(most + 1.0)[:, None]
    n_others, chance = _poisson(n_hidden)
    n_true = np.minimum(recorded + n_others, n_labels)
    rest = np.maximum(n_true - 1, 0)
    hits, n_given = quality.found * rest, quality.given * rest
    miss = _charge(cost, hits, n_true, n_given, n_labels)
    miss -= _charge(cost, hits + 1, n_true, n_given + 1, n_labels)
    hits, n_given = quality.found * n_true, quality.given * n_true
    extra = _charge(cost, hits, n_true, n_given + 1, n_labels)
    extra -= _charge(cost, hits, n_true, n_given, n_labels)
    return miss @ chance, extra @ chance


def set_prices(shape: Shape, Y: CSR, worth: Floats, cost: CountedCost) -> Price:
    """Return what a wrong turn costs at nodes that part labelsets.

    The row then gets a labelset of the wrong side: the price is by how much the cost of
    the counts expected there is above that of its own labelset. Beside the labels
    recorded a row has others, as many as in ``flip_prices``, each one of those that a
    labelset gives as often as it is hidden. A row stands for those like it whose labels
    were lost, and who speak for smaller labelsets: it counts the mean ``worth`` of the
    labels recorded, one without any 1.
    """
    n_recorded, n_labels = np.diff(Y.indptr).astype(np.float64), Y.shape[1]
    hidden = np.bincount(Y.indices, minlength=n_labels) * (worth - 1) / Y.shape[0]
    n_hidden = float(hidden.sum())
    n_others, chance = _poisson(n_hidden)
    mean = np.where(n_recorded > 0, (Y @ worth) / np.maximum(n_recorded, 1), 1.0)

    def charge(nodes: Ints) -> Floats:
        rows, _, _ = _pairs(shape, nodes)
        hits, n_given, found = coding.expect(
            *(Y.indptr, Y.indices, hidden / max(n_hidden, np.finfo(float).tiny)),
            *(shape.rows, shape.bounds[nodes]),
        )
        own, total = n_recorded[rows], np.zeros(len(rows))
        for n, share in zip(n_others, chance, strict=True):
            n_true = np.minimum(own + n, n_labels)
            n_hits = np.minimum(hits + n * found, np.minimum(n_true, n_given))
            wrong = _charge(cost, n_hits, n_true, n_given, n_labels)
            total += share * (wrong - _charge(cost, own, n_true, own, n_labels))
        return mean[rows] * total

    unit = max(charge(np.array([0])).mean(), np.finfo(float).tiny)
    return lambda nodes: np.maximum(charge(nodes) / unit, LEAST)


def _poisson(mean: float) -> tuple[Floats, Floats]:
    """Return the numbers of a Poisson distribution that matter, and their chances."""
    number = np.arange(np.ceil(mean + 8 * np.sqrt(mean)) + 1)
    chance = np.exp(special.xlogy(number, mean) - mean - special.gammaln(number + 1))
    return number, chance


def _pairs(shape: Shape, nodes: Ints) -> tuple[Array, Array, Array]:
    """Return the rows of some nodes, which node, and whether in its first child."""
    bounds = shape.bounds[nodes]
    sizes = np.ptp(bounds, axis=1)
    node = np.repeat(np.arange(len(nodes)), sizes)
    first = np.cumsum(sizes) - sizes
    place = np.arange(len(node)) - first[node] + bounds[node, 0]
    return shape.rows[place], node, place < bounds[node, 1]


def _charge(
    cost: CountedCost, hits: Floats, n_true: Floats, n_given: Floats, n_labels: int
) -> Floats:
    return np.asarray(
        np.broadcast_to(cost.from_counts(hits, n_true, n_given, n_labels), hits.shape),
        np.float64,
    ).copy()

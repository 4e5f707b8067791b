"""How trees and tail classifiers become scores, chosen on a validation set."""

import numpy as np

from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.lists import Lists
from manylabel.metrics import as_metric

SAMPLE = 1000  # rows to try a forest on that has no validation set
USUAL = 0.8  # weight of the trees in the authors' program
# The tail may weigh from 1/256 to 16 times as much as the trees, or nothing.
ALPHAS = (1.0, *(1 / (1 + 2 ** (n / 2)) for n in range(-16, 9)))
TEMPERATURES = tuple(2 ** (n / 4) for n in range(-24, 5))  # 1/64 to 2
# Precision counts twice: the tail is better at rows held out than at those to come.
BALANCED = {"P@1": 2, "P@3": 2, "P@5": 2, "PSP@1": 1, "PSP@3": 1, "PSP@5": 1}


def sample(n_rows: int, seed: int) -> Ints:
    """Return rows, not too many, to try a forest on that was grown on them."""
    order = np.random.default_rng(int(seed)).permutation(n_rows)
    return np.sort(order[:SAMPLE])


def best_alpha(
    trees: Lists, tail: Floats, Y: CSR, metric: str | None, weights: Floats
) -> float:
    """Return the weight of the trees by which labels are ranked best."""
    names = BALANCED if metric is None else {metric: 1}

    def value(alpha: float) -> float:
        scores = blended(trees, tail, alpha).csr(Y.shape[1])
        metrics = {name: as_metric(name, 1 / weights) for name in names}
        return sum(
            n * metrics[name].update(Y, scores).value for name, n in names.items()
        )

    return max(ALPHAS, key=value)


def blended(trees: Lists, tail: Floats, alpha: float) -> Lists:
    """Return the logarithms of trees and tail classifiers, weighed."""
    return trees._replace(values=alpha * trees.values + (1 - alpha) * tail)


def best_temperature(scores: Lists, Y: CSR, weights: Floats) -> float:
    """Return the temperature by which true labels are most likely.

    Each true label that is listed is taken for one that was drawn among those of its
    row, with probabilities in proportion to ``exp(score / temperature)``.
    """
    sizes, n_labels = np.diff(scores.indptr), Y.shape[1]
    row = np.repeat(np.arange(Y.shape[0]), sizes)
    owner = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    true = np.isin(row * n_labels + scores.labels, owner * n_labels + Y.indices)
    weight = weights[scores.labels[true]]

    def likelihood(temperature: float) -> float:
        logs = comparable(scores, 1 / sizes[row], temperature).values / temperature
        return float(weight @ logs[true])

    return max(TEMPERATURES, key=likelihood)


def comparable(scores: Lists, shares: Array, temperature: float) -> Lists:
    """Return scores that mean the same in all rows: those of a row moved by as much.

    A row far from all centroids has small scores, though it has labels as others do. So
    ``exp(score / temperature)``, summed over a row, is made the sum of its ``shares``.
    """
    sizes = np.diff(scores.indptr)
    filled = np.flatnonzero(sizes)
    if len(filled) == 0:
        return scores
    starts, row = (
        scores.indptr[filled],
        np.repeat(np.arange(len(filled)), sizes[filled]),
    )
    best = np.maximum.reduceat(scores.values, starts)
    mass = np.add.reduceat(np.exp((scores.values - best[row]) / temperature), starts)
    excess = np.log(mass) - np.log(np.add.reduceat(shares, starts))
    return scores._replace(values=scores.values - (best + temperature * excess)[row])

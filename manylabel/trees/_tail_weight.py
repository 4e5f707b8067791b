"""How much the tail classifiers weigh against the trees, chosen on a validation set."""

import numpy as np

from manylabel._typing import CSR, Floats, Ints
from manylabel.lists import Lists
from manylabel.metrics import as_metric

SAMPLE = 1000  # rows to try a forest on that has no validation set
USUAL = 0.8  # weight of the trees in the authors' program
# The tail may weigh from 1/256 to 16 times as much as the trees, or nothing.
ALPHAS = (1.0, *(1 / (1 + 2 ** (n / 2)) for n in range(-16, 9)))
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

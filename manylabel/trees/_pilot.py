"""What is chosen on rows held out: the weight of the tail."""

import numpy as np

from manylabel._typing import CSR, Floats, Ints
from manylabel.lists import Lists
from manylabel.metrics import as_metric

N_TREES = 15  # more choose the same
FEWEST, MOST = 10, 5000  # rows of data to hold some out; rows held out
SAMPLE = 1000  # rows to try a forest on that has no pilot
USUAL = 0.8  # weight of the trees in the authors' program
# The tail may weigh from 1/256 to 16 times as much as the trees, or nothing.
ALPHAS = (1.0, *(1 / (1 + 2 ** (n / 2)) for n in range(-16, 9)))
# Precision counts twice: the tail is better at rows held out than at those to come.
BALANCED = {"P@1": 2, "P@3": 2, "P@5": 2, "PSP@1": 1, "PSP@3": 1, "PSP@5": 1}


def divided(n_rows: int, seed: int) -> tuple[Ints, Ints] | None:
    """Return a tenth of the rows and the others; None if there are too few."""
    if n_rows < FEWEST:
        return None
    order = np.random.default_rng(seed).permutation(n_rows)
    n_held = min(max(n_rows // 10, 3), MOST)
    return np.sort(order[:n_held]), np.sort(order[n_held:])


def sampled(X: CSR, Y: CSR, seed: int) -> tuple[CSR, CSR]:
    """Return rows, not too many, to try a forest on that was grown on them."""
    order = np.random.default_rng(seed).permutation(X.shape[0])
    rows = np.sort(order[:SAMPLE])
    return X[rows], Y[rows]


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

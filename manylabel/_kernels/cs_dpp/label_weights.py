"""The label weights of CS-DPP, in O(K) for costs that depend on counts.

Equation 14 of Chu, Huang & Lin 2019. ``y`` and ``y_hat`` are 0/1 int64 vectors;
``order`` is the permutation in which the cost is decomposed. When label k has its turn,
the labels before it are predicted right and those after it as in ``y_hat``.
"""

import numpy as np

from manylabel._kernels._jit import kernel
from manylabel._kernels.costs import cost


@kernel
def count_others(y, y_hat, order, hits, n_predicted):
    """Write, at each label's turn, the hits and predictions among the other labels."""
    all_hits, all_predicted = np.int64(0), np.int64(0)
    for k in range(y.shape[0]):
        all_hits += y[k] * y_hat[k]
        all_predicted += y_hat[k]
    for position in range(order.shape[0]):
        k = order[position]
        hits[k] = all_hits - y[k] * y_hat[k]
        n_predicted[k] = all_predicted - y_hat[k]
        all_hits = hits[k] + y[k]
        all_predicted = n_predicted[k] + y[k]


@kernel
def label_weights(code, y, y_hat, order, out, if_false):
    """Write what a wrong prediction of each label costs over a right one.

    ``if_false`` takes the same for each true label, were it false. Between labels that
    are true or predicted nothing changes: there the weight is that of the one before.
    """
    n_labels, n_true = y.shape[0], 0
    hits = n_predicted = 0
    for k in range(n_labels):
        n_true += y[k]
        hits += y[k] * y_hat[k]
        n_predicted += y_hat[k]
    quiet = -1.0
    for position in range(n_labels):
        k = np.uintp(order[position])
        truth = y[k]
        is_quiet = truth == 0 and y_hat[k] == 0
        if is_quiet and quiet >= 0.0:
            out[k] = quiet
            continue
        hits -= truth * y_hat[k]  # of the other labels
        n_predicted -= y_hat[k]
        right = cost(code, hits + truth, n_true, n_predicted + truth, n_labels)
        wrong = cost(code, hits, n_true, n_predicted + 1 - truth, n_labels)
        out[k] = abs(wrong - right)
        if truth:
            right = cost(code, hits, n_true - 1, n_predicted, n_labels)
            wrong = cost(code, hits, n_true - 1, n_predicted + 1, n_labels)
            if_false[k] = abs(wrong - right)
        hits += truth
        n_predicted += truth
        quiet = out[k] if is_quiet else -1.0


@kernel
def expected_weights(code, chance, y_hat, order, if_true, if_false):
    """Write what a wrong prediction of each label costs, the others as expected.

    ``chance`` holds the probability that each label is true. At the turn of label k the
    counts of the other labels are their means: those before it are as often predicted
    as true, those after it as in ``y_hat``. ``if_true`` takes the weight of each label,
    were it true, ``if_false`` were it false: neither depends on its own chance. Where
    all chances are 0 or 1 they are those of :func:`label_weights`.
    """
    n_labels, n_true, hits, n_predicted = y_hat.shape[0], 0.0, 0.0, 0.0
    for k in range(n_labels):
        n_true += chance[k]
        hits += chance[k] * y_hat[k]
        n_predicted += y_hat[k]
    for position in range(n_labels):
        k = np.uintp(order[position])
        others = n_true - chance[k]
        hits -= chance[k] * y_hat[k]
        n_predicted -= y_hat[k]
        right = cost(code, hits + 1.0, others + 1.0, n_predicted + 1.0, n_labels)
        wrong = cost(code, hits, others + 1.0, n_predicted, n_labels)
        if_true[k] = abs(wrong - right)
        right = cost(code, hits, others, n_predicted, n_labels)
        wrong = cost(code, hits, others, n_predicted + 1.0, n_labels)
        if_false[k] = abs(wrong - right)
        hits += chance[k]
        n_predicted += chance[k]

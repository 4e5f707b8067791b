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
def label_weights(code, y, y_hat, order, out):
    """Write what a wrong prediction of each label costs over a right one."""
    n_labels = y.shape[0]
    hits = np.empty(n_labels, np.int64)
    n_predicted = np.empty(n_labels, np.int64)
    count_others(y, y_hat, order, hits, n_predicted)
    n_true = y.sum()
    for k in range(n_labels):
        right = cost(code, hits[k] + y[k], n_true, n_predicted[k] + y[k], n_labels)
        wrong = cost(code, hits[k], n_true, n_predicted[k] + 1 - y[k], n_labels)
        out[k] = abs(wrong - right)

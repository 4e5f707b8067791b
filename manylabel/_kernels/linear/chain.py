"""Chains of logistic classifiers: each sees the labels decided before it.

The margin of a label is that of the features plus the ``links`` from labels before it
that are given. Labels come in the order of their columns.
"""

from math import exp

import numpy as np

from manylabel._kernels._jit import inner, kernel

ZERO = np.float32(0.0)


@kernel
def follow(features, links, start, labels, margin):
    """Decide labels from a column on, by the signs of their margins.

    ``labels`` (n_rows, n_labels) has those before, and gets the others; ``margin``
    gets the margins of all.
    """
    for i in range(labels.shape[0]):
        for label in range(labels.shape[1]):
            margin[i, label] = features[i, label]
        for label in range(labels.shape[1]):
            if label >= start:
                labels[i, label] = margin[i, label] > ZERO
            if labels[i, label]:
                _add(links, label, margin[i])


@kernel
def sample(features, links, draws, margin, labels, probable):
    """Draw label sets of each row, and add up how probable its labels are.

    A label is in sample s if its probability exceeds ``draws[s]``: the draws are the
    same for all rows, so a row has the same samples in any company. ``labels`` is of
    shape (n_rows, n_samples, n_labels), ``probable`` of (n_rows, n_labels); ``margin``
    is room for one row.
    """
    n_samples, n_labels = draws.shape
    for i in range(labels.shape[0]):
        for label in range(n_labels):
            probable[i, label] = 0.0
        for s in range(n_samples):
            for label in range(n_labels):
                margin[label] = features[i, label]
            for label in range(n_labels):
                share = 1.0 / (1.0 + exp(-np.float64(margin[label])))
                probable[i, label] += share
                labels[i, s, label] = draws[s, label] < share
                if labels[i, s, label]:
                    _add(links, label, margin)
        for label in range(n_labels):
            probable[i, label] /= n_samples


@inner
def _add(links, label, margin):
    for other in range(label + 1, margin.shape[0]):
        margin[other] += links[label, other]

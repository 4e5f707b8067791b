"""Which k labels to give each row of a batch, so that a mean over labels is largest.

Block coordinate ascent on expected counts (Schultheis et al. 2023): a row is taken out,
the gain of giving it each of its candidates is found from what the others have, and the
k candidates of the largest gains are given. No turn makes the measure smaller.
"""

from math import exp, log

import numpy as np

from manylabel._kernels._jit import inner, kernel

PRECISION, RECALL, F1, COVERAGE = range(4)
SURE = 1e-9  # a probability this near 1 is taken as that
SPARE = 1e-3  # what a hit is worth where no label is left to be covered


@inner
def utility(kind, hits, given, true, missed):
    """Return what a label is worth, by expected hits, rows given and rows that have it.

    ``missed`` is the logarithm of the chance that none of the rows given has it.
    """
    if kind == COVERAGE:
        return 1.0 - exp(missed) + SPARE * hits
    there = given if kind == PRECISION else true if kind == RECALL else given + true
    if there <= 0:
        return 0.0
    return (2.0 if kind == F1 else 1.0) * hits / there


@inner
def give(label, p, sign, hits, given, missed):
    """Give a label to a row, or take it back: ``sign`` is 1 or -1."""
    hits[label] += sign * p
    given[label] += sign
    missed[label] += sign * log(max(1.0 - p, SURE))


@kernel
def ascend(kind, k, starts, labels, proba, true, hits, given, missed, is_given, gains):
    """Go over all rows once; return by how much the sum over labels has grown.

    ``hits``, ``given``, ``missed`` (one for each label) and ``is_given`` (one for each
    candidate) are changed in place; ``gains`` is room for those of a row.
    """
    grown = 0.0
    for i in range(starts.shape[0] - 1):
        start, end = starts[i], starts[i + 1]
        for p in range(start, end):
            if is_given[p]:
                give(labels[p], proba[p], -1.0, hits, given, missed)
        for p in range(start, end):
            m, chance = labels[p], proba[p]
            now = utility(kind, hits[m], given[m], true[m], missed[m])
            less = missed[m] + log(max(1.0 - chance, SURE))
            then = utility(kind, hits[m] + chance, given[m] + 1.0, true[m], less)
            gains[p - start] = then - now
            if is_given[p]:
                grown -= then - now
        for p in range(start, end):
            is_given[p] = False
        for _ in range(min(k, end - start)):
            best = np.int64(-1)
            for p in range(start, end):
                if not is_given[p] and (
                    best < 0 or gains[p - start] > gains[best - start]
                ):
                    best = p
            is_given[best] = True
            grown += gains[best - start]
            give(labels[best], proba[best], 1.0, hits, given, missed)
    return grown

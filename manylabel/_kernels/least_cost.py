"""Which set of labels costs least, when the probabilities of labels are known.

Labels are taken as independent given the row. Of the sets of one size the most probable
labels then cost least, for any cost that falls with the hits: swap a label of the set
with a more probable one outside it, and where just one of them is true there is one hit
more. So only heads of the ranking are compared. How many labels of a head are true, and
how many behind it, are sums of independent trials (Poisson binomial): adding a trial to
a sum takes one pass over its distribution.
"""

import numpy as np

from manylabel._kernels._jit import inner, kernel

NEGLIGIBLE = 1e-12  # probability of a count


@kernel
def least_cost_sizes(starts, proba, tail, charges, behind, head, sizes, costs):
    """Write how many labels to give to each row, and what that is expected to cost.

    Parameters
    ----------
    starts : (n_rows + 1,) where the labels of a row start, most probable first
    proba : (n_pairs,) their probabilities
    tail : (n_rows, n_tail) distribution of the number of true labels not listed
    charges : (depth + 1, depth + 1, depth + n_tail) costs, by the size of the set, its
        true labels, and the true labels that are not in it
    behind : (depth + 1, depth + n_tail) room for distributions
    head : (depth + 1,) room for one
    """
    for i in range(sizes.shape[0]):
        row = proba[starts[i] : starts[i + 1]]
        n, n_tail = row.shape[0], tail.shape[1]
        for t in range(n_tail):
            behind[n, t] = tail[i, t]
        for s in range(n - 1, -1, -1):
            n_behind = n - s + n_tail
            for t in range(n_behind - 1):
                behind[s, t] = behind[s + 1, t]
            _add_trial(behind[s], n_behind, row[s])
        head[0] = 1.0
        sizes[i], costs[i] = 0, np.inf
        for s in range(n + 1):
            if s > 0:
                _add_trial(head, s + 1, row[s - 1])
            cost = _expect(head[: s + 1], behind[s, : n - s + n_tail], charges[s])
            if cost < costs[i]:
                sizes[i], costs[i] = s, cost


@inner
def _add_trial(sums, end, p):
    """Add a trial to a sum: its distribution, which ends before ``end``, in place."""
    sums[end - 1] = sums[end - 2] * p
    for j in range(end - 2, 0, -1):
        sums[j] = sums[j] * (1 - p) + sums[j - 1] * p
    sums[0] *= 1 - p


@inner
def _expect(head, behind, charges):
    """Return the expected charge of two independent counts."""
    total, end = 0.0, behind.shape[0]
    while end > 0 and behind[end - 1] < NEGLIGIBLE:
        end -= 1
    for h in range(head.shape[0]):
        if head[h] > NEGLIGIBLE:
            for t in range(end):
                total += head[h] * behind[t] * charges[h, t]
    return total

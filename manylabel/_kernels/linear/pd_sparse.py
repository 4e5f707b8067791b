"""Margins between labels with an L1 penalty, in the dual (Yen et al. 2016, 2017).

With u_l the sum of rows weighed by dual variables, the weights of label l are

    w_l = S(u_l),    S(u) = sign(u) max(|u| - l1, 0),

for every feature but the constant one, which is not penalised by l1. S is 1-Lipschitz,
so a step of one row's dual variables raises the smooth part of the dual by at most
|x|^2 / 2 times the squared length of the step: that bound is minimised exactly.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import stretch

ZERO, ONE = np.float32(0.0), np.float32(1.0)
N_HALVINGS = 50  # of the bisection for a multiplier


class Active(NamedTuple):
    """Dual variables of each row: of its labels, and of some labels that it lacks."""

    positive: Any  # (n_pairs,) of the labels of a row, as they stand in Y
    n_others: Any  # (n_rows,) how many others are active
    others: Any  # (n_rows, capacity) labels
    negative: Any  # (n_rows, capacity) of these


class Margins(NamedTuple):
    """What is at hand for a row."""

    scores: Any  # (n_labels,)
    taken: Any  # (n_labels,) False but for labels that are not to be looked for
    up: Any  # (most labels of a row,) where dual variables would go without constraint
    down: Any  # (capacity,)


@kernel
def margin_pass(rows, labels, lengths, order, state, penalty, sums, active, at_hand):
    """Visit all rows in random order; return the largest change of a dual variable.

    It is relative to C of the row. ``penalty`` has C of each row, l1 and the value of
    the constant feature. A row takes the label it lacks that violates its margin most
    into its active set, and then the best step of its active dual variables.
    """
    C, l1, bias = penalty
    largest = ZERO
    rng.shuffle(state, order, order.shape[0])
    for at in range(order.shape[0]):
        i = order[at]
        if labels.indptr[i] == labels.indptr[i + 1]:
            continue
        _score(rows, i, l1, bias, sums, at_hand.scores)
        _search(labels, i, active, at_hand)
        change = _step(rows, labels, i, lengths[i], C[i], bias, sums, active, at_hand)
        largest = max(largest, change / C[i])
    return largest


@inner
def _score(rows, i, l1, bias, sums, out):
    """Write the scores of all labels for a row."""
    n_labels, last = np.uintp(sums.shape[1]), sums.shape[0] - 1
    for label in range(n_labels):
        out[label] = bias * sums[last, label]
    for p in stretch(rows.indptr, i):
        j, value = rows.indices[p], rows.data[p]
        for label in range(n_labels):
            u = sums[j, label]
            out[label] += value * (max(u - l1, ZERO) + min(u + l1, ZERO))


@inner
def _search(labels, i, active, at_hand):
    """Activate the label that a row lacks and that violates its margin most."""
    scores, taken, worst, n = at_hand.scores, at_hand.taken, np.inf, active.n_others[i]
    for p in stretch(labels.indptr, i):
        taken[labels.indices[p]] = True
        worst = min(worst, scores[labels.indices[p]])
    best, top = -1, -np.inf
    for label in range(scores.shape[0]):
        if scores[label] > top and not taken[label]:
            best, top = label, scores[label]
    for p in stretch(labels.indptr, i):
        taken[labels.indices[p]] = False
    is_new = best >= 0 and ONE + top > worst and n < active.others.shape[1]
    for k in range(n):
        is_new = is_new and active.others[i, k] != best
    if is_new:
        active.others[i, n], active.negative[i, n] = best, ZERO
        active.n_others[i] = n + 1


@inner
def _step(rows, labels, i, length, C, bias, sums, active, at_hand):
    """Move the active dual variables of a row to the minimum of the bound.

    Returns the largest change. What becomes 0 is active no more.
    """
    start, n, scores = labels.indptr[i], active.n_others[i], at_hand.scores
    n_own = labels.indptr[i + 1] - start
    for k in range(n_own):
        score = scores[labels.indices[start + k]]
        at_hand.up[k] = active.positive[start + k] - score / length
    for k in range(n):
        score = scores[active.others[i, k]]
        at_hand.down[k] = active.negative[i, k] + (ONE + score) / length
    project(at_hand.up[:n_own], at_hand.down[:n], C)
    largest = ZERO
    for k in range(n_own):
        change = at_hand.up[k] - active.positive[start + k]
        largest = max(largest, abs(change))
        active.positive[start + k] = at_hand.up[k]
        _add_row(rows, i, change, bias, labels.indices[start + k], sums)
    kept = 0
    for k in range(n):
        label, value = active.others[i, k], at_hand.down[k]
        change = active.negative[i, k] - value
        largest = max(largest, abs(change))
        _add_row(rows, i, change, bias, label, sums)
        if value > ZERO:
            active.others[i, kept], active.negative[i, kept] = label, value
            kept += 1
    active.n_others[i] = kept
    return largest


@inner
def _add_row(rows, i, change, bias, label, sums):
    if change == ZERO:
        return
    for p in stretch(rows.indptr, i):
        sums[rows.indices[p], label] += change * rows.data[p]
    sums[sums.shape[0] - 1, label] += bias * change


@inner
def project(up, down, C):
    """Write the nearest points of 0 or more with equal sums of at most C, in place."""
    if down.shape[0] == 0:
        for k in range(up.shape[0]):
            up[k] = ZERO
        return
    # max(up + shift, 0) and max(down - shift, 0) have sums that rise and fall.
    shift = _level(up, down)
    other = -shift
    if _total(up, shift) > C:
        shift = _fill(up, C)
        other = _fill(down, C)
    for k in range(up.shape[0]):
        up[k] = max(up[k] + shift, ZERO)
    for k in range(down.shape[0]):
        down[k] = max(down[k] + other, ZERO)


@inner
def _total(values, shift):
    total = 0.0
    for k in range(values.shape[0]):
        total += max(values[k] + shift, 0.0)
    return total


@inner
def _level(up, down):
    """Return the shift that makes both sums equal (bisection)."""
    low = min(-_top(up, ONE), -_top(down, -ONE))
    high = max(_top(up, -ONE), _top(down, ONE))
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        if _total(up, middle) < _total(down, -middle):
            low = middle
        else:
            high = middle
    return high


@inner
def _fill(values, total):
    """Return the shift that makes a sum so large (bisection)."""
    low = -_top(values, ONE)
    high = low + total
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        if _total(values, middle) < total:
            low = middle
        else:
            high = middle
    return high


@inner
def _top(values, sign):
    """Return the largest of some numbers, times a sign."""
    top = -np.inf
    for k in range(values.shape[0]):
        top = max(top, np.float64(sign * values[k]))
    return top

"""One label at a time with an L1 penalty: a squared hinge, sparse in primal and dual.

For a label with targets y in {-1, +1} the dual of

    min over w of  |w|^2 / 2 + l1 |w|_1 + sum_i C_i max(0, 1 - y_i w.x_i)^2

is, with u = sum_i a_i y_i x_i, to minimise |S(u)|^2 / 2 + sum_i (a_i^2 / (4 C_i) - a_i)
over a >= 0, and w = S(u), S as in :mod:`manylabel._kernels.linear.pd_sparse`. Only rows
within the margin have a_i > 0: they are looked for by the few columns that w uses, and
between searches only they are visited (Yen et al. 2017, Algorithm 1).
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.csr import stretch

ZERO, ONE = np.float32(0.0), np.float32(1.0)
LEAST_NEW = 64  # rows that a search may activate


class Label(NamedTuple):
    """What is at hand for a label."""

    sums: Any  # (n_features + 1,) u, the constant feature last
    dual: Any  # (n_rows,)
    side: Any  # (n_rows,) +1 or -1
    scores: Any  # (n_rows,)
    rows: Any  # (n_rows,) active ones first
    is_active: Any  # (n_rows,)


@kernel
def solve(rows, columns, positives, lengths, penalty, limits, state, label):
    """Find u of a label, whose rows are ``positives``; return how many passes it took.

    ``rows`` are in CSR, ``columns`` the same in CSC. ``penalty`` has C of each row, l1
    and the value of the constant feature, ``limits`` the most passes, those between two
    searches, and the largest projected gradient that is good enough.
    """
    max_iter, n_passes, tol = limits
    label.sums[:] = ZERO
    for i in range(label.dual.shape[0]):
        label.dual[i], label.side[i], label.is_active[i] = ZERO, -ONE, False
    n_active, done = positives.shape[0], 0
    for p in range(n_active):
        i = positives[p]
        label.side[i], label.is_active[i], label.rows[p] = ONE, True, i
    while done < max_iter:
        n_new = _search(columns, penalty, n_active, tol, state, label)
        n_active += n_new
        turn, worst, largest = 0, np.inf, ZERO
        while turn < n_passes and worst > tol:
            worst = _visit(rows, lengths, penalty, n_active, state, label)
            largest = max(largest, worst)
            turn += 1
        done += turn
        n_active = _drop(n_active, label)
        if n_new == 0 and largest <= tol:
            break
    return done


@inner
def _search(columns, penalty, n_active, tol, state, label):
    """Activate rows within the margin; return how many are new.

    At most as many as there are, so that a search takes no less than the visits; those
    that come first from a random row on.
    """
    sums, scores, n_rows = label.sums, label.scores, label.scores.shape[0]
    _, l1, bias = penalty
    last = sums.shape[0] - 1
    for i in range(n_rows):
        scores[i] = bias * sums[last]
    for j in range(last):
        weight = max(sums[j] - l1, ZERO) + min(sums[j] + l1, ZERO)
        if weight != ZERO:
            for p in stretch(columns.indptr, j):
                scores[columns.indices[p]] += weight * columns.data[p]
    room, n_new, first = max(n_active, LEAST_NEW), 0, rng.next_below(state, n_rows)
    for n in range(n_rows):
        i = first + n if first + n < n_rows else first + n - n_rows
        if n_new < room and not label.is_active[i] and ONE + scores[i] > tol:
            label.is_active[i], label.rows[n_active + n_new] = True, i
            n_new += 1
    return n_new


@inner
def _visit(rows, lengths, penalty, n_active, state, label):
    """Take the best step for each active row; return the largest projected gradient."""
    (C, l1, bias), sums, largest = penalty, label.sums, ZERO
    half, last = ONE / (ONE + ONE), sums.shape[0] - 1
    rng.shuffle(state, label.rows, n_active)
    for n in range(n_active):
        i = label.rows[n]
        diagonal = half / C[i]
        score, side, before = bias * sums[last], label.side[i], label.dual[i]
        for p in stretch(rows.indptr, i):
            u = sums[rows.indices[p]]
            score += rows.data[p] * (max(u - l1, ZERO) + min(u + l1, ZERO))
        gradient = side * score - ONE + diagonal * before
        if before > ZERO or gradient < ZERO:
            largest = max(largest, abs(gradient))
        after = max(before - gradient / (lengths[i] + diagonal), ZERO)
        if after != before:
            label.dual[i], change = after, (after - before) * side
            for p in stretch(rows.indptr, i):
                sums[rows.indices[p]] += change * rows.data[p]
            sums[last] += bias * change
    return largest


@inner
def _drop(n_active, label):
    """Leave out rows without the label whose dual variable is 0; return the others."""
    kept = 0
    for n in range(n_active):
        i = label.rows[n]
        if label.dual[i] > ZERO or label.side[i] > ZERO:
            label.rows[kept] = i
            kept += 1
        else:
            label.is_active[i] = False
    return kept

"""Linear classifiers of many labels at once: dual coordinate descent in lanes.

For each label the problem is, with targets y in {-1, +1} and a constant feature,

    min over w of  |w|^2 / 2 + sum_i C_i * loss(y_i w.x_i),

where the loss of a margin m is max(0, 1 - m)^2, the squared hinge, or log(1 + exp(-m)).
It is solved in its dual as LIBLINEAR does (Hsieh et al. 2008, "A dual coordinate
descent method for large-scale linear SVM", Algorithm 3; Yu, Huang & Lin 2011, "Dual
coordinate descent methods for logistic regression and maximum entropy models"): one
pass visits every row in random order and takes the best step for its dual variable. All
labels share the rows, so a block of them is solved side by side: each row is read once
for all lanes, and the loops over lanes are the ones that vectorise. No variable is
shrunk: of 64 lanes, some need the row, so its visit would not be saved.

A lane sees the same row orders whatever block it is in; so a label's weights have the
same bits in any company.

``alpha`` tells also what a row is to a lane: a dual variable a of a row without the
label is kept as a, of a row with it as POSITIVE - a.
"""

from math import exp
from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner, kernel, reducing_inner

ZERO, ONE, INFINITY = np.float32(0.0), np.float32(1.0), np.float32(np.inf)
HALF = np.float32(0.5)
# So small that POSITIVE - a rounds to -a.
POSITIVE = np.float32(-1e-35)
LANES = 64  # at most: fewer waste a row's visit, more the cache
# Where each lane's numbers stand: with offsets known in advance, no loop has to find
# out whether its arrays overlap.
SCORE, RATE, TOP, LOW, STEP, END = 0, LANES, 2 * LANES, 3 * LANES, 4 * LANES, 5 * LANES
NEWTON_STEPS, NEAR = 50, 1e-4  # of the logistic step of one variable: most, last


class Problem(NamedTuple):
    """What all labels share; rows in CSR, the rows of each label in CSC."""

    x_indptr: Any
    x_indices: Any
    x_data: Any
    y_indptr: Any
    y_indices: Any
    bias: Any  # value of the constant feature
    length: Any  # (n_rows,) |x|^2 + bias^2
    diagonal: Any  # (n_rows,) 1 / (2 C_i) of a row without the label
    positive_weight: Any  # (n_labels,) what a row with the label weighs beside others
    tolerance: Any
    is_logistic: Any


class Lanes(NamedTuple):
    """Labels that are solved side by side, one lane each; further lanes stay idle."""

    labels: Any
    weights: Any  # (n_features + 1, n_lanes), the intercept last
    n_iter: Any  # (n_lanes,) passes taken, negative once converged
    alpha: Any  # (n_rows, n_lanes) dual variables
    order: Any  # (n_rows,) rows as they are visited
    state: Any  # (1,) of the random numbers
    p_indptr: Any  # (n_rows + 1,) the lanes of a row's labels, in CSR
    p_lanes: Any
    at_hand: Any  # (END,) numbers of each lane for the row at hand, and extreme ones


def make_lanes(problem, labels, n_features, n_lanes, seed):
    """Return the lanes of ``labels`` before the first pass."""
    n_rows = len(problem.length)
    indptr, lanes = find_positives(problem, labels)
    alpha = np.zeros((n_rows, n_lanes), np.float32)
    alpha[np.repeat(np.arange(n_rows), np.diff(indptr)), lanes] = POSITIVE
    return Lanes(
        labels=labels,
        weights=np.zeros((n_features + 1, n_lanes), np.float32),
        n_iter=np.zeros(len(labels), np.int64),
        alpha=alpha,
        order=np.arange(n_rows),
        state=np.array([seed], np.uint64),
        p_indptr=indptr,
        p_lanes=lanes,
        at_hand=np.zeros(END, np.float32),
    )


def find_positives(problem, labels):
    """Return which lanes each row is a positive row of, in CSR."""
    spans = [slice(*problem.y_indptr[label : label + 2]) for label in labels]
    rows = [problem.y_indices[span] for span in spans]
    lanes = np.repeat(np.arange(len(labels)), [len(some) for some in rows])
    joined = np.concatenate(rows) if rows else np.empty(0, np.int32)
    counts = np.bincount(joined, minlength=len(problem.length))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return indptr, lanes[np.argsort(joined, kind="stable")]


@kernel
def solve(problem, block, until):
    """Take passes, in place, until each lane has converged or taken ``until`` of them.

    Lanes that took equally many passes may be put together in other blocks.
    """
    n_iter, at_hand = block.n_iter, block.at_hand
    going, edge = _count_going(block, until), ZERO if problem.is_logistic else INFINITY
    while going:
        rng.shuffle(block.state, block.order, block.order.shape[0])
        for lane in range(block.weights.shape[1]):
            at_hand[TOP + lane], at_hand[LOW + lane] = -edge, edge
        for k in range(block.order.shape[0]):
            _visit(problem, block, block.order[k])
        for lane in range(n_iter.shape[0]):
            if at_hand[RATE + lane] > ZERO:
                gap = at_hand[TOP + lane] - at_hand[LOW + lane]
                n_iter[lane] += 1
                n_iter[lane] *= -1 if gap <= problem.tolerance else 1
        going = _count_going(block, until)


@kernel
def scores(x_indptr, x_indices, x_data, w_indptr, w_indices, w_data, intercept, out):
    """Write ``X @ W + intercept`` into ``out``, for W by features in CSR.

    The columns of a feature that has all of them are not read: they are in order.
    """
    n_labels = np.uintp(out.shape[1])
    for i in range(out.shape[0]):
        for label in range(n_labels):
            out[i, label] = intercept[label]
        for p in range(x_indptr[i], x_indptr[i + 1]):
            j, value = x_indices[p], x_data[p]
            start, end = np.uintp(w_indptr[j]), np.uintp(w_indptr[j + 1])
            if end - start == n_labels:
                for label in range(n_labels):
                    out[i, label] += value * w_data[start + label]
            else:
                for q in range(start, end):
                    out[i, np.uintp(w_indices[q])] += value * w_data[q]


@kernel
def dense_scores(X, W, intercept, out):
    """Write ``X @ W + intercept`` into ``out``, to the bit as ``scores`` does.

    Eight features at a time, whose weights then serve all rows from the cache. BLAS
    would take two thirds of the time, but adds up in an order that depends on how many
    rows there are.
    """
    n_features, n_labels = X.shape[1], np.uintp(W.shape[1])
    for i in range(X.shape[0]):
        for label in range(n_labels):
            out[i, label] = intercept[label]
    for j in range(0, n_features - 7, 8):
        for i in range(X.shape[0]):
            a, b, c, d = X[i, j], X[i, j + 1], X[i, j + 2], X[i, j + 3]
            s, t, u, v = X[i, j + 4], X[i, j + 5], X[i, j + 6], X[i, j + 7]
            for label in range(n_labels):
                total = out[i, label] + a * W[j, label] + b * W[j + 1, label]
                total = total + c * W[j + 2, label] + d * W[j + 3, label]
                total = total + s * W[j + 4, label] + t * W[j + 5, label]
                out[i, label] = total + u * W[j + 6, label] + v * W[j + 7, label]
    for j in range(n_features - n_features % 8, n_features):
        for i in range(X.shape[0]):
            for label in range(n_labels):
                out[i, label] += X[i, j] * W[j, label]


@kernel
def collect_large(weights, lanes, threshold, names, place, w_indices, w_data):
    """Write the weights, intercept apart, that exceed a threshold, as columns (CSC).

    ``place`` has where each lane starts, and moves up to its end. Without room in
    ``w_data`` they are only counted. ``names`` are the features'.
    """
    for feature in range(weights.shape[0] - 1):
        for n in range(lanes.shape[0]):
            weight = weights[feature, lanes[n]]
            if abs(weight) > threshold:
                if place[n] < w_data.shape[0]:
                    w_indices[place[n]], w_data[place[n]] = names[feature], weight
                place[n] += 1


@kernel
def unit_rows(x_indptr, x_data, out):
    """Write the values of rows scaled to length 1; rows of zeros stay."""
    for i in range(x_indptr.shape[0] - 1):
        square = _squared_norm(i, x_indptr, x_data)
        scale = 1.0 / np.sqrt(square) if square > 0.0 else 1.0
        for p in range(x_indptr[i], x_indptr[i + 1]):
            out[p] = x_data[p] * scale


@kernel
def squared_norms(x_indptr, x_data, out):
    """Write the squared length of each row into ``out``."""
    for i in range(out.shape[0]):
        out[i] = _squared_norm(i, x_indptr, x_data)


@inner
def _squared_norm(i, x_indptr, x_data):
    total = 0.0  # float64: the square of 1e-40 is not 0
    for p in range(x_indptr[i], x_indptr[i + 1]):
        total += np.float64(x_data[p]) * x_data[p]
    return total


@inner
def _count_going(block, until):
    """Return how many lanes go on, and let only these take steps."""
    n_iter, n_going = block.n_iter, 0
    for lane in range(block.weights.shape[1]):
        block.at_hand[RATE + lane] = ZERO
    for lane in range(n_iter.shape[0]):
        if 0 <= n_iter[lane] < until:
            block.at_hand[RATE + lane] = ONE
            n_going += 1
    return n_going


@inner
def _visit(problem, block, i):
    """Take the steps of all lanes for a row."""
    x_indptr, x_indices, x_data = problem.x_indptr, problem.x_indices, problem.x_data
    weights, at_hand, bias = block.weights, block.at_hand, problem.bias
    last, n_lanes = weights.shape[0] - 1, np.uintp(weights.shape[1])
    start, end = x_indptr[i], x_indptr[i + 1]
    for lane in range(n_lanes):
        at_hand[lane] = bias * weights[last, lane]
    add_scores(start, end, x_indices, x_data, weights, at_hand)
    if problem.is_logistic:
        for lane in range(n_lanes):
            at_hand[STEP + lane] = _move(problem, block, i, lane)
    else:
        _move_negatives(problem, block.alpha, at_hand, i)
        for p in range(block.p_indptr[i], block.p_indptr[i + 1]):
            lane = block.p_lanes[p]
            at_hand[STEP + lane] = _move(problem, block, i, lane)
    if _count_moved(at_hand, n_lanes):
        for p in range(start, end):
            j, value = np.uintp(x_indices[p]), x_data[p]
            for lane in range(n_lanes):
                weights[j, lane] += value * at_hand[STEP + lane]
        for lane in range(n_lanes):
            weights[last, lane] += bias * at_hand[STEP + lane]


@inner
def _move_negatives(problem, alpha, at_hand, i):
    """Write the steps of all lanes that do not have the row, squared hinge."""
    diagonal, n_lanes = problem.diagonal[i], np.uintp(alpha.shape[1])
    scale = ONE / (problem.length[i] + diagonal)
    for lane in range(n_lanes):
        old, rate = alpha[i, lane], at_hand[RATE + lane]
        gradient = old * diagonal - ONE - at_hand[SCORE + lane]
        is_negative = old >= ZERO
        projected = min(gradient, ZERO) if old == ZERO else gradient
        top, low = at_hand[TOP + lane], at_hand[LOW + lane]
        at_hand[TOP + lane] = max(top, projected) if is_negative else top
        at_hand[LOW + lane] = min(low, projected) if is_negative else low
        new = max(old - gradient * (scale * rate), ZERO)
        at_hand[STEP + lane] = old - new if is_negative else ZERO
        alpha[i, lane] = new if is_negative else old


@inner
def _move(problem, block, i, lane):
    """Take the step of a lane for a row; return what w gains of x."""
    alpha, at_hand, diagonal = block.alpha, block.at_hand, problem.diagonal[i]
    if at_hand[RATE + lane] == ZERO:
        return ZERO
    score, old, target = at_hand[SCORE + lane], alpha[i, lane], -ONE
    if old <= POSITIVE:
        old, target = POSITIVE - old, ONE
        diagonal = diagonal / problem.positive_weight[block.labels[lane]]
    if problem.is_logistic:
        most = HALF / diagonal
        new = _logistic_step(target * score, problem.length[i], old, most)
        projected = np.float32(most / (1.0 + exp(target * score)) - old) / most
    else:
        gradient = target * score - ONE + old * diagonal
        projected = min(gradient, ZERO) if old == ZERO else gradient
        new = max(old - gradient * (ONE / (problem.length[i] + diagonal)), ZERO)
    at_hand[TOP + lane] = max(at_hand[TOP + lane], projected)
    at_hand[LOW + lane] = min(at_hand[LOW + lane], projected)
    if target > ZERO:
        alpha[i, lane] = POSITIVE - new
    else:
        alpha[i, lane] = new
    return (new - old) * target


@inner
def _logistic_step(margin, length, old, most):
    """Return the z that solves logit(z / most) + margin + length (z - old) = 0.

    By Newton's method in u = logit(z / most). The left side rises, is convex below 0
    and concave above; so from a step that would cross 0 and is cut short there, or
    after the first one on the same side, u moves one way only, towards the solution.
    """
    u = -np.float64(margin)
    for _ in range(NEWTON_STEPS):
        share = 1.0 / (1.0 + exp(-u))
        bend = length * (most * share * (1.0 - share))
        step = (u + margin + length * (most * share - old)) / (1.0 + bend)
        u = 0.0 if u * (u - step) < 0.0 else u - step
        if abs(step) < NEAR:
            break
    return np.float32(most / (1.0 + exp(-u)))


@reducing_inner
def _count_moved(at_hand, n_lanes):
    total = ZERO  # of ones, so in whatever order they are added
    for lane in range(n_lanes):
        total += ONE if at_hand[STEP + lane] != ZERO else ZERO
    return np.int64(total)


@inner
def add_scores(start, end, x_indices, x_data, weights, out):
    """Add ``w.x`` of one row to every lane of ``out``, four features at a time."""
    p, n_lanes = start, np.uintp(weights.shape[1])
    while p + 3 < end:
        a, b = np.uintp(x_indices[p]), np.uintp(x_indices[p + 1])
        c, d = np.uintp(x_indices[p + 2]), np.uintp(x_indices[p + 3])
        s, t, u, v = x_data[p], x_data[p + 1], x_data[p + 2], x_data[p + 3]
        for lane in range(n_lanes):
            first = s * weights[a, lane] + t * weights[b, lane]
            out[lane] += first + (u * weights[c, lane] + v * weights[d, lane])
        p += 4
    while p < end:
        a, s = np.uintp(x_indices[p]), x_data[p]
        for lane in range(n_lanes):
            out[lane] += s * weights[a, lane]
        p += 1

"""Cost-sensitive dynamic principal projection, row by row.

Algorithm 1 of Chu, Huang & Lin 2019. Labels are coded as +1/-1, weighed by the square
root of what a mistake costs, and projected to M dimensions by the leading rows P of an
online PCA; a linear regressor W predicts the projection; a label is predicted where
P'W'x is positive. Whenever P turns, W is turned along (basis transform), or is made
anew from a regressor H to all labels (basis correction), or is left alone.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels import capped_msg, ridge, rng
from manylabel._kernels._jit import kernel
from manylabel._kernels.label_weights import label_weights

TRANSFORM, CORRECT, NONE = range(3)
RIDGE, GRADIENT = range(2)
FREQUENT_FIRST, AS_GIVEN, RANDOM = range(3)
N_SEEN, SIZE, N_PICKED = range(3)
UNSEEN = float(np.finfo(np.float32).min)  # ranks below every label that was seen


class Rule(NamedTuple):
    """How to learn: codes and numbers that do not change on the stream."""

    cost: object
    basis: object
    regressor: object
    order: object
    sampled: object
    bias: object
    step: object
    law_a: object  # Jain's law for running propensities; 0 for none
    law_b: object
    most: object  # largest 1 / propensity


class State(NamedTuple):
    """What is learnt. M is n_components, d the number of features."""

    counters: object  # (3,) rows seen, rows of the basis, rows of P
    basis: object  # (M + 2, n_labels) Q, capped_msg
    sigma: object  # (M + 2,)
    picked: object  # (M,) which rows of Q are P
    weights: object  # (d + 1, M) W, or (d + 1, n_labels) H for basis correction
    inverse: object  # (d + 1, d + 1) for ridge, else empty
    counts: object  # (n_labels,) rows of each label
    order: object  # (n_labels,) labels in the order in which the cost is decomposed
    place: object  # (n_labels,) where a label stands in ``order``
    boost: object  # (n_labels,) 1 / propensity
    random: object  # (1,) state of the random numbers


class Room(NamedTuple):
    """Scratch memory."""

    y: object  # (n_labels,) int64
    y_hat: object  # (n_labels,) int64
    delta: object  # (n_labels,)
    target: object  # (n_labels,)
    score: object  # (n_labels,)
    code: object  # (M,) or (n_labels,)
    gain: object  # (d + 1,)
    rotation: object  # (M + 2, M + 2)
    turn: object  # (M, M)


@kernel
def make_room(state):
    """Return scratch memory that fits ``state``."""
    n_labels, n_wide = state.basis.shape[1], state.basis.shape[0]
    n_components = state.picked.shape[0]
    return Room(
        *(np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)),
        *(np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)),
        *(np.empty(state.weights.shape[1]), np.empty(state.weights.shape[0])),
        *(np.empty((n_wide, n_wide)), np.empty((n_components, n_components))),
    )


@kernel
def score_row(start, end, x_indices, x_data, rule, state, code, score):
    """Write P'W'x into ``score``; labels never seen rank last."""
    _regress(start, end, x_indices, x_data, rule.bias, state.weights, code)
    score[:] = 0.0
    for m in range(state.counters[N_PICKED]):
        row = state.picked[m]
        if rule.basis == CORRECT:
            weight = np.dot(state.basis[row], code)
        else:
            weight = code[m]
        for k in range(score.shape[0]):
            score[k] += weight * state.basis[row, k]
    for k in range(score.shape[0]):
        if state.counts[k] == 0:
            score[k] = UNSEEN


@kernel
def score_rows(x_indptr, x_indices, x_data, rule, state, out):
    """Write the scores of many rows."""
    code = np.empty(state.weights.shape[1])
    score = np.empty(out.shape[1])
    for i in range(out.shape[0]):
        start, end = x_indptr[i], x_indptr[i + 1]
        score_row(start, end, x_indices, x_data, rule, state, code, score)
        out[i] = score


@kernel
def progress(x_indptr, x_indices, x_data, y_indptr, y_indices, rule, state, predicted):
    """Predict each row, then learn it; ``predicted`` (n, n_labels) may have no rows."""
    room = make_room(state)
    for i in range(x_indptr.shape[0] - 1):
        start, end = x_indptr[i], x_indptr[i + 1]
        guess_row(start, end, x_indices, x_data, rule, state, room)
        if predicted.shape[0]:
            predicted[i] = room.y_hat
        room.y[:] = 0
        for p in range(y_indptr[i], y_indptr[i + 1]):
            room.y[y_indices[p]] = 1
        set_order(rule, state)
        label_weights(rule.cost, room.y, room.y_hat, state.order, room.delta)
        learn_row(start, end, x_indices, x_data, rule, state, room)


@kernel
def guess_row(start, end, x_indices, x_data, rule, state, room):
    """Write the predicted labels of one row into ``room.y_hat``."""
    score_row(start, end, x_indices, x_data, rule, state, room.code, room.score)
    for k in range(room.score.shape[0]):
        room.y_hat[k] = room.score[k] > 0.0


@kernel
def learn_row(start, end, x_indices, x_data, rule, state, room):
    """Learn one row from ``room.y`` and ``room.delta`` (Algorithm 1, lines 5-7)."""
    state.counters[N_SEEN] += 1
    _count_labels(rule, state, room.y)
    _set_target(rule, state, room)
    _turn_basis(rule, state, room)
    if rule.regressor == RIDGE:
        ridge.update(start, end, x_indices, x_data, rule.bias, state.inverse, room.gain)
    _regress(start, end, x_indices, x_data, rule.bias, state.weights, room.code)
    if rule.basis == CORRECT:
        room.code[:] = room.target - room.code
    else:
        for m in range(room.code.shape[0]):
            wanted = 0.0
            if m < state.counters[N_PICKED]:
                wanted = np.dot(state.basis[state.picked[m]], room.target)
            room.code[m] = wanted - room.code[m]
    _correct(start, end, x_indices, x_data, rule, state, room)


@kernel
def _regress(start, end, x_indices, x_data, bias, weights, out):
    """Write W'x of one row into ``out``."""
    last = weights.shape[0] - 1
    for m in range(out.shape[0]):
        out[m] = bias * weights[last, m]
    for p in range(start, end):
        j, value = np.uintp(x_indices[p]), np.float64(x_data[p])
        for m in range(out.shape[0]):
            out[m] += value * weights[j, m]


@kernel
def _correct(start, end, x_indices, x_data, rule, state, room):
    """Move W by the error in ``room.code``: equation 13, or a gradient step."""
    weights, error, last = state.weights, room.code, state.weights.shape[0] - 1
    if rule.regressor == RIDGE:
        for j in range(weights.shape[0]):
            for m in range(error.shape[0]):
                weights[j, m] += room.gain[j] * error[m]
        return
    rate = rule.step / np.sqrt(state.counters[N_SEEN])
    for m in range(error.shape[0]):
        weights[last, m] += rate * rule.bias * error[m]
    for p in range(start, end):
        j, value = np.uintp(x_indices[p]), rate * x_data[p]
        for m in range(error.shape[0]):
            weights[j, m] += value * error[m]


@kernel
def _set_target(rule, state, room):
    """Write the weighed label code, sqrt(delta) (2 y / p - 1), into ``room.target``."""
    n_seen = state.counters[N_SEEN]
    constant = max(np.log(n_seen) - 1.0, 0.0) * (rule.law_b + 1.0) ** rule.law_a
    for k in range(room.y.shape[0]):
        coded = -1.0
        if room.y[k]:
            boost = state.boost[k]
            if rule.law_a > 0.0:
                boost = 1.0 + constant * (state.counts[k] + rule.law_b) ** -rule.law_a
            coded = 2.0 * min(boost, rule.most) - 1.0
        room.target[k] = np.sqrt(room.delta[k]) * coded


@kernel
def _turn_basis(rule, state, room):
    """Take a step of the online PCA, pick P, and turn W along."""
    n_components, n_labels = state.picked.shape[0], room.target.shape[0]
    length = np.sqrt((room.target**2).sum())
    if length == 0.0:
        return
    rate = 2.0 / np.sqrt(state.counters[N_SEEN]) * n_components / n_labels
    vector = room.target / max(1.0, length)
    state.counters[SIZE] = capped_msg.update(
        *(vector, rate, n_components, state.counters[SIZE]),
        *(state.basis, state.sigma, room.rotation),
    )
    old, n_old = state.picked.copy(), state.counters[N_PICKED]
    _pick_rows(rule, state)
    if rule.basis != TRANSFORM:
        return
    room.turn[:] = 0.0
    for i in range(n_old):
        for j in range(state.counters[N_PICKED]):
            room.turn[i, j] = room.rotation[state.picked[j], old[i]]
    state.weights[:] = np.dot(state.weights, room.turn)


@kernel
def _pick_rows(rule, state):
    """Pick the rows of P: the M of largest sigma, or all but one drawn by Lemma 2."""
    n_components, size = state.picked.shape[0], state.counters[SIZE]
    dropped = size
    if size > n_components:
        dropped = size - 1  # sigma is descending
        if rule.sampled:
            left = rng.next_float(state.random)
            for i in range(size):
                left -= 1.0 - state.sigma[i]
                if left < 0.0:
                    dropped = i
                    break
    n_picked = 0
    for i in range(size):
        if i != dropped:
            state.picked[n_picked] = i
            n_picked += 1
    state.counters[N_PICKED] = n_picked


@kernel
def set_order(rule, state):
    """Draw the order of the labels anew, if that is the rule."""
    if rule.order == RANDOM:
        rng.shuffle(state.random, state.order, state.order.shape[0])


@kernel
def _count_labels(rule, state, y):
    """Count the labels of a row, and keep frequent ones at the front of the order."""
    order, place, counts = state.order, state.place, state.counts
    for k in range(y.shape[0]):
        if not y[k]:
            continue
        counts[k] += 1
        if rule.order != FREQUENT_FIRST:
            continue
        at = place[k]
        while at > 0 and counts[order[at - 1]] < counts[k]:
            order[at], place[order[at - 1]] = order[at - 1], at
            at -= 1
        order[at], place[k] = k, at

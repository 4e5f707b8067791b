"""Cost-sensitive dynamic principal projection, row by row.

Algorithm 1 of Chu, Huang & Lin 2019. Labels are coded as +1/-1, weighed by the square
root of what a mistake costs, and projected to M dimensions by the leading rows P of an
online PCA; a linear regressor W predicts the projection; a label is predicted where
P'W'x is positive. Whenever P turns, W is turned along (basis transform), or is made
anew from a regressor H to all labels (basis correction), or is left alone.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.costs import HAMMING
from manylabel._kernels.cs_dpp import capped_msg, factored, gradient, ridge
from manylabel._kernels.cs_dpp.block import add_rows, dots, norm
from manylabel._kernels.cs_dpp.label_weights import label_weights
from manylabel._kernels.ranking import UNSEEN

TRANSFORM, CORRECT, NONE = range(3)
RIDGE, GRADIENT = range(2)
FREQUENT_FIRST, AS_GIVEN, RANDOM = range(3)
N_SEEN, N_PICKED = range(2)
# A label that stands for others is learnt at this scale, so that it moves no direction.
FAINT = 0.1


class Rule(NamedTuple):
    """How to learn: codes and numbers that do not change on the stream."""

    cost: object
    basis: object
    regressor: object
    order: object
    sampled: object
    centred: object
    bias: object
    step: object
    law_a: object  # Jain's law for running propensities; 0 for none
    law_b: object
    most: object  # largest 1 / propensity
    grows: object  # the last label stands for those not met yet


class State(NamedTuple):
    """What is learnt. M is n_components, d the number of features."""

    counters: object  # (2,) rows seen, rows of P
    sizes: object  # (3,) of the online PCA: see capped_msg
    block: object  # (block rows, n_labels)
    mix: object  # (M + 2, block rows) Q = mix @ block
    sigma: object  # (M + 2,)
    picked: object  # (M,) which rows of Q are P
    regressor: object  # to M components, or to all labels for basis correction
    inverse: object  # (d + 1, d + 1) for ridge, else empty
    spread: object  # (d + 1,) for adaptive rates, else empty
    counts: object  # (n_labels,) rows of each label
    order: object  # (n_labels,) labels, the most frequent first
    place: object  # (n_labels,) where a label stands in ``order``
    boost: object  # (n_labels,) 1 / propensity
    centre: object  # (n_labels,) the reference point o
    random: object  # (1,) state of the random numbers


class Room(NamedTuple):
    """Scratch memory."""

    y: object  # (n_labels,) int64
    relevant: object  # (n_labels,) int64 the labels of y, n_relevant of them
    y_hat: object  # (n_labels,) int64
    order: object  # (n_labels,) int64 the order in which the cost is decomposed
    delta: object  # (n_labels,)
    if_false: object  # (n_labels,) delta of a true label, were it false
    target: object  # (n_labels,)
    noise: object  # (n_labels,) variance of the target, for the relevant labels
    score: object  # (n_labels,)
    code: object  # (M,) or (n_labels,)
    wanted: object  # (M,)
    mixed: object  # (block rows,)
    old: object  # (M,) int64
    factors: object  # (d + 1,)
    pca: object
    regressor: object


@allocating_kernel
def make_room(rule, state):
    """Return scratch memory that fits ``state``."""
    n_labels, n_components = state.block.shape[1], state.picked.shape[0]
    n_coded = n_labels if rule.basis == CORRECT else n_components
    return Room(
        *(np.zeros(n_labels, np.int64), np.zeros(n_labels, np.int64)),
        *(np.zeros(n_labels, np.int64), np.arange(n_labels)),
        *(np.empty(n_labels), np.zeros(n_labels), np.empty(n_labels)),
        *(np.empty(n_labels), np.empty(n_labels)),
        *(np.zeros(n_coded), np.empty(n_components)),
        *(np.empty(state.mix.shape[1]), np.empty_like(state.picked)),
        np.empty(state.regressor.raw.shape[0]),
        capped_msg.make_room(state.mix, n_labels),
        factored.make_room(state.regressor),
    )


@allocating_kernel
def score_row(start, end, x_indices, x_data, rule, state, room):
    """Write W'x into ``room.code`` and P'W'x + o into ``room.score``.

    Labels that were never seen rank last.
    """
    score, block, n_block = room.score, state.block, state.sizes[capped_msg.N_BLOCK]
    factored.predict(
        *(start, end, x_indices, x_data, rule.bias),
        *(state.regressor, room.regressor, room.code),
    )
    _mix_code(rule, state, room)
    score[:] = state.centre
    add_rows(block, n_block, room.mixed, 1.0, score)
    for k in range(score.shape[0]):
        if state.counts[k] == 0:
            score[k] = UNSEEN


@allocating_kernel
def _mix_code(rule, state, room):
    """Write the coordinates of P'W'x in the block into ``room.mixed``."""
    mix, mixed, n_block = state.mix, room.mixed, state.sizes[capped_msg.N_BLOCK]
    coordinates = room.pca.coordinates
    if rule.basis == CORRECT:  # the code is H'x: project it
        dots(state.block, n_block, room.code, coordinates)
    for i in range(n_block):
        mixed[i] = 0.0
    for m in range(state.counters[N_PICKED]):
        row, weight = np.uintp(state.picked[m]), 0.0
        if rule.basis == CORRECT:
            for i in range(n_block):
                weight += mix[row, i] * coordinates[i]
        else:
            weight = room.code[m]
        for i in range(n_block):
            mixed[i] += weight * mix[row, i]


@allocating_kernel
def score_rows(x_indptr, x_indices, x_data, rule, state, out):
    """Write the scores of many rows."""
    room = make_room(rule, state)
    for i in range(out.shape[0]):
        start, end = x_indptr[i], x_indptr[i + 1]
        score_row(start, end, x_indices, x_data, rule, state, room)
        for k in range(out.shape[1]):
            out[i, k] = room.score[k]


@allocating_kernel
def progress(x_indptr, x_indices, x_data, y_indptr, y_indices, rule, state, predicted):
    """Predict each row, then learn it; ``predicted`` (n, n_labels) may have no rows."""
    room = make_room(rule, state)
    for i in range(x_indptr.shape[0] - 1):
        start, end = x_indptr[i], x_indptr[i + 1]
        guess_row(start, end, x_indices, x_data, rule, state, room)
        if predicted.shape[0]:
            for k in range(predicted.shape[1]):
                predicted[i, k] = room.y_hat[k]
        n_relevant = y_indptr[i + 1] - y_indptr[i]
        for p in range(n_relevant):
            k = y_indices[y_indptr[i] + p]
            room.y[k], room.relevant[p] = 1, k
        set_order(rule, state, room)
        label_weights(
            rule.cost, room.y, room.y_hat, room.order, room.delta, room.if_false
        )
        learn_row(start, end, x_indices, x_data, n_relevant, rule, state, room)


@allocating_kernel
def guess_row(start, end, x_indices, x_data, rule, state, room):
    """Write the predicted labels of one row into ``room.y_hat``."""
    score_row(start, end, x_indices, x_data, rule, state, room)
    for k in range(room.score.shape[0]):
        room.y_hat[k] = room.score[k] > 0.0


@allocating_kernel
def learn_row(start, end, x_indices, x_data, n_relevant, rule, state, room):
    """Learn the row just guessed from its labels and ``room.delta``.

    Lines 5 to 7 of Algorithm 1. ``room.code`` goes from W'x to the error of the code,
    ``room.y`` back to nothing.
    """
    state.counters[N_SEEN] += 1
    _count_labels(n_relevant, state, room.relevant)
    length, is_noisy = _set_target(n_relevant, rule, state, room)
    _turn_basis(length, n_relevant if is_noisy else 0, rule, state, room)
    if rule.regressor == RIDGE:
        ridge.update(
            start, end, x_indices, x_data, rule.bias, state.inverse, room.factors
        )
        factored.add_dense(room.factors, room.code, state.regressor, room.regressor)
    else:
        gradient.rates(
            *(start, end, x_indices, x_data, rule.bias, rule.step),
            *(state.counters[N_SEEN] - 1, state.spread, room.factors, 0),
        )
        factored.add_sparse(
            *(start, end, x_indices, room.factors, room.code),
            *(state.regressor, room.regressor),
        )


@allocating_kernel
def _set_target(n_relevant, rule, state, room):
    """Write the weighed label code less o, as if no label were missing, and its noise.

    With a the root of a label's weight if it is true, b if it is false, and r = 1 / p,
    the target is y r a - (1 - y r) b, whose mean over what is recorded is a or -b; y r
    (r - 1) (a + b)^2 has its variance as mean. Return the length of the code of the
    labels as recorded, and whether any was boosted.
    """
    target, n_seen, is_noisy = room.target, state.counters[N_SEEN], False
    scale = 1.0
    if rule.grows and rule.cost == HAMMING:
        scale = target.shape[0]  # weights that do not shrink as labels appear
    for k in range(target.shape[0]):
        target[k] = -np.sqrt(scale * room.delta[k])
    if rule.grows:
        target[target.shape[0] - 1] *= FAINT
    for p in range(n_relevant):
        k = room.relevant[p]
        room.y[k], target[k] = 0, -target[k]
    if rule.centred:
        for k in range(target.shape[0]):
            target[k] -= state.centre[k]
    length = norm(target)
    constant = max(np.log(n_seen) - 1.0, 0.0) * (rule.law_b + 1.0) ** rule.law_a
    for p in range(n_relevant):
        k = room.relevant[p]
        boost = state.boost[k]
        if rule.law_a > 0.0:
            boost = 1.0 + constant * (state.counts[k] + rule.law_b) ** -rule.law_a
        boost = min(boost, rule.most)
        both = np.sqrt(scale * room.delta[k]) + np.sqrt(scale * room.if_false[k])
        target[k] += both * (boost - 1.0)
        room.noise[p] = both * both * boost * (boost - 1.0)
        is_noisy = is_noisy or boost > 1.0
    if rule.centred:
        for k in range(target.shape[0]):
            state.centre[k] += target[k] / n_seen
    return length, is_noisy


@allocating_kernel
def _turn_basis(length, n_noisy, rule, state, room):
    """Step the online PCA, pick P, turn W along; turn the code into its error."""
    target, code, n_components = room.target, room.code, state.picked.shape[0]
    if length > 0.0:
        # The code as recorded is cut to length 1, which takes its square off the rate.
        rate = 2.0 / np.sqrt(state.counters[N_SEEN]) * n_components / target.shape[0]
        rate /= max(1.0, length) ** 2
        n_full = capped_msg.update(
            *(target, n_noisy, room.relevant, room.noise, rate, n_components),
            *(state.sizes, state.block, state.mix, state.sigma, room.pca),
        )
        room.old[:], n_old = state.picked, state.counters[N_PICKED]
        _pick_rows(rule, state)
        if rule.basis == TRANSFORM:
            _turn_regressor(n_old, n_full, state, room)
    if rule.basis == CORRECT:
        for k in range(target.shape[0]):
            code[k] = target[k] - code[k]
        return
    room.wanted[:] = 0.0
    if length > 0.0:
        for m in range(state.counters[N_PICKED]):
            row = np.uintp(state.picked[m])
            for i in range(n_full):
                room.wanted[m] += room.pca.vectors[row, i] * room.pca.in_basis[i]
    for m in range(n_components):
        code[m] = room.wanted[m] - code[m]


@allocating_kernel
def _turn_regressor(n_old, n_full, state, room):
    """Turn W, and the code W'x, from the old P to the new one.

    A component that P did not have before takes an old direction that was not in P;
    its weights are 0 so far.
    """
    vectors, step, lost = room.pca.vectors, room.regressor.step, room.regressor.lost
    n_new = state.counters[N_PICKED]
    spare = 0
    for m in range(n_old, n_new):
        while _is_in(spare, room.old, m):
            spare += 1
        room.old[m] = spare
    step[:] = np.eye(step.shape[0])
    lost[:] = 0.0
    n_lost = n_picked = 0
    for row in range(n_full):
        if n_picked < n_new and state.picked[n_picked] == row:
            for m in range(n_new):
                step[n_picked, m] = vectors[row, room.old[m]]
            n_picked += 1
        else:
            for m in range(n_new):
                lost[n_lost, m] = vectors[row, room.old[m]]
            n_lost += 1
    factored.turn(state.regressor, room.regressor)
    room.wanted[:] = room.code
    dots(step, step.shape[0], room.wanted, room.code)


@allocating_kernel
def _is_in(item, items, n):
    for i in range(n):
        if items[i] == item:
            return True
    return False


@allocating_kernel
def _pick_rows(rule, state):
    """Pick the rows of P: the M of largest sigma, or all but one drawn by Lemma 2."""
    n_components, size = state.picked.shape[0], state.sizes[capped_msg.SIZE]
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


@allocating_kernel
def set_order(rule, state, room):
    """Write the order in which the cost of this row is decomposed."""
    if rule.order == FREQUENT_FIRST:
        room.order[:] = state.order
    elif rule.order == RANDOM:
        for k in range(room.order.shape[0]):
            room.order[k] = k
        rng.shuffle(state.random, room.order, room.order.shape[0])


@allocating_kernel
def _count_labels(n_relevant, state, relevant):
    """Count the labels of a row, and keep frequent ones at the front of the order."""
    order, place, counts = state.order, state.place, state.counts
    for p in range(n_relevant):
        k = relevant[p]
        counts[k] += 1
        at = place[k]
        while at > 0 and counts[order[at - 1]] < counts[k]:
            order[at], place[order[at - 1]] = order[at - 1], at
            at -= 1
        order[at], place[k] = k, at

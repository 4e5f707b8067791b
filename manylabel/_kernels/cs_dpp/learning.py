"""Cost-sensitive dynamic principal projection, row by row.

Algorithm 1 of Chu, Huang & Lin 2019. Labels are coded as +1/-1, weighed by the square
root of what a mistake costs, and projected to M dimensions by the leading rows P of an
online PCA; a linear regressor W predicts the projection; a label is predicted where
P'W'x is positive. Whenever P turns, W is turned along (basis transform), or is made
anew from a regressor H to all labels (basis correction), or is left alone. Only then do
signs of the rows of P matter: near those of the rows before, or not aligned with them.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels import rng
from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.costs import HAMMING
from manylabel._kernels.cs_dpp import capped_msg, factored, gradient, ridge
from manylabel._kernels.cs_dpp.block import add_rows, dots, norm
from manylabel._kernels.cs_dpp.label_weights import expected_weights, label_weights
from manylabel._kernels.ranking import UNSEEN

TRANSFORM, CORRECT, NONE, UNALIGNED = range(4)
RIDGE, GRADIENT = range(2)
FREQUENT_FIRST, AS_GIVEN, RANDOM = range(3)
N_SEEN, N_PICKED = range(2)
GUESS, LEARN, BOTH = range(3)  # what is done with a row
# A label that stands for others is learnt at this scale, so that it moves no direction.
FAINT = 0.1


class Settings(NamedTuple):
    """How to learn: codes and numbers that do not change on the stream."""

    cost: object
    basis: object
    regressor: object
    order: object
    sampled: object
    centred: object
    bias: object
    step: object
    clip: object  # of the step, as ``gradient.rates`` takes it
    law_a: object  # Jain's law for running propensities; 0 for none
    law_b: object
    most: object  # largest 1 / propensity
    grows: object  # the last label stands for those not met yet
    expects: object  # weights by the labels expected, not those recorded
    boost: object  # (n_labels,) 1 / propensity


class Stream(NamedTuple):
    """Features and labels by row."""

    x_indptr: object
    x_indices: object
    x_data: object
    y_indptr: object
    y_indices: object


class RowScratch(NamedTuple):
    """Memory of the row that is learnt."""

    y: object  # (n_labels,) int64
    relevant: object  # (n_labels,) int64 the labels of y, n_relevant of them
    y_hat: object  # (n_labels,) int64
    order: object  # (n_labels,) int64 the order in which the cost is decomposed
    delta: object  # (n_labels,)
    if_false: object  # (n_labels,) delta of a true label, were it false
    chance: object  # (n_labels,) that each label is true
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


def make_scratch(settings, state):
    """Return scratch memory that fits ``state``."""
    n_labels, n_components = state.pca.block.shape[1], state.picked.shape[0]
    n_coded = n_labels if settings.basis == CORRECT else n_components
    return RowScratch(
        *np.zeros((3, n_labels), np.int64),
        *(np.arange(n_labels), np.empty(n_labels), np.zeros(n_labels)),
        *np.empty((4, n_labels)),
        *(np.zeros(n_coded), np.empty(n_components)),
        *(np.empty(state.pca.mix.shape[1]), np.empty_like(state.picked)),
        np.empty(state.regressor.raw.shape[0]),
        capped_msg.make_scratch(state.pca.mix, n_labels),
        factored.make_scratch(state.regressor),
    )


@kernel
def score_rows(x_indptr, x_indices, x_data, settings, state, scratch, out):
    """Write the scores of many rows."""
    for i in range(out.shape[0]):
        start, end = x_indptr[i], x_indptr[i + 1]
        _score_row(start, end, x_indices, x_data, settings, state, scratch)
        for k in range(out.shape[1]):
            out[i, k] = scratch.score[k]


@inner
def _score_row(start, end, x_indices, x_data, settings, state, scratch):
    """Write W'x into ``scratch.code`` and P'W'x + o into ``scratch.score``.

    Labels that were never seen rank last.
    """
    score, mix, mixed, code = scratch.score, state.pca.mix, scratch.mixed, scratch.code
    block, n_block = state.pca.block, state.pca.sizes[capped_msg.N_BLOCK]
    coordinates, is_wide = scratch.pca.coordinates, settings.basis == CORRECT
    factored.predict(
        *(start, end, x_indices, x_data, settings.bias),
        *(state.regressor, scratch.regressor, code),
    )
    if is_wide:  # the code is H'x: project it
        dots(block, n_block, code, coordinates)
    for i in range(n_block):
        mixed[i] = 0.0
    for m in range(state.counters[N_PICKED]):
        row, weight = np.uintp(state.picked[m]), 0.0
        if is_wide:
            for i in range(n_block):
                weight += mix[row, i] * coordinates[i]
        else:
            weight = code[m]
        for i in range(n_block):
            mixed[i] += weight * mix[row, i]
    for k in range(score.shape[0]):
        score[k] = state.centre[k]
    add_rows(block, n_block, mixed, 1.0, score)
    for k in range(score.shape[0]):
        if state.counts[k] == 0:
            score[k] = UNSEEN


@kernel
def progress(stream, first, last, work, settings, state, scratch, predicted):
    """Predict each row from ``first`` to ``last``, then learn it.

    ``predicted`` (n, n_labels) may have no rows. ``work`` is to guess, which writes
    ``scratch.y``, ``y_hat`` and ``order``; or to learn the row that was guessed, by
    ``scratch.delta``, which the caller wrote meanwhile; or both. Lines 3 to 7 of
    Algorithm 1.
    """
    x_indices, x_data = stream.x_indices, stream.x_data
    for i in range(first, last):
        start, end = stream.x_indptr[i], stream.x_indptr[i + 1]
        n_relevant = stream.y_indptr[i + 1] - stream.y_indptr[i]
        if work != LEARN:
            _score_row(start, end, x_indices, x_data, settings, state, scratch)
            for k in range(scratch.score.shape[0]):
                scratch.y_hat[k] = scratch.score[k] > 0.0
            for k in range(predicted.shape[1]):
                predicted[i, k] = scratch.y_hat[k]
            for p in range(n_relevant):
                k = stream.y_indices[stream.y_indptr[i] + p]
                scratch.y[k], scratch.relevant[p] = 1, k
            _set_order(settings, state, scratch.order)
        if work == BOTH:
            _weigh_labels(settings, state, scratch)
        if work != GUESS:
            _learn_code(n_relevant, settings, state, scratch)
            if settings.regressor == RIDGE:
                ridge.update(
                    *(start, end, x_indices, x_data, settings.bias),
                    *(state.inverse, scratch.factors),
                )
                factored.add_dense(
                    *(scratch.factors, scratch.code),
                    *(state.regressor, scratch.regressor),
                )
            else:
                gradient.rates(
                    *(start, end, x_indices, x_data, settings.bias),
                    *(settings.step, settings.clip, state.counters[N_SEEN] - 1),
                    *(state.spread, scratch.factors, np.int64(0)),
                )
                factored.add_sparse(
                    *(start, end, x_indices, scratch.factors, scratch.code),
                    *(state.regressor, scratch.regressor),
                )


@inner
def _weigh_labels(settings, state, scratch):
    """Write what a mistake in each label costs.

    A label that is recorded is true. One that is not was true as often as the counts
    so far say, and was left out: with s the share of rows that have it, by 1 / p = r
    for each record of it, s (1 - p) / (1 - s p) = s (r - 1) / (r - s).
    """
    y, y_hat, order, chance = scratch.y, scratch.y_hat, scratch.order, scratch.chance
    if not settings.expects:
        label_weights(settings.cost, y, y_hat, order, scratch.delta, scratch.if_false)
        return
    n_seen = state.counters[N_SEEN]
    constant = _law_constant(n_seen, settings)
    for k in range(chance.shape[0]):
        boost, chance[k] = _boost(k, constant, settings, state), y[k]
        if y[k] == 0 and boost > 1.0 and n_seen > 0:
            share = min(state.counts[k] * boost / n_seen, 1.0)
            chance[k] = share * (boost - 1.0) / (boost - share)
    expected_weights(
        settings.cost, chance, y_hat, order, scratch.delta, scratch.if_false
    )
    for k in range(chance.shape[0]):
        if y[k] == 0:
            scratch.delta[k] = scratch.if_false[k]


@inner
def _law_constant(n_seen, settings):
    """Return C of the law of Jain et al. after so many rows."""
    return max(np.log(n_seen) - 1.0, 0.0) * (settings.law_b + 1.0) ** settings.law_a


@inner
def _boost(k, constant, settings, state):
    """Return 1 / p of a label, as given or by the law."""
    boost = settings.boost[k]
    if settings.law_a > 0.0:
        boost = 1.0 + constant * (state.counts[k] + settings.law_b) ** -settings.law_a
    return min(boost, settings.most)


@inner
def _set_order(settings, state, order):
    """Write the order in which the cost of this row is decomposed."""
    for k in range(order.shape[0]):
        if settings.order == FREQUENT_FIRST:
            order[k] = state.order[k]
        elif settings.order == RANDOM:
            order[k] = k
    if settings.order == RANDOM:
        rng.shuffle(state.random, order, order.shape[0])


@inner
def _learn_code(n_relevant, settings, state, scratch):
    """Step the online PCA, pick P, turn W along; turn the code W'x into its error."""
    state.counters[N_SEEN] += 1
    _count_labels(n_relevant, state, scratch.relevant)
    length, is_noisy = _set_target(n_relevant, settings, state, scratch)
    target, code, wanted = scratch.target, scratch.code, scratch.wanted
    pca, n_components, n_full = scratch.pca, state.picked.shape[0], 0
    if length > 0.0:
        # The code as recorded is cut to length 1, which takes its square off the rate.
        rate = 2.0 / np.sqrt(state.counters[N_SEEN]) * n_components / target.shape[0]
        rate /= max(1.0, length) ** 2
        n_noisy, signs = n_relevant if is_noisy else 0, capped_msg.ANY
        if settings.basis == NONE:
            signs = capped_msg.ALIGNED
        elif settings.basis == UNALIGNED:
            signs = capped_msg.LAPACK
        n_full = capped_msg.update(
            *(target, n_noisy, scratch.relevant, scratch.noise),
            *(rate, signs, state.pca, pca),
        )
        for m in range(n_components):
            scratch.old[m] = state.picked[m]
        n_old = state.counters[N_PICKED]
        _pick_rows(settings, state)
        if settings.basis == TRANSFORM:
            _set_turn(n_old, n_full, state, scratch)
            factored.turn(state.regressor, scratch.regressor)
            for m in range(n_components):
                wanted[m] = code[m]
            dots(scratch.regressor.step, n_components, wanted, code)
    if settings.basis == CORRECT:
        for k in range(target.shape[0]):
            code[k] = target[k] - code[k]
        return
    for m in range(n_components):
        wanted[m] = 0.0
        if m < state.counters[N_PICKED]:
            row = np.uintp(state.picked[m])
            for i in range(n_full):
                wanted[m] += pca.vectors[row, i] * pca.in_basis[i]
        code[m] = wanted[m] - code[m]


@inner
def _set_target(n_relevant, settings, state, scratch):
    """Write the weighed label code less o, as if no label were missing, and its noise.

    With a the root of a label's weight if it is true, b if it is false, and r = 1 / p,
    the target is y r a - (1 - y r) b, whose mean over what is recorded is a or -b; y r
    (r - 1) (a + b)^2 has its variance as mean. Return the length of the code of the
    labels as recorded, and whether any was boosted.
    """
    target, n_seen, is_noisy = scratch.target, state.counters[N_SEEN], False
    scale = 1.0
    if settings.grows and settings.cost == HAMMING:
        scale = target.shape[0]  # weights that do not shrink as labels appear
    for k in range(target.shape[0]):
        target[k] = -np.sqrt(scale * scratch.delta[k])
    if settings.grows:
        target[target.shape[0] - 1] *= FAINT
    for p in range(n_relevant):
        k = scratch.relevant[p]
        scratch.y[k], target[k] = 0, -target[k]
    if settings.centred:
        for k in range(target.shape[0]):
            target[k] -= state.centre[k]
    length = norm(target)
    constant = _law_constant(n_seen, settings)
    for p in range(n_relevant):
        k = scratch.relevant[p]
        boost = _boost(k, constant, settings, state)
        both = np.sqrt(scale * scratch.delta[k]) + np.sqrt(scale * scratch.if_false[k])
        target[k] += both * (boost - 1.0)
        scratch.noise[p] = both * both * boost * (boost - 1.0)
        is_noisy = is_noisy or boost > 1.0
    if settings.centred:
        for k in range(target.shape[0]):
            state.centre[k] += target[k] / n_seen
    return length, is_noisy


@inner
def _set_turn(n_old, n_full, state, scratch):
    """Write how to turn W, and the code W'x, from the old P to the new one.

    A component that P did not have before takes an old direction that was not in P;
    its weights are 0 so far.
    """
    vectors, old = scratch.pca.vectors, scratch.old
    step, lost = scratch.regressor.step, scratch.regressor.lost
    n, n_new, spare = step.shape[0], state.counters[N_PICKED], 0
    for m in range(n_old, n_new):
        is_free = False
        while not is_free:
            is_free = True
            for each in range(m):
                is_free = is_free and old[each] != spare
            spare += not is_free
        old[m] = spare
    for i in range(n):
        lost[0, i] = lost[1, i] = 0.0
        for m in range(n):
            step[i, m] = 1.0 if i == m else 0.0
    n_lost = n_picked = 0
    for row in range(n_full):
        is_picked = n_picked < n_new and state.picked[n_picked] == row
        for m in range(n_new):
            if is_picked:
                step[n_picked, m] = vectors[row, old[m]]
            else:
                lost[n_lost, m] = vectors[row, old[m]]
        n_picked += is_picked
        n_lost += not is_picked


@inner
def _pick_rows(settings, state):
    """Pick the rows of P: the M of largest sigma, or all but one drawn by Lemma 2."""
    n_components, size = state.picked.shape[0], state.pca.sizes[capped_msg.SIZE]
    dropped = size
    if size > n_components:
        dropped = size - 1  # sigma is descending
        if settings.sampled:
            left = rng.next_float(state.random)
            for i in range(size):
                left -= 1.0 - state.pca.sigma[i]
                if left < 0.0:
                    dropped = i
                    break
    n_picked = 0
    for i in range(size):
        if i != dropped:
            state.picked[n_picked] = i
            n_picked += 1
    state.counters[N_PICKED] = n_picked


@inner
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

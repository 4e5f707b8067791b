"""A regressor W whose targets turn at every row, without touching its features.

When the code of the labels turns, W is multiplied from the right by a small matrix T,
for all d features. So W is kept as ``raw @ turn.T``: T goes into ``turn``, and what
is added to W is first multiplied by its inverse. T forgets what lies outside the new
code, so ``turn`` shrinks; before its inverse grows too large, or where T forgets a
direction for good, an epoch ends: the matrix is put on a list, and a feature goes
through the list only when it is written again (``stamp`` says how far it has come).

Rows of weights are padded with zeros to a width W that fills whole vectors of the
machine: loops over M components would mostly be remainders.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import allocating_kernel
from manylabel._kernels.cs_dpp.block import add_rows, dots, multiply
from manylabel._kernels.linear.svm import add_scores

# An epoch ends when the inverse is longer than this: digits lost by rounding.
LONGEST_INVERSE = 1e4
# ... or when a turn keeps less than this of some direction, squared.
LEAST_KEPT = 1e-6
# ... or after so many turns, since rounding adds up.
MOST_TURNS = 1 << 14
VECTOR = 16
N_EPOCHS, N_TURNS = range(2)


class Regressor(NamedTuple):
    """W, factored, for M targets; d features and a constant one, last."""

    ages: object  # (2,) epochs on the list, turns of this epoch
    raw: object  # (d + 1, W)
    turn: object  # (M, W); (0, W) for a regressor that never turns
    inverse_turn: object  # (M, W)
    epochs: object  # (most epochs, M, W)
    stamp: object  # (d + 1,) epochs that a feature has gone through


class Room(NamedTuple):
    """Scratch memory."""

    sums: object  # (most epochs + 2, W)
    row: object  # (W,)
    step: object  # (M, M) T' of the turn
    lost: object  # (2, M) the rows that go with T' in an orthogonal matrix
    product: object  # (M, W)


def padded(n_targets: int) -> int:
    """Return the width W: vectors of four, four at a time."""
    return -(-n_targets // VECTOR) * VECTOR


@allocating_kernel
def make_room(regressor):
    """Return scratch memory."""
    n_turned, width = regressor.turn.shape
    return Room(
        *(np.zeros((regressor.epochs.shape[0] + 2, width)), np.zeros(width)),
        *(np.empty((n_turned, n_turned)), np.empty((2, n_turned))),
        np.empty((n_turned, width)),
    )


@allocating_kernel
def predict(start, end, x_indices, x_data, bias, regressor, room, out):
    """Write W'x of one row into ``out``.

    Features are summed by epoch first, so that a sum goes through the list, not each.
    """
    raw, stamp, sums, row = regressor.raw, regressor.stamp, room.sums, room.row
    n_epochs, (n_turned, width) = regressor.ages[N_EPOCHS], regressor.turn.shape
    last = raw.shape[0] - 1
    if n_epochs == 0:
        for m in range(width):
            row[m] = bias * raw[last, m]
        add_scores(start, end, x_indices, x_data, raw, row)
    else:
        sums[: n_epochs + 1] = 0.0
        for m in range(width):
            sums[stamp[last], m] = bias * raw[last, m]
        for p in range(start, end):
            j, value = np.uintp(x_indices[p]), np.float64(x_data[p])
            epoch = np.uintp(stamp[j])
            for m in range(width):
                sums[epoch, m] += value * raw[j, m]
        for epoch in range(n_epochs):
            dots(regressor.epochs[epoch], n_turned, sums[epoch], row)
            sums[epoch + 1] += row
        row[:] = sums[n_epochs]
    if n_turned:
        dots(regressor.turn, n_turned, row, out)
    else:
        for m in range(out.shape[0]):
            out[m] = row[m]


@allocating_kernel
def add_sparse(start, end, x_indices, factors, error, regressor, room):
    """Add a factor times ``error`` to W for each entry of a row, the constant last."""
    raw, row, n_entries = regressor.raw, room.row, end - start
    last = np.uintp(raw.shape[0] - 1)
    if regressor.ages[N_EPOCHS] > 0:
        _catch_up(last, regressor, room.sums)
        for p in range(start, end):
            _catch_up(np.uintp(x_indices[p]), regressor, room.sums)
    _untwist(error, regressor, row)
    for m in range(row.shape[0]):
        raw[last, m] += factors[n_entries] * row[m]
    for q in range(n_entries):
        j, factor = np.uintp(x_indices[start + q]), factors[q]
        for m in range(row.shape[0]):
            raw[j, m] += factor * row[m]


@allocating_kernel
def add_dense(factors, error, regressor, room):
    """Add ``factors[j]`` times ``error`` to W for every feature."""
    raw, row = regressor.raw, room.row
    for j in range(raw.shape[0] * (regressor.ages[N_EPOCHS] > 0)):
        _catch_up(j, regressor, room.sums)
    _untwist(error, regressor, row)
    for j in range(raw.shape[0]):
        factor = factors[j]
        for m in range(row.shape[0]):
            raw[j, m] += factor * row[m]


@allocating_kernel
def turn(regressor, room):
    """Multiply W by T, the transpose of ``room.step``; ``room.lost`` goes with it.

    The rows A = T' and C, those lost, make columns of an orthogonal matrix: A'A + C'C
    = I. So A^-1 = (I - C'C)^-1 A' = (I + C' (I - CC')^-1 C) A' by Woodbury's formula.
    """
    inverse, lost = regressor.inverse_turn, room.lost
    n = lost.shape[1]
    multiply(room.step, n, n, regressor.turn, room.product)
    regressor.turn[:] = room.product
    regressor.ages[N_TURNS] += 1
    kept = np.eye(2)
    for a in range(2):
        for b in range(2):
            for m in range(n):
                kept[a, b] -= lost[a, m] * lost[b, m]
    share = kept[0, 0] * kept[1, 1] - kept[0, 1] * kept[1, 0]
    if share < LEAST_KEPT:
        end_epoch(regressor, room)
        return
    through = room.sums[:2]
    multiply(lost, 2, n, inverse, through)
    for m in range(through.shape[1]):
        first, second = through[0, m], through[1, m]
        through[0, m] = (kept[1, 1] * first - kept[0, 1] * second) / share
        through[1, m] = (kept[0, 0] * second - kept[1, 0] * first) / share
    for i in range(n):
        for m in range(through.shape[1]):
            inverse[i, m] += lost[0, i] * through[0, m] + lost[1, i] * through[1, m]
    multiply(room.step, n, n, inverse, room.product)
    inverse[:] = room.product
    if (inverse**2).sum() > LONGEST_INVERSE**2 or regressor.ages[N_TURNS] >= MOST_TURNS:
        end_epoch(regressor, room)


@allocating_kernel
def end_epoch(regressor, room):
    """Put ``turn`` on the list and begin anew; a full list is worked off."""
    ages, epochs, raw = regressor.ages, regressor.epochs, regressor.raw
    n_turned, width = regressor.turn.shape
    if ages[N_EPOCHS] < epochs.shape[0]:
        epochs[ages[N_EPOCHS]] = regressor.turn
        ages[N_EPOCHS] += 1
    else:
        for j in range(raw.shape[0]):
            _catch_up(j, regressor, room.sums)
            room.row[:] = raw[j]
            dots(regressor.turn, n_turned, room.row, raw[j])
        regressor.stamp[:] = 0
        ages[N_EPOCHS] = 0
    ages[N_TURNS] = 0
    regressor.turn[:] = np.eye(n_turned, width)
    regressor.inverse_turn[:] = regressor.turn


@allocating_kernel
def _catch_up(j, regressor, room):
    """Take the weights of feature ``j`` through the epochs that it has missed."""
    raw, n_epochs, row = regressor.raw, regressor.ages[N_EPOCHS], room[0]
    for epoch in range(regressor.stamp[j], n_epochs):
        row[:] = raw[j]
        dots(regressor.epochs[epoch], regressor.turn.shape[0], row, raw[j])
    regressor.stamp[j] = n_epochs


@allocating_kernel
def _untwist(error, regressor, row):
    """Write what ``error`` is before ``turn`` into ``row``."""
    if regressor.turn.shape[0]:
        row[:] = 0.0
        add_rows(regressor.inverse_turn, error.shape[0], error, 1.0, row)
    else:
        for m in range(error.shape[0]):
            row[m] = error[m]

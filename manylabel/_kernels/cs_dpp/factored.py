"""A regressor W whose targets turn at every row, without touching its features.

When the code of the labels turns, W is multiplied from the right by a small matrix T,
for all d features. So W is kept as ``raw @ turn.T``: T goes into ``turn``, and what
is added to W is first multiplied by its inverse. T forgets what lies outside the new
code, so ``turn`` shrinks; before its inverse grows too large, or where T forgets a
direction for good, an epoch ends: the matrix is put on a list, and a feature goes
through the list only when it is written again (``stamp`` says how far it has come).

The record of W has ``ages`` (2,), epochs on the list and turns of this epoch; ``raw``
(d + 1, W), the constant feature last; ``turn`` and ``inverse_turn`` (M, W), of shape
(0, W) for a regressor that never turns; ``epochs`` (most epochs, M, W); and ``stamp``
(d + 1,), the epochs that a feature has gone through.

Rows of weights are padded with zeros to a width W that fills whole vectors of the
machine: loops over M components would mostly be remainders.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner
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


class TurnScratch(NamedTuple):
    """Memory of a row and of a turn."""

    sums: object  # (most epochs + 2, W)
    row: object  # (W,)
    step: object  # (M, M) T' of the turn
    lost: object  # (2, M) the rows that go with T' in an orthogonal matrix
    product: object  # (M, W)


def padded(n_targets: int) -> int:
    """Return the width W: vectors of four, four at a time."""
    return -(-n_targets // VECTOR) * VECTOR


def make_scratch(regressor):
    """Return scratch memory."""
    n_turned, width = regressor.turn.shape
    return TurnScratch(
        *(np.zeros((regressor.epochs.shape[0] + 2, width)), np.zeros(width)),
        *(np.empty((n_turned, n_turned)), np.empty((2, n_turned))),
        np.empty((n_turned, width)),
    )


@inner
def predict(start, end, x_indices, x_data, bias, regressor, scratch, out):
    """Write W'x of one row into ``out``.

    Features are summed by epoch first, so that a sum goes through the list, not each.
    """
    raw, stamp, sums, row = regressor.raw, regressor.stamp, scratch.sums, scratch.row
    n_epochs, (n_turned, width) = regressor.ages[N_EPOCHS], regressor.turn.shape
    last = raw.shape[0] - 1
    if n_epochs == 0:
        for m in range(width):
            row[m] = bias * raw[last, m]
        add_scores(start, end, x_indices, x_data, raw, row)
    else:
        for epoch in range(n_epochs + 1):
            for m in range(width):
                sums[epoch, m] = 0.0
        for m in range(width):
            sums[stamp[last], m] = bias * raw[last, m]
        for p in range(start, end):
            j, value = np.uintp(x_indices[p]), np.float64(x_data[p])
            epoch = np.uintp(stamp[j])
            for m in range(width):
                sums[epoch, m] += value * raw[j, m]
        for epoch in range(n_epochs):
            dots(regressor.epochs[epoch], n_turned, sums[epoch], row)
            for m in range(width):
                sums[epoch + 1, m] += row[m]
        for m in range(width):
            row[m] = sums[n_epochs, m]
    if n_turned:
        dots(regressor.turn, n_turned, row, out)
    else:
        for m in range(out.shape[0]):
            out[m] = row[m]


@inner
def add_sparse(start, end, x_indices, factors, error, regressor, scratch):
    """Add a factor times ``error`` to W for each entry of a row, the constant last."""
    raw, row, n_entries = regressor.raw, scratch.row, end - start
    last = np.uintp(raw.shape[0] - 1)
    if regressor.ages[N_EPOCHS] > 0:
        _catch_up(last, regressor, row)
        for p in range(start, end):
            _catch_up(np.uintp(x_indices[p]), regressor, row)
    _untwist(error, regressor, row)
    for m in range(row.shape[0]):
        raw[last, m] += factors[n_entries] * row[m]
    for q in range(n_entries):
        j, factor = np.uintp(x_indices[start + q]), factors[q]
        for m in range(row.shape[0]):
            raw[j, m] += factor * row[m]


@inner
def add_dense(factors, error, regressor, scratch):
    """Add ``factors[j]`` times ``error`` to W for every feature."""
    raw, row = regressor.raw, scratch.row
    for j in range(raw.shape[0] * (regressor.ages[N_EPOCHS] > 0)):
        _catch_up(np.uintp(j), regressor, row)
    _untwist(error, regressor, row)
    for j in range(raw.shape[0]):
        factor = factors[j]
        for m in range(row.shape[0]):
            raw[j, m] += factor * row[m]


@inner
def turn(regressor, scratch):
    """Multiply W by T, the transpose of ``scratch.step``; ``lost`` goes with it.

    The rows A = T' and C, those lost, make columns of an orthogonal matrix: A'A + C'C
    = I. So A^-1 = (I - C'C)^-1 A' = (I + C' (I - CC')^-1 C) A' by Woodbury's formula.
    """
    turned, inverse = regressor.turn, regressor.inverse_turn
    lost, (n, width) = scratch.lost, turned.shape
    multiply(scratch.step, n, n, turned, scratch.product)
    _copy(scratch.product, turned)
    regressor.ages[N_TURNS] += 1
    first = second = 1.0
    both = 0.0
    for m in range(n):
        first -= lost[0, m] * lost[0, m]
        both -= lost[0, m] * lost[1, m]
        second -= lost[1, m] * lost[1, m]
    share = first * second - both * both
    if share < LEAST_KEPT:
        end_epoch(regressor, scratch)
        return
    through = scratch.sums
    multiply(lost, 2, n, inverse, through)
    for m in range(width):
        a, b = through[0, m], through[1, m]
        through[0, m] = (second * a - both * b) / share
        through[1, m] = (first * b - both * a) / share
    length = 0.0
    for i in range(n):
        for m in range(width):
            inverse[i, m] += lost[0, i] * through[0, m] + lost[1, i] * through[1, m]
    multiply(scratch.step, n, n, inverse, scratch.product)
    _copy(scratch.product, inverse)
    for i in range(n):
        for m in range(width):
            length += inverse[i, m] * inverse[i, m]
    if length > LONGEST_INVERSE**2 or regressor.ages[N_TURNS] >= MOST_TURNS:
        end_epoch(regressor, scratch)


@inner
def end_epoch(regressor, scratch):
    """Put ``turn`` on the list and begin anew; a full list is worked off."""
    ages, epochs, raw = regressor.ages, regressor.epochs, regressor.raw
    n_turned, width = regressor.turn.shape
    if ages[N_EPOCHS] < epochs.shape[0]:
        _copy(regressor.turn, epochs[ages[N_EPOCHS]])
        ages[N_EPOCHS] += 1
    else:
        for j in range(raw.shape[0]):
            _catch_up(np.uintp(j), regressor, scratch.row)
            for m in range(width):
                scratch.row[m] = raw[j, m]
            dots(regressor.turn, n_turned, scratch.row, raw[j])
            regressor.stamp[j] = 0
        ages[N_EPOCHS] = 0
    ages[N_TURNS] = 0
    for i in range(n_turned):
        for m in range(width):
            regressor.turn[i, m] = 1.0 if i == m else 0.0
    _copy(regressor.turn, regressor.inverse_turn)


@inner
def _copy(matrix, out):
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            out[i, j] = matrix[i, j]


@inner
def _catch_up(j, regressor, row):
    """Take the weights of feature ``j`` through the epochs that it has missed."""
    raw, n_epochs = regressor.raw, regressor.ages[N_EPOCHS]
    for epoch in range(regressor.stamp[j], n_epochs):
        for m in range(row.shape[0]):
            row[m] = raw[j, m]
        dots(regressor.epochs[epoch], regressor.turn.shape[0], row, raw[j])
    regressor.stamp[j] = n_epochs


@inner
def _untwist(error, regressor, row):
    """Write what ``error`` is before ``turn`` into ``row``."""
    if regressor.turn.shape[0]:
        for m in range(row.shape[0]):
            row[m] = 0.0
        add_rows(regressor.inverse_turn, error.shape[0], error, 1.0, row)
    else:
        for m in range(error.shape[0]):
            row[m] = error[m]

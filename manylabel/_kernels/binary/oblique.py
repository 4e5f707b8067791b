"""Hill climbing of a hyperplane, one coefficient at a time (OC1, CART-LC).

A row of value v lies above the plane if v > 0. Along a direction the value of row j is
v_j + a * s_j: the row changes sides at a = -v_j / s_j, so that all splits along the
direction are known once these are sorted. The goodness of a split is the share of rows
above times that below times the squared difference of their shares of positives: for
two classes a quarter of the twoing rule, and half of what Gini's impurity falls by.
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel
from manylabel._kernels.rng import next_float
from manylabel._kernels.sorting import sort_pairs


class NodeRows(NamedTuple):
    """The rows of a node by columns; features are centred and scaled in the search."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray  # float32
    side: np.ndarray  # -1 or +1
    center: np.ndarray
    scale: np.ndarray


class Plane(NamedTuple):
    """Coefficients, intercept (1) and the values of the rows; learnt in place."""

    coef: np.ndarray
    intercept: np.ndarray
    value: np.ndarray


class Room(NamedTuple):
    """Room for the search: the slopes of rows, where they change sides, and which."""

    slope: np.ndarray
    place: np.ndarray
    row: np.ndarray


def make_room(n_rows):
    """Return room for the search among so many rows."""
    return Room(np.zeros(n_rows), np.empty(n_rows), np.empty(n_rows, np.int64))


@inner
def _goodness(above, positive, n_rows, n_positive):
    """Return how good it is to have so many rows above, so many of them positive."""
    below = n_rows - above
    if above == 0 or below == 0:
        return 0.0
    gap = positive / above - (n_positive - positive) / below
    return (above / n_rows) * (below / n_rows) * gap * gap


@inner
def _search(value, side, slope, place, row, n_moving):
    """Return the best goodness along a direction, and how far to go for it.

    The rows of ``row[:n_moving]`` have a slope. The others stay where they are.
    """
    n_rows, n_positive, above, positive = value.shape[0], 0, 0, 0
    for i in range(n_rows):
        n_positive += side[i] > 0
        above += value[i] > 0.0
        positive += value[i] > 0.0 and side[i] > 0
    for m in range(n_moving):  # to minus infinity
        i = row[m]
        place[m] = -value[i] / slope[i]
        change = np.int64(slope[i] < 0.0) - np.int64(value[i] > 0.0)
        above += change
        positive += change if side[i] > 0 else 0
    sort_pairs(place, row, 0, n_moving)
    best, step = -1.0, 0.0
    for m in range(n_moving + 1):
        if m == 0 or m == n_moving or place[m] > place[m - 1]:
            found = _goodness(above, positive, n_rows, n_positive)
            if found > best:
                low = place[max(m - 1, 0)] - (1.0 if m == 0 else 0.0)
                high = place[min(m, n_moving - 1)] + (1.0 if m == n_moving else 0.0)
                best, step = found, 0.5 * (low + high)
        if m < n_moving:
            change = 1 if slope[row[m]] > 0.0 else -1
            above += change
            positive += change if side[row[m]] > 0 else 0
    return best, step


@inner
def _incline(rows, feature, shift, room):
    """Fill in the slopes along a feature, or the intercept; return how many rows move.

    Returns also the slope of a row whose value of the feature is 0.
    """
    slope, _, row = room
    n_rows, n_moving = rows.side.shape[0], 0
    if feature == rows.center.shape[0]:
        base, start, end, scale = 1.0, 0, 0, 1.0
    else:
        scale = rows.scale[feature]
        base = shift - rows.center[feature] / scale
        start, end = rows.indptr[feature], rows.indptr[feature + 1]
    if base == 0.0:
        for p in range(start, end):
            slope[rows.indices[p]] = rows.data[p] / scale
            row[n_moving] = rows.indices[p]
            n_moving += 1
        return n_moving, base
    for i in range(n_rows):
        slope[i] = base
    for p in range(start, end):
        slope[rows.indices[p]] += rows.data[p] / scale
    for i in range(n_rows):
        if slope[i] != 0.0:
            row[n_moving] = i
            n_moving += 1
    return n_moving, base


@inner
def _move(rows, plane, feature, base, step):
    """Go along a feature, or the intercept."""
    plane.intercept[0] += step * base
    for i in range(plane.value.shape[0]):
        plane.value[i] += step * base
    if feature < plane.coef.shape[0]:
        change = step / rows.scale[feature]
        plane.coef[feature] += change
        for p in range(rows.indptr[feature], rows.indptr[feature + 1]):
            plane.value[rows.indices[p]] += change * rows.data[p]


@kernel
def climb(rows, plane, shifts, stagnation, tolerance, max_sweeps, state, room):
    """Improve one coefficient after another, and the intercept; return the goodness.

    ``shifts`` are tried beside each feature. A change that gains nothing is made with a
    chance that starts at ``stagnation``, falls by a tenth of it with each, and starts
    anew with a gain. It ends with a sweep that gains no more than ``tolerance``.
    """
    n_features = plane.coef.shape[0]
    slope, place, row = room
    last = np.int64(n_features)
    n_moving, base = _incline(rows, last, 0.0, room)
    goodness, step = _search(plane.value, rows.side, slope, place, row, n_moving)
    _move(rows, plane, last, base, step)
    chance = stagnation
    for _ in range(max_sweeps):
        before = goodness
        for feature in range(n_features + 1):
            if (
                feature < n_features
                and rows.indptr[feature] == rows.indptr[feature + 1]
            ):
                continue
            best, best_step, best_base = -1.0, 0.0, 0.0
            n_shifts = shifts.shape[0] if feature < n_features else 1
            for s in range(n_shifts):
                n_moving, base = _incline(rows, feature, shifts[s], room)
                found, step = _search(
                    plane.value, rows.side, slope, place, row, n_moving
                )
                if found > best:
                    best, best_step, best_base = found, step, base
            if best > goodness + 1e-12:
                _move(rows, plane, feature, best_base, best_step)
                goodness, chance = best, stagnation
            elif best > goodness - 1e-12 and next_float(state) < chance:
                _move(rows, plane, feature, best_base, best_step)
                chance -= 0.1 * stagnation
        if goodness <= before + tolerance:
            break
    return goodness


@kernel
def search_line(value, side, slope, room, out):
    """Write the best goodness along a direction, and how far to go for it."""
    _, place, row = room
    n_moving = 0
    for i in range(value.shape[0]):
        if slope[i] != 0.0:
            row[n_moving] = i
            n_moving += 1
    out[0], out[1] = _search(value, side, slope, place, row, n_moving)


@kernel
def rethreshold(rows, plane, features, room, out):
    """Write how good the plane is without each of some features, the intercept free."""
    slope, place, row = room
    last = np.int64(plane.coef.shape[0])
    for f in range(features.shape[0]):
        feature = features[f]
        weight = plane.coef[feature] * rows.scale[feature]
        _move(rows, plane, feature, 0.0, -weight)
        n_moving, _ = _incline(rows, last, 0.0, room)
        out[f], _ = _search(plane.value, rows.side, slope, place, row, n_moving)
        _move(rows, plane, feature, 0.0, weight)

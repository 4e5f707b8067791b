"""Lines of hyperplanes are searched whole; a climb never loses."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel._kernels.binary import oblique


def goodness(value, side):
    """Return how good a split is (the twoing rule of two classes, over 4)."""
    above = value > 0
    if above.all() or not above.any():
        return 0.0
    gap = (side[above] > 0).mean() - (side[~above] > 0).mean()
    return above.mean() * (1 - above.mean()) * gap**2


def drawn(seed, n_rows=15, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.7)
    side = rng.choice(np.array([-1, 1], np.int8), n_rows)
    side[:2] = -1, 1
    return rng, X.astype(np.float32), side


def node_rows(X, side, center, scale):
    C = sp.csc_array(X)
    return oblique.NodeRows(C.indptr, C.indices, C.data, side, center, scale)


@given(st.integers(0, 2**32 - 1))
def test_no_place_on_a_line_is_better_than_the_one_found(seed):
    rng, _, side = drawn(seed)
    value, slope, out = rng.normal(size=15), rng.normal(size=15), np.empty(2)
    slope[rng.random(15) < 0.3] = 0
    slope[0] = 1.0
    oblique.search_line(value, side, slope, oblique.make_room(15), out)
    changes = np.sort(-value[slope != 0] / slope[slope != 0])
    places = [changes[0] - 1, *((changes[1:] + changes[:-1]) / 2), changes[-1] + 1]
    best = max(goodness(value + a * slope, side) for a in places)
    assert_allclose(out[0], best, atol=1e-12)
    assert_allclose(goodness(value + out[1] * slope, side), best, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_climb_ends_where_it_says_and_no_coefficient_helps(seed, is_moved):
    rng, X, side = drawn(seed)
    center = np.median(X, axis=0).astype(float) if is_moved else np.zeros(3)
    scale = np.full(3, 2.0) if is_moved else np.ones(3)
    shifts = np.array([-0.25, 0.0, 0.25]) if is_moved else np.zeros(1)
    rows, coef = node_rows(X, side, center, scale), rng.normal(size=3)
    plane = oblique.Plane(coef, np.zeros(1), X @ coef)
    before = goodness(plane.value, side)
    state, room = np.array([seed], np.uint64), oblique.make_room(15)
    found = oblique.climb(rows, plane, shifts, 0.0, 0.0, 100, state, room)
    now = X @ plane.coef + plane.intercept[0]
    assert_allclose(plane.value, now, atol=1e-6)
    assert_allclose(found, goodness(plane.value, side), atol=1e-9)
    assert found >= before - 1e-12
    for feature in range(3):
        slope = (X[:, feature] - center[feature]) / scale[feature]
        for step in np.linspace(-3, 3, 31):
            assert goodness(plane.value + step * slope, side) <= found + 1e-9


@given(st.integers(0, 2**32 - 1))
def test_without_a_feature_the_intercept_is_chosen_anew(seed):
    rng, X, side = drawn(seed)
    coef, out = rng.normal(size=3), np.empty(3)
    rows = node_rows(X, side, np.zeros(3), np.full(3, 2.0))
    plane = oblique.Plane(coef, np.zeros(1), (X @ coef).astype(float))
    room = oblique.make_room(15)
    oblique.rethreshold(rows, plane, np.arange(3), room, out)
    for feature in range(3):
        value = X @ np.where(np.arange(3) == feature, 0, coef)
        best = max(goodness(value - t, side) for t in value)
        assert_allclose(out[feature], best, atol=1e-6)

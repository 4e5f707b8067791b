"""Eigenpairs of a diagonal matrix plus a rank-one matrix, in O(n^2).

Eigenvalues of diag(d) + rate z z' interlace with d and are the roots of the secular
equation 1 + rate sum_j z_j^2 / (d_j - x) = 0. Each is found by steps that are exact
for two poles (Bunch, Nielsen & Sorensen 1978), measured from its nearer pole, so that
no difference cancels. Eigenvectors come from the z whose eigenvalues the computed ones
are exactly, which makes them orthogonal to rounding (Gu & Eisenstat 1994).
"""

from typing import NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, reducing_inner

EPSILON = np.finfo(np.float64).eps
MOST_STEPS = 60


class SecularScratch(NamedTuple):
    """Scratch memory for at most n poles. Live are those that move."""

    gaps: object  # (n, n) live poles less each root
    turns: object  # (n, 4) planes turned to set poles aside, cosine and sine
    live: object  # (n,) int64
    pole: object  # (n,) of the live ones
    z: object  # (n,) of the live ones


def make_scratch(n: int) -> SecularScratch:
    """Return scratch memory."""
    return SecularScratch(
        *(np.empty((n, n)), np.empty((n, 4)), np.empty(n, np.int64)),
        *(np.empty(n), np.empty(n)),
    )


@inner
def eigenpairs(poles, z, rate, n, values, vectors, scratch):
    """Write eigenvalues, descending, and eigenvectors, as rows.

    Parameters
    ----------
    poles : (n,) at least; d, descending.
    z : (n,) at least; changed.
    rate : positive.
    n : how many of them to use.
    values : (n,) at least; out.
    vectors : (n, n) at least; out: eigenvectors of d and z as they were given.
    scratch : scratch.
    """
    n_live, n_turns = _deflate(poles, z, rate, n, scratch)
    live, turns = scratch.live, scratch.turns
    for i in range(n):
        for j in range(n):
            vectors[i, j] = 0.0
        values[i] = poles[i]
        vectors[i, i] = 1.0
    for i in range(n_live):
        values[live[i]] = _root(i, n_live, rate, scratch)
    _restore(n_live, rate, scratch)
    for i in range(n_live):
        _write_vector(i, n_live, scratch, vectors)
    for t in range(n_turns - 1, -1, -1):
        a, b = np.int64(turns[t, 0]), np.int64(turns[t, 1])
        c, s = turns[t, 2], turns[t, 3]
        for i in range(n):
            first, second = vectors[i, a], vectors[i, b]
            vectors[i, a] = c * first - s * second
            vectors[i, b] = s * first + c * second
    _sort(n, values, vectors)


@inner
def _deflate(poles, z, rate, n, scratch):
    """Set aside the poles that stay eigenvalues; return (how many live, turns made).

    A pole stays where z is nothing. Of two poles that are equal one can be made to
    stay by turning the plane of the two. Poles within rounding count as equal.
    """
    live, turns, length2 = scratch.live, scratch.turns, 0.0
    for j in range(n):
        length2 += z[j] * z[j]
    small = 8.0 * EPSILON * max(abs(poles[0]), rate * length2)
    n_live = n_turns = 0
    for j in range(n):
        if rate * abs(z[j]) * np.sqrt(length2) <= small:
            continue
        if n_live:
            before = live[n_live - 1]
            long = np.sqrt(z[before] ** 2 + z[j] ** 2)
            c, s = z[before] / long, z[j] / long
            if (poles[before] - poles[j]) * abs(c * s) <= small:
                turns[n_turns, 0], turns[n_turns, 1] = before, j
                turns[n_turns, 2], turns[n_turns, 3] = c, s
                n_turns += 1
                z[before], z[j] = long, 0.0
                continue
        live[n_live] = j
        n_live += 1
    for i in range(n_live):
        scratch.pole[i], scratch.z[i] = poles[live[i]], z[live[i]]
    return n_live, n_turns


@inner
def _root(i, n_live, rate, scratch):
    """Return the root above live pole ``i``; write the poles less it into ``gaps``."""
    origin, low, high = _bracket(i, n_live, rate, scratch)
    x = rate * scratch.z[i] ** 2  # what it would be, were the other poles far away
    if not low < x < high:
        x = 0.5 * (low + high)
    for _ in range(MOST_STEPS):
        _set_gaps(i, n_live, origin, x, scratch)
        f, lower, upper, size = _evaluate(i, n_live, rate, scratch)
        if abs(f) <= n_live * EPSILON * size:
            break
        if f < 0.0:
            low = x
        else:
            high = x
        moved = x + _step(i, f, lower, upper, scratch.gaps)
        if not low < moved < high:
            moved = 0.5 * (low + high)
        if moved in (x, low, high):
            break
        x = moved
    return origin + x


@inner
def _bracket(i, n_live, rate, scratch):
    """Return the pole that a root is nearer to, and its bounds, less that pole."""
    below, most = scratch.pole[i], 0.0
    for j in range(n_live):
        most += rate * scratch.z[j] ** 2  # all roots together move by so much
    if i == 0:
        return below, 0.0, most
    half = 0.5 * (scratch.pole[i - 1] - below)
    if most <= half:
        return below, 0.0, most
    _set_gaps(i, n_live, below, half, scratch)
    f, _, _, _ = _evaluate(i, n_live, rate, scratch)
    if f < 0.0:
        return scratch.pole[i - 1], -half, 0.0
    return below, 0.0, half


@inner
def _set_gaps(i, n_live, origin, x, scratch):
    row, gaps, pole = np.uintp(i), scratch.gaps, scratch.pole
    for j in range(n_live):
        gaps[row, j] = (pole[j] - origin) - x


@reducing_inner
def _evaluate(i, n_live, rate, scratch):
    """Return the secular function, its slopes from both sides, and its size."""
    row, gaps, z = np.uintp(i), scratch.gaps, scratch.z
    below = above = lower = upper = 0.0
    for j in range(i):
        part = z[j] / gaps[row, j]
        above += part * z[j]
        upper += part * part
    for q in range(n_live - i):
        j = row + np.uintp(q)
        part = z[j] / gaps[row, j]
        below += part * z[j]
        lower += part * part
    f = 1.0 + rate * (below + above)
    return f, rate * lower, rate * upper, 1.0 + rate * (above - below)


@inner
def _step(i, f, lower, upper, gaps):
    """Return the step to the root of a function with the same value and slopes."""
    near = gaps[i, i]
    if i == 0:
        flat = f - lower * near
        return near + lower * near * near / flat if flat > 0.0 else np.inf
    far = gaps[i, i - 1]
    c = f - lower * near - upper * far
    a = (near + far) * f - near * far * (lower + upper)
    b = near * far * f
    root = np.sqrt(max(a * a - 4.0 * b * c, 0.0))
    return (a - root) / (2.0 * c) if a <= 0.0 else 2.0 * b / (a + root)


@inner
def _restore(n_live, rate, scratch):
    """Put into ``z`` the vector whose eigenvalues the computed ones are exactly.

    Its squares are products over the roots, as many factors as there are poles.
    """
    gaps, pole, z = scratch.gaps, scratch.pole, scratch.z
    for j in range(n_live):
        product = -gaps[j, j] / rate
        for i in range(n_live):
            if i != j:
                product *= gaps[i, j] / (pole[j] - pole[i])
        z[j] = np.copysign(np.sqrt(abs(product)), z[j])


@reducing_inner
def _write_vector(i, n_live, scratch, vectors):
    gaps, z, live, row, length2 = (
        scratch.gaps,
        scratch.z,
        scratch.live,
        np.uintp(i),
        0.0,
    )
    for j in range(n_live):
        gaps[row, j] = z[j] / gaps[row, j]
        length2 += gaps[row, j] * gaps[row, j]
    scale, out = 1.0 / np.sqrt(length2), live[i]
    vectors[out, out] = 0.0
    for j in range(n_live):
        vectors[out, live[j]] = scale * gaps[row, j]


@inner
def _sort(n, values, vectors):
    """Sort by value, descending; nearly sorted already, so by insertion."""
    for end in range(1, n):
        i = end
        while i and values[i - 1] < values[i]:
            values[i - 1], values[i] = values[i], values[i - 1]
            for j in range(n):
                vectors[i - 1, j], vectors[i, j] = vectors[i, j], vectors[i - 1, j]
            i -= 1

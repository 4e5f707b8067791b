"""Centroids of maximum likelihood (Jain, Prabhu & Varma 2016, supplement, 2.2).

With ``q_i = 1 / (1 + exp(steepness |x_i - m|^2 + shift))``, where the shift is log beta
of equation 41, a row has the label with probability ``p q_i``. The gradient of the
log-likelihood is proportional to ``sum_i u_i (x_i - m)`` (equations 44-45), where u is
``1 - q`` for rows with the label, and for others ``-p q (1 - q) / (1 - p q)``. Equation
46 takes m as the mean by these weights, whose sum need not be positive. A step here is
the gradient divided by the sum over rows with the label, which is equation 46 where the
others do not count; it always leads upwards, and is halved until the likelihood does
not fall.
"""

import math

import numpy as np

from manylabel._kernels._jit import allocating_kernel, inner
from manylabel._kernels.csr import stretch

MAX_STEPS, MAX_HALVINGS = 100, 20
NEAR = 1e-7  # longest step that ends the climb
NOTHING = (
    1e-12  # weight, relative to all of the label's rows, of a row that is left out
)


@allocating_kernel
def climb(
    label,
    l_indptr,
    l_indices,
    x_indptr,
    x_indices,
    x_data,
    mass,
    p,
    steepness,
    shift,
    out,
):
    """Write the centroid of a label; its rows are listed in ``l``.

    Rows of X have unit length. The climb starts at the mean of the label's rows, so
    the likelihood is not below that of the mean.
    """
    n_rows = x_indptr.shape[0] - 1
    has, weight = np.zeros(n_rows, np.bool_), np.zeros(n_rows)
    for entry in stretch(l_indptr, label):
        has[l_indices[entry]] = True
        weight[l_indices[entry]] = mass[l_indices[entry]]
    out[:] = 0.0
    if not has.any():
        return
    _add_rows(weight, x_indptr, x_indices, x_data, out)
    out /= weight.sum()
    step, along, nearness = np.empty_like(out), np.empty(n_rows), np.empty(n_rows)
    _multiply(x_indptr, x_indices, x_data, out, nearness)
    square = (out * out).sum()
    value = _likelihood(nearness, 0.0, along, square, has, mass, p, steepness, shift)
    for _ in range(MAX_STEPS):
        _step(nearness, square, has, mass, p, steepness, shift, weight)
        step[:] = weight.sum() * -out
        _add_rows(weight, x_indptr, x_indices, x_data, step)
        step /= weight[has].sum()
        _multiply(x_indptr, x_indices, x_data, step, along)
        crossed, length = (out * step).sum(), (step * step).sum()
        size, risen = 1.0, False
        for _ in range(MAX_HALVINGS):
            there = square + 2 * size * crossed + size * size * length
            tried = _likelihood(
                nearness, size, along, there, has, mass, p, steepness, shift
            )
            risen = tried >= value
            if risen:
                break
            size /= 2
        if not risen:
            break
        out += size * step
        nearness += size * along
        square, value = (out * out).sum(), tried
        if size * math.sqrt(length) < NEAR:
            break


@inner
def _step(nearness, square, has, mass, p, steepness, shift, weight):
    """Write the weights u of the rows; those that hardly count are 0."""
    total = 0.0
    for i in range(weight.shape[0]):
        q = _share(steepness * (square + 1.0 - 2.0 * nearness[i]) + shift)
        u = 1.0 - q if has[i] else -p * q * (1.0 - q) / (1.0 - p * q)
        weight[i] = mass[i] * u
        total += weight[i] if has[i] else 0.0
    for i in range(weight.shape[0]):
        if abs(weight[i]) < NOTHING * total:
            weight[i] = 0.0


@inner
def _likelihood(nearness, size, along, square, has, mass, p, steepness, shift):
    """Return the log-likelihood (equation 43) after a step of some size."""
    total = 0.0
    for i in range(nearness.shape[0]):
        product = nearness[i] + size * along[i] if size > 0.0 else nearness[i]
        exponent = steepness * (square + 1.0 - 2.0 * product) + shift
        if has[i]:
            above = max(exponent, 0.0) + math.log1p(math.exp(-abs(exponent)))
            total += mass[i] * (math.log(p) - above)
        else:
            total += mass[i] * math.log1p(-p * _share(exponent))
    return total


@inner
def _share(exponent):
    """Return 1 / (1 + exp(exponent)), however large."""
    return 1.0 / (1.0 + math.exp(min(exponent, 700.0)))


@inner
def _add_rows(weight, x_indptr, x_indices, x_data, out):
    """Add the rows, each times its weight."""
    for i in range(weight.shape[0]):
        if weight[i] != 0.0:
            for q in stretch(x_indptr, i):
                out[np.uintp(x_indices[q])] += weight[i] * x_data[q]


@inner
def _multiply(x_indptr, x_indices, x_data, vector, out):
    """Write the product of each row with a vector."""
    for i in range(out.shape[0]):
        total = 0.0
        for q in stretch(x_indptr, i):
            total += x_data[q] * vector[np.uintp(x_indices[q])]
        out[i] = total

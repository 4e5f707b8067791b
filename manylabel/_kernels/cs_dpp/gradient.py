"""How far a row moves the weights of gradient descent on half the squared error.

A row x of n_targets targets with the error e = z - W'x moves the weights of feature j
by rate_j x_j e. The rates know nothing of e: all targets share them, whatever their
number and scale, and they stay the same when the targets are turned.

Decaying: rate = step / sqrt(t) for row t, counted from 1.

Adaptive: rate_j = step / (2 sqrt(s_j)), where s_j is the sum of x_j^2 |x|^2 over the
rows so far. This is AdaGrad (Duchi, Hazan & Singer 2011), whose sum is that of squared
gradients x_j^2 |e|^2, with |x|^2 in place of |e|^2. Errors of signs hardly grow or
shrink along a stream, so |e|^2 would only bring in the number of targets and their
scale, to be divided out again; |x|^2 divides out the scale of the rows, since a move
that meets a row goes by 1 / |x|^2. A rare feature thus keeps a high rate until it has
been seen often. The half was measured: it does well on dense and on sparse rows alike.

The new error is (1 - sum_j rate_j x_j^2) e. Clipped, the sum is at most 1, where the
row is met exactly; else the row may be overshot, and above 2 its error grows.
"""

import numpy as np

from manylabel._kernels._jit import inner, reducing_inner


@inner
def rates(start, end, x_indices, x_data, bias, step, clip, n_seen, spread, out, first):
    """Write rate_j x_j for each entry of a row, the factor of its error.

    ``clip`` is the largest sum of rate_j x_j^2, infinite for none.

    The row is the entries ``start`` to ``end`` and a constant feature of value
    ``bias``, whose factor comes last; ``out`` takes them from ``first`` on. ``spread``
    has s_j of each feature, the constant one last, and takes the row in; of shape (0,)
    it means the decaying schedule, for which ``n_seen`` rows came before this one.
    """
    n_entries, length = end - start, _length(start, end, x_data) + bias * bias
    if spread.shape[0] == 0:
        rate = step / np.sqrt(n_seen + 1.0)
        if rate * length > clip:
            rate = clip / length
        for q in range(n_entries):
            out[first + q] = rate * x_data[start + q]
        out[first + n_entries] = rate * bias
        return
    met = 0.0
    for q in range(n_entries + 1):
        value = np.float64(x_data[start + q]) if q < n_entries else bias
        j = x_indices[start + q] if q < n_entries else spread.shape[0] - 1
        spread[j] += value * value * length
        rate = 0.5 * step / np.sqrt(spread[j]) if value != 0 else 0.0
        out[first + q] = rate * value
        met += rate * value * value
    if met > clip:
        for q in range(n_entries + 1):
            out[first + q] /= met / clip


@reducing_inner
def _length(start, end, x_data):
    """Return the squared length of a row."""
    length = 0.0
    for p in range(start, end):
        length += np.float64(x_data[p]) * x_data[p]
    return length

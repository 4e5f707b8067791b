"""Recursive least squares: the inverse of A = reg I + sum of x x', row by row.

The Sherman-Morrison formula gives the new inverse from the old one, and with it the
gain A_t^{-1} x_t by which online ridge regression moves its weights: W_t = W_{t-1} +
gain (y_t - W_{t-1}' x_t)' (Chu et al. 2019, equations 6 and 7).
"""

import numpy as np

from manylabel._kernels._jit import inner


@inner
def update(start, end, x_indices, x_data, bias, inverse, gain):
    """Take one row into ``inverse`` in place; write its gain; return its leverage.

    The row is the entries ``start`` to ``end`` and a constant feature of value
    ``bias`` at the last index. ``inverse`` is symmetric to the last bit and stays so;
    with a bias of 0 its last row and column stay as they are. The leverage is
    x' A^{-1} x by the old inverse, gain = A^{-1} x / (1 + leverage) the new A^{-1} x.
    It cannot be negative; where rounding makes it so, the row lies in directions known
    to the last bit, and has no gain.
    """
    size, last = inverse.shape[0], inverse.shape[0] - 1
    for i in range(size):
        gain[i] = bias * inverse[last, i]
    for p in range(start, end):
        j, value = np.uintp(x_indices[p]), x_data[p]
        for i in range(size):
            gain[i] += value * inverse[j, i]
    leverage = bias * gain[last]
    for p in range(start, end):
        leverage += x_data[p] * gain[np.uintp(x_indices[p])]
    if leverage < 0:
        for i in range(size):
            gain[i] = 0.0
        return 0.0
    # Half of the division on each side: a product of equals is symmetric, bit by bit.
    scale = 1 / np.sqrt(1 + leverage)
    for i in range(size):
        gain[i] *= scale
    for i in range(size):
        value = gain[i]
        if value != 0:
            for j in range(size):
                inverse[i, j] -= value * gain[j]
    for i in range(size):
        gain[i] *= scale
    return leverage

"""Losses of margins, less what no penalty holds: the intercept and the level.

A row of side y, cost c and score f falls short of its target by z = target - y (f + b)
and loses c * phi(z):

    squared hinge  phi(z) = max(0, z)^2 / 2        target 1
    logistic       phi(z) = log(1 + exp(z))        target 0
    hinge          phi(z) = max(0, z)              target g, a level that is learnt

The hinge (Liu & Tsang 2017, equation 4) also gains g. It is smoothed: on [0, s] it is
z^2 / 2s, beyond z - s / 2. The loss of all rows is its minimum over b and g, so it
depends on the scores alone, its gradient by score i is -y_i alpha_i with alpha_i = c_i
phi'(z_i), and the sum of y_i alpha_i is 0 if there is an intercept: alpha is feasible
for the dual problem.
"""

import numpy as np

from manylabel._kernels._jit import kernel

SQUARED_HINGE, LOGISTIC, HINGE = 0, 1, 2
BOTH = 0  # sides
MAX_STEPS = 100  # of a search for one number, which halves or does better
EXACT = 1e-12  # share of the sum of alpha that may be out of balance
FAR = 50.0  # logarithm of the largest ratio of costs that the logistic loss balances


@kernel
def settle(loss, smooth, with_intercept, side, cost, score, free, alpha):
    """Write alpha; return the loss. ``free`` holds b and g, the last as a start."""
    largest = 0.0
    for i in range(side.shape[0]):
        largest = max(largest, abs(score[i]))
    problem = (loss, smooth, side, cost, score)
    if loss == HINGE:
        low, high = -largest - smooth, largest + smooth
        if with_intercept:
            plus = _level(problem, 1, 0.5, free[1] - free[0], low, high)
            minus = _level(problem, -1, 0.5, free[1] + free[0], low, high)
            free[0], free[1] = (minus - plus) / 2, (minus + plus) / 2
        else:
            free[1] = _level(problem, BOTH, 1.0, free[1], low, high)
    else:
        free[1] = 1.0 if loss == SQUARED_HINGE else 0.0
        if with_intercept:
            free[0] = _intercept(problem, free, largest + FAR)
    return evaluate(loss, smooth, side, cost, score, free, alpha)


@kernel
def evaluate(loss, smooth, side, cost, score, free, alpha):
    """Write alpha at a given b and g; return the loss."""
    total = -free[1] if loss == HINGE else 0.0
    for i in range(side.shape[0]):
        lack = free[1] - side[i] * (score[i] + free[0])
        value, slope, _ = _row(loss, smooth, lack)
        total += cost[i] * value
        alpha[i] = cost[i] * slope
    return total


@kernel
def _row(loss, smooth, lack):
    """Return phi of a shortfall, and its first two derivatives."""
    if loss == LOGISTIC:
        small = np.exp(-abs(lack))
        share = (1.0 if lack > 0.0 else small) / (1.0 + small)
        return max(lack, 0.0) + np.log1p(small), share, share * (1.0 - share)
    if lack <= 0.0:
        return 0.0, 0.0, 0.0
    if loss == SQUARED_HINGE:
        return lack * lack / 2, lack, 1.0
    if lack < smooth:
        return lack * lack / (2 * smooth), lack / smooth, 1.0 / smooth
    return lack - smooth / 2, 1.0, 0.0


@kernel
def _intercept(problem, free, most):
    """Return the b that balances the sides, from ``-most`` to ``most``."""
    loss, smooth, side, cost, score = problem
    low, high, b = -most, most, min(max(free[0], -most), most)
    for _ in range(MAX_STEPS):
        slope, bend, total = 0.0, 0.0, 0.0
        for i in range(side.shape[0]):
            lack = free[1] - side[i] * (score[i] + b)
            _, own_slope, own_bend = _row(loss, smooth, lack)
            slope -= side[i] * cost[i] * own_slope
            bend += cost[i] * own_bend
            total += cost[i] * own_slope
        if abs(slope) <= EXACT * total:
            break
        b, low, high = _newton(b, slope, bend, low, high)
    return b


@kernel
def _level(problem, which, share, level, low, high):
    """Return the g at which alpha sums to ``share`` over one side, or both."""
    loss, smooth, side, cost, score = problem
    level = min(max(level, low), high)
    for _ in range(MAX_STEPS):
        slope, bend = -share, 0.0
        for i in range(side.shape[0]):
            if which == BOTH or side[i] == which:
                _, own_slope, own_bend = _row(loss, smooth, level - side[i] * score[i])
                slope += cost[i] * own_slope
                bend += cost[i] * own_bend
        if abs(slope) <= EXACT * share:
            break
        level, low, high = _newton(level, slope, bend, low, high)
    return level


@kernel
def _newton(at, slope, bend, low, high):
    """Return the next place of a search for slope 0, and its bounds."""
    if slope > 0.0:
        high = at
    else:
        low = at
    place = at - slope / bend if bend > 0.0 else low
    if not low < place < high:
        place = (low + high) / 2
    return place, low, high

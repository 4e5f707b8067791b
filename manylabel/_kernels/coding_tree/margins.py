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

from manylabel._kernels._jit import inner, reducing_inner

SQUARED_HINGE, LOGISTIC, HINGE = 0, 1, 2
BOTH = 0  # sides
MAX_STEPS = 100  # of a search for one number, which halves or does better
EXACT = 1e-10  # share of the sum of alpha that may be out of balance
FAR = 50.0  # the first step of a search at most


@inner
def settle(problem, score, free, alpha):
    """Write alpha; return the loss. ``free`` holds b and g, the last as a start."""
    loss, smooth, side, cost = problem.loss, problem.smooth, problem.side, problem.cost
    if loss == HINGE:
        _set_level(smooth, problem.with_intercept, side, cost, score, free)
    else:
        free[1] = 1.0 if loss == SQUARED_HINGE else 0.0
    total, slope, bend, mass = evaluate(loss, smooth, side, cost, score, free, alpha)
    if loss == HINGE or not problem.with_intercept:
        return total
    low, high = -np.inf, np.inf
    for _ in range(MAX_STEPS):
        if abs(slope) <= EXACT * mass:
            break
        last = free[0]
        free[0], low, high = _newton(last, slope, bend, low, high)
        if free[0] == last:
            break
        total, slope, bend, mass = evaluate(
            loss, smooth, side, cost, score, free, alpha
        )
    return total


@reducing_inner
def evaluate(loss, smooth, side, cost, score, free, alpha):
    """Write alpha at a given b and g; return the loss and sums of its derivatives.

    These are the first two by b, and that by g but for its gain: the sum of alpha.
    """
    b, g = free[0], free[1]
    total, slope, bend, mass = 0.0, 0.0, 0.0, 0.0
    for i in range(side.shape[0]):
        y, c = np.float64(side[i]), cost[i]
        value, first, second = _row(loss, smooth, g - y * (score[i] + b))
        alpha[i] = c * first
        total += c * value
        mass += c * first
        slope -= y * c * first
        bend += c * second
    return total - (g if loss == HINGE else 0.0), slope, bend, mass


@inner
def _row(loss, smooth, lack):
    """Return phi of a shortfall, and its first two derivatives."""
    if loss == LOGISTIC:
        small = np.exp(-abs(lack))
        share = (1.0 if lack > 0.0 else small) / (1.0 + small)
        return max(lack, 0.0) + np.log1p(small), share, share * (1.0 - share)
    some = max(lack, 0.0)
    if loss == SQUARED_HINGE:
        return some * some / 2, some, 1.0 if lack > 0.0 else 0.0
    if some < smooth:
        bend = 1.0 / smooth if lack > 0.0 else 0.0
        return some * some / (2 * smooth), some / smooth, bend
    return some - smooth / 2, 1.0 if lack > 0.0 else 0.0, 0.0


@inner
def _set_level(smooth, with_intercept, side, cost, score, free):
    """Set g, and b, for alpha of the hinge to sum to 1, half of it on each side.

    Then g - b concerns the rows of side +1 alone, and g + b the others.
    """
    if with_intercept:
        plus = _level(smooth, side, cost, score, np.int64(1), 0.5, free[1] - free[0])
        minus = _level(smooth, side, cost, score, np.int64(-1), 0.5, free[1] + free[0])
        free[0], free[1] = (minus - plus) / 2, (minus + plus) / 2
    else:
        free[1] = _level(smooth, side, cost, score, np.int64(BOTH), 1.0, free[1])


@inner
def _level(smooth, side, cost, score, which, share, level):
    """Return the g at which alpha sums to ``share`` over one side, or both."""
    low, high = -np.inf, np.inf
    for _ in range(MAX_STEPS):
        slope, bend = -share, 0.0
        for i in range(side.shape[0]):
            if which == BOTH or side[i] == which:
                _, first, second = _row(HINGE, smooth, level - side[i] * score[i])
                slope += cost[i] * first
                bend += cost[i] * second
        if abs(slope) <= EXACT * share:
            break
        last = level
        level, low, high = _newton(last, slope, bend, low, high)
        if level == last:
            break
    return level


@inner
def _newton(at, slope, bend, low, high):
    """Return the next place of a search for slope 0, and its bounds.

    It is the same place if rounding does not allow to come nearer.
    """
    if slope > 0.0:
        high = at
    else:
        low = at
    reach = FAR + 2.0 * abs(at)
    place = at + min(max(-slope / bend, -reach), reach)
    if place != at and not low < place < high:
        place = (low + high) / 2
    return place, low, high

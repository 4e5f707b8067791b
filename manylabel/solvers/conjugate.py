"""Conjugate gradients for many unknowns that stand in a matrix."""

from collections.abc import Callable

import numpy as np

from manylabel._typing import Floats


def descend(
    apply: Callable[[Floats], Floats],
    target: Floats,
    start: Floats,
    scale: Floats,
    *,
    max_iter: int,
    tol: float = 0.0,
) -> tuple[Floats, bool]:
    """Solve ``apply(W) = target`` for a matrix W by preconditioned steps.

    Parameters
    ----------
    apply : callable
        A linear, symmetric and positive definite map of matrices.
    target : ndarray
        What it should give.
    start : ndarray
        Where to begin; not written.
    scale : ndarray
        About the diagonal of the map, above 0.
    max_iter : int
        Most steps.
    tol : float, default=0.0
        End when what is left, in units of ``scale``, is this share of the target.

    Returns
    -------
    solution : ndarray
        W.
    converged : bool
        Whether the last step reached ``tol``.

    Examples
    --------
    >>> wanted = np.array([[2.0], [3.0]])
    >>> descend(lambda W: 2 * W, wanted, 0 * wanted, np.ones((2, 1)), max_iter=1)
    (array([[1. ],
           [1.5]]), True)
    """
    solution, rest = start.copy(), target - apply(start)
    enough = tol**2 * _product(target, target / scale)
    step = rest / scale
    left = _product(rest, step)
    for _ in range(max_iter):
        if left <= enough:
            break
        change = apply(step)
        factor = left / _product(step, change)
        solution += factor * step
        rest -= factor * change
        before, scaled = left, rest / scale
        left = _product(rest, scaled)
        step = scaled + (left / before) * step
    return solution, bool(left <= enough)


def _product(a: Floats, b: Floats) -> float:
    return float(np.vdot(a, b))

"""From what a user calls a cost to a cost, and from a cost to label weights."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from manylabel import _validation
from manylabel._typing import CountCost, Floats, Ints
from manylabel.losses.cost import Cost, CountedCost, UserCost, UserCountedCost
from manylabel.losses.named import NAMED

CostLike: TypeAlias = str | Cost | CountCost | Callable[[Ints, Ints], float]


def as_cost(cost: CostLike) -> Cost:
    """Return the cost that a name, an object or a function stands for.

    Parameters
    ----------
    cost : str, object with ``from_counts`` or callable
        ``"hamming"``, ``"f1"``, ``"accuracy"``, ``"rank"`` or ``"subset"``; an object
        with ``from_counts(hits, n_true, n_predicted, n_labels)``; or a function
        ``c(y, y_hat)`` of two 0/1 vectors, which costs a call per row.

    Returns
    -------
    Cost
        The same object if it is a cost already.

    Examples
    --------
    >>> as_cost("f1")
    F1()
    >>> def missed(y, y_hat):
    ...     return sum(y > y_hat)
    >>> as_cost(missed)([1, 1, 0], [1, 0, 0])
    1.0
    """
    if isinstance(cost, Cost):
        return cost
    if isinstance(cost, str):
        _validation.choice(cost, "cost", NAMED)
        return NAMED[cost]
    if isinstance(cost, CountCost) and not isinstance(cost, type):
        return UserCountedCost(cost)
    if callable(cost) and not isinstance(cost, type):
        return UserCost(cost)
    raise TypeError(
        "cost must be a name, an object with from_counts or a function c(y, y_hat). "
        f"Got {cost!r}."
    )


def label_weights(
    y: ArrayLike, y_hat: ArrayLike, cost: CostLike, order: ArrayLike | None = None
) -> Floats:
    """Return what a wrong prediction of each label costs over a right one.

    When label k has its turn, the labels before it are right and those after it are as
    in ``y_hat``; its weight is the absolute difference of the cost with label k wrong
    and right (Chu, Huang & Lin 2019, equation 14). If a right label never costs more
    than a wrong one, which holds for the named costs, the weights of the wrong labels
    of ``y_hat`` sum to its cost (Lemma 4).

    Parameters
    ----------
    y : array of shape (n_labels,)
        True labels, 0/1.
    y_hat : array of shape (n_labels,)
        Predicted labels, 0/1.
    cost : str, object with ``from_counts`` or callable
        See :func:`as_cost`.
    order : array of shape (n_labels,) or None, default=None
        Permutation of the labels in which the cost is decomposed; None is the order of
        the columns.

    Returns
    -------
    ndarray of shape (n_labels,)
        Weights delta, all at least 0.

    Notes
    -----
    Takes O(K) for K labels if the cost depends on counts, O(K^2) for a function. This
    is the main-text form, in which a label that is predicted right has a weight too;
    the paper's Appendix A.3 has another.

    Examples
    --------
    >>> label_weights([1, 0, 1], [0, 0, 1], "f1")
    array([0.33333333, 0.2       , 0.33333333])
    """
    truth = _validation.label_vector(y, name="y")
    guess = _validation.label_vector(y_hat, len(truth), name="y_hat")
    turns = np.arange(len(truth)) if order is None else np.asarray(order)
    if order is not None and (
        turns.shape != truth.shape
        or not np.array_equal(np.sort(turns), np.arange(len(truth)))
    ):
        raise ValueError(
            f"order must hold each of the labels 0 to {len(truth) - 1} once."
        )
    return as_cost(cost).label_weights(truth, guess, turns.astype(np.int64))


def as_counted_cost(cost: CostLike, name: str = "cost") -> CountedCost:
    """Return a cost that depends on counts alone, or raise ValueError.

    Parameters
    ----------
    cost : str, cost, object with ``from_counts`` or callable
        As :func:`as_cost` takes it.
    name : str, default="cost"
        What the user calls it.

    Returns
    -------
    CountedCost
        The cost.

    Examples
    --------
    >>> as_counted_cost("f1")
    F1()
    """
    found = as_cost(cost)
    if not isinstance(found, CountedCost):
        raise ValueError(
            f"{name} must depend on counts: a name or an object with from_counts. "
            f"Got {cost!r}."
        )
    return found

"""Sets of labels of least expected cost, from probabilities."""

from typing import Any

import numpy as np

from manylabel._kernels.costs import SUBSET
from manylabel._typing import Floats, Ints
from manylabel.losses import Cost, CountedCost, as_cost


def counted(cost: Any) -> CountedCost:
    """Return a cost that can be told from expected counts, or refuse it.

    The set most probable to be right, wanted by subset loss, is that of Hamming loss
    where labels are independent.
    """
    known: Cost = as_cost(cost)
    if not isinstance(known, CountedCost):
        raise ValueError(
            f"cost must have from_counts, or be a name of one. Got {cost!r}."
        )
    if getattr(known, "code", None) == SUBSET:
        known = counted("hamming")
    return known


def n_predicted(p: Floats, cost: CountedCost, n_labels: int) -> Ints:
    """Return how many labels to predict for each row, the most probable ones.

    Parameters
    ----------
    p : ndarray of shape (n_rows, n_listed)
        Probabilities of the labels listed, descending; others count as impossible.
    cost : CountedCost
        What is charged. Its expectation is taken as the cost of the expected counts,
        given that the row has a label or that it has none; for Hamming loss that is
        exact.
    n_labels : int
        Number of labels there are.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers from 0 to ``n_listed``.
    """
    n_rows, n_listed = p.shape
    none = np.prod(1 - p, axis=1, keepdims=True)
    some = np.maximum(1 - none, np.finfo(np.float64).tiny)
    hits = np.cumsum(np.hstack([np.zeros((n_rows, 1)), p]), axis=1)
    n = np.broadcast_to(np.arange(n_listed + 1.0), hits.shape)
    n_true = np.broadcast_to(hits[:, -1:] / some, hits.shape)
    if_some = cost.from_counts(hits / some, n_true, n, n_labels)
    if_none = cost.from_counts(np.zeros_like(hits), np.zeros_like(hits), n, n_labels)
    expected: Floats = some * if_some + none * if_none
    best: Ints = np.argmin(expected, axis=1)
    return best

"""How labels and rows count in a forest."""

from typing import NamedTuple

import numpy as np

from manylabel._typing import CSR, Floats


class Weighting(NamedTuple):
    """How labels and rows count.

    Attributes
    ----------
    inverse_propensity : ndarray of shape (n_labels,)
        How many true labels a recorded one stands for.
    gain : ndarray of shape (n_labels,)
        What it is worth to rank a label high in a split.
    score_gain : ndarray of shape (n_labels,)
        Factor of a label's shares in its score.
    is_ndcg : bool
        Whether the DCG of a row is divided by the best that its labels could give.
    """

    inverse_propensity: Floats
    gain: Floats
    score_gain: Floats
    is_ndcg: bool

    def row_weights(self, Y: CSR) -> Floats:
        """Return the weight of each row in the objective of a split."""
        return ideal_weights(Y, self.gain) if self.is_ndcg else np.ones(Y.shape[0])


def ideal_weights(Y: CSR, gain: Floats) -> Floats:
    """Return 1 / (the sum of discounted gains of each row, its labels best first).

    With these weights the objective of a split is nDCG. Rows without labels get 0.
    """
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    gains = gain[Y.indices]
    gains = gains[np.lexsort((-gains, rows))]
    ranks = np.arange(Y.nnz) - Y.indptr[rows]
    ideal = np.bincount(rows, gains / np.log2(ranks + 2.0), minlength=Y.shape[0])
    return np.divide(1.0, ideal, where=ideal > 0, out=np.zeros(Y.shape[0]))

"""The costs that have a name: functions of counts, compiled.

Conventions: F1 and accuracy loss are 0 when both sets are empty; the rank loss of a row
without a true or without a false label is 0, unless ``Rank(empty=...)`` says otherwise
of the first.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from manylabel import _validation
from manylabel._kernels import costs
from manylabel._kernels.cs_dpp import label_weights
from manylabel._typing import Floats, Ints
from manylabel.losses.cost import CountedCost


class NamedCost(CountedCost):
    """A cost that kernels know by an integer ``code``."""

    code: ClassVar[int]

    def __init_subclass__(cls) -> None:
        if "code" not in vars(cls):
            raise TypeError(
                f"{cls.__name__} must derive from CountedCost: what a named cost "
                "computes is compiled, and would not be changed."
            )

    def from_counts(
        self, hits: Any, n_true: Any, n_predicted: Any, n_labels: Any
    ) -> Any:
        """Return the cost of each row from its counts; the arguments are broadcast."""
        counts = np.broadcast_arrays(hits, n_true, n_predicted, n_labels)
        out = np.empty(counts[0].size)
        hits, n_true, n_predicted, n_labels = (
            np.ravel(count).astype(np.float64) for count in counts
        )
        costs.row_costs(self.code, hits, n_true, n_predicted, n_labels, out)
        return out.reshape(counts[0].shape)[()]

    def label_weights(self, y: Ints, y_hat: Ints, order: Ints) -> Floats:
        """Return the weight of each label in one compiled pass."""
        out = np.empty(len(y))
        label_weights.label_weights(self.code, y, y_hat, order, out, np.empty(len(y)))
        return out


@dataclass(frozen=True)
class Hamming(NamedCost):
    """Hamming loss: the share of all labels that are predicted wrongly.

    Examples
    --------
    >>> Hamming()([1, 1, 0, 0], [1, 0, 0, 0])
    0.25
    """

    name = "hamming"
    meaning = "Loss: share of all labels predicted wrongly, mean over rows."
    code = costs.HAMMING


@dataclass(frozen=True)
class F1(NamedCost):
    """F1 loss: 1 - 2 hits / (n_true + n_predicted); 0 when both sets are empty.

    Examples
    --------
    >>> F1().from_counts(hits=[2, 0], n_true=[2, 0], n_predicted=[4, 0], n_labels=9)
    array([0.33333333, 0.        ])
    """

    name = "f1"
    meaning = (
        "Loss: 1 - F1 of the predicted and the true label set of a row, mean over rows."
    )
    code = costs.F1


@dataclass(frozen=True)
class Accuracy(NamedCost):
    """Accuracy (Jaccard) loss: 1 - hits / union; 0 when both sets are empty.

    Examples
    --------
    >>> Accuracy()([1, 1, 0, 0], [1, 0, 0, 0])
    0.5
    """

    name = "accuracy"
    meaning = (
        "Loss: 1 - intersection / union of the predicted and the true label set "
        "of a row, mean over rows."
    )
    code = costs.ACCURACY


@dataclass(frozen=True)
class Rank(NamedCost):
    """Normalised rank loss as printed in Chu, Huang & Lin (2019, section 5.1).

    The mean over all pairs of a true and a false label of 1 if the false one is
    predicted and the true one is not, 1/2 if they are predicted alike. For 0/1
    predictions that is (missed / n_true + wrongly predicted / n_false) / 2, and 0 for a
    row without a false label.

    Parameters
    ----------
    empty : float, default=0.0
        What a row without a true label is charged, whatever is predicted.

    Notes
    -----
    A row without a true label has no pairs, and the paper does not say what it costs.
    Its Tables 9 to 11 charge 1. As that does not depend on the prediction, label
    weights, and so what is learnt, are the same for any ``empty``.

    Where this cost is optimised (Tables 6 to 8 and 12 to 18), the published figures
    belong to a different, degenerate formula that does not charge ties among predicted
    labels; they cannot be compared with ours.

    Examples
    --------
    >>> Rank()([1, 1, 0, 0], [1, 0, 0, 0])
    0.25
    >>> Rank()([0, 0], [0, 1]), Rank(empty=1.0)([0, 0], [0, 1])
    (0.0, 1.0)
    """

    empty: float = 0.0

    name = "rank"
    meaning = (
        "Loss: share of (true, false) label pairs in the wrong order, ties counting "
        "half, mean over rows."
    )
    code = costs.RANK

    def __post_init__(self) -> None:
        _validation.number(self.empty, "empty", least=0)

    def from_counts(
        self, hits: Any, n_true: Any, n_predicted: Any, n_labels: Any
    ) -> Any:
        """Return the cost of each row from its counts; the arguments are broadcast."""
        charged = super().from_counts(hits, n_true, n_predicted, n_labels)
        return np.where(np.equal(n_true, 0), self.empty, charged)[()]


@dataclass(frozen=True)
class Subset01(NamedCost):
    """Subset 0/1 loss: 1 unless every label is right.

    Examples
    --------
    >>> Subset01()([1, 1, 0, 0], [1, 0, 0, 0])
    1.0
    """

    name = "subset"
    meaning = "Loss: share of the rows whose label set is not exactly right."
    code = costs.SUBSET


NAMED: dict[str, NamedCost] = {
    kind.name: kind() for kind in (Hamming, F1, Accuracy, Rank, Subset01)
}

"""Costs of label sets, by name or the user's own, and losses for missing labels.

Examples
--------
>>> from manylabel import losses
>>> losses.as_cost("accuracy")([1, 1, 0], [1, 0, 0])
0.5
"""

from manylabel.losses.cost import Cost, CountedCost
from manylabel.losses.named import F1, NAMED, Accuracy, Hamming, Rank, Subset01
from manylabel.losses.resolve import CostLike, as_cost, label_weights
from manylabel.losses.unbiased import (
    concentration_bound,
    unbiased_dcg,
    unbiased_hamming,
    unbiased_normalized,
    unbiased_precision,
)

__all__ = [
    "F1",
    "NAMED",
    "Accuracy",
    "Cost",
    "CostLike",
    "CountedCost",
    "Hamming",
    "Rank",
    "Subset01",
    "as_cost",
    "concentration_bound",
    "label_weights",
    "unbiased_dcg",
    "unbiased_hamming",
    "unbiased_normalized",
    "unbiased_precision",
]

"""Scores from 0 to 1, as other programs expect them of every model."""

from collections.abc import Collection, Sequence
from typing import Any

from scipy.special import expit

from manylabel.server.answers import Predictions
from manylabel.server.errors import BadItem
from manylabel.server.replica import Replica


def predict_probabilities(
    replica: Replica,
    items: Sequence[dict[str, Any]],
    *,
    k: int,
    allow: Collection[str] | None = None,
) -> Predictions:
    """Return the best labels of items with probabilities, which are not remembered.

    A model without probabilities gives the logistic function of its scores, which is
    above 1/2 where the model gives the label.

    Parameters
    ----------
    replica : Replica
        The model.
    items : sequence of dict
        As ``Replica.predict`` takes them.
    k : int
        How many labels an item.
    allow : collection of str or None, default=None
        Only these labels.

    Returns
    -------
    Predictions
        Labels and probabilities, the best first.
    """
    try:
        return replica.predict(items, k=k, allow=allow, proba=True, remember=False)
    except BadItem:  # there are none; or an item is bad, which is then said once more
        found = replica.predict(items, k=k, allow=allow, remember=False)
    return found._replace(
        labels=[
            [(name, float(expit(score))) for name, score in row] for row in found.labels
        ]
    )

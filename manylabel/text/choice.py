"""Which learner suits data of a size."""

from typing import NamedTuple

from manylabel.base import MultiLabelClassifier
from manylabel.baselines import OneVsRest
from manylabel.trees import PfastreXML

MOST_SEPARATORS = 2_000  # labels; one separator for each of more takes too long


class Choice(NamedTuple):
    """A learner, and why it was chosen, as one sentence."""

    learner: MultiLabelClassifier
    reason: str


def choose(n_rows: int, n_features: int, n_labels: int) -> Choice:
    """Return a learner for data of some size.

    Parameters
    ----------
    n_rows, n_features, n_labels : int
        The size of the data.

    Returns
    -------
    Choice
        The ``learner``, and the ``reason`` in words.

    Examples
    --------
    >>> choose(7_770, 98_422, 90).reason
    'OneVsRest, because 90 labels are few enough for a separator each.'
    >>> choose(43_756, 300_000, 18_152).learner
    PfastreXML()
    """
    if n_labels <= MOST_SEPARATORS:
        reason = f"{n_labels:,} labels are few enough for a separator each"
        return Choice(OneVsRest(), f"OneVsRest, because {reason}.")
    reason = f"{n_labels:,} labels are too many for a separator each"
    return Choice(PfastreXML(), f"PfastreXML, because {reason}.")

"""Which learner suits data of a size."""

from typing import NamedTuple

from manylabel.base import MultiLabelClassifier
from manylabel.baselines import OneVsRest
from manylabel.blend import Blend
from manylabel.trees import FastXML, PfastreXML

N_TREES = 25  # of each of two forests, which together are as large as one
FEWEST_ROWS = 2_000  # of fewer, too few could be held out to weigh learners
MOST_SEPARATORS = 2_000  # labels; one separator for each of more takes too long
MOST_ROWS = 200_000  # of more, one forest takes as long as one wants to wait


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
    >>> choose(500, 9_000, 90).reason
    'OneVsRest, because 500 rows are too few to weigh several learners.'
    >>> choose(7_770, 98_422, 90).learner
    Blend()
    >>> choose(1_000_000, 300_000, 18_152).learner
    PfastreXML()
    """
    if n_rows < FEWEST_ROWS and n_labels <= MOST_SEPARATORS:
        rows = "1 row is" if n_rows == 1 else f"{n_rows:,} rows are"
        reason = f"{rows} too few to weigh several learners"
        return Choice(OneVsRest(), f"OneVsRest, because {reason}.")
    if n_rows <= MOST_ROWS and n_labels <= MOST_SEPARATORS:
        reason = "several learners are better than one, and the data small enough"
        return Choice(Blend(), f"Blend, because {reason}.")
    if n_rows <= MOST_ROWS:
        reason = f"{n_labels:,} labels are too many for a separator each"
        learners = [FastXML(n_estimators=N_TREES), PfastreXML(n_estimators=N_TREES)]
        return Choice(Blend(learners), f"Blend of two forests, because {reason}.")
    reason = f"{n_rows:,} rows are many, and one forest is enough to wait for"
    return Choice(PfastreXML(), f"PfastreXML, because {reason}.")

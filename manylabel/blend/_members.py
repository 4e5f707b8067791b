"""The learners that a blend has where none are named: by the size of the data."""

from manylabel.base import MultiLabelClassifier
from manylabel.baselines import OneVsRest
from manylabel.label_tree import LabelTree
from manylabel.trees import FastXML, PfastreXML

N_TREES = 25  # of each of two forests, which together are as large as one
N_LABEL_TREES = 3
MOST_SEPARATORS = 2_000  # labels; one separator for each of more takes too long


def usual_members(n_labels: int) -> list[MultiLabelClassifier]:
    """Return learners that differ much, and so correct each other.

    Parameters
    ----------
    n_labels : int
        How many labels there are.

    Returns
    -------
    list of estimators
        With many labels, label trees are in the place of one-vs-rest.

    Examples
    --------
    >>> usual_members(20_000)[0]
    LabelTree(n_estimators=3)
    >>> [type(member).__name__ for member in usual_members(100)]
    ['OneVsRest', 'LabelTree', 'FastXML', 'PfastreXML']
    """
    members: list[MultiLabelClassifier] = [
        LabelTree(n_estimators=N_LABEL_TREES),
        FastXML(n_estimators=N_TREES),
        PfastreXML(n_estimators=N_TREES),
    ]
    return members if n_labels > MOST_SEPARATORS else [OneVsRest(), *members]

"""The learners that a blend has where none are named: by the size of the data."""

from manylabel.base import MultiLabelClassifier
from manylabel.baselines import CPLST, OneVsRest
from manylabel.label_tree import LabelTree
from manylabel.trees import FastXML, PfastreXML

N_TREES = 25  # of each of two forests, which together are as large as one
N_LABEL_TREES = 3
# Rows times labels; one-vs-rest takes some 30 ns of a core for each.
MOST_PAIRS = 2 * 10**10
# Labels, and rows or features, up to which ridge regression is solved exactly, in
# seconds; beyond, it takes minutes and is no better than one-vs-rest.
FEW_LABELS, MOST_SQUARE = 1_000, 10_000


def usual_members(
    n_rows: int, n_features: int, n_labels: int
) -> list[MultiLabelClassifier]:
    """Return learners that differ much, and so correct each other.

    Parameters
    ----------
    n_rows, n_features, n_labels : int
        The size of the data. Past 20,000 million pairs of rows and labels, as 500,000
        rows of 40,000 labels, label trees are in the place of one-vs-rest. Up to 1,000
        labels, and 10,000 rows or features, there is ridge regression too.

    Returns
    -------
    list of estimators
        Not fitted.

    Examples
    --------
    >>> [type(member).__name__ for member in usual_members(50_000, 30_000, 20_000)]
    ['OneVsRest', 'LabelTree', 'FastXML', 'PfastreXML']
    >>> usual_members(500_000, 100_000, 670_000)[0]
    LabelTree(n_estimators=3)
    >>> usual_members(5_000, 2_000, 159)[-1]
    CPLST()
    """
    members: list[MultiLabelClassifier] = [
        LabelTree(n_estimators=N_LABEL_TREES),
        FastXML(n_estimators=N_TREES),
        PfastreXML(n_estimators=N_TREES),
    ]
    if n_rows * n_labels <= MOST_PAIRS:
        members.insert(0, OneVsRest())
    if n_labels <= FEW_LABELS and min(n_rows, n_features) <= MOST_SQUARE:
        members.append(CPLST())
    return members

"""A tree that asks for one label after another: AT."""

from manylabel._docstrings import described_like
from manylabel._kernels.coding_tree.annotation import Shape
from manylabel._typing import CSR, Floats
from manylabel.budget._coding_tree import CodingTree
from manylabel.budget._prices import Price, Quality, label_prices
from manylabel.budget._shape import annotation_shape
from manylabel.losses import CountedCost


@described_like(CodingTree)
class AnnotationTree(CodingTree):
    """A tree that asks for one label after another, the most frequent first (AT).

    Each node asks whether a row has the label that is most frequent among its training
    rows, of those that some have and some lack. Labels that all rows of a node have are
    fixed there, those that none has are dropped, and a node where nothing is left to
    ask is a leaf: so a row is labelled by few decisions, each of a few features.

    With a ``beam``, several paths are followed, each as probable as its decisions: the
    score of a label is its chance less a threshold, and ``predict`` returns the labels
    above it. Without, ``predict`` follows a single path, as in the paper, and labels of
    this path come first in a ranking.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        Column numbers of ``Y``.
    tree_ : CodingNodes
        The nodes, a record of arrays: ``children``, the first child of each, which the
        second follows, 0 in a leaf; ``n_rows``, training rows; ``asked``, the label
        that a node asks for, -1 in a leaf; ``intercept`` and weights of the decisions;
        ``f_indptr`` and ``f_indices``, the labels that a node fixes; ``slope`` and
        ``shift``: log-odds of the first child are ``slope * score + shift``.

    Notes
    -----
    Liu & Tsang (2017, Algorithm 4). Training rows go where their true labels send them,
    so each distinct labelset has a leaf and the depth may reach the number of labels:
    the bound of Theorem 13 does not hold. Fixed labels are carried down, which the
    printed algorithm forgets. A row without labels is a labelset like any other; a
    single labelset is a leaf, and every row gets it; a labelset seen once has a leaf of
    one row.

    A decision learns from 32 rows of one side for each of the other at most, or from
    256 if that is more; once 32 make more than 8,192, from so many, or 4 for each. They
    are evenly spaced, and weigh what all do.

    The price of a wrong answer for label l is how much the row's cost grows if l alone
    is flipped, the rest of the row being as right as rows held out were: with n true
    labels, of which a share is found, and some number given for each. For F1 of about
    F, missing a label costs (2 - F) / F times as much as giving one too many, so the
    rarer the hits, the bolder the answers.

    With ``propensity``, true labels may be missing. A row has those recorded and a
    number of others, of a Poisson distribution whose mean is that of 1 / p - 1 over the
    labels recorded in all rows; ``miss`` and ``extra`` are means over it, so a row
    without a recorded label is not priced as an empty one. A row where the asked label
    is recorded then counts (miss + (1 - p) extra) / p, any other ``extra``: the mean
    over whether the label is recorded is the price by the true label. For Hamming loss
    that is 2 / p - 1 and 1.

    The probability of an answer is logistic in the decision's score and in the sizes of
    its sides, the same for all nodes: most have too few rows for a scale of their own.

    Examples
    --------
    >>> X = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    >>> Y = [[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 0, 1]]
    >>> model = AnnotationTree(C=10).fit(X, Y)
    >>> model.tree_.asked[model.tree_.children > 0].tolist()
    [0, 1, 2]
    >>> model.predict([[0.9, 0.1, 0.0], [0.1, 0.0, 1.0]])
    array([[1, 1, 0],
           [0, 1, 1]])
    """

    _needs_quality = True

    def _shape(self, Y: CSR) -> Shape:
        return annotation_shape(Y)

    def _prices(
        self, shape: Shape, Y: CSR, worth: Floats, cost: CountedCost, quality: Quality
    ) -> Price:
        return label_prices(shape, Y, worth, cost, quality)

"""Huffman's tree of labelsets: PT."""

from manylabel._docstrings import described_like
from manylabel._kernels.coding_tree.annotation import Shape
from manylabel._typing import CSR, Floats
from manylabel.budget._coding_tree import CodingTree
from manylabel.budget._prices import Price, Quality, set_prices
from manylabel.budget._shape import powerset_shape
from manylabel.losses import CountedCost


@described_like(CodingTree)
class PowersetTree(CodingTree):
    """Huffman's tree of the labelsets seen in training (PT).

    The two rarest labelsets are joined by a decision, again and again, until one tree
    is left. So frequent labelsets are near the root, and the mean number of decisions
    is the least possible, less than the labelsets' entropy plus 1. A row gets the
    labelset of its leaf: no combination is made up.

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
        second follows, 0 in a leaf; ``n_rows``, training rows; ``asked``, -1, as no
        node asks for a single label; ``intercept`` and weights of the decisions;
        ``f_indptr`` and ``f_indices``, the labels of a leaf; ``slope`` and ``shift``:
        log-odds of the first child are ``slope * score + shift``.

    Notes
    -----
    Liu & Tsang (2017, Algorithm 3); the rarer of two is the first child. The depth may
    reach the number of labelsets less 1, not its logarithm as Table 2 has it. The empty
    labelset is one like any other; a single labelset is a leaf, and every row gets it.

    The price of a wrong turn is how much more a labelset of the wrong side costs than
    the row's own, by the counts expected there: hits and labels given, as means over
    its rows. With ``propensity``, a row has the labels recorded and a number of others,
    of a Poisson distribution whose mean is that of 1 / p - 1 over the labels recorded
    in all rows, and the price is the mean over it, times the mean of 1 / p over the
    labels recorded: a row without any is not priced as an empty one.

    The probability of a turn is logistic in the decision's score and in the sizes of
    its sides, the same for all nodes: most have too few rows for a scale of their own.

    Examples
    --------
    >>> X = [[1.0, 0.0], [0.9, 0.0], [0.8, 0.1], [0.0, 1.0], [0.1, 0.9], [1.0, 1.0]]
    >>> Y = [[1, 1], [1, 1], [1, 1], [0, 1], [0, 1], [1, 0]]
    >>> model = PowersetTree(C=10).fit(X, Y)
    >>> model.tree_.n_rows.tolist()
    [6, 3, 3, 1, 2]
    >>> model.predict([[1.0, 0.1], [0.0, 0.8]])
    array([[1, 1],
           [0, 1]])
    """

    _only_leaves_count = True

    def _shape(self, Y: CSR) -> Shape:
        return powerset_shape(Y)

    def _prices(
        self, shape: Shape, Y: CSR, worth: Floats, cost: CountedCost, quality: Quality
    ) -> Price:
        return set_prices(shape, Y, worth, cost)

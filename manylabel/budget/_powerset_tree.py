"""Huffman's tree of labelsets: PT."""

from manylabel._kernels.coding_tree.annotation import Shape
from manylabel._typing import CSR, Floats
from manylabel.budget._coding_tree import CodingTree
from manylabel.budget._prices import Price, Quality, set_prices
from manylabel.budget._shape import powerset_shape


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

    Parameters
    ----------
    budget : int, default=20
        Features of a plane, at most; all of them when there are fewer.
    max_planes : int, default=5
        Planes of a decision, at most: it looks at ``budget * max_planes`` features, at
        most.
    C : float, default=1.0
        Cost of the decisions' loss.
    loss : {"squared_hinge", "logistic"}, default="squared_hinge"
        Loss of a margin.
    tol : float, default=1e-2
        Duality gap of a decision, relative to its objective, at which to stop.
    propensity : Propensity, array of shape (n_labels,), float or None, default=None
        How probable it is that a true label is recorded, in (0, 1]. A recorded label
        counts 1 / propensity, in its chance or where a decision is priced. None is 1.
    cost : str, object with ``from_counts`` or None, default=None
        What predictions are to make small, per row: ``"f1"``, ``"accuracy"``,
        ``"hamming"`` ...; see :func:`manylabel.losses.as_cost`. With a beam, the
        threshold is chosen for it on rows held out; without, rows weigh what a wrong
        decision costs them (see Notes). None is one half, and equal weights.
    beam : int or None, default=None
        Paths followed at once; None is a single one, without probabilities.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all cores. The tree does not depend on it.
    random_state : int, Generator, RandomState or None, default=0
        Seeds the choice of rows that are held out from a smaller tree, to find out how
        probable its decisions are right: at most 2,000 of 6,000.

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
    coef_ : csr_array of shape (n_nodes, n_features)
        Weights of the decisions; made when asked for.
    selected_features_ : ndarray of int
        Features that a decision looks at, ascending.
    gain_ : ndarray of shape (n_labels,)
        1 / propensity: factor of the label's chance.
    threshold_ : float
        Labels of a larger chance are predicted, with a beam.
    seen_ : ndarray of shape (n_labels,)
        Whether a training row had the label.
    radius_ : float
        Length of the longest training row.

    Notes
    -----
    Liu & Tsang (2017, Algorithm 3); the rarer of two is the first child. The depth may
    reach the number of labelsets less 1, not its logarithm as Table 2 has it. The empty
    labelset is one like any other; a single labelset is a leaf, and every row gets it.

    The price of a wrong turn is the cost of getting a labelset of the wrong side, by
    the counts expected there: hits and labels given, as means over its rows. A recorded
    label counts 1 / propensity.

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

    def _prices(self, shape: Shape, Y: CSR, worth: Floats, quality: Quality) -> Price:
        return set_prices(shape, Y, worth, self._cost())

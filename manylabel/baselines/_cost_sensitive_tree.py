"""A tree of linear classifiers that pays for the features of each way: CSTC."""

from numbers import Integral
from typing import Annotated, NamedTuple

import numpy as np
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._typing import CSR, Array, Floats, Ints, RandomState
from manylabel.baselines._cost_optimizer import Optimizer
from manylabel.binary import BinaryClassifier, Sides, check_fraction, hold_out
from manylabel.persistence.records import Children, Field, Finite, Matrix, Number

MOST_DEPTH = 8


class CostNodes(NamedTuple):
    """Nodes, level by level; the first child takes scores above the threshold."""

    children: Annotated[Ints, Field("int64", "n_nodes", Children("roots"))]
    coef: Annotated[CSR, Matrix("float64", "n_nodes, n_features")]
    intercept: Annotated[Floats, Field("float64", "n_nodes", Finite())]
    threshold: Annotated[Floats, Field("float64", "n_nodes", Finite())]

    @property
    def roots(self) -> Ints:
        """The first node, and the number of nodes."""
        return np.array([0, len(self.children)])

    def scores(self, X: CSR) -> Floats:
        """Return the score of every row at every node."""
        return np.asarray((X @ self.coef.T).toarray() + self.intercept)

    def leaves(self, scores: Floats) -> Ints:
        """Return the leaf of every row, given its scores."""
        rows, at = np.arange(len(scores)), np.zeros(len(scores), np.int64)
        while (self.children[at] > 0).any():
            is_second = scores[rows, at] <= self.threshold[at]
            first = self.children[at]
            at = np.where(first > 0, first + is_second, at)
        return at

    def prune(self, X: CSR, side: Array) -> "CostNodes":
        """Return the tree without children that err no less than their parent."""
        scores, children = self.scores(X), self.children.copy()
        wrong = (scores > 0) != (side[:, None] > 0)
        way, error = self._ways(scores), np.zeros(len(children))
        for at in reversed(range(len(children))):
            error[at] = (way[:, at] & wrong[:, at]).sum()
            if children[at]:
                below = error[children[at] : children[at] + 2].sum()
                if below < error[at]:
                    error[at] = below
                else:
                    children[at] = 0
        kept = np.zeros(len(children), bool)
        kept[0] = True
        for parent in np.flatnonzero(children):
            kept[children[parent] : children[parent] + 2] = kept[parent]
        number = np.cumsum(kept) - 1
        children = np.where(children > 0, number[children], 0)[kept]
        return CostNodes(
            children, self.coef[kept], self.intercept[kept], self.threshold[kept]
        )

    def _ways(self, scores: Floats) -> Array:
        """Return which nodes each row passes."""
        way = np.zeros(scores.shape, bool)
        way[:, 0] = True
        for at in np.flatnonzero(self.children):
            is_first, first = scores[:, at] > self.threshold[at], self.children[at]
            way[:, first] = way[:, at] & is_first
            way[:, first + 1] = way[:, at] & ~is_first
        return way


class CostSensitiveTree(BinaryClassifier):
    """A tree of linear classifiers that pays for the features of each way (CSTC).

    A row goes to the first child of node k with the chance ``sigmoid(f_k - theta_k)``,
    where ``f_k = beta_k . x + b_k`` is the score of the node. With p_ik the chance that
    row i passes node k, all nodes together minimise [1]_

        sum_k (1/n) sum_i p_ik (f_k(x_i) - y_i)^2 + alpha |beta_k|_1
        + feature_cost sum_l p_l sum_a sqrt(sum_{k on the way to l} beta_ka^2),

    the last sum over leaves l, their mean chance p_l, and features a: a feature that
    one node of a way looks at costs its other nodes less.

    Parameters
    ----------
    max_depth : int, default=3
        Decisions on the longest way down, at most 8.
    feature_cost : float, default=0.03
        Cost of the features of a way.
    alpha : float, default=0.001
        Weight of the sum of absolute weights.
    max_iter : int, default=30
        Rounds over the nodes, at most.
    tol : float, default=1e-3
        It stops when a round lowers the objective by less, relative to it.
    validation_fraction : float, default=0.2
        Share of the rows of each class that are held out; a node loses its children if
        they err no less than it does on them.
    random_state : int, Generator, RandomState or None, default=0
        Draws the rows held out.

    Attributes
    ----------
    selected_features_ : ndarray of int
        Features that the tree looks at, ascending.
    depth_ : int
        Decisions on the longest way down.
    n_iter_ : int
        Rounds that were made.
    objective_ : float
        What was minimised, before features of next to no weight were dropped.
    tree_ : CostNodes
        The nodes, a record of arrays.

    Notes
    -----
    Nodes are optimised in turn, with all others fixed. The square roots and the
    absolute values are replaced by ``sqrt(z) = min over t of (z / t + t) / 2``, so that
    what remains is smooth in the weights of the node (L-BFGS). Weights below 0.001 over
    the standard deviation of the feature are then 0, and the others are learnt once
    more without the cost of features.

    The paper's inputs are the outputs of boosted trees, whose evaluation costs too;
    here they are the features, centred, each of the same cost. So where no linear
    classifier tells the classes apart, as in XOR, neither does this tree.

    References
    ----------
    .. [1] Xu, Kusner, Weinberger & Chen, "Cost-sensitive tree of classifiers", ICML
       2013, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 20))
    >>> y = X[:, 3] + X[:, 8] > 0
    >>> CostSensitiveTree(feature_cost=1.0).fit(X, y).selected_features_
    array([3, 8])
    """

    objective_: Annotated[float, Number()]
    n_iter_: Annotated[int, Number(least=1, whole=True)]
    tree_: CostNodes

    def __init__(
        self,
        *,
        max_depth: int = 3,
        feature_cost: float = 0.03,
        alpha: float = 0.001,
        max_iter: int = 30,
        tol: float = 1e-3,
        validation_fraction: float = 0.2,
        random_state: RandomState = 0,
    ) -> None:
        self.max_depth = max_depth
        self.feature_cost = feature_cost
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @parallel.with_one_blas_thread
    def _learn(self, rows: Sides) -> None:
        """Optimise the tree, drop features, and prune by the rows held out."""
        seed = parallel.spawn_seeds(self.random_state, 1)[0]
        is_learnt, is_held = hold_out(rows.side, float(self.validation_fraction), seed)
        optimizer = Optimizer(rows.X[is_learnt], rows.side[is_learnt], self.max_depth)
        optimizer.start()
        weights = float(self.feature_cost), float(self.alpha)
        course = [np.inf]
        while len(course) <= self.max_iter:
            optimizer.improve(*weights)
            course.append(optimizer.objective(*weights))
            if course[-2] - course[-1] < self.tol * course[-1]:
                break
        self.n_iter_, self.objective_ = len(course) - 1, course[-1]
        optimizer.drop()
        optimizer.improve(0.0, weights[1])
        tree = CostNodes(optimizer.children, *optimizer.planes())
        self.tree_ = tree.prune(rows.X[is_held], rows.side[is_held])

    @property
    def selected_features_(self) -> Ints:
        """Features that the tree looks at, ascending."""
        return np.unique(self.tree_.coef.indices).astype(np.int64)

    @property
    def depth_(self) -> int:
        """Decisions on the longest way down."""
        depth = np.zeros(len(self.tree_.children), np.int64)
        for at in np.flatnonzero(self.tree_.children):
            first = self.tree_.children[at]
            depth[first : first + 2] = depth[at] + 1
        return int(depth.max())

    def _votes(self, X: CSR) -> Floats:
        scores = self.tree_.scores(X)
        return np.asarray(scores[np.arange(len(scores)), self.tree_.leaves(scores)])

    def _check_parameters(self) -> None:
        bounds = {"min_val": 1, "max_val": MOST_DEPTH}
        check_scalar(self.max_depth, "max_depth", Integral, **bounds)
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        for name in ("feature_cost", "alpha", "tol"):
            _validation.number(getattr(self, name), name, least=0)
        check_fraction(self.validation_fraction, "validation_fraction")

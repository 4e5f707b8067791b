"""Boosted trees that pay for each feature once: GBFS."""

from numbers import Integral
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.utils import check_scalar

from manylabel import _validation, parallel
from manylabel._kernels.binary import boosted, splits
from manylabel._typing import CSR, Array, Floats, Ints, RandomState
from manylabel.binary import BinaryClassifier, Sides, check_fraction, hold_out
from manylabel.persistence.records import Children, Columns, Field, Finite

LEAST_GAIN = 1e-12  # of a split, beside rounding


class BoostedTrees(NamedTuple):
    """The nodes of all trees; the second child of a node takes the larger values."""

    roots: Annotated[Ints, Field("int64", "n_trees + 1")]
    children: Annotated[Ints, Field("int64", "n_nodes", Children("roots"))]
    features: Annotated[Ints, Field("int64", "n_nodes", Columns("n_features"))]
    threshold: Annotated[Floats, Field("float64", "n_nodes", Finite())]
    value: Annotated[Floats, Field("float64", "n_nodes", Finite())]


class BoostedFeatureSelection(BinaryClassifier):
    """Gradient boosting in which a feature not used before costs extra (GBFS).

    Each regression tree follows the negative gradient of the logistic loss. The gain of
    a split, what the mean squared error over all rows falls by, is charged
    ``feature_cost`` if neither a tree before nor this one has used its feature
    [1]_. So few features are used; these are the selection.

    Parameters
    ----------
    feature_cost : float, default=0.001
        Cost of the first use of a feature.
    max_depth : int, default=4
        Decisions on the longest way down a tree.
    learning_rate : float, default=0.1
        Factor of each tree.
    n_estimators : int, default=500
        Trees, at most.
    validation_fraction : float, default=0.2
        Share of the rows of each class that are held out; the trees kept are those up
        to the least logistic loss on them.
    n_iter_no_change : int, default=30
        It stops after so many trees that do not lower that loss.
    random_state : int, Generator, RandomState or None, default=0
        Draws the rows held out.

    Attributes
    ----------
    selected_features_ : ndarray of int
        Features that the trees look at, ascending.
    depth_ : int
        Decisions on the longest way down a tree.
    n_iter_ : int
        Trees that were kept.
    prior_ : ndarray of shape (1,)
        Logarithm of the odds of the second class: the score before any tree.
    trees_ : BoostedTrees
        The nodes of all trees, a record of arrays.

    Notes
    -----
    A tree is grown level by level, the nodes of a level from the first to the last; a
    feature that one of them pays for is free for the next. The cost is of a mean, so
    that it need not grow with the rows. Below 20 rows none are held out.

    References
    ----------
    .. [1] Xu, Huang, Weinberger & Zheng, "Gradient boosted feature selection", KDD
       2014, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 50))
    >>> y = (X[:, 7] > 0) & (X[:, 30] > 0)
    >>> BoostedFeatureSelection(feature_cost=0.01).fit(X, y).selected_features_
    array([ 7, 30])
    """

    prior_: Annotated[Floats, Field("float64", "1", Finite())]
    trees_: BoostedTrees

    def __init__(
        self,
        *,
        feature_cost: float = 0.001,
        max_depth: int = 4,
        learning_rate: float = 0.1,
        n_estimators: int = 500,
        validation_fraction: float = 0.2,
        n_iter_no_change: int = 30,
        random_state: RandomState = 0,
    ) -> None:
        self.feature_cost = feature_cost
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def _learn(self, rows: Sides) -> None:
        """Add trees as long as they help on the rows held out."""
        seed = parallel.spawn_seeds(self.random_state, 1)[0]
        is_learnt, is_held = hold_out(rows.side, float(self.validation_fraction), seed)
        share = np.mean(rows.side[is_learnt] > 0)
        self.prior_ = np.array([np.log(share / (1 - share))])
        grower = _Grower(rows.X, is_learnt, self.max_depth, float(self.feature_cost))
        score, side = np.full(len(rows.side), self.prior_[0]), rows.side.astype(float)
        losses, trees = [_logistic(score, side, is_held)], []
        for _ in range(self.n_estimators):
            tree, leaf = grower.grow(side * expit(-side * score))
            tree["value"] *= self.learning_rate
            if len(tree["children"]) == 1:
                break
            score += tree["value"][leaf]
            trees.append(tree)
            losses.append(_logistic(score, side, is_held))
            if len(losses) - 1 - np.argmin(losses) >= self.n_iter_no_change:
                break
        self.trees_ = _join(trees[: np.argmin(losses)])

    @property
    def selected_features_(self) -> Ints:
        """Features that the trees look at, ascending."""
        return np.unique(self.trees_.features[self.trees_.children > 0])

    @property
    def depth_(self) -> int:
        """Decisions on the longest way down a tree."""
        depth = np.zeros(len(self.trees_.children), np.int64)
        for at in np.flatnonzero(self.trees_.children):
            first = self.trees_.children[at]
            depth[first : first + 2] = depth[at] + 1
        return int(depth.max(initial=0))

    @property
    def n_iter_(self) -> int:
        """Trees that were kept."""
        return len(self.trees_.roots) - 1

    def _votes(self, X: CSR) -> Floats:
        trees, selected = self.trees_, self.selected_features_
        places = np.searchsorted(selected, trees.features)
        nodes = trees.roots, trees.children, places, trees.threshold, trees.value
        out = np.full(X.shape[0], self.prior_[0])
        boosted.add_values(X.indptr, X.indices, X.data, selected, nodes, out)
        return out

    def _check_parameters(self) -> None:
        for name in ("max_depth", "n_estimators", "n_iter_no_change"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        _validation.number(self.feature_cost, "feature_cost", least=0)
        _validation.number(self.learning_rate, "learning_rate", above=0)
        check_fraction(self.validation_fraction, "validation_fraction")


class _Grower:
    """Grows trees one after another, and remembers which features were paid for."""

    def __init__(
        self, X: CSR, is_learnt: Array, max_depth: int, feature_cost: float
    ) -> None:
        self.columns = splits.sort_columns(X)
        self.is_learnt, self.n_learnt = is_learnt, int(is_learnt.sum())
        self.max_depth, self.feature_cost = max_depth, feature_cost
        self.is_used = np.zeros(X.shape[1], bool)
        self.all_features = np.flatnonzero(np.diff(self.columns.indptr))

    def grow(self, target: Floats) -> tuple[dict[str, Any], Ints]:
        """Return a tree, and the leaf of every row, of those held out too."""
        node = np.zeros(len(target), np.int64)
        nodes: dict[str, list[Any]] = {"children": [0], "features": [0]}
        nodes["threshold"] = [0.0]
        level = np.array([0])
        for _ in range(self.max_depth):
            found = self._split_level(level, node, target)
            if not len(found[0]):
                break
            parents, features, thresholds = found
            first = len(nodes["children"])
            children = first + 2 * np.arange(len(parents))
            for at, child, feature, threshold in zip(
                parents, children, features, thresholds, strict=True
            ):
                nodes["children"][at], nodes["features"][at] = child, feature
                nodes["threshold"][at] = threshold
            for name in nodes:
                nodes[name] += [0] * (2 * len(parents))
            moved = np.empty_like(node)
            parts = (parents, features, thresholds, children)
            splits.send(self.columns, parts, node, moved)
            node, level = moved, np.arange(first, first + 2 * len(parents))
        tree = {name: np.asarray(values) for name, values in nodes.items()}
        tree["threshold"] = tree["threshold"].astype(np.float64)
        tree["value"] = self._means(node, target, len(tree["children"]))
        return tree, node

    def _means(self, node: Ints, target: Floats, n_nodes: int) -> Floats:
        """Return the mean target of the rows learnt in each leaf."""
        own = node[self.is_learnt]
        count = np.bincount(own, minlength=n_nodes)
        return np.bincount(own, target[self.is_learnt], n_nodes) / np.maximum(count, 1)

    def _split_level(
        self, level: Ints, node: Ints, target: Floats
    ) -> tuple[Ints, Ints, Floats]:
        """Return the nodes of a level that are split, their features and thresholds."""
        place = np.where(self.is_learnt & (node >= level[0]), node - level[0], -1)
        rows, held = (place, target), place >= 0
        total = np.column_stack(
            [
                np.bincount(place[held], minlength=len(level)).astype(np.float64),
                np.bincount(place[held], target[held], len(level)),
            ]
        )
        halves, best = np.empty((2, len(level), 3)), splits.make_best(len(level))
        given = rows, total, halves, best
        splits.search(self.columns, self.all_features, self.is_used, *given)
        least = LEAST_GAIN * self.n_learnt
        cost = np.array([self.feature_cost * self.n_learnt, 0.0])
        parents, features, thresholds = [], [], []
        for at in range(len(level)):
            own = int(np.argmax(best.gain[:, at] - cost))
            if best.gain[own, at] - cost[own] <= least:
                continue
            feature = int(best.feature[own, at])
            parents.append(level[at])
            features.append(feature)
            thresholds.append(best.threshold[own, at])
            if not self.is_used[feature]:
                self.is_used[feature] = True
                splits.search(self.columns, np.array([feature]), self.is_used, *given)
        return np.array(parents, int), np.array(features, int), np.array(thresholds)


def _logistic(score: Floats, side: Floats, held: Array) -> float:
    return float(np.logaddexp(0, -side[held] * score[held]).mean())


def _join(trees: list[dict[str, Any]]) -> BoostedTrees:
    """Return the nodes of all trees end to end."""
    sizes = [len(tree["children"]) for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    for tree, root in zip(trees, roots[:-1], strict=True):
        tree["children"] = np.where(tree["children"] > 0, tree["children"] + root, 0)
    empty = {"threshold": np.empty(0), "value": np.empty(0)}
    parts = {
        name: np.concatenate(
            [empty.get(name, np.empty(0, np.int64)), *(t[name] for t in trees)]
        )
        for name in BoostedTrees._fields[1:]
    }
    return BoostedTrees(roots=roots, **parts)

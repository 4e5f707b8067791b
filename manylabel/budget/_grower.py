"""Growing and pruning a tree of budgeted classifiers (Liu & Tsang 2017, section 5)."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from manylabel._kernels.coding_tree import budget as planes
from manylabel._kernels.coding_tree import decisions, votes
from manylabel._kernels.forest import node
from manylabel._kernels.linear.separator import Columns
from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.budget._binary import Sides


class Rows(NamedTuple):
    """What ``node.gather_columns`` needs; the constant feature is not used."""

    x_indptr: Array
    x_indices: Array
    x_data: Array
    bias: float


@dataclass(frozen=True)
class Plan:
    """What a tree is grown from: some of the rows, the fold of each, and the limits."""

    sides: Sides
    fold: Ints
    rows: Ints
    cv: int
    rules: planes.Rules
    cost: float
    max_depth: int
    min_samples_split: int

    def without(self, fold: int) -> Self:
        """Return the plan for the rows but those of a fold, which is left empty."""
        return replace(self, rows=self.rows[self.fold[self.rows] != fold])


class Tree(NamedTuple):
    """Nodes in the order of growth; the first child of a node takes the positives."""

    children: Ints  # (n_nodes,) the first child, the second follows; 0 in a leaf
    parent: Ints  # (n_nodes,) -1 at the root
    starts: Ints  # (n_nodes + 1,) of the features of each node
    features: Ints
    weights: Floats  # (n_features of all nodes, cv)
    intercept: Floats  # (n_nodes, cv)
    value: Floats  # (n_nodes,) mean side of the rows, by weight
    node_rows: Ints  # (n_nodes,)
    rest: Floats  # (n_nodes,) weight of the rows of the smaller side
    leaf_error: Floats  # (n_nodes,) weight of its rows that the node above gets wrong

    def depth(self) -> Ints:
        """Return the decisions above each node."""
        depth = np.zeros(len(self.parent), np.int64)
        for at in range(1, len(depth)):
            depth[at] = depth[self.parent[at]] + 1
        return depth

    def leaves(self, X: CSR) -> Ints:
        """Return the leaf of every row."""
        selected, numbers = np.unique(self.features, return_inverse=True)
        out = np.empty(X.shape[0], np.int64)
        nodes = (self.children, self.starts, numbers, self.weights, self.intercept)
        votes.descend(X.indptr, X.indices, X.data, selected, nodes, out)
        return out

    def pruned(self) -> Self:
        """Return the tree without children that err no less than their parent.

        From the leaves up, a node below the root becomes a leaf if what is below it
        errs no less. What that errs is known by cross-validation (section 5.2). So is
        what the node above errs on the same rows. But it is all of the classifiers
        above that sent the rows here, also those that learnt from them, and the node's
        own classifiers profit from that. So a leaf is held to err no more than its
        smaller side weighs.
        """
        children, error = self.children.copy(), self.leaf_error.copy()
        is_gone = np.zeros(len(children), bool)
        for at in range(len(children) - 1, 0, -1):
            if children[at]:
                below = error[children[at] : children[at] + 2].sum()
                if below < min(self.leaf_error[at], self.rest[at]):
                    error[at] = below
                else:
                    children[at] = 0
        for at in range(1, len(children)):
            above = self.parent[at]
            is_gone[at] = is_gone[above] or children[above] == 0
        return self._kept(children, ~is_gone)

    def _kept(self, children: Ints, kept: Array) -> Self:
        """Return some of the nodes, renumbered; leaves lose their features."""
        number = np.cumsum(kept) - 1
        children = np.where(children > 0, number[children], 0)[kept]
        sizes = np.diff(self.starts) * kept
        sizes[np.flatnonzero(kept)[children == 0]] = 0
        is_used = np.repeat(sizes > 0, np.diff(self.starts))
        rest = {name: getattr(self, name)[kept] for name in self._fields[5:]}
        parent = self.parent[kept]
        return self._replace(
            children=children,
            parent=np.where(parent >= 0, number[parent], -1),
            starts=np.concatenate([[0], np.cumsum(sizes[kept])]),
            features=self.features[is_used],
            weights=self.weights[is_used],
            **rest,
        )


class Grower:
    """Grows one tree, top down and node by node, in memory that all nodes share."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        X, rules = plan.sides.X, plan.rules
        n_rows, n_features = len(plan.rows), X.shape[1]
        n_values = int(np.diff(X.indptr)[plan.rows].sum())
        self.rows = Rows(X.indptr, X.indices, X.data, 0.0)
        self.local = node.make_columns(n_rows, n_features, n_values)
        most = min(n_features, n_values) + 1
        self.space = planes.workspace(
            n_rows, most, plan.cv, rules.budget, rules.max_planes
        )
        self.nodes: list[dict[str, Any]] = []

    def grow(self) -> Tree:
        """Return the tree (Algorithm 2, and where it is silent the limits)."""
        waiting = [(self.plan.rows, 0)]
        self._add(self.plan.rows, -1, np.inf)
        for at, (rows, depth) in enumerate(waiting):  # grows while it is read
            if not self._may_split(rows, depth):
                continue
            columns = self._columns(rows)
            is_first, is_wrong, classifiers = self._split(rows, columns, is_even=False)
            if is_first.all() or not is_first.any():
                is_first, is_wrong, classifiers = self._split(
                    rows, columns, is_even=True
                )
            if is_first.all() or not is_first.any():
                continue
            self.nodes[at] |= {"children": len(waiting), **classifiers}
            for chosen in (is_first, ~is_first):
                part = rows[chosen]
                error = self.plan.sides.mass[part][is_wrong[chosen]].sum()
                self._add(part, at, error)
                waiting.append((part, depth + 1))
        return self._tree()

    def _add(self, rows: Ints, parent: int, error: float) -> None:
        """Add a leaf; ``error`` is that of the classifiers above it."""
        mass, side = self.plan.sides.mass[rows], self.plan.sides.side[rows]
        shares = mass[side > 0].sum(), mass[side < 0].sum()
        cv = self.plan.cv
        self.nodes.append(
            {
                "parent": parent,
                "value": (shares[0] - shares[1]) / sum(shares),
                "node_rows": len(rows),
                "rest": min(shares),
                "leaf_error": error,
                "children": 0,
                "features": np.empty(0, np.int64),
                "weights": np.empty((0, cv)),
                "intercept": np.zeros(cv),
            }
        )

    def _may_split(self, rows: Ints, depth: int) -> bool:
        is_positive = self.plan.sides.side[rows] > 0
        is_pure = is_positive.all() or not is_positive.any()
        is_large = len(rows) >= self.plan.min_samples_split
        return bool(is_large and not is_pure and depth < self.plan.max_depth)

    def _columns(self, rows: Ints) -> Columns:
        n_rows, local = len(rows), self.local
        n_columns = decisions.gather_columns(self.rows, rows, local)
        return Columns(n_rows, n_columns, local.indptr, local.indices, local.data)

    def _split(
        self, rows: Ints, columns: Columns, *, is_even: bool
    ) -> tuple[Array, Array, dict[str, Any]]:
        """Learn the classifiers of a node, of both sides evenly or by their weight.

        Return which rows they find positive, which rows the one that did not learn from
        them gets wrong, and the classifiers.
        """
        plan, space, n_rows = self.plan, self.space, len(rows)
        side, mass = plan.sides.side[rows], plan.sides.mass[rows]
        fold = plan.fold[rows] % plan.cv
        is_learnt = (fold != np.arange(plan.cv)[:, None]) | (plan.cv == 1)
        cost = plan.cost * mass
        if is_even:
            shares = [cost[side == s].sum() for s in (-1, 1)]
            cost *= sum(shares) / (2 * np.where(side > 0, shares[1], shares[0]))
        result = planes.solve(columns, side, cost * is_learnt, plan.rules, space)
        found = slice(result.n_features)
        is_positive = space.score[:, :n_rows] + space.free[:, :1] > 0
        is_wrong = is_positive[fold, np.arange(n_rows)] != (side > 0)
        classifiers = {
            "features": self.local.features[space.planes.features[found]],
            "weights": space.total[:, found].T.copy(),
            "intercept": space.free[:, 0].copy(),
        }
        is_first = 2 * is_positive.sum(axis=0) > plan.cv
        return is_first, is_wrong, classifiers

    def _tree(self) -> Tree:
        sizes = [len(one["features"]) for one in self.nodes]
        columns = {
            name: np.array([one[name] for one in self.nodes])
            for name in Tree._fields
            if name not in ("starts", "features", "weights")
        }
        return Tree(
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            features=np.concatenate([one["features"] for one in self.nodes]),
            weights=np.concatenate([one["weights"] for one in self.nodes]),
            **columns,
        )

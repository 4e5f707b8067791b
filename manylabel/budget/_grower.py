"""Growing a tree of budgeted classifiers (Liu & Tsang 2017, section 5)."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from manylabel._kernels.coding_tree import budget as planes
from manylabel._kernels.coding_tree import decisions
from manylabel._kernels.forest.node import make_columns
from manylabel._kernels.linear.separator import Columns
from manylabel._typing import Array, Ints
from manylabel.binary import Sides
from manylabel.budget._voting_nodes import VotingNodes


@dataclass(frozen=True, eq=False)
class Plan:
    """What a tree is grown from: some of the rows, the fold of each, and the limits."""

    sides: Sides
    fold: Ints
    rows: Ints
    cv: int
    settings: planes.PlaneSettings
    cost: float
    max_depth: int
    min_samples_split: int

    def without(self, fold: int) -> Self:
        """Return the plan for the rows but those of a fold, which is left empty."""
        return replace(self, rows=self.rows[self.fold[self.rows] != fold])

    def judges(self, fold: int) -> Ints:
        """Return the rows of a fold."""
        return np.asarray(self.rows[self.fold[self.rows] == fold])


class Grower:
    """Grows one tree, top down and node by node, in memory that all nodes share."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        X, settings = plan.sides.X, plan.settings
        n_rows, n_features = len(plan.rows), X.shape[1]
        n_values = int(np.diff(X.indptr)[plan.rows].sum())
        self.features = decisions.Features(X.indptr, X.indices, X.data, np.float32(1))
        self.local = make_columns(n_rows, n_features, n_values)
        most = min(n_features, n_values) + 1
        self.solver = planes.make_solver(
            n_rows, most, plan.cv, settings.budget, settings.max_planes
        )
        self.nodes: list[dict[str, Any]] = []

    def grow(self) -> VotingNodes:
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
                "n_rows": len(rows),
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
        n_columns = decisions.gather(self.features, rows, local)
        return Columns(n_rows, n_columns, local.indptr, local.indices, local.data)

    def _split(
        self, rows: Ints, columns: Columns, *, is_even: bool
    ) -> tuple[Array, Array, dict[str, Any]]:
        """Learn the classifiers of a node, of both sides evenly or by their weight.

        Return which rows they find positive, which rows the one that did not learn from
        them gets wrong, and the classifiers.
        """
        plan, solver, n_rows = self.plan, self.solver, len(rows)
        side, mass = plan.sides.side[rows], plan.sides.mass[rows]
        fold = plan.fold[rows] % plan.cv
        is_learnt = (fold != np.arange(plan.cv)[:, None]) | (plan.cv == 1)
        cost = plan.cost * mass
        if is_even:
            shares = [cost[side == s].sum() for s in (-1, 1)]
            cost *= sum(shares) / (2 * np.where(side > 0, shares[1], shares[0]))
        result = planes.solve(columns, side, cost * is_learnt, plan.settings, solver)
        found = slice(result.n_features)
        is_positive = solver.score[:, :n_rows] + solver.free[:, :1] > 0
        is_wrong = is_positive[fold, np.arange(n_rows)] != (side > 0)
        classifiers = {
            "features": self.local.features[solver.planes.features[found]],
            "weights": solver.total[:, found].T.copy(),
            "intercept": solver.free[:, 0].copy(),
        }
        is_first = 2 * is_positive.sum(axis=0) > plan.cv
        return is_first, is_wrong, classifiers

    def _tree(self) -> VotingNodes:
        sizes = [len(one["features"]) for one in self.nodes]
        columns = {
            name: np.array([one[name] for one in self.nodes])
            for name in VotingNodes._fields
            if name not in ("starts", "features", "weights")
        }
        return VotingNodes(
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            features=np.concatenate([one["features"] for one in self.nodes]),
            weights=np.concatenate([one["weights"] for one in self.nodes]),
            **columns,
        )

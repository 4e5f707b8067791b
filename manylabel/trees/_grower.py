"""Trees of a forest, one task each."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from manylabel._kernels.forest import growth
from manylabel._typing import CSR, Array, Floats
from manylabel.trees._nodes import Forest, column_type

MOST_ROWS = 1 << 16  # that a split is learnt from: of more, so many at random
BRANCH_ROWS = 1 << 14  # whose features, mostly, a core's cache can hold


@dataclass(frozen=True)
class Plan:
    """What all trees of a forest share."""

    X: CSR
    Y: CSR
    gain: Floats  # of each label
    weight: Floats  # of each row, in the objective of the partition
    mass: Floats  # of each row, in separators and leaves
    cost: float
    bias: float
    leaf_size: int
    labels_per_leaf: int

    def of(self, rows: Array) -> Self:
        """Return the plan for some of the rows."""
        by_row = ("X", "Y", "weight", "mass")
        return replace(self, **{name: getattr(self, name)[rows] for name in by_row})

    def data(self, stub_rows: int = 0) -> growth.Data:
        """Return it as the kernel takes it; small nodes can be left for later."""
        n_labels = self.Y.shape[1]
        return growth.Data(
            n_features=self.X.shape[1],
            x_indptr=self.X.indptr,
            x_indices=self.X.indices,
            x_data=self.X.data,
            y_indptr=self.Y.indptr,
            y_indices=self.Y.indices,
            weight=self.weight,
            mass=self.mass,
            gain=self.gain,
            discount=1 / np.log2(np.arange(n_labels) + 2.0),
            bias=np.float32(self.bias),
            cost=float(self.cost),
            leaf_size=min(int(self.leaf_size), self.X.shape[0]),
            most_rows=MOST_ROWS,
            stub_rows=stub_rows,
            labels_per_leaf=min(int(self.labels_per_leaf), n_labels),
        )


def grow_tree(plan: Plan, seed: np.uint64) -> Forest:
    """Grow one tree; the seed alone tells it from another.

    Of many rows, the trunk is grown first, and then each branch from a copy of its own
    rows: so the rows of a node are near each other in memory, however many there are.
    """
    state = np.array([seed], np.uint64)
    if plan.X.shape[0] <= BRANCH_ROWS:
        return _felled(plan, *_grown(plan, state))
    tree, n_nodes = _grown(plan, state, stub_rows=BRANCH_ROWS)
    trunk = _felled(plan, tree, n_nodes)
    stubs = np.flatnonzero((trunk.children == 0) & (trunk.node_rows <= BRANCH_ROWS))
    branches = []
    for start, end in tree.bounds[stubs]:
        branch = plan.of(np.sort(tree.rows[start:end]))
        branches.append(_felled(branch, *_grown(branch, state)))
    return trunk.grafted(stubs, branches)


def _grown(plan: Plan, state: Array, stub_rows: int = 0) -> tuple[growth.Tree, int]:
    """Return a tree, and how many nodes it has."""
    data, tree = plan.data(stub_rows), _seedling(plan)
    nursery = growth.make_nursery(data)
    n_done, n_nodes = growth.grow(data, tree, 0, 1, state, nursery)
    while n_done < n_nodes:
        tree = _with_more_room(tree, n_done)
        n_done, n_nodes = growth.grow(data, tree, n_done, n_nodes, state, nursery)
    return tree, n_nodes


def _seedling(plan: Plan) -> growth.Tree:
    """Return a root with all rows, and room for what may grow.

    There are at most as many leaves as rows, and as many leaf labels as labels known.
    """
    n_rows = plan.X.shape[0]
    n_nodes = 2 * n_rows + 1
    tree = growth.Tree(
        rows=np.arange(n_rows, dtype=np.int64),
        bounds=np.empty((n_nodes, 2), np.int64),
        children=np.empty(n_nodes, np.int32),
        intercept=np.empty(n_nodes, np.float32),
        w_indptr=np.zeros(n_nodes + 1, np.int64),
        w_indices=np.empty(plan.X.shape[1], np.int32),
        w_data=np.empty(plan.X.shape[1], np.uint16),
        leaf_indptr=np.zeros(n_nodes + 1, np.int64),
        leaf_indices=np.empty(plan.Y.nnz, np.int32),
        leaf_data=np.empty(plan.Y.nnz, np.uint16),
    )
    tree.bounds[0] = 0, n_rows
    return tree


def _with_more_room(tree: growth.Tree, n_done: int) -> growth.Tree:
    used = int(tree.w_indptr[n_done])
    size = 2 * len(tree.w_data) + 1
    return tree._replace(
        w_indices=_enlarged(tree.w_indices, used, size),
        w_data=_enlarged(tree.w_data, used, size),
    )


def _enlarged(array: Array, used: int, size: int) -> Array:
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


def _felled(plan: Plan, tree: growth.Tree, n_nodes: int) -> Forest:
    """Return the nodes alone, in no more memory than they need."""
    n_weights, n_shares = tree.w_indptr[n_nodes], tree.leaf_indptr[n_nodes]
    features = tree.w_indices[:n_weights].astype(column_type(plan.X.shape[1]))
    labels = tree.leaf_indices[:n_shares].astype(column_type(plan.Y.shape[1]))
    return Forest(
        roots=np.array([0, n_nodes]),
        children=tree.children[:n_nodes].copy(),
        intercept=tree.intercept[:n_nodes].copy(),
        node_rows=np.diff(tree.bounds[:n_nodes])[:, 0].astype(np.int32),
        weight_starts=tree.w_indptr[: n_nodes + 1].copy(),
        weight_features=features,
        weight_bits=tree.w_data[:n_weights].copy(),
        leaf_starts=tree.leaf_indptr[: n_nodes + 1].copy(),
        leaf_labels=labels,
        leaf_steps=tree.leaf_data[:n_shares].copy(),
    )

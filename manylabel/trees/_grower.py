"""Trees of a forest, one task each."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from manylabel._kernels import growth
from manylabel._typing import CSR, Array, Floats
from manylabel.trees._nodes import Forest


@dataclass(frozen=True)
class Plan:
    """What all trees of a forest share."""

    X: CSR
    Y: CSR
    gain: Floats  # of each label
    weight: Floats  # of each row, in the objective of the partition
    cost: float
    bias: float
    max_leaf: int
    labels_per_leaf: int

    def data(self) -> growth.Data:
        """Return it as the kernel takes it."""
        n_labels = self.Y.shape[1]
        return growth.Data(
            n_features=self.X.shape[1],
            x_indptr=self.X.indptr,
            x_indices=self.X.indices,
            x_data=self.X.data,
            y_indptr=self.Y.indptr,
            y_indices=self.Y.indices,
            weight=self.weight,
            gain=self.gain,
            discount=1 / np.log2(np.arange(n_labels) + 2.0),
            bias=np.float32(self.bias),
            cost=float(self.cost),
            max_leaf=int(self.max_leaf),
            labels_per_leaf=int(self.labels_per_leaf),
        )


def grow_tree(plan: Plan, seed: np.uint64) -> Forest:
    """Grow one tree; the seed alone tells it from another."""
    data, tree = plan.data(), _seedling(plan)
    state = np.array([seed], np.uint64)
    n_done, n_nodes = growth.grow(data, tree, 0, 1, state)
    while n_done < n_nodes:
        tree = _with_more_room(tree, n_done)
        n_done, n_nodes = growth.grow(data, tree, n_done, n_nodes, state)
    return _felled(plan, tree, n_nodes)


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
        w_data=np.empty(plan.X.shape[1], np.float32),
        leaf_indptr=np.zeros(n_nodes + 1, np.int64),
        leaf_indices=np.empty(plan.Y.nnz, np.int32),
        leaf_data=np.empty(plan.Y.nnz, np.float32),
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
    return Forest(
        roots=np.array([0, n_nodes]),
        children=tree.children[:n_nodes].copy(),
        intercept=tree.intercept[:n_nodes].copy(),
        weights=_csr(
            tree.w_indptr, tree.w_indices, tree.w_data, n_nodes, plan.X.shape[1]
        ),
        leaves=_csr(
            *(tree.leaf_indptr, tree.leaf_indices, tree.leaf_data),
            *(n_nodes, plan.Y.shape[1]),
        ),
    )


def _csr(indptr: Array, indices: Array, data: Array, n_rows: int, width: int) -> CSR:
    end = indptr[n_rows]
    parts = (data[:end].copy(), indices[:end].copy(), indptr[: n_rows + 1].copy())
    return sp.csr_array(parts, shape=(n_rows, width))

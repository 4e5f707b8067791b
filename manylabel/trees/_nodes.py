"""The nodes of a forest as flat arrays."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from manylabel._typing import CSR, Array, Singles


class Forest(NamedTuple):
    """Trees one after another; within a tree, parents before their children.

    Attributes
    ----------
    roots : ndarray of shape (n_trees + 1,)
        Node where each tree starts, and the number of nodes.
    children : ndarray of shape (n_nodes,)
        First child, for scores of 0 and more; the second follows it. 0 in a leaf.
    intercept : ndarray of shape (n_nodes,)
        Of the separators; 0 in a leaf.
    weights : csr_array of shape (n_nodes, n_features)
        Of the separators; features ascend, and so they are summed.
    leaves : csr_array of shape (n_nodes, n_labels)
        Mean gain of each label among the training rows of a leaf, where not 0.
    """

    roots: Array
    children: Array
    intercept: Singles
    weights: CSR
    leaves: CSR

    @classmethod
    def joined(cls, forests: Sequence[Self]) -> Self:
        """Return the trees of several forests, in order."""
        sizes = [len(forest.children) for forest in forests]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        starts = [f.roots[:-1] + o for f, o in zip(forests, offsets, strict=False)]
        children = [
            np.where(f.children > 0, f.children + o, 0)
            for f, o in zip(forests, offsets, strict=False)
        ]
        return cls(
            roots=np.concatenate([*starts, offsets[-1:]]).astype(np.int64),
            children=np.concatenate(children).astype(np.int32),
            intercept=np.concatenate([forest.intercept for forest in forests]),
            weights=_stacked([forest.weights for forest in forests]),
            leaves=_stacked([forest.leaves for forest in forests]),
        )

    def head(self, n_trees: int) -> Self:
        """Return the first trees."""
        n_nodes = int(self.roots[n_trees])
        return type(self)(
            roots=self.roots[: n_trees + 1],
            children=self.children[:n_nodes],
            intercept=self.intercept[:n_nodes],
            weights=_first_rows(self.weights, n_nodes),
            leaves=_first_rows(self.leaves, n_nodes),
        )

    def check(self) -> None:
        """Raise ValueError where a router would leave the arrays or not come home."""
        roots, children = self.roots, self.children
        nodes = np.arange(len(children))
        if len(roots) < 1 or roots[0] != 0 or (np.diff(roots) < 1).any():
            raise ValueError("roots_ must rise from 0.")
        last = np.repeat(roots[1:], np.diff(roots)) - 1
        inner = children != 0
        if not ((children > nodes) & (children < last))[inner].all():
            raise ValueError("children_ must follow their parents within a tree.")
        if not (np.isfinite(self.leaves.data) & (self.leaves.data > 0)).all():
            raise ValueError("leaves_ must hold positive numbers.")


def _stacked(matrices: Sequence[CSR]) -> CSR:
    """Stack CSR arrays; unlike ``scipy.sparse.vstack``, keep the order of entries."""
    n_entries = np.cumsum([0, *(m.nnz for m in matrices)])
    shifted = [m.indptr[1:] + n for m, n in zip(matrices, n_entries, strict=False)]
    width = np.int32 if n_entries[-1] < np.iinfo(np.int32).max else np.int64
    indptr = np.concatenate([[0], *shifted]).astype(width)
    indices = np.concatenate([m.indices for m in matrices]).astype(width)
    data = np.concatenate([m.data for m in matrices])
    return sp.csr_array(
        (data, indices, indptr), (len(indptr) - 1, matrices[0].shape[1])
    )


def _first_rows(matrix: CSR, n_rows: int) -> CSR:
    end = matrix.indptr[n_rows]
    parts = (matrix.data[:end], matrix.indices[:end], matrix.indptr[: n_rows + 1])
    return sp.csr_array(parts, shape=(n_rows, matrix.shape[1]))

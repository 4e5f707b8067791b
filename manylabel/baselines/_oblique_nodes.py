"""The nodes of a tree of hyperplanes, and pruning them by cost complexity."""

from typing import Annotated, NamedTuple, Self

import numpy as np

from manylabel._kernels.coding_tree import votes
from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.persistence.records import (
    Children,
    Columns,
    Field,
    Finite,
    Offsets,
    Within,
)


class ObliqueNodes(NamedTuple):
    """Nodes in the order of growth; the first child of a node takes the rows above."""

    children: Annotated[Ints, Field("int64", "n_nodes", Children("roots"))]
    starts: Annotated[Ints, Field("int64", "n_nodes + 1", Offsets("features"))]
    features: Annotated[Ints, Field("int64", "n_used", Columns("n_features"))]
    weights: Annotated[Floats, Field("float64", "n_used, 1", Finite())]
    intercept: Annotated[Floats, Field("float64", "n_nodes, 1", Finite())]
    value: Annotated[Floats, Field("float64", "n_nodes", Within(-1, 1))]  # mean side
    n_rows: Annotated[Ints, Field("int64", "n_nodes", Finite(1))]

    @property
    def roots(self) -> Ints:
        """The first node, and the number of nodes."""
        return np.array([0, len(self.children)])

    def depth(self) -> Ints:
        """Return the decisions above each node."""
        depth = np.zeros(len(self.children), np.int64)
        for at in np.flatnonzero(self.children):
            depth[self.children[at] : self.children[at] + 2] = depth[at] + 1
        return depth

    def leaves(self, X: CSR) -> Ints:
        """Return the leaf of every row."""
        selected, numbers = np.unique(self.features, return_inverse=True)
        nodes = (self.children, self.starts, numbers, self.weights, self.intercept)
        return np.asarray(votes.descend(X.indptr, X.indices, X.data, selected, nodes))

    def prune(self, X: CSR, side: Array) -> Self:
        """Return the best subtree of the cost-complexity sequence, judged by rows.

        In turn the inner node whose leaves save the fewest training errors each becomes
        a leaf (Breiman et al. 1984, section 3.3). Of the trees on the way the smallest
        of the fewest errors on the rows given is returned.
        """
        held = self._held_errors(X, side)
        missed = np.round(self.n_rows * (1 - np.abs(self.value)) / 2)
        children = self.children.copy()
        fewest, best = np.inf, children
        while True:
            saved, n_leaves, error = _below(children, missed, held)
            if error[0] <= fewest:
                fewest, best = error[0], children.copy()
            inner = np.flatnonzero(_reached(children) & (children > 0))
            if not len(inner):
                return self._keep(best)
            gain = (missed[inner] - saved[inner]) / (n_leaves[inner] - 1)
            children[inner[gain <= gain.min() + 1e-12]] = 0

    def _held_errors(self, X: CSR, side: Array) -> Floats:
        """Return how many of some rows each node gets wrong, if it is a leaf."""
        shape = (len(self.children), 2)
        counts = np.zeros(shape)
        np.add.at(counts, (self.leaves(X), (side > 0).astype(int)), 1)
        for at in np.flatnonzero(self.children)[::-1]:
            counts[at] = counts[self.children[at] : self.children[at] + 2].sum(axis=0)
        return np.where(self.value > 0, counts[:, 0], counts[:, 1])

    def _keep(self, children: Ints) -> Self:
        """Return the nodes that are reached, renumbered; leaves lose their features."""
        kept = _reached(children)
        number = np.cumsum(kept) - 1
        sizes = np.diff(self.starts) * (kept & (children > 0))
        is_used = np.repeat(sizes > 0, np.diff(self.starts))
        return self._replace(
            children=np.where(children > 0, number[children], 0)[kept],
            starts=np.concatenate([[0], np.cumsum(sizes[kept])]),
            features=self.features[is_used],
            weights=self.weights[is_used],
            **{name: getattr(self, name)[kept] for name in self._fields[4:]},
        )


def _reached(children: Ints) -> Array:
    """Return which nodes have a way to them from the root."""
    is_reached = np.zeros(len(children), bool)
    is_reached[0] = True
    for at in np.flatnonzero(children):
        is_reached[children[at] : children[at] + 2] = is_reached[at]
    return is_reached


def _below(children: Ints, missed: Floats, held: Floats) -> tuple[Floats, Ints, Floats]:
    """Return for each node the errors of its leaves, how many, and those held out."""
    missed, held = missed.copy(), held.copy()
    n_leaves = np.ones(len(children), np.int64)
    for at in np.flatnonzero(children)[::-1]:
        pair = slice(children[at], children[at] + 2)
        missed[at], n_leaves[at] = missed[pair].sum(), n_leaves[pair].sum()
        held[at] = held[pair].sum()
    return missed, n_leaves, held

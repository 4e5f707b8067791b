"""The nodes of a tree of budgeted classifiers, and pruning them."""

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


class VotingNodes(NamedTuple):
    """Nodes in the order of growth; the first child of a node takes the positives."""

    children: Annotated[Ints, Field("int64", "n_nodes", Children("roots"))]
    parent: Annotated[Ints, Field("int64", "n_nodes", Columns("n_nodes", -1))]
    starts: Annotated[Ints, Field("int64", "n_nodes + 1", Offsets("features"))]
    features: Annotated[Ints, Field("int64", "n_used", Columns("n_features"))]
    weights: Annotated[Floats, Field("float64", "n_used, n_folds", Finite())]
    intercept: Annotated[Floats, Field("float64", "n_nodes, n_folds", Finite())]
    value: Annotated[Floats, Field("float64", "n_nodes", Within(-1, 1))]  # mean side
    n_rows: Annotated[Ints, Field("int64", "n_nodes", Finite(1))]
    rest: Annotated[Floats, Field("float64", "n_nodes")]  # weight of the smaller side
    # Weight of the rows of a node that the node above gets wrong.
    leaf_error: Annotated[Floats, Field("float64", "n_nodes")]

    @property
    def roots(self) -> Ints:
        """The first node, and the number of nodes."""
        return np.array([0, len(self.children)])

    def own(self, at: int) -> slice:
        """Return the stretch of features of a node."""
        return slice(self.starts[at], self.starts[at + 1])

    def depth(self) -> Ints:
        """Return the decisions above each node."""
        depth = np.zeros(len(self.parent), np.int64)
        for at in range(1, len(depth)):
            depth[at] = depth[self.parent[at]] + 1
        return depth

    def leaves(self, X: CSR) -> Ints:
        """Return the leaf of every row."""
        selected, numbers = np.unique(self.features, return_inverse=True)
        nodes = (self.children, self.starts, numbers, self.weights, self.intercept)
        return np.asarray(votes.descend(X.indptr, X.indices, X.data, selected, nodes))

    def prune(self) -> Self:
        """Return the tree without nodes that err no less than a leaf in their place.

        From the leaves up, a node below the root becomes a leaf if what is below it
        errs no less. What that errs is known by cross-validation (section 5.2). So is
        what the node above errs on the same rows. But it is all of the classifiers
        above that sent the rows here, also those that learnt from them, and the node's
        own classifiers profit from that. So a leaf is held to err no more than its
        smaller side weighs.
        """
        children, error = self.children.copy(), self.leaf_error.copy()
        for at in range(len(children) - 1, 0, -1):
            if children[at]:
                below = error[children[at] : children[at] + 2].sum()
                if below < min(self.leaf_error[at], self.rest[at]):
                    error[at] = below
                else:
                    children[at] = 0
        return self._cut(children)

    def prune_pairs(self) -> Self:
        """Return the tree without pairs of children that err more than their parent.

        This is the paper's rule (section 5.2): both become leaves if the sum of their
        cross-validation errors, each of its own classifiers, is larger than that of the
        node above. A leaf errs what the classifiers above err on its rows.
        """
        children, error = self.children.copy(), self.leaf_error.copy()
        inner = np.flatnonzero(children)
        first = children[inner]
        error[inner] = self.leaf_error[first] + self.leaf_error[first + 1]
        worse = first[error[first] + error[first + 1] > error[inner]]
        children[worse] = children[worse + 1] = 0
        return self._cut(children)

    def _cut(self, children: Ints) -> Self:
        """Return the tree with other children: what has no way from the root goes."""
        is_gone = np.zeros(len(children), bool)
        for at in range(1, len(children)):
            above = self.parent[at]
            is_gone[at] = is_gone[above] or children[above] == 0
        return self._keep(children, ~is_gone)

    def _keep(self, children: Ints, kept: Array) -> Self:
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

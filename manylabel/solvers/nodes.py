"""The nodes of trees of labels as flat arrays."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, NamedTuple, Self

import numpy as np

from manylabel._typing import Array, Floats, Ints, Singles
from manylabel.persistence.records import (
    Ascending,
    Columns,
    Field,
    Finite,
    FiniteHalves,
    Offsets,
    Sizes,
)

MOST_CHILDREN = 1 << 16  # of a node: entries number them by 16 bits
MOST_LEVELS = 1000


class Nodes(NamedTuple):
    """Trees of labels, level by level; node 0 is above their roots and asks nothing.

    Attributes
    ----------
    child_starts : ndarray of shape (n_nodes + 1,)
        First child of each node; children of one node stand side by side, and those of
        the next node follow.
    labels : ndarray of shape (n_nodes,)
        The label of a leaf, -1 in an inner node.
    intercept : ndarray of shape (n_nodes,)
        Of the classifier that leads to a node.
    block_starts : ndarray of shape (n_nodes + 1,)
        Where the block of a node starts: the weights of its children, by feature.
    features : ndarray of shape (n_rows,)
        Features of a block, ascending.
    entry_starts : ndarray of shape (n_rows + 1,)
        Where the weights of a feature of a block start.
    entry_children : ndarray of shape (n_weights,)
        Which child of the node a weight belongs to, from 0.
    entry_bits : ndarray of shape (n_weights,)
        Upper halves of single-precision weights (bfloat16).
    """

    child_starts: Annotated[Ints, Field("int64", "n_nodes + 1", Finite(1))]
    labels: Annotated[Array, Field("int32", "n_nodes", Columns("n_labels", -1))]
    intercept: Annotated[Singles, Field("float32", "n_nodes", Finite())]
    block_starts: Annotated[Ints, Field("int64", "n_nodes + 1", Offsets("features"))]
    features: Annotated[
        Array,
        Field("int32", "n_rows", Columns("n_features"), Ascending("block_starts")),
    ]
    entry_starts: Annotated[
        Array, Field("int32 int64", "n_rows + 1", Offsets("entry_children"))
    ]
    entry_children: Annotated[Array, Field("uint16", "n_weights")]
    entry_bits: Annotated[Array, Field("uint16", "n_weights", FiniteHalves())]

    @property
    def n_nodes(self) -> int:
        """How many nodes there are, with the one above the roots."""
        return len(self.labels)

    @property
    def roots(self) -> range:
        """The roots of the trees."""
        return range(int(self.child_starts[0]), int(self.child_starts[1]))

    @property
    def parents(self) -> Ints:
        """The parent of each node; -1 for node 0."""
        return find_parents(self.child_starts)

    def levels(self) -> list[range]:
        """Return the nodes of each level, from the roots on."""
        return find_levels(self.child_starts)

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if they are no trees, or a label stands in one twice."""
        starts, n_nodes = self.child_starts, self.n_nodes
        if n_nodes < 2 or starts[0] != 1 or starts[-1] != n_nodes:  # noqa: PLR2004
            raise ValueError("nodes_.child_starts must go from 1 to the last node.")
        inner = np.flatnonzero(starts[1:] > starts[:-1])
        if (np.diff(starts) < 0).any() or (starts[inner] <= inner).any():
            raise ValueError("nodes_.child_starts must have children after parents.")
        if len(self.roots) < 1 or (self.labels[0] >= 0):
            raise ValueError("nodes_ must have at least one tree.")
        if (self.labels[inner] >= 0).any():
            raise ValueError("nodes_.labels must be those of leaves.")
        if np.diff(starts).max() > MOST_CHILDREN:
            raise ValueError(f"nodes_ must have at most {MOST_CHILDREN} children each.")
        width = np.repeat(np.diff(starts), np.diff(self.block_starts))
        has = self.entry_starts[1:] > self.entry_starts[:-1]
        firsts = self.entry_starts[:-1][has]
        if (np.maximum.reduceat(self.entry_children, firsts) >= width[has]).any():
            raise ValueError("nodes_.entry_children must be children of the node.")
        leaves = np.flatnonzero(self.labels >= 0)
        keys = self.find_trees()[leaves] * sizes["n_labels"] + self.labels[leaves]
        if len(np.unique(keys)) != len(keys):
            raise ValueError("nodes_.labels must be distinct within a tree.")

    def find_trees(self) -> Ints:
        """Return the root above each node."""
        tree, parents = np.arange(self.n_nodes), self.parents
        for level in self.levels()[1:]:
            tree[level.start : level.stop] = tree[parents[level.start : level.stop]]
        return tree

    def find_shares(self) -> Floats:
        """Return what each tree counts in the mean of their scores.

        A tree without clusters is one-vs-rest, which the others differ from more than
        from each other: it counts as much as all of them together.
        """
        ends = self.child_starts[np.array([*self.roots, self.roots.stop])]
        spans = pairwise(ends)
        flat = np.array([(self.labels[a:b] >= 0).all() for a, b in spans])
        n_flat = np.count_nonzero(flat)
        if n_flat in (0, len(flat)):
            return np.full(len(flat), 1 / len(flat))
        return np.where(flat, 0.5 / n_flat, 0.5 / (len(flat) - n_flat))

    def labels_below(self, node: int) -> Array:
        """Return the labels in or below a node."""
        found, level = [], range(node, node + 1)
        while len(level):
            names = self.labels[level.start : level.stop]
            found.append(names[names >= 0])
            ends = self.child_starts[[level.start, level.stop]]
            level = range(int(ends[0]), int(ends[1]))
        return np.concatenate(found)

    @classmethod
    def joined(cls, trees: Sequence[Self]) -> Self:
        """Return several trees as one record; each is alone below its node 0."""
        if len(trees) == 1:
            return trees[0]
        levels = [[range(1), *tree.levels()] for tree in trees]
        depth = max(map(len, levels))
        order = [
            (t, np.arange(spans[d].start, spans[d].stop))
            for d in range(depth)
            for t, spans in enumerate(levels)
            if d < len(spans) and (d > 0 or t == 0)
        ]
        picked = [_pick(trees[t], nodes) for t, nodes in order]
        n_children = np.concatenate([part[0] for part in picked])
        n_children[0] = len(trees)
        names = ("labels", "intercept", "features", "entry_children", "entry_bits")
        values = {
            name: np.concatenate([part[1][name] for part in picked]) for name in names
        }
        return cls(
            child_starts=_starts(n_children, 1),
            block_starts=_starts(np.concatenate([part[2] for part in picked])),
            entry_starts=narrow(_starts(np.concatenate([part[3] for part in picked]))),
            **values,
        )


def _pick(tree: Nodes, nodes: Ints) -> tuple[Array, dict[str, Array], Array, Array]:
    """Return consecutive nodes: counts of children, values, counts of their blocks."""
    a, b = int(nodes[0]), int(nodes[-1]) + 1
    block = slice(*tree.block_starts[[a, b]])
    entries = slice(*tree.entry_starts[[block.start, block.stop]])
    values = {
        "labels": tree.labels[a:b],
        "intercept": tree.intercept[a:b],
        "features": tree.features[block],
        "entry_children": tree.entry_children[entries],
        "entry_bits": tree.entry_bits[entries],
    }
    n_children = np.diff(tree.child_starts[a : b + 1])
    n_features = np.diff(tree.block_starts[a : b + 1])
    n_entries = np.diff(tree.entry_starts[block.start : block.stop + 1])
    return n_children, values, n_features, n_entries


def find_parents(child_starts: Ints) -> Ints:
    """Return the parent of each node; -1 for node 0."""
    n_nodes = len(child_starts) - 1
    below = np.repeat(np.arange(n_nodes), np.diff(child_starts))
    return np.concatenate([[-1], below])


def find_levels(child_starts: Ints) -> list[range]:
    """Return the nodes of each level below node 0."""
    levels, level = [], range(int(child_starts[0]), int(child_starts[1]))
    while len(level):
        levels.append(level)
        if len(levels) > MOST_LEVELS:
            raise ValueError(f"nodes_ must have at most {MOST_LEVELS} levels.")
        level = range(int(child_starts[level.start]), int(child_starts[level.stop]))
    return levels


def narrow(starts: Ints) -> Array:
    """Return offsets in 32 bits if they fit."""
    fits = starts[-1] < 1 << 31
    return starts.astype(np.int32) if fits else starts


def _starts(counts: Ints, first: int = 0) -> Ints:
    return np.concatenate([[first], first + np.cumsum(counts, dtype=np.int64)])

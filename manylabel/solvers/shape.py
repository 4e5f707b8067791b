"""The shape of a tree of labels: clusters of clusters, then labels."""

from typing import Any, NamedTuple

import numpy as np

from manylabel._typing import Ints
from manylabel.solvers.nodes import (
    MOST_CHILDREN,
    MOST_LEVELS,
    find_levels,
    find_parents,
)

Cluster = list[Any]  # of labels, as int, and of clusters


class Shape(NamedTuple):
    """A tree without weights: see ``Nodes``."""

    child_starts: Ints
    labels: Ints

    @classmethod
    def of(cls, trees: list[Cluster]) -> "Shape":
        """Return nested lists as arrays, node 0 above the roots."""
        level: list[Any] = [[_trimmed(tree) for tree in trees]]
        counts, labels, n_levels = [], [], 0
        while level:
            n_levels += 1
            following: list[Any] = []
            for node in level:
                children = node if isinstance(node, list) else []
                counts.append(len(children))
                labels.append(-1 if isinstance(node, list) else node)
                following += children
            level = following
        _check_size(max(counts), n_levels - 1)
        starts = 1 + np.concatenate([[0], np.cumsum(counts)])
        return cls(starts.astype(np.int64), np.array(labels, np.int64))

    @property
    def parents(self) -> Ints:
        """The parent of each node; -1 for node 0."""
        return find_parents(self.child_starts)

    def count_below(self, counts: Ints) -> Ints:
        """Return how often the labels in or below each node occur.

        Examples
        --------
        >>> Shape.of([[0, [1, 2]]]).count_below(np.array([5, 2, 1])).tolist()
        [8, 8, 5, 3, 2, 1]
        """
        found, parents = (
            np.where(self.labels >= 0, counts[self.labels], 0),
            self.parents,
        )
        for level in find_levels(self.child_starts)[::-1]:
            np.add.at(found, parents[level], found[level])
        return found


def _check_size(n_children: int, n_levels: int) -> None:
    """Refuse trees that are too wide or too deep."""
    if n_children > MOST_CHILDREN:
        raise ValueError(
            f"The tree must have at most {MOST_CHILDREN} labels and clusters below a "
            f"node: ask for more clusters, or give other parents. Got {n_children}."
        )
    if n_levels > MOST_LEVELS:
        raise ValueError(
            f"The tree must have at most {MOST_LEVELS} levels: ask for more clusters, "
            f"or give other parents. Got {n_levels}."
        )


def _trimmed(tree: Cluster) -> Cluster:
    """Return a cluster in which no cluster has another one as its only child."""
    while len(tree) == 1 and isinstance(tree[0], list):
        tree = tree[0]
    stack = [tree]
    while stack:
        cluster = stack.pop()
        for n, child in enumerate(cluster):
            while isinstance(child, list) and len(child) == 1:
                child = child[0]
            cluster[n] = child
            if isinstance(child, list):
                stack.append(child)
    return tree

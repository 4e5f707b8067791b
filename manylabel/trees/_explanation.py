"""Why a forest gives a row its labels."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from manylabel._typing import CSR, Array
from manylabel.explanation import Explanation, Names, Ranked, listed, ranked
from manylabel.trees._nodes import Forest


class Decision(NamedTuple):
    """A node on the way: the row goes to the first child if the score is 0 or more."""

    node: int
    n_rows: int  # training rows that came by
    score: float
    features: Ranked  # what each adds to the score, the largest first


class Path(NamedTuple):
    """The way of the row through one tree."""

    tree: int
    decisions: list[Decision]
    leaf: int
    n_rows: int  # training rows of the leaf
    labels: Ranked  # share of these that have the label, the largest first

    def lines(self, features: Names, labels: Names) -> Iterator[str]:
        """Yield it in words."""
        yield f"tree {self.tree}"
        for decision in self.decisions:
            way = "first" if decision.score >= 0 else "second"
            reasons = listed(decision.features, features, "+") or "the intercept"
            yield (
                f"  {decision.n_rows:,} rows: {decision.score:+.3f}, "
                f"to the {way} child by {reasons}"
            )
        found = listed(self.labels, labels) or "no label"
        yield f"  {self.n_rows:,} rows in the leaf: {found}"


def explain(forest: Forest, row: CSR, leaves: Array, labels: Ranked) -> Explanation:
    """Return the way of a row to its leaves, one in each tree."""
    weights = forest.weights(row.shape[1])
    shares = forest.leaves(int(forest.leaf_labels.max(initial=0)) + 1)
    parents = _parents(forest.children)
    values = row.toarray()[0].astype(np.float64)
    paths, total = [], np.zeros(row.shape[1])
    for tree, leaf in enumerate(leaves.tolist()):
        decisions = []
        for node in _way(parents, leaf):
            used = slice(*weights.indptr[node : node + 2])
            columns = weights.indices[used]
            pushes = weights.data[used] * values[columns]
            total[columns] += np.abs(pushes)
            score = float(pushes.sum() + forest.intercept[node])
            n_rows = int(forest.node_rows[node])
            decisions.append(Decision(node, n_rows, score, ranked(columns, pushes)))
        held = slice(*shares.indptr[leaf : leaf + 2])
        found = ranked(shares.indices[held], shares.data[held])
        paths.append(Path(tree, decisions, leaf, int(forest.node_rows[leaf]), found))
    return Explanation.of(labels, total, paths)


def _parents(children: Array) -> Array:
    parents = np.full(len(children), -1)
    inner = np.flatnonzero(children)
    parents[children[inner]] = inner
    parents[children[inner] + 1] = inner
    return parents


def _way(parents: Array, leaf: int) -> Iterator[int]:
    """Yield the nodes from the root to the leaf, without it."""
    nodes, node = [], int(parents[leaf])
    while node >= 0:
        nodes.append(node)
        node = int(parents[node])
    return reversed(nodes)

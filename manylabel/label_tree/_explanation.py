"""Why a label tree gives a row its labels."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from manylabel._typing import CSR, Array, Ints
from manylabel.explanation import Explanation, Names, Ranked, joined, listed, ranked
from manylabel.solvers.nodes import Nodes

N_NAMED = 3  # labels that a cluster is named by


class Step(NamedTuple):
    """A branch on the way to a label: to a cluster, or to the label."""

    node: int
    labels: list[int]  # most frequent of the cluster, or the label alone
    n_labels: int
    margin: float
    features: Ranked  # what each adds to the margin, the largest first


class Path(NamedTuple):
    """The way of the row to one of its labels in one tree."""

    tree: int
    label: int
    steps: list[Step]

    def lines(self, features: Names, labels: Names) -> Iterator[str]:
        """Yield it in words."""
        yield f"tree {self.tree}, to {joined([self.label], labels)}"
        for step in self.steps:
            what = joined(step.labels, labels)
            if step.n_labels > 1:
                what = f"cluster of {step.n_labels:,} labels ({what}, ...)"
            reasons = listed(step.features, features, "+") or "the intercept"
            yield f"  {what}: {step.margin:+.3f} by {reasons}"


def explain(nodes: Nodes, row: CSR, labels: Ranked, counts: Ints) -> Explanation:
    """Return the way of a row to its best labels in each tree."""
    parents, trees = nodes.parents, nodes.find_trees()
    total, paths = np.zeros(row.shape[1]), []
    leaf_of = {
        (int(trees[leaf]), int(nodes.labels[leaf])): leaf
        for leaf in np.flatnonzero(np.isin(nodes.labels, [name for name, _ in labels]))
    }
    for label, _ in labels:
        for tree, root in enumerate(nodes.roots):
            if (root, label) not in leaf_of:
                continue
            steps, node = [], int(leaf_of[root, label])
            while node != root:
                columns, pushes = _pushes(nodes, parents, node, row)
                total[columns] += np.abs(pushes)
                names = nodes.labels_below(node)
                first = names[np.argsort(-counts[names], kind="stable")][:N_NAMED]
                margin = float(pushes.sum() + nodes.intercept[node])
                why = ranked(columns, pushes)
                steps.append(Step(node, first.tolist(), len(names), margin, why))
                node = int(parents[node])
            paths.append(Path(tree, label, steps[::-1]))
    return Explanation.of(labels, total, paths)


def _pushes(nodes: Nodes, parents: Ints, node: int, row: CSR) -> tuple[Array, Array]:
    """Return the features of a row that speak about a node, and what each adds."""
    above = parents[node]
    block = slice(*nodes.block_starts[above : above + 2])
    features = nodes.features[block]
    _, at, mine = np.intersect1d(features, row.indices, return_indices=True)
    columns, pushes = [], []
    for place, p in zip((at + block.start).tolist(), mine.tolist(), strict=True):
        entries = slice(*nodes.entry_starts[place : place + 2])
        child = nodes.entry_children[entries] == node - nodes.child_starts[above]
        for bits in nodes.entry_bits[entries][child]:
            weight = np.array(int(bits) << 16, np.uint32).view(np.float32)
            columns.append(row.indices[p])
            pushes.append(float(weight) * float(row.data[p]))
    return np.array(columns, np.int64), np.array(pushes, np.float64)

"""Why a forest gives a row its labels."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from manylabel._typing import CSR, Array
from manylabel.trees._nodes import Forest

MOST_NAMED = 5  # features or labels in a line of text
Ranked = list[tuple[int, float]]


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


class Explanation(NamedTuple):
    """The way of one row through all trees.

    Attributes
    ----------
    labels : list of (int, float)
        The best labels and their scores.
    features : list of (int, float)
        Features that decided: the share of each in all that was added up on the way,
        signs aside, the largest first.
    paths : list of Path
        For each tree ``decisions`` (``node``, training ``n_rows`` that came by,
        ``score``, ``features`` with what each adds to it), then the ``leaf``, its
        ``n_rows`` and ``labels``, with the share of these rows that have them.
    """

    labels: Ranked
    features: Ranked
    paths: list[Path]

    def text(
        self, *, feature_names: Any = None, label_names: Any = None, n_trees: int = 3
    ) -> str:
        """Return it in words, with the paths of the first trees.

        Parameters
        ----------
        feature_names, label_names : sequence of str or None, default=None
            Names of the columns; None shows their numbers.
        n_trees : int, default=3
            How many paths to show.

        Returns
        -------
        str
            Several lines.
        """
        lines = [
            f"labels    {_listed(self.labels, label_names)}",
            f"features  {_listed(self.features, feature_names)}",
        ]
        for path in self.paths[:n_trees]:
            lines.append(f"tree {path.tree}")
            for decision in path.decisions:
                way = "first" if decision.score >= 0 else "second"
                reasons = _listed(decision.features, feature_names, sign="+")
                lines.append(
                    f"  {decision.n_rows:,} rows: {decision.score:+.3f}, "
                    f"to the {way} child by {reasons or 'the intercept'}"
                )
            found = _listed(path.labels, label_names) or "no label"
            lines.append(f"  {path.n_rows:,} rows in the leaf: {found}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


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
            ranked = _ranked(columns, pushes)
            decisions.append(Decision(node, int(forest.node_rows[node]), score, ranked))
        held = slice(*shares.indptr[leaf : leaf + 2])
        found = _ranked(shares.indices[held], shares.data[held])
        paths.append(Path(tree, decisions, leaf, int(forest.node_rows[leaf]), found))
    everything = np.arange(row.shape[1])
    features = _ranked(everything, total / max(total.sum(), np.finfo(float).tiny))
    return Explanation(labels, features, paths)


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


def _ranked(columns: Array, values: Array) -> Ranked:
    """Return what is not 0, the largest first."""
    order = np.argsort(-np.abs(values), kind="stable")
    pairs = zip(columns[order].tolist(), values[order].tolist(), strict=True)
    return [(column, value) for column, value in pairs if value != 0]


def _listed(ranked: Ranked, names: Sequence[str] | None, sign: str = "") -> str:
    return ", ".join(
        f"{column if names is None else names[column]} {value:{sign}.3f}"
        for column, value in ranked[:MOST_NAMED]
    )

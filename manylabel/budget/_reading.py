"""A sparse coding tree in words, and in figures."""

from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_scalar

from manylabel._typing import Array, Floats
from manylabel.budget._bounds import bound_leaves
from manylabel.explanation import (
    Explanation,
    Names,
    Node,
    Ranked,
    joined,
    listed,
    named,
    ranked,
)

CONFIDENCE = 0.95  # with which the bound of Theorems 17 and 18 holds


class Nodes(NamedTuple):
    """What is read of a tree."""

    children: Array
    n_rows: Array
    asked: Array
    weights: Any  # csr_array (n_nodes, n_features)
    intercept: Array
    odds: Any  # function of a node and a score
    label_starts: Array
    labels: Array

    def fixed(self, at: int) -> list[int]:
        """Return the labels that a node fixes."""
        found = self.labels[self.label_starts[at] : self.label_starts[at + 1]]
        return [int(label) for label in found]


class Decision(NamedTuple):
    """A node on the way: the row goes to the first child if the score is above 0."""

    node: int
    asked: int  # label, or -1
    n_rows: int  # training rows of the node
    score: float
    chance: float  # of the first child
    features: Ranked  # what each adds to the score, the largest first
    fixed: list[int]  # labels that the child fixes


class Path(NamedTuple):
    """The way of a row through the tree."""

    decisions: list[Decision]
    leaf: int
    n_rows: int  # training rows of the leaf
    labels: list[int]  # of the leaf, ascending

    def lines(self, features: Names, labels: Names) -> Iterator[str]:
        """Yield it in words."""
        for step in self.decisions:
            yield _decision_text(step, features, labels)
        found = joined(self.labels, labels) or "no label"
        yield f"  {self.n_rows:,} rows in the leaf: {found}"


class Diagnostics(NamedTuple):
    """A tree in figures, and what the paper's theorems say of them.

    Attributes
    ----------
    n_leaves : int
        Leaves, one for each distinct labelset.
    depth : int
        Decisions of the longest path.
    mean_decisions : float
        Decisions of a training row, on the way of its true labels.
    entropy : float
        Of the labelsets, in bits.
    margin : float
        Median of the decisions' margins, 1 / length of the weights.
    complexity : float
        Sum of 1 / margin^2 along the path of a row, mean over the training rows: D' of
        Theorems 17 and 18.
    bound : float
        What these theorems allow of errors at most, mean over the training rows, with
        confidence 0.95, if training rows make none; above 1 it says nothing.
    """

    n_leaves: int
    depth: int
    mean_decisions: float
    entropy: float
    margin: float
    complexity: float
    bound: float


def explain(nodes: Nodes, x: Floats, labels: Ranked) -> Explanation:
    """Return the way of a row to its leaf."""
    decisions, total, at = [], np.zeros(len(x)), 0
    given = nodes.fixed(0)
    while nodes.children[at]:
        columns, pushes = _row(nodes.weights, at)
        pushes = pushes * x[columns]
        total[columns] += np.abs(pushes)
        score = float(pushes.sum() + nodes.intercept[at])
        child = int(nodes.children[at]) + (0 if score > 0 else 1)
        decisions.append(
            Decision(
                *(at, int(nodes.asked[at]), int(nodes.n_rows[at]), score),
                *(nodes.odds(at, score), ranked(columns, pushes), nodes.fixed(child)),
            )
        )
        given += nodes.fixed(child)
        at = child
    path = Path(decisions, at, int(nodes.n_rows[at]), sorted(given))
    return Explanation.of(labels, total, [path])


def upper(nodes: Nodes, depth: int | None) -> list[Node]:
    """Return the nodes down to a depth, each before its children."""
    if depth is not None:
        check_scalar(depth, "depth", Integral, min_val=0)
    return list(_descend(nodes, depth))


def _descend(nodes: Nodes, depth: int | None) -> Iterator[Node]:
    waiting = [(0, -1, 0)]
    while waiting:
        at, parent, level = waiting.pop()
        child = int(nodes.children[at])
        yield Node(
            *(at, parent, level, parent >= 0 and at == int(nodes.children[parent])),
            *(int(nodes.n_rows[at]), nodes.fixed(at), int(nodes.asked[at])),
            *(ranked(*_row(nodes.weights, at)), float(nodes.intercept[at]), not child),
        )
        if child and (depth is None or level < depth):
            waiting += [(child + 1, at, level + 1), (child, at, level + 1)]


def outline(nodes: Iterable[Node], features: Names, labels: Names) -> Iterator[str]:
    """Yield a line for each node."""
    for node in nodes:
        branch = "" if node.parent < 0 else "yes: " if node.is_first else "no:  "
        line = f"{'  ' * node.level}{branch}{node.n_rows:,} rows"
        if node.fixed:
            line += f", labels {joined(node.fixed, labels)}"
        if not node.is_leaf:
            reasons = [listed(node.features, features, "+")] * bool(node.features)
            reasons.append(f"{node.intercept:+.3f}")
            line += f": {node.question(labels)} {', '.join(reasons)}"
        yield line


def diagnose(nodes: Nodes, radius: float) -> Diagnostics:
    """Return the figures of a tree whose rows are no longer than ``radius``."""
    inner, share = nodes.children > 0, nodes.n_rows / float(nodes.n_rows[0])
    squares = np.asarray(nodes.weights.multiply(nodes.weights).sum(axis=1)).ravel()
    leaves = bound_leaves(nodes, radius, CONFIDENCE)
    used = squares[inner & (squares > 0)]
    return Diagnostics(
        n_leaves=int((~inner).sum()),
        depth=int(leaves.n_decisions.max()),
        mean_decisions=float(share[inner].sum()),
        entropy=float(-(share * np.log2(share))[~inner].sum() + 0.0),
        margin=float(np.median(used**-0.5)) if len(used) else float("inf"),
        complexity=float((share * squares)[inner].sum()),
        bound=float(np.average(leaves.bound, weights=leaves.n_rows)),
    )


def _row(weights: Any, at: int) -> tuple[Array, Array]:
    used = slice(*weights.indptr[at : at + 2])
    return weights.indices[used], weights.data[used].astype(np.float64)


def _decision_text(step: Decision, features: Names, labels: Names) -> str:
    is_first = step.score > 0
    if step.asked >= 0:
        what = f"{named(step.asked, labels)}? {'yes' if is_first else 'no'}"
    else:
        what = f"to the {'first' if is_first else 'second'} child"
    chance = step.chance if is_first else 1 - step.chance
    reasons = listed(step.features, features, "+") or "the intercept"
    return (
        f"  {step.n_rows:,} rows: {what}, {step.score:+.3f}, chance {chance:.2f}, "
        f"by {reasons}"
    )

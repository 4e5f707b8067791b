"""What the paper's theorems say of a tree (Liu & Tsang 2017, Theorems 5, 17 and 18)."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_scalar

from manylabel._typing import CSR, Array, Floats, Ints
from manylabel.budget._voting_nodes import VotingNodes


class TreeBound(NamedTuple):
    """What Theorem 5 allows of errors at most; above 1 it says nothing.

    Attributes
    ----------
    losses : float
        Sum over leaves and the decisions above them of the mean loss, in margins.
    capacity : float
        The same of ``4 sqrt(tr K) / (n margin)``.
    complexity : float
        The term of the Gaussian complexity.
    deviation : float
        The last term, which is above 1 for any tree and any number of rows.
    total : float
        Their sum, the bound as it is printed.
    weighted : float
        What the same proof gives if a leaf counts its share of the rows. The paper
        leaves that out in its equation 2.
    """

    losses: float
    capacity: float
    complexity: float
    deviation: float
    total: float
    weighted: float


class LeafBounds(NamedTuple):
    """Theorems 17 and 18: an entry for each leaf, that is for each labelset.

    Attributes
    ----------
    leaf : ndarray of int
        The node.
    labels : list of list of int
        Its labelset.
    n_rows : ndarray of int
        Training rows that have it.
    n_decisions : ndarray of int
        Decisions that learn from these rows: N(k).
    complexity : ndarray of float
        Sum of 1 / margin^2 over these decisions: D'.
    bound : ndarray of float
        What the theorems allow of errors at most, if no training row of the labelset,
        and none that comes to its leaf, is wrong; above 1 it says nothing.
    """

    leaf: Ints
    labels: list[list[int]]
    n_rows: Ints
    n_decisions: Ints
    complexity: Floats
    bound: Floats


def check_confidence(confidence: Any) -> None:
    """Refuse what is not between 0 and 1."""
    limits = {"min_val": 0, "max_val": 1, "include_boundaries": "neither"}
    check_scalar(confidence, "confidence", Real, **limits)


def bound_tree(
    tree: VotingNodes, X: CSR, side: Array, confidence: float, constant: float
) -> TreeBound:
    """Return the bound of Theorem 5; ``constant`` is its c."""
    depth, leaf_of = tree.depth(), tree.leaves(X)
    n_rows, d, n_leaves = len(side), int(depth.max()), int(np.sum(tree.children == 0))
    reach = np.log(6 / (1 - confidence)) / 2
    printed, shares, spread = np.zeros(2), 0.0, 0.0
    for leaf in np.unique(leaf_of):
        rows = np.flatnonzero(leaf_of == leaf)
        terms = _leaf_terms(tree, leaf, X[rows], side[rows])
        printed += terms
        shares += terms.sum() * len(rows) / n_rows
        spread += (3 * depth[leaf] + 1) * np.sqrt(reach * len(rows)) / n_rows
    used = X[:, np.unique(tree.features)]
    gaussian = 2 / n_rows * np.sqrt(n_rows + used.power(2).sum())
    complexity, last = 2.5 * constant * d * gaussian, np.sqrt(reach / n_rows)
    deviation = ((3 * d + 1) * np.sqrt(n_rows) * n_leaves + 1) * last
    parts = (*printed, complexity * n_leaves, deviation)
    weighted = shares + complexity + spread + last
    return TreeBound(*map(float, (*parts, sum(parts), weighted)))


def _leaf_terms(tree: VotingNodes, leaf: int, X: CSR, side: Array) -> Floats:
    """Return the sums of the losses and of the capacities over the path to a leaf.

    In margins of 1 / length the loss of Theorem 4 is the hinge of the scores. A row
    should go the way to the leaf; if it is of the other class, not the last decision.
    """
    correct, at = np.where((side > 0) == (tree.value[leaf] > 0), 1, -1), leaf
    losses, capacity = 0.0, 0.0
    while at:
        above = tree.parent[at]
        own, turn = tree.own(above), 1 if at == tree.children[above] else -1
        weights, intercept = (
            tree.weights[own].mean(axis=1),
            tree.intercept[above].mean(),
        )
        used = X[:, tree.features[own]]
        margins = turn * correct * (used @ weights + intercept)
        losses += np.maximum(0, 1 - margins).mean()
        length = np.sqrt(weights @ weights + intercept**2)
        trace = len(side) + used.power(2).sum()
        capacity += 4 * length * np.sqrt(trace) / len(side)
        at, correct = above, np.ones(len(side))
    return np.array([losses, capacity])


def bound_leaves(nodes: Any, radius: float, confidence: float) -> LeafBounds:
    """Return the bounds of Theorems 17 and 18; rows are no longer than ``radius``."""
    squares = np.asarray(nodes.weights.multiply(nodes.weights).sum(axis=1)).ravel()
    n_nodes, n = len(nodes.children), float(nodes.n_rows[0])
    depth, complexity = np.zeros(n_nodes, np.int64), np.zeros(n_nodes)
    labels = [nodes.fixed(at) for at in range(n_nodes)]
    for at in np.flatnonzero(nodes.children):  # parents come before their children
        for child in (nodes.children[at], nodes.children[at] + 1):
            depth[child] = depth[at] + 1
            complexity[child] = complexity[at] + squares[at]
            labels[child] = labels[at] + labels[child]
    leaf = np.flatnonzero(nodes.children == 0)
    terms = complexity[leaf] * np.log2(4 * np.e * n) * np.log2(4 * n)
    terms += depth[leaf] * np.log2(2 * n) + np.log2(2 / (1 - confidence))
    found = [sorted(labels[at]) for at in leaf]
    figures = (nodes.n_rows[leaf], depth[leaf], complexity[leaf])
    return LeafBounds(leaf, found, *figures, 130 * radius**2 / n * terms)

"""The best labels of rows, by beam search in trees of labels."""

from typing import NamedTuple

import numpy as np

from manylabel._kernels.forest.router import Rows
from manylabel._kernels.label_tree import search
from manylabel._kernels.workspace import reused
from manylabel._typing import CSR, Floats, Singles
from manylabel.lists import Lists
from manylabel.solvers.nodes import MOST_CHILDREN, Nodes

LOSSES = {
    "squared_hinge": search.SQUARED_HINGE,
    "log_loss": search.LOG_LOSS,
    "sign": search.SIGN,  # no loss: labels whose path has positive margins, alone
}


class Search(NamedTuple):
    """How labels are searched for."""

    loss: str  # what the classifiers were learnt by, which tells how to read a margin
    beam: int  # nodes of a level that a row goes through
    most: int  # labels of a row that each tree lists
    trust: float = 1.0  # what the logarithm of a cluster's factor counts


def find_labels(
    nodes: Nodes, X: CSR, values: Singles, gain: Singles, how: Search
) -> Lists:
    """Return the best labels of each row by column, and the mean of their scores.

    Parameters
    ----------
    nodes : Nodes
        The trees.
    X : csr_array of shape (n_rows, n_features)
        Rows, whose values do not count.
    values : ndarray
        The values in their place, of rows of unit length if those of ``fit`` were.
    gain : ndarray of shape (n_nodes,)
        Logarithm of what the score of a label is multiplied by, and for an inner node
        of the most below it.
    how : Search
        The loss, the beam, how many labels, and how far clusters are trusted.

    Returns
    -------
    Lists
        Scores above 0; a tree that does not list a label counts as 0.
    """
    rows = Rows(X.indptr, X.indices, values)
    travel = _travel(X.shape[0], how.beam, X.shape[1])
    found = [_find(nodes, rows, root, gain, how, travel) for root in nodes.roots]
    return found[0] if len(found) == 1 else _mean(found, nodes.find_shares())


def find_gain(nodes: Nodes, log_gain: Floats) -> Singles:
    """Return what is added to the scores of labels, and of nodes at most below them."""
    gain = np.full(nodes.n_nodes, -np.inf)
    leaves = nodes.labels >= 0
    gain[leaves] = log_gain[nodes.labels[leaves]]
    for level in reversed(nodes.levels()):
        some = slice(level.start, level.stop)
        np.maximum.at(gain, nodes.parents[some], gain[some])
    return np.where(np.isfinite(gain), gain, 0).astype(np.float32)


def _find(
    nodes: Nodes,
    rows: Rows,
    root: int,
    gain: Singles,
    how: Search,
    travel: search.Travel,
) -> Lists:
    """Return the best labels of each row in one tree."""
    n_rows = len(travel.beam.counts)
    tree, found = search.Nodes(*nodes), _best(n_rows, how.most)
    loss, trust = np.int64(LOSSES[how.loss]), np.float32(how.trust)
    search.search(rows, tree, np.int64(root), gain, loss, trust, travel, found)
    indptr = np.zeros(n_rows + 1, np.int64)
    np.cumsum(found.counts, out=indptr[1:])
    labels, scores = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    search.write_lists(found, labels, scores)
    return Lists(indptr, labels, scores)


@reused
def _travel(n_rows: int, beam: int, n_features: int) -> search.Travel:
    return search.Travel(
        beam=_best(n_rows, beam),
        following=_best(n_rows, beam),
        pairs=np.empty(n_rows * beam, np.int64),
        place=np.full(n_features, -1, np.int32),
        margin=np.empty(MOST_CHILDREN, np.float32),
    )


def _best(n_rows: int, capacity: int) -> search.Best:
    return search.Best(
        np.zeros(n_rows, np.int64),
        np.empty((n_rows, capacity), np.float32),
        np.empty((n_rows, capacity), np.int32),
    )


def _mean(found: list[Lists], shares: Floats) -> Lists:
    """Return the labels of all lists, and the weighted mean of their values."""
    n_rows = len(found[0].indptr) - 1
    rows = [np.repeat(np.arange(n_rows), np.diff(part.indptr)) for part in found]
    values = [share * p.values for share, p in zip(shares, found, strict=True)]
    row, label, value = (
        np.concatenate(parts) for parts in (rows, [p.labels for p in found], values)
    )
    keys, place = np.unique(row * (1 << 32) + label, return_inverse=True)
    total = np.bincount(place, value, len(keys)).astype(np.float32)
    indptr = np.searchsorted(keys, np.arange(n_rows + 1) * (1 << 32))
    return Lists(indptr, (keys & ((1 << 32) - 1)).astype(np.int32), total)

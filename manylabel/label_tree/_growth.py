"""New labels in trees that are there already."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from manylabel._typing import Array, Ints, Singles
from manylabel.solvers import linear
from manylabel.solvers.background import add_background
from manylabel.solvers.levels import (
    Block,
    Lesson,
    assemble,
    gather_rows,
    make_block,
)
from manylabel.solvers.nodes import MOST_CHILDREN, Nodes
from manylabel.solvers.search import Search, find_labels
from manylabel.solvers.shape import Shape


def add_leaves(
    nodes: Nodes, lesson: Lesson, new: Ints, gain: Singles, how: Search
) -> Nodes:
    """Return the trees with leaves for new labels.

    In each tree a label goes beside the known label that most of its rows are led to,
    and is learnt on the rows that have a label below the same node, and on the
    background; all else stays.
    """
    listed = find_labels(nodes, lesson.X, lesson.X.data, gain, how)
    led_to = np.full(lesson.X.shape[0], -1)
    has = np.flatnonzero(np.diff(listed.indptr))
    led_to[has] = listed.labels[listed.indptr[has]]
    homes = _homes(nodes, lesson, new, led_to)
    blocks = {n: read_block(nodes, n) for n in np.flatnonzero(nodes.labels < 0)[1:]}
    for home in np.unique(homes[homes >= 0]):
        fresh = new[(homes == home).any(axis=0)]
        blocks[home] = _widened(blocks[home], _fit_fresh(nodes, home, fresh, lesson))
    shape = _grown(nodes, new, homes)
    # Leaves come after their siblings, so inner nodes stay in the same order.
    inner = np.flatnonzero(shape.labels < 0)[1:]
    return assemble(shape, dict(zip(inner.tolist(), blocks.values(), strict=True)))


def _homes(nodes: Nodes, lesson: Lesson, new: Ints, led_to: Ints) -> Ints:
    """Return, for each tree, the node that each new label goes below."""
    by_label, parents, trees = lesson.Y.tocsc(), nodes.parents, nodes.find_trees()
    homes = np.full((len(nodes.roots), len(new)), -1)
    for t, root in enumerate(nodes.roots):
        leaves = np.flatnonzero((nodes.labels >= 0) & (trees == root))
        home_of = dict(zip(nodes.labels[leaves].tolist(), parents[leaves], strict=True))
        for n, label in enumerate(new):
            rows = by_label.indices[slice(*by_label.indptr[label : label + 2])]
            votes: dict[int, int] = {}
            for known in led_to[rows].tolist():
                home = int(home_of.get(known, root))
                votes[home] = votes.get(home, 0) + 1
            homes[t, n] = max(votes, key=lambda home: (votes[home], -home))
    width = np.diff(nodes.child_starts) + np.bincount(
        homes.ravel(), minlength=nodes.n_nodes
    )
    if width.max() > MOST_CHILDREN:
        raise ValueError(f"Y must not bring a node to over {MOST_CHILDREN} labels.")
    return homes


def _fit_fresh(nodes: Nodes, home: int, fresh: Ints, lesson: Lesson) -> Block:
    """Return the classifiers of new labels below a node."""
    wanted = np.zeros(lesson.Y.shape[1], np.bool_)
    wanted[np.concatenate([nodes.labels_below(home), fresh])] = True
    has = np.add.reduceat(
        np.append(wanted[lesson.Y.indices], False), lesson.Y.indptr[:-1]
    )
    is_below = (has > 0) & (np.diff(lesson.Y.indptr) > 0)
    rows = np.flatnonzero(is_below | (home in nodes.roots))
    rows, weights = add_background(rows, lesson.background, lesson.row_weight)
    X, features = gather_rows(lesson.X, rows)
    by_child = sp.csc_array(lesson.Y.tocsc()[:, fresh].tocsr()[rows].tocsc())
    fitted = linear.fit_columns(
        X, by_child, lesson.settings, lesson.seed, row_weight=weights
    )
    return make_block(fitted, features, len(fresh))


def read_block(nodes: Nodes, node: int) -> Block:
    """Return the classifiers of the children of a node."""
    block = slice(*nodes.block_starts[node : node + 2])
    entries = slice(*nodes.entry_starts[[block.start, block.stop]])
    return Block(
        intercept=nodes.intercept[slice(*nodes.child_starts[node : node + 2])],
        features=nodes.features[block],
        counts=np.diff(nodes.entry_starts[block.start : block.stop + 1]),
        children=nodes.entry_children[entries],
        bits=nodes.entry_bits[entries],
        n_late=0,
    )


def _widened(known: Block, fresh: Block) -> Block:
    """Return a block with further children."""
    n_known = len(known.intercept)
    feature = np.concatenate([np.repeat(b.features, b.counts) for b in (known, fresh)])
    child = np.concatenate([known.children, fresh.children.astype(np.int64) + n_known])
    order = np.lexsort((child, feature))
    features, counts = np.unique(feature, return_counts=True)
    return Block(
        intercept=np.concatenate([known.intercept, fresh.intercept]),
        features=features,
        counts=counts,
        children=child[order].astype(np.uint16),
        bits=np.concatenate([known.bits, fresh.bits])[order],
        n_late=0,
    )


def _grown(nodes: Nodes, new: Ints, homes: Array) -> Shape:
    """Return the shape of the trees with further leaves."""
    tree: dict[int, Any] = {n: [] for n in np.flatnonzero(nodes.labels < 0).tolist()}
    parents = nodes.parents
    for node in range(1, nodes.n_nodes):
        child = tree.get(node, int(nodes.labels[node]))
        tree[int(parents[node])].append(child)
    for n, label in enumerate(new.tolist()):
        for home in homes[:, n].tolist():
            tree[home].append(label)
    return Shape.of([tree[root] for root in nodes.roots])

"""Trees of labels from classifiers that were learnt apart."""

import numpy as np

from manylabel._kernels.label_tree.blocks import (
    CHUNK,
    BlockRows,
    ColumnBits,
    FeatureCounts,
    index_blocks,
)
from manylabel._typing import Ints
from manylabel.solvers.columns import Columns
from manylabel.solvers.levels import NEVER, shorten
from manylabel.solvers.nodes import Nodes, narrow
from manylabel.solvers.shape import Shape

ABOVE = 2  # nodes of a tree that have no classifier: the root, and the one above it


def assemble_columns(shape: Shape, columns: Columns, order: Ints) -> Nodes:
    """Return a tree, with the bits of one that was learnt node by node.

    Parameters
    ----------
    shape : Shape
        Its clusters.
    columns : Columns
        Classifiers, perhaps those of other trees too.
    order : ndarray of shape (n_nodes,)
        Which of these leads to each node; the first two nodes have none.

    Returns
    -------
    Nodes
        The tree.
    """
    n_features = int(columns.features.max(initial=-1)) + 1
    counted = FeatureCounts(
        np.zeros(n_features, np.int32),
        np.zeros(n_features // CHUNK + 1, np.bool_),
        np.zeros(n_features, np.int64),
    )
    weights = ColumnBits(columns.starts, columns.features, shorten(columns.weights))
    n_rows = np.zeros(len(shape.labels), np.int64)
    given = weights, order, shape.child_starts, counted, n_rows
    n_entries = index_blocks(*given, _blank(0, 0))
    out = _blank(int(n_rows.sum()), n_entries)
    index_blocks(*given, out)
    never = columns.n_iter[order[ABOVE:]] == 0
    intercept = np.zeros(len(shape.labels), np.float32)
    intercept[ABOVE:] = columns.intercept[order[ABOVE:]]
    intercept[ABOVE:][never] = NEVER
    return Nodes(
        child_starts=shape.child_starts,
        labels=shape.labels.astype(np.int32),
        intercept=intercept,
        block_starts=np.concatenate([[0], np.cumsum(n_rows)]),
        features=out.features,
        entry_starts=narrow(out.starts),
        entry_children=out.children,
        entry_bits=out.bits,
    )


def _blank(n_rows: int, n_entries: int) -> BlockRows:
    return BlockRows(
        np.empty(n_rows, np.int32),
        np.zeros(n_rows + 1, np.int64),
        np.empty(n_entries, np.uint16),
        np.zeros(n_entries, np.uint16),
    )

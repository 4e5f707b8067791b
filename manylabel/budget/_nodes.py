"""The nodes of a sparse coding tree: what is learnt, and how it is kept."""

from typing import Annotated, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.coding_tree import chains
from manylabel._kernels.coding_tree.annotation import Shape
from manylabel._kernels.coding_tree.decisions import Decisions
from manylabel._typing import CSR, Array, Ints, Singles
from manylabel.persistence.records import (
    Ascending,
    Children,
    Columns,
    Field,
    Finite,
    Number,
    Offsets,
    Sizes,
)

TABLE = 1 << 22  # weights of a tree that are looked up in a dense table, zeros too


class CodingNodes(NamedTuple):
    """Nodes, parents before children; above score 0 a row goes to the first child."""

    children: Annotated[Array, Field("int32", "n_nodes", Children("roots"))]
    n_rows: Annotated[Array, Field("int32", "n_nodes", Finite(1))]  # in training
    asked: Annotated[Array, Field("int32", "n_nodes", Columns("n_labels", -1))]
    intercept: Annotated[Array, Field("float32", "n_nodes", Finite())]
    # Features that have weights, and the weights of a node by numbers within these.
    selected: Annotated[
        Array, Field("int64", "n_selected", Columns("n_features"), Ascending())
    ]
    w_indptr: Annotated[Array, Field("int64", "n_nodes + 1", Offsets("w_indices"))]
    w_indices: Annotated[
        Array, Field("int32", "n_weights", Columns("n_selected"), Ascending("w_indptr"))
    ]
    w_data: Annotated[Array, Field("float32", "n_weights", Finite())]
    # Labels that a node fixes; a row gets those of all nodes on its way.
    f_indptr: Annotated[Array, Field("int64", "n_nodes + 1", Offsets("f_indices"))]
    f_indices: Annotated[Array, Field("int32", "n_fixed", Columns("n_labels"))]
    # Log-odds of the first child are slope * score + shift.
    slope: Annotated[float, Number()]
    shift: Annotated[Array, Field("float32", "n_nodes", Finite())]

    @property
    def roots(self) -> Ints:
        """The first node, and the number of nodes."""
        return np.array([0, len(self.children)])

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if a label is fixed twice on the way to a node."""
        has, waiting = np.zeros(sizes["n_labels"], np.bool_), [0]
        while waiting:
            at = waiting.pop()
            is_done, node = at < 0, ~at if at < 0 else at
            labels = self.f_indices[self.f_indptr[node] : self.f_indptr[node + 1]]
            if is_done:
                has[labels] = False
                continue
            if has[labels].any() or len(set(labels.tolist())) < len(labels):
                raise ValueError("tree_.f_indices must name a label once on a path.")
            has[labels] = True
            child = int(self.children[node])
            waiting += [~node, child, child + 1] if child else [~node]

    def weights(self, n_features: int) -> CSR:
        """Return the weights of the decisions, shape (n_nodes, n_features)."""
        parts = (self.w_data, self.selected[self.w_indices], self.w_indptr)
        return sp.csr_array(parts, shape=(len(self.children), n_features))


class Annotator(NamedTuple):
    """Nodes as chains, and the labels of the largest labelset."""

    chains: chains.Chains
    most_labels: int

    def annotate(self, X: CSR) -> tuple[Array, Array]:
        """Return where the labels of each row start, and the labels, ascending."""
        rows = (X.indptr, X.indices, X.data)
        starts, labels = chains.annotate(*rows, self.chains, self.most_labels)
        return starts, labels


def join(shape: Shape, found: Decisions) -> CodingNodes:
    """Return the nodes of a tree; leaves have no weights."""
    inner = shape.children > 0
    intercept = np.zeros(len(inner), np.float32)
    intercept[inner] = found.intercept
    n_weights = np.zeros(len(inner) + 1, np.int64)
    n_weights[1:][inner] = np.diff(found.w_indptr)
    selected, numbers = np.unique(found.w_indices.astype(np.int64), return_inverse=True)
    return CodingNodes(
        children=shape.children,
        n_rows=np.ptp(shape.bounds, axis=1).astype(np.int32),
        asked=shape.asked,
        intercept=intercept,
        selected=selected,
        w_indptr=np.cumsum(n_weights),
        w_indices=numbers.astype(np.int32),
        w_data=found.w_data,
        f_indptr=shape.f_indptr,
        f_indices=shape.f_indices,
        slope=1.0,
        shift=np.zeros(len(inner), np.float32),
    )


def link(tree: CodingNodes, n_features: int, n_labels: int) -> Annotator:
    """Return the nodes as chains."""
    n_nodes, n_selected = len(tree.children), len(tree.selected)
    place, end, other = np.zeros((3, n_nodes), np.int32)
    column, fixed = np.zeros(n_nodes + 1, np.int64), np.diff(tree.f_indptr)
    layout = place, end, other, column
    most = chains.lay_out(tree.children, tree.intercept, fixed, *layout)
    node = np.argsort(place)
    parts = (tree.w_data, tree.w_indices, tree.w_indptr)
    by_place = sp.csr_array(parts, shape=(n_nodes, n_selected))[node]
    weights = by_place.tocsc()
    parts = (tree.f_indices, tree.f_indices, tree.f_indptr)
    labels = sp.csr_array(parts, shape=(n_nodes, n_labels))[node]
    table = np.full(n_features, -1, np.int32)
    table[tree.selected] = np.arange(n_selected)
    intercept = tree.intercept[node]
    nodes = chains.Chains(
        *(end, other, intercept, labels.indptr, labels.indices, table),
        *(weights.indptr, weights.indices, weights.data),
        *(by_place.indptr, by_place.indices, by_place.data),
        *(column[:-1], *_tabulate(by_place, intercept, end, column)),
    )
    return Annotator(nodes, int(most))


def _tabulate(
    by_place: CSR, intercept: Singles, end: Array, column: Ints
) -> tuple[Singles, Singles]:
    """Return intercepts and weights by blocks of columns; no weights if too many."""
    n_nodes, n_selected = by_place.shape
    n_blocks = -(-column[-1] // chains.BLOCK)
    if n_blocks * n_selected * chains.BLOCK > TABLE:
        return np.empty(0, np.float32), np.empty(0, np.float32)
    places = np.arange(n_nodes)
    is_head = np.concatenate([[True], end[1:] != end[:-1]])
    head = np.maximum.accumulate(np.where(is_head, places, 0))
    own, is_inner = column[head] + places - head, places < end
    intercepts = np.zeros(n_blocks * chains.BLOCK, np.float32)
    intercepts[own[is_inner]] = intercept[is_inner]
    weights = np.zeros((n_blocks, n_selected, chains.BLOCK), np.float32)
    at = np.repeat(own, np.diff(by_place.indptr))
    weights[at // chains.BLOCK, by_place.indices, at % chains.BLOCK] = by_place.data
    return intercepts, weights.reshape(-1)

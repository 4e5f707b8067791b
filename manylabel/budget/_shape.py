"""The shape of a sparse coding tree: it follows from the labels alone."""

import numpy as np

from manylabel._kernels.coding_tree import annotation, huffman
from manylabel._kernels.coding_tree.annotation import Shape
from manylabel._typing import CSR, Ints
from manylabel.lists import find_labelsets


def annotation_shape(Y: CSR) -> Shape:
    """Return a tree that asks for the most frequent working label first.

    Of labels equally frequent in a node, the one more frequent among all rows is asked,
    then the one whose rows come earlier: the order of the columns does not matter.
    """
    order = _by_frequency(Y)
    ranked = Y[:, order]
    n_rows, n_nodes = Y.shape[0], 2 * Y.shape[0]
    shape = Shape(
        rows=np.arange(n_rows),
        bounds=np.empty((n_nodes, 3), np.int64),
        children=np.empty(n_nodes, np.int32),
        asked=np.empty(n_nodes, np.int32),
        f_indptr=np.zeros(n_nodes + 1, np.int64),
        f_indices=np.empty(Y.nnz, np.int32),
    )
    used = annotation.grow(ranked.indptr, ranked.indices.copy(), Y.shape[1], shape)
    asked, fixed = shape.asked[:used], shape.f_indices[: shape.f_indptr[used]]
    return Shape(
        rows=shape.rows,
        bounds=shape.bounds[:used].copy(),
        children=shape.children[:used].copy(),
        asked=np.where(asked < 0, -1, order[asked]).astype(np.int32),
        f_indptr=shape.f_indptr[: used + 1].copy(),
        f_indices=order[fixed].astype(np.int32),
    )


def powerset_shape(Y: CSR) -> Shape:
    """Return Huffman's tree of the distinct labelsets.

    Of equally frequent labelsets the one seen last is merged first.
    """
    member, first, counts = find_labelsets(Y)
    n_sets = len(counts)
    order = np.lexsort((-first, counts))
    pairs = np.empty((n_sets - 1, 2), np.int64)
    total = np.empty(n_sets - 1, np.int64)
    huffman.merge(counts[order], pairs, total)
    children, leaf = (np.empty(2 * n_sets - 1, np.int32) for _ in range(2))
    bounds = np.empty((2 * n_sets - 1, 3), np.int64)
    huffman.lay_out(counts[order], total, pairs, children, bounds, leaf)
    ends = leaf >= 0
    sets = np.empty(n_sets, np.int64)  # of the leaves, in the order of their nodes
    sets[:] = order[leaf[ends]]
    start = np.empty(n_sets, np.int64)
    start[sets] = bounds[ends, 0]
    members = Y[first[sets]]
    n_fixed = np.zeros(len(children) + 1, np.int64)
    n_fixed[1:][ends] = np.diff(members.indptr)
    return Shape(
        rows=np.argsort(start[member], kind="stable"),
        bounds=bounds,
        children=children,
        asked=np.full(len(children), -1, np.int32),
        f_indptr=np.cumsum(n_fixed),
        f_indices=members.indices.astype(np.int32),
    )


def _by_frequency(Y: CSR) -> Ints:
    """Return the labels, most frequent first, of equals that whose rows are earlier."""
    columns = Y.tocsc()
    rows = columns.indices.astype(">i8")  # big-endian bytes sort as the numbers do
    bounds = zip(columns.indptr[:-1], columns.indptr[1:], strict=True)
    keys = [(start - end, rows[start:end].tobytes()) for start, end in bounds]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__))

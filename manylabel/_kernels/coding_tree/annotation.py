"""The shape of an annotation tree: which label each node asks for, and of which rows.

Most frequent working label first (Liu & Tsang 2017, Algorithm 4). The shape depends on
the labels alone: rows go where their true labels send them. A label that all rows of a
node have (the One set) is fixed there and taken from the lists of these rows; one that
none has (the Zero set) is in no list. So the lists hold the working labels, and a node
whose lists are empty is a leaf, one for each distinct labelset.
"""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels._jit import inner, kernel


class Shape(NamedTuple):
    """Nodes, parents before children, written in place."""

    rows: Any  # (n_rows,) permutation; a node is a stretch of it
    bounds: Any  # (n_nodes, 3) of the stretch; the rows of the first child come first
    children: Any  # (n_nodes,) the first child, the second follows; 0 in a leaf
    asked: Any  # (n_nodes,) label that the rows of the first child have; -1 in a leaf
    f_indptr: Any  # (n_nodes + 1,) labels fixed at a node, not above it
    f_indices: Any


class WorkingLabels(NamedTuple):
    """Labels still to be asked for, and memory that every node uses again."""

    end: Any  # (n_rows,) where the working labels of a row end
    count: Any  # (n_labels,) rows of the node that have the label; 0 between nodes
    met: Any  # (n_labels,) working labels of the node
    passed: Any  # (n_rows,) rows on their way to the second child


def grow(y_indptr, y_indices, n_labels, shape):
    """Grow the tree; return how many nodes it has.

    Of labels as frequent as each other the lowest column is asked. ``y_indices`` are
    permuted within their rows.
    """
    working = WorkingLabels(
        y_indptr[1:].astype(np.int64),
        np.zeros(n_labels, np.int64),
        np.empty(n_labels, np.int64),
        np.empty_like(shape.rows),
    )
    return _grow(y_indptr, y_indices, shape, working)


@kernel
def _grow(y_indptr, y_indices, shape, working):
    n_nodes, at = 1, np.int64(0)
    shape.bounds[0, 0], shape.bounds[0, 2] = 0, shape.rows.shape[0]
    while at < n_nodes:
        label = _fix_labels(y_indptr, y_indices, at, shape, working)
        shape.asked[at], shape.children[at] = label, 0
        start, end = shape.bounds[at, 0], shape.bounds[at, 2]
        middle = end
        if label >= 0:
            middle = _send_rows(label, y_indptr, y_indices, start, end, shape, working)
            shape.children[at] = n_nodes
            shape.bounds[n_nodes, 0], shape.bounds[n_nodes, 2] = start, middle
            shape.bounds[n_nodes + 1, 0], shape.bounds[n_nodes + 1, 2] = middle, end
            n_nodes += 2
        shape.bounds[at, 1] = middle
        at += 1
    return n_nodes


@inner
def _fix_labels(y_indptr, y_indices, at, shape, working):
    """Fix the labels that all rows of a node have; return the one to ask for, or -1."""
    start, end = shape.bounds[at, 0], shape.bounds[at, 2]
    count, met, n_met = working.count, working.met, 0
    for r in range(start, end):
        row = shape.rows[r]
        for p in range(y_indptr[row], working.end[row]):
            label = y_indices[p]
            if count[label] == 0:
                met[n_met] = label
                n_met += 1
            count[label] += 1
    n_fixed, asked = shape.f_indptr[at], -1
    for n in range(n_met):
        label = met[n]
        if count[label] == end - start:
            shape.f_indices[n_fixed] = label
            n_fixed += 1
        elif asked < 0 or (-count[label], label) < (-count[asked], asked):
            asked = label
    if n_fixed > shape.f_indptr[at]:  # take these from the working ones of each row
        for r in range(start, end):
            row = shape.rows[r]
            p, last = np.int64(y_indptr[row]), working.end[row]
            while p < last:
                if count[y_indices[p]] == end - start:
                    last -= 1
                    y_indices[p], y_indices[last] = y_indices[last], y_indices[p]
                else:
                    p += 1
            working.end[row] = last
    shape.f_indptr[at + 1] = n_fixed
    for n in range(n_met):
        count[met[n]] = 0
    return asked


@inner
def _send_rows(label, y_indptr, y_indices, start, end, shape, working):
    """Bring the rows that have the label to the front; return where others start."""
    rows, passed, middle, n_passed = shape.rows, working.passed, start, 0
    for r in range(start, end):
        row, has = rows[r], False
        for p in range(y_indptr[row], working.end[row]):
            has = has or y_indices[p] == label
        if has:
            rows[middle] = row
            middle += 1
        else:
            passed[n_passed] = row
            n_passed += 1
    for n in range(n_passed):
        rows[middle + n] = passed[n]
    return middle

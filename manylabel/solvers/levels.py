"""The classifiers of a tree of labels, level by level."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from manylabel import parallel
from manylabel._kernels.csr import with_full_rows
from manylabel._kernels.forest.router import Rows
from manylabel._kernels.label_tree.rows import gather
from manylabel._kernels.workspace import reused
from manylabel._typing import CSR, Array, Floats, Ints, Singles
from manylabel._warning import warn
from manylabel.solvers import linear
from manylabel.solvers.background import add_background
from manylabel.solvers.lanes import Fitted
from manylabel.solvers.nodes import Nodes, find_levels, narrow
from manylabel.solvers.shape import Shape

UPPER = np.uint32(16)
NEVER = -10.0  # margin of a child that no row has, as when some rows are held out


class Lesson(NamedTuple):
    """What all nodes learn from."""

    X: CSR  # rows of unit length, if so asked
    Y: CSR
    row_weight: Floats | None
    positive_weight: Floats | None  # of a row that has a label, label by label
    settings: linear.Settings
    seed: np.uint64
    background: Ints  # rows that the labels of every node are also told from


class Block(NamedTuple):
    """The classifiers of the children of one node, by feature."""

    intercept: Singles
    features: Array
    counts: Ints  # weights of each feature
    children: Array
    bits: Array
    n_late: int  # children whose classifier did not converge


class Members(NamedTuple):
    """The rows of nodes: those that have a label below it; of the root, all rows."""

    indptr: Ints
    rows: Ints

    def of(self, number: int) -> Ints:
        """Return the rows of a node."""
        return self.rows[self.indptr[number] : self.indptr[number + 1]]


def fit_trees(shapes: list[Shape], lesson: Lesson, n_jobs: int | None) -> Nodes:
    """Return the trees with their classifiers; warn if some did not converge."""
    fitted = []
    for number, shape in enumerate(shapes, 1):
        with parallel.stage(f"tree {number} of {len(shapes)}", 1 / len(shapes)):
            fitted.append(_fit_nodes(shape, lesson, n_jobs))
    warn_of_late(sum(late for _, late in fitted), lesson.settings.max_iter)
    return Nodes.joined([nodes for nodes, _ in fitted])


def warn_of_late(n_late: int, max_iter: int) -> None:
    """Warn if classifiers did not converge."""
    if n_late:
        warn(
            f"{n_late} classifiers did not converge in {max_iter} passes: raise tol, "
            "or scale the features.",
            ConvergenceWarning,
        )


def _fit_nodes(shape: Shape, lesson: Lesson, n_jobs: int | None) -> tuple[Nodes, int]:
    """Return the tree with its classifiers, and how many did not converge.

    Those of a node's children are learnt on the rows of the node (teacher forcing), and
    on the background.
    """
    levels = find_levels(shape.child_starts)
    blocks: dict[int, Block] = {}
    for number, (level, below) in enumerate(pairwise(levels), 1):
        with parallel.stage(f"level {number}", 1 / (len(levels) - 1)):
            blocks |= _fit_level(shape, level, below, lesson, n_jobs)
    return assemble(shape, blocks), sum(block.n_late for block in blocks.values())


class Level(NamedTuple):
    """A level of a tree: the rows of its nodes, and those of their children."""

    first: int  # node
    nodes: Members
    children: Members
    positive_weight: Floats | None  # of the rows of each child


def find_level(shape: Shape, level: range, below: range, lesson: Lesson) -> Level:
    """Return the rows of a level, and of the one below it."""
    child_of = _node_of_label(shape, below, lesson.Y.shape[1])
    node_of = np.where(child_of >= 0, shape.parents[child_of], -1)
    children = _members(lesson.Y, child_of, below)
    nodes = _members(lesson.Y, node_of, level)
    if level.start == 1:  # the root: rows without labels speak against all of them
        n_rows = lesson.Y.shape[0]
        nodes = Members(np.array([0, n_rows]), np.arange(n_rows))
    heavy = _positive_weight(lesson, child_of, below)
    return Level(level.start, nodes, children, heavy)


def _fit_level(
    shape: Shape, level: range, below: range, lesson: Lesson, n_jobs: int | None
) -> dict[int, Block]:
    """Return the block of each inner node of a level."""
    found = find_level(shape, level, below, lesson)
    inner = [n for n in level if shape.child_starts[n] < shape.child_starts[n + 1]]
    # The largest first, so that no thread is left with one at the end.
    n_pairs = {
        n: len(found.nodes.of(n - level.start))
        * int(shape.child_starts[n + 1] - shape.child_starts[n])
        for n in inner
    }
    inner.sort(key=lambda n: -n_pairs[n])
    inside = n_jobs if len(inner) == 1 else None
    spans = [shape.child_starts[n : n + 2] - below.start for n in inner]
    tasks = [(n, *span.tolist()) for n, span in zip(inner, spans, strict=True)]
    fitted = parallel.run(_fit_node, tasks, n_jobs, common=(lesson, found, inside))
    return dict(zip(inner, fitted, strict=True))


def _node_of_label(shape: Shape, level: range, n_labels: int) -> Ints:
    """Return the node of a level that each label is in or below; -1 for none."""
    parents, leaves = shape.parents, np.flatnonzero(shape.labels >= 0)
    at = leaves.copy()
    while (at >= level.stop).any():
        at = np.where(at >= level.stop, parents[at], at)
    node = np.full(n_labels, -1)
    node[shape.labels[leaves]] = np.where(at >= level.start, at, -1)
    return node


def _members(Y: CSR, node_of: Ints, level: range) -> Members:
    """Return the rows that have a label in or below each node of a level."""
    node, n_rows = node_of[Y.indices], Y.shape[0]
    row = np.repeat(np.arange(n_rows), np.diff(Y.indptr))
    # numpy.unique takes 30 times as long: it hashes before it sorts.
    keys = np.sort((node[node >= 0] - level.start) * n_rows + row[node >= 0])
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    indptr = np.searchsorted(keys, np.arange(len(level) + 1) * n_rows)
    return Members(indptr, keys % n_rows)


def _positive_weight(lesson: Lesson, child_of: Ints, below: range) -> Floats | None:
    """Return what a row of each child weighs: the mean over its labels, by count."""
    if lesson.positive_weight is None:
        return None
    counts = np.bincount(lesson.Y.indices, minlength=len(child_of)).astype(np.float64)
    inside = child_of >= 0
    numbers = child_of[inside] - below.start
    total = np.bincount(numbers, counts[inside], len(below))
    heavy = counts * lesson.positive_weight
    return np.asarray(
        np.bincount(numbers, heavy[inside], len(below)) / np.maximum(total, 1)
    )


def _fit_node(
    lesson: Lesson, level: Level, n_jobs: int | None, node: int, first: int, last: int
) -> Block:
    """Return the classifiers of the children of a node."""
    children = np.arange(first, last)
    fitted, features = fit_children(lesson, level, n_jobs, node, children)
    return make_block(fitted, features, last - first)


def fit_children(
    lesson: Lesson, level: Level, n_jobs: int | None, node: int, children: Ints
) -> tuple[list[Fitted], Array]:
    """Return the classifiers of some children of a node, and the features they have.

    Children are numbered within the level below; what one learns does not depend on
    which others are learnt with it.
    """
    rows = level.nodes.of(node - level.first)
    if not len(rows):
        return [], np.empty(0, np.int32)
    rows, weights = add_background(rows, lesson.background, lesson.row_weight)
    X, features = gather_rows(lesson.X, rows)
    has = [level.children.of(child) for child in children.tolist()]
    places = np.searchsorted(rows, np.concatenate(has))
    ones = np.ones(len(places), np.float32)
    starts = np.cumsum([0, *map(len, has)])
    parts = (ones, places.astype(np.int32), starts.astype(np.int32))
    heavy = level.positive_weight
    fitted = linear.fit_columns(
        *(X, sp.csc_array(parts, shape=(len(rows), len(children)))),
        *(lesson.settings, lesson.seed),
        n_jobs=n_jobs,
        row_weight=weights,
        positive_weight=None if heavy is None else heavy[children],
    )
    return fitted, features


def gather_rows(X: CSR, rows: Ints) -> tuple[CSR, Array]:
    """Return some rows with the features that they have, and what these are called."""
    n_values = int(np.diff(X.indptr)[rows].sum())
    out = Rows(
        np.zeros(len(rows) + 1, np.int32),
        np.empty(n_values, np.int32),
        np.empty(n_values, np.float32),
    )
    features = np.empty(min(n_values, X.shape[1]), np.int32)
    n_features = gather(
        Rows(X.indptr, X.indices, X.data), rows, _places(X.shape[1]), features, out
    )
    shape = (len(rows), n_features)
    local = sp.csr_array((out.data, out.indices, out.indptr), shape=shape)
    return local, features[:n_features]


@reused
def _places(n_features: int) -> Array:
    return np.full(n_features, -1, np.int32)


def make_block(fitted: list[Fitted], features: Array, n_children: int) -> Block:
    """Return what was learnt of the children of a node, by feature."""
    intercept, n_late = np.full(n_children, NEVER, np.float32), 0
    for part in fitted:
        intercept[part.labels] = part.intercept
        n_late += int(np.count_nonzero(part.n_iter > 0))
    none = sp.csc_array((len(features), 0), dtype=np.float32)
    columns = sp.hstack([none, *(part.weights for part in fitted)], format="csc")
    seen = np.concatenate([np.empty(0, np.int64), *(part.labels for part in fitted)])
    weights, seen = columns[:, np.argsort(seen)].tocsr(), np.sort(seen)
    used = np.flatnonzero(np.diff(weights.indptr))
    used = used[np.argsort(features[used])]
    weights = weights[used]
    parts = (weights.indptr, seen[weights.indices], weights.data)
    return _block(intercept, features[used], parts, n_late)


def _block(
    intercept: Singles, features: Array, parts: tuple[Array, Array, Array], n_late: int
) -> Block:
    """Return the classifiers of a CSR matrix: a row a feature, a column a child."""
    # A row of all children is added up many at a time; most words of a root have one.
    starts, children, values = with_full_rows(*parts, len(intercept))
    return Block(
        intercept=intercept,
        features=features,
        counts=np.diff(starts),
        children=children.astype(np.uint16),
        bits=shorten(values),
        n_late=n_late,
    )


def shorten(weights: Singles) -> Array:
    """Return the upper halves of singles, rounded to the nearest (bfloat16).

    Examples
    --------
    >>> shorten(np.array([1.0, -0.5], np.float32)).tolist()
    [16256, 48896]
    """
    bits = np.ascontiguousarray(weights, np.float32).view(np.uint32)
    rounded = (
        bits >> UPPER
    )  # in place from here on: fresh memory takes longer than sums
    rounded &= np.uint32(1)
    rounded += np.uint32(0x7FFF)
    rounded += bits
    rounded >>= UPPER
    return rounded.astype(np.uint16)


def assemble(shape: Shape, blocks: dict[int, Block]) -> Nodes:
    """Return a tree with the blocks of its inner nodes."""
    n_nodes = len(shape.labels)
    intercept = np.zeros(n_nodes, np.float32)
    in_order = [(node, blocks[node]) for node in sorted(blocks)]
    n_features = np.zeros(n_nodes, np.int64)
    for node, block in in_order:
        intercept[slice(*shape.child_starts[node : node + 2])] = block.intercept
        n_features[node] = len(block.features)

    def join(name: str, kind: type) -> Array:
        empty: Array = np.empty(0, kind)
        parts = [getattr(block, name) for _, block in in_order]
        return np.concatenate([empty, *parts]).astype(kind, copy=False)

    counts = join("counts", np.int64)
    return Nodes(
        child_starts=shape.child_starts,
        labels=shape.labels.astype(np.int32),
        intercept=intercept,
        block_starts=np.concatenate([[0], np.cumsum(n_features)]),
        features=join("features", np.int32),
        entry_starts=narrow(np.concatenate([[0], np.cumsum(counts)])),
        entry_children=join("children", np.uint16),
        entry_bits=join("bits", np.uint16),
    )

"""What OnlineLabelTree remembers: its arrays, how they begin and grow."""

from typing import Annotated, Any, NamedTuple

import numpy as np

from manylabel._kernels.label_tree import incremental, pairs
from manylabel._typing import Array, Bools, Ints
from manylabel.persistence.records import (
    MOST_COUNTED,
    Columns,
    Field,
    Finite,
    Sizes,
    Within,
)

FEWEST_NODES, FEWEST_SLOTS = 16, 1 << 10
LARGEST = 1e15  # of a weight: sums of products with features stay finite
PER_LABEL = {"leaf": -1, "leaf_place": 0, "counts": 0}  # and how it begins
PER_NODE = ("children", "parent", "place", "n_children", "n_leaves", "bias")
Bounded = Within(-LARGEST, LARGEST)


class TreeState(NamedTuple):
    """A tree of labels, and the weights of its (node, feature) pairs.

    Node 0 is the root. Of ``bias`` and ``blocks`` the first half of the columns are
    weights, one for each child, the second sums of squared gradients.
    """

    counters: Annotated[Array, Field("int64", "3")]  # rows, nodes, pairs so far
    children: Annotated[Array, Field("int32", "n_nodes, arity")]  # -1, label, ~node
    parent: Annotated[Array, Field("int32", "n_nodes", Columns("n_nodes", -1))]
    place: Annotated[Array, Field("int32", "n_nodes", Columns("arity"))]
    n_children: Annotated[Array, Field("int32", "n_nodes", Finite(0))]
    n_leaves: Annotated[Array, Field("int32", "n_nodes", Finite(0))]  # below
    bias: Annotated[Array, Field("float32", "n_nodes, n_weights", Bounded)]
    leaf: Annotated[Array, Field("int32", "n_labels", Columns("n_nodes", -1))]
    leaf_place: Annotated[Array, Field("int32", "n_labels", Columns("arity"))]
    counts: Annotated[Array, Field("int64", "n_labels", Within(0, MOST_COUNTED))]
    keys: Annotated[Array, Field("uint64", "n_slots")]  # 0 where there is no pair
    blocks: Annotated[Array, Field("float32", "n_slots, n_weights", Bounded)]

    def check(self, sizes: Sizes) -> None:
        """Raise ValueError if the arrays are no tree, or no table."""
        n_seen, n_nodes, n_pairs = map(int, self.counters)
        arity, n_slots = self.children.shape[1], len(self.keys)
        if not 0 <= n_seen <= MOST_COUNTED or not 1 <= n_nodes <= len(self.parent):
            raise ValueError("state_.counters must be within the arrays.")
        if n_slots < FEWEST_SLOTS or n_slots & (n_slots - 1):
            raise ValueError("state_.keys must have a power of two slots.")
        if n_pairs != np.count_nonzero(self.keys) or n_pairs >= n_slots:
            raise ValueError("state_.counters must count the keys, fewer than slots.")
        if self.bias.shape[1] != 2 * arity:
            raise ValueError("state_.bias must have two numbers for each child.")
        if min(self.bias[:, arity:].min(), self.blocks[:, arity:].min()) < 0:
            raise ValueError("state_ must have sums of squares of 0 or more.")
        self._check_tree(n_nodes, len(self.leaf))

    def _check_tree(self, n_nodes: int, n_labels: int) -> None:
        """Refuse what is no tree in which each node and label has its one place."""
        is_used = np.arange(self.children.shape[1]) < self.n_children[:, np.newaxis]
        is_counted = np.array_equal(is_used.sum(axis=1), self.n_children)
        is_empty = self.children[~is_used] == incremental.EMPTY
        if not is_counted or self.n_children[n_nodes:].any() or not is_empty.all():
            raise ValueError("state_.children must be as many as n_children says.")
        v, c = np.nonzero(is_used)
        child = self.children[v, c].astype(np.int64)
        inner = child < 0
        below, label = ~child[inner], child[~inner]
        in_order = (below > v[inner]).all() and self.parent[0] == -1
        if not in_order or not np.array_equal(np.sort(below), np.arange(1, n_nodes)):
            raise ValueError("state_.children must follow their parents, each once.")
        is_known = label.max(initial=-1) < n_labels
        if not is_known or len(np.unique(label)) < len(label):
            raise ValueError("state_.children must hold each label once at most.")
        self._check_ways_up(v, c, inner, below, label)

    def _check_ways_up(
        self, v: Ints, c: Ints, inner: Bools, below: Ints, label: Ints
    ) -> None:
        """Refuse what disagrees with the children: ways up, and counts of leaves."""
        up = np.full(len(self.leaf), -1)
        up[label] = v[~inner]
        fits = (
            np.array_equal(self.parent[below], v[inner])
            and np.array_equal(self.place[below], c[inner])
            and np.array_equal(self.leaf, up)
            and np.array_equal(self.leaf_place[label], c[~inner])
            and not (self.counts[up < 0]).any()
        )
        n_below = np.bincount(v[~inner], minlength=len(self.parent)).astype(np.float64)
        np.add.at(n_below, v[inner], self.n_leaves[below])
        if not fits or (n_below != self.n_leaves).any() or (n_below[below] < 1).any():
            raise ValueError(
                "state_ must lead up from each label as children lead down."
            )


def begin(n_labels: int, arity: int) -> TreeState:
    """Return a tree that has seen nothing."""
    return TreeState(
        counters=np.array([0, 1, 0]),
        children=np.full((FEWEST_NODES, arity), incremental.EMPTY, np.int32),
        parent=np.full(FEWEST_NODES, -1, np.int32),
        place=np.zeros(FEWEST_NODES, np.int32),
        n_children=np.zeros(FEWEST_NODES, np.int32),
        n_leaves=np.zeros(FEWEST_NODES, np.int32),
        bias=np.zeros((FEWEST_NODES, 2 * arity), np.float32),
        leaf=np.full(n_labels, -1, np.int32),
        leaf_place=np.zeros(n_labels, np.int32),
        counts=np.zeros(n_labels, np.int64),
        keys=np.zeros(FEWEST_SLOTS, np.uint64),
        blocks=np.zeros((FEWEST_SLOTS, 2 * arity), np.float32),
    )


def with_labels(state: TreeState, n_labels: int) -> TreeState:
    """Return the tree with room for more labels."""
    return _longer(state, n_labels, PER_LABEL)


def with_nodes(state: TreeState, n_more: int) -> TreeState:
    """Return the tree with room for more nodes, twice as many at least."""
    n_nodes = 2 * len(state.parent)
    while n_nodes < state.counters[incremental.N_NODES] + n_more:
        n_nodes *= 2
    fills = dict.fromkeys(PER_NODE, 0) | {"children": incremental.EMPTY, "parent": -1}
    return _longer(state, n_nodes, fills)


def with_pairs(state: TreeState, n_more: int, n_bits: int) -> TreeState:
    """Return the tree with room for more pairs, in at most ``2 ** n_bits`` slots.

    Where there are no more slots, the pairs that were learnt least are forgotten, so
    that half of the slots are free.
    """
    used, n_slots = int(state.counters[incremental.N_PAIRS]), len(state.keys)
    most = max(n_slots, 1 << n_bits)
    while n_slots < most and used + n_more > n_slots // 4 * 3:
        n_slots *= 2
    is_kept = state.keys != 0
    if n_slots == len(state.keys):
        is_kept[_least_learnt(state, is_kept, used - n_slots // 2)] = False
    keys = np.zeros(n_slots, np.uint64)
    blocks = np.zeros((n_slots, state.blocks.shape[1]), np.float32)
    pairs.move(state.keys, state.blocks, is_kept, keys, blocks)
    counters = state.counters.copy()
    counters[incremental.N_PAIRS] = np.count_nonzero(is_kept)
    return state._replace(counters=counters, keys=keys, blocks=blocks)


def _least_learnt(state: TreeState, is_kept: Bools, n: int) -> Ints:
    """Return the slots of ``n`` pairs, those with the smallest gradients so far."""
    slots: Ints = np.flatnonzero(is_kept)
    arity = state.children.shape[1]
    learnt = state.blocks[slots, arity:].sum(axis=1)
    return slots[np.argsort(learnt, kind="stable")[: max(0, n)]]


def _longer(state: TreeState, length: int, fills: dict[str, Any]) -> TreeState:
    grown = {}
    for name, fill in fills.items():
        old = getattr(state, name)
        grown[name] = np.full((length, *old.shape[1:]), fill, old.dtype)
        grown[name][: len(old)] = old
    return state._replace(**grown)

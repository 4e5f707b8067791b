"""The nodes of a forest as flat arrays."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.forest.quantization import STEPS
from manylabel._typing import CSR, Array, Singles
from manylabel.growing import Growing
from manylabel.persistence.records import (
    Ascending,
    Children,
    Columns,
    Field,
    Finite,
    FiniteHalves,
    Offsets,
)

NARROW, WIDE = "uint16 int32", "int32 int64"  # as few bits as will do
PER_NODE = ("children", "intercept", "node_rows")
# Lists of each node: where they start, and what they hold.
LISTS = {
    "weight_starts": ("weight_features", "weight_bits"),
    "leaf_starts": ("leaf_labels", "leaf_steps"),
}
STARTS = ("roots", *LISTS)


class Forest(NamedTuple):
    """Trees one after another; within a tree, parents before their children.

    Attributes
    ----------
    roots : ndarray of shape (n_estimators + 1,)
        Node where each tree starts, and the number of nodes.
    children : ndarray of shape (n_nodes,)
        First child, for scores of 0 and more; the second follows it. 0 in a leaf.
    intercept : ndarray of shape (n_nodes,)
        Of the separators; 0 in a leaf.
    node_rows : ndarray of shape (n_nodes,)
        Training rows that came by.
    weight_starts : ndarray of shape (n_nodes + 1,)
        Where the separators' weights start in the next two.
    weight_features : ndarray of shape (n_weights,)
        Features ascend within a node, and so they are summed. A node of many weights
        has all features, the others with a weight of 0.
    weight_bits : ndarray of shape (n_weights,)
        Upper halves of single-precision weights.
    leaf_starts : ndarray of shape (n_nodes + 1,)
        Where the labels of a leaf start in the next two.
    leaf_labels : ndarray of shape (n_shares,)
        Labels of the training rows of a leaf.
    leaf_steps : ndarray of shape (n_shares,)
        Share of these rows that have the label, 65520 steps being all.
    """

    roots: Annotated[Array, Field("int64", "n_trees + 1", Ascending())]
    children: Annotated[Array, Field("int32", "n_nodes", Children("roots"))]
    intercept: Annotated[Singles, Field("float32", "n_nodes", Finite())]
    node_rows: Annotated[Array, Field("int32", "n_nodes", Finite(0))]
    weight_starts: Annotated[
        Array, Field(WIDE, "n_nodes + 1", Offsets("weight_features"))
    ]
    weight_features: Annotated[
        Array,
        Field(NARROW, "n_weights", Columns("n_features"), Ascending("weight_starts")),
    ]
    weight_bits: Annotated[Array, Field("uint16", "n_weights", FiniteHalves())]
    leaf_starts: Annotated[Array, Field(WIDE, "n_nodes + 1", Offsets("leaf_labels"))]
    leaf_labels: Annotated[
        Array, Field(NARROW, "n_shares", Columns("n_labels"), Ascending("leaf_starts"))
    ]
    leaf_steps: Annotated[Array, Field("uint16", "n_shares", Finite(1))]

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.roots) - 1

    @classmethod
    def joined(cls, forests: Iterable[Self]) -> Self:
        """Return the trees of several forests, in order, each asked for once."""
        grown: dict[str, Growing] = {}
        ends = dict.fromkeys(STARTS, 0)
        for forest in forests:
            for name, array in forest._moved(ends).items():
                if name not in grown:
                    kind = np.int64 if name in STARTS else array.dtype
                    grown[name] = Growing(kind)
                    array = getattr(forest, name)  # starts with their 0
                grown[name].extend(array)
            for name in STARTS:
                ends[name] += int(getattr(forest, name)[-1])
        joined = {name: each.array() for name, each in grown.items()}
        for name in LISTS:
            small = ends[name] <= np.iinfo(np.int32).max
            joined[name] = joined[name].astype(np.int32 if small else np.int64)
        return cls(**joined)

    def _moved(self, ends: Mapping[str, int]) -> dict[str, Array]:
        """Return the arrays as they are behind others, where these end."""
        moved = self._asdict()
        for name in STARTS:
            moved[name] = moved[name][1:].astype(np.int64) + ends[name]
        start = np.int32(ends["roots"])
        moved["children"] = self.children + start * (self.children > 0)
        return moved

    def head(self, n_estimators: int) -> Self:
        """Return the first trees."""
        n_nodes = int(self.roots[n_estimators])
        kept = {name: getattr(self, name)[:n_nodes] for name in PER_NODE}
        for name, entries in LISTS.items():
            kept[name] = getattr(self, name)[: n_nodes + 1]
            for entry in entries:
                kept[entry] = getattr(self, entry)[: kept[name][-1]]
        return type(self)(roots=self.roots[: n_estimators + 1], **kept)

    def grafted(self, stubs: Array, branches: Sequence[Self]) -> Self:
        """Return a tree with branches, trees themselves, in place of some leaves."""
        joined = self.joined([self, *branches])
        roots = joined.roots[1:-1]
        order = np.arange(len(joined.children))
        order[stubs] = roots
        order = np.delete(order, roots)
        number = np.zeros(len(joined.children), np.int32)
        number[order] = np.arange(len(order))
        number[stubs] = stubs
        picked = {name: getattr(joined, name)[order] for name in PER_NODE}
        for name, entries in LISTS.items():
            picked[name], places = _picked(getattr(joined, name), order)
            for entry in entries:
                picked[entry] = getattr(joined, entry)[places]
        picked["children"] = number[picked["children"]]  # 0 stays 0: the root
        return type(self)(roots=np.array([0, len(order)]), **picked)

    def weights(self, n_features: int) -> CSR:
        """Return the weights of the separators, shape (n_nodes, n_features)."""
        weights = (self.weight_bits.astype(np.uint32) << 16).view(np.float32)
        parts = (weights, self.weight_features, self.weight_starts)
        return sp.csr_array(parts, shape=(len(self.children), n_features))

    def leaves(self, n_labels: int) -> CSR:
        """Return the shares of the labels, shape (n_nodes, n_labels)."""
        shares = self.leaf_steps / np.float32(STEPS)
        parts = (shares, self.leaf_labels, self.leaf_starts)
        return sp.csr_array(parts, shape=(len(self.children), n_labels))


def column_type(width: int) -> type:
    """Return the smallest type that holds the columns of a matrix."""
    return np.uint16 if width <= np.iinfo(np.uint16).max + 1 else np.int32


def _picked(starts: Array, order: Array) -> tuple[Array, Array]:
    """Return where lists start once in another order, and where their entries were."""
    sizes = np.diff(starts)[order]
    ends = np.cumsum(sizes)
    shift = np.repeat(starts[order] - (ends - sizes), sizes)
    picked = np.concatenate([[0], ends]).astype(starts.dtype)
    return picked, np.arange(len(shift)) + shift

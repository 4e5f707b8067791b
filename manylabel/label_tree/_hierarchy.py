"""A hierarchy of labels that the user gives, as nested clusters."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from manylabel._typing import Array, Ints
from manylabel.solvers.shape import Cluster

NO_PARENT = -1


def parents_by_column(parents: Mapping[str, str | None], names: Iterable[str]) -> Ints:
    """Return a hierarchy of names as columns: labels first, then groups.

    Parameters
    ----------
    parents : mapping of str to str or None
        The parent of a label or group; None, or no entry, if it has none. A name that
        is no label is a group.
    names : iterable of str
        The labels, in the order of their columns.

    Examples
    --------
    >>> parents = {"cat": "animal", "dog": "animal", "animal": None}
    >>> parents_by_column(parents, ["cat", "cup", "dog"]).tolist()
    [3, -1, 3, -1]
    """
    column = {name: n for n, name in enumerate(names)}
    for name in (*parents, *parents.values()):
        if not isinstance(name, str | None):
            raise TypeError(f"parents must map names to names. Got {name!r:.60}.")
        if name is not None:
            column.setdefault(name, len(column))
    found = np.full(len(column), NO_PARENT)
    for name, parent in parents.items():
        found[column[name]] = NO_PARENT if parent is None else column[parent]
    return found


def check_parents(parents: Any, n_labels: int) -> Ints:
    """Return the parent of each label and group as columns, or raise ValueError.

    Entries from ``n_labels`` on are groups that are no labels.
    """
    if isinstance(parents, Mapping):
        raise ValueError(
            "parents must be columns, not names, unless the tree is the learner of a "
            "Tagger, which knows the names."
        )
    given = np.asarray(parents)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            "parents must be a sequence of columns, -1 for a label without a parent. "
            f"Got an array of shape {given.shape} and dtype {given.dtype}."
        )
    if len(given) < n_labels:
        raise ValueError(
            f"parents must have an entry for each of {n_labels} labels. "
            f"Got {len(given)}."
        )
    wrong = given[(given < NO_PARENT) | (given >= len(given))]
    if len(wrong):
        raise ValueError(
            f"parents must be columns from 0 to {len(given) - 1}, or -1. "
            f"Got {wrong[0]}."
        )
    checked = given.astype(np.int64)
    _refuse_cycles(checked)
    return checked


def _refuse_cycles(parents: Ints) -> None:
    has = np.flatnonzero(parents >= 0)
    edges = (np.ones(len(has)), (has, parents[has]))
    graph = csr_array(edges, shape=(len(parents), len(parents)))
    _, part = connected_components(graph, connection="strong")
    sizes = np.bincount(part)
    in_cycle = np.flatnonzero((sizes[part] > 1) | (parents == np.arange(len(parents))))
    if len(in_cycle):
        raise ValueError(
            f"parents must have no cycle. Got one through column {in_cycle[0]}."
        )


def from_parents(parents: Ints, labels: Array) -> Cluster:
    """Return the tree of a hierarchy, of some of its labels.

    A label that has others below it becomes a cluster, in which it stands itself.
    """
    clusters: dict[int, Cluster] = {NO_PARENT: []}

    def cluster_of(column: int) -> Cluster:
        way = []
        while column not in clusters:
            way.append(column)
            column = int(parents[column])
        for each in reversed(way):
            clusters[each] = []
            clusters[int(parents[each])].append(clusters[each])
        return clusters[way[0]] if way else clusters[column]

    is_above = np.zeros(len(parents), np.bool_)
    at = parents[labels]
    while len(at := np.unique(at[(at >= 0) & ~is_above[at]])):
        is_above[at] = True
        at = parents[at]
    for label in labels.tolist():
        home = label if is_above[label] else int(parents[label])
        cluster_of(home).append(label)
    return clusters[NO_PARENT]

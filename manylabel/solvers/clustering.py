"""Clusters of points, labels or rows: spherical k-means.

A label's point is what its rows have in common.
"""

from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.forest.router import Rows
from manylabel._kernels.label_tree import clustering
from manylabel._typing import CSR, Array, Ints, Singles
from manylabel.solvers.nodes import MOST_CHILDREN
from manylabel.solvers.shape import Cluster

MOST_FEATURES = 64  # of a centroid; more cost time and change nothing
N_ROUNDS = 6  # of k-means
SAMPLE = 50  # labels for each cluster that centres are learnt from, at most
MOST_CLUSTERS = 256  # of a node, unless it is told


class Clustering(NamedTuple):
    """How labels are put together."""

    n_clusters: int | None  # of a node; None is 1.5 times the root of its labels
    leaf_labels: int  # a cluster of more labels is parted again
    balanced: bool


def find_centroids(X: CSR, Y: CSR) -> CSR:
    """Return the mean row of each label, rows with many labels weighing less.

    Only the largest values are kept, and scaled to length 1.
    """
    by_label = Y.tocsc()
    n_labels, n_features = Y.shape[1], X.shape[1]
    weight = (1 / np.maximum(np.diff(Y.indptr), 1)).astype(np.float32)
    most = min(MOST_FEATURES, max(1, n_features))
    room = int(np.minimum(_n_values(X, by_label), most).sum())
    indptr, indices = np.zeros(n_labels + 1, np.int64), np.empty(room, np.int32)
    values = np.empty(room, np.float32)
    clustering.find_centroids(
        Rows(X.indptr, X.indices, X.data),
        Rows(by_label.indptr, by_label.indices, by_label.data),
        *(weight, np.zeros(n_features, np.float32), np.zeros(n_features, np.bool_)),
        *(np.empty(n_features, np.float32), np.empty(n_features, np.int32)),
        np.empty(most, np.int32),
        Rows(indptr, indices, values),
    )
    n_used = int(indptr[-1])
    parts = (values[:n_used], indices[:n_used], indptr)
    return sp.csr_array(parts, shape=(n_labels, n_features))


def _n_values(X: CSR, by_label: CSR) -> Ints:
    """Return how many values the rows of each label have, some of one feature."""
    per_row = np.diff(X.indptr).astype(np.int64)
    total = np.concatenate([[0], np.cumsum(per_row[by_label.indices])])
    return np.asarray(np.diff(total[by_label.indptr]))


def cluster_labels(
    points: CSR, labels: Ints, how: Clustering, rng: np.random.Generator
) -> Cluster:
    """Return nested clusters of ``labels``, the rows of ``points``."""
    tree: Cluster = []
    stack = [(tree, labels)]
    while stack:
        cluster, members = stack.pop()
        n_clusters = _arity(len(members), how)
        is_split = len(members) > how.leaf_labels or (cluster is tree and n_clusters)
        if not is_split or n_clusters < 2:  # noqa: PLR2004
            cluster += members.tolist()
            continue
        part, _ = part_points(points, members, n_clusters, rng, how.balanced)
        groups = [members[part == c] for c in np.unique(part)]
        if len(groups) == 1:  # all alike
            n_parts = min(ceil(len(members) / how.leaf_labels), n_clusters)
            groups = np.array_split(members, n_parts)
        if len(groups) == 1:
            cluster += members.tolist()
            continue
        for group in groups:
            child: Cluster = []
            cluster.append(child)
            stack.append((child, group))
    return tree


def split_large(
    tree: Cluster, points: CSR, how: Clustering, rng: np.random.Generator
) -> Cluster:
    """Return a hierarchy in which labels too many for one node are in clusters."""
    stack = [tree]
    while stack:
        cluster = stack.pop()
        stack += [child for child in cluster if isinstance(child, list)]
        labels = [child for child in cluster if not isinstance(child, list)]
        if len(labels) > how.leaf_labels:
            parted = cluster_labels(points, np.array(labels), how, rng)
            cluster[:] = [child for child in cluster if isinstance(child, list)]
            cluster += parted
    return tree


def _arity(n_labels: int, how: Clustering) -> int:
    """Return into how many clusters so many labels are parted; 0 for none."""
    if how.n_clusters is not None:
        return min(how.n_clusters, n_labels, MOST_CHILDREN)
    if n_labels <= how.leaf_labels:
        return 0
    return min(ceil(1.5 * sqrt(n_labels)), n_labels, MOST_CLUSTERS)


def part_points(
    points: CSR, members: Ints, k: int, rng: np.random.Generator, balanced: bool = False
) -> tuple[Ints, Singles]:
    """Return the cluster of each of some points, and the centres.

    Parameters
    ----------
    points : csr_array of shape (n_points, n_features)
        Points of length 1, float32.
    members : ndarray of int64
        Which of them to part, at least ``k``.
    k : int
        How many clusters; some may be left empty.
    rng : Generator
        Draws the first centres, and the points that centres are learnt from if there
        are many.
    balanced : bool, default=False
        Let a cluster take one k-th of the points, rounded up; the nearest come first.

    Returns
    -------
    nearest : ndarray of shape (n_members,)
        Numbers of clusters.
    centres : ndarray of shape (n_features, k)
        Of length 1.
    """
    rows, n_features = Rows(points.indptr, points.indices, points.data), points.shape[1]
    score = np.empty(k, np.float32)
    sample = members
    if len(members) > SAMPLE * k:
        sample = np.sort(rng.choice(members, SAMPLE * k, replace=False))
    centres = np.zeros((n_features, k), np.float32)
    first = rng.choice(len(sample), k, replace=False)
    clustering.add_centres(rows, sample[first], np.arange(k), centres)
    nearest, near = np.empty(len(sample), np.int64), np.empty(len(sample), np.float32)
    for _ in range(N_ROUNDS):
        clustering.find_nearest(rows, sample, centres, score, nearest, near)
        centres[:] = 0
        clustering.add_centres(rows, sample, nearest, centres)
    nearest, near = np.empty(len(members), np.int64), np.empty(len(members), np.float32)
    clustering.find_nearest(rows, members, centres, score, nearest, near)
    if balanced:
        order = np.argsort(-near, kind="stable")
        filled, held = np.empty(len(members), np.int64), np.zeros(k, np.int64)
        capacity = ceil(len(members) / k)
        clustering.fill_nearest(
            rows, members[order], centres, score, capacity, held, filled
        )
        nearest[order] = filled
    return nearest, centres


def unit_points(label_features: Array) -> CSR:
    """Return rows given for labels, scaled to length 1."""
    points = sp.csr_array(label_features, dtype=np.float32)
    lengths = np.sqrt(np.asarray(points.multiply(points).sum(axis=1)).ravel())
    scale = 1 / np.where(lengths > 0, lengths, 1)
    points.data = points.data * np.repeat(scale, np.diff(points.indptr))
    return sp.csr_array(points, dtype=np.float32)

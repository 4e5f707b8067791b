"""Centroids of labels against SciPy, and clusters of them."""

from math import ceil

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import LabelTree
from manylabel.solvers.clustering import (
    MOST_FEATURES,
    Clustering,
    cluster_labels,
    find_centroids,
    unit_points,
)

seeds = st.integers(0, 2**32 - 1)
WIDE = Clustering(n_clusters=None, leaf_labels=3, balanced=False)


def centroids_reference(X, Y):
    """Return the mean rows of labels, rows with many labels weighing less."""
    weight = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1)
    mean = weight.T @ X
    length = np.linalg.norm(mean, axis=1, keepdims=True)
    return mean / np.where(length > 0, length, 1)


@given(seeds)
def test_centroids_are_those_of_the_reference(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 6)) * (rng.random((9, 6)) < 0.5)
    Y = (rng.random((9, 5)) < 0.3).astype(float)
    found = find_centroids(sp.csr_array(np.float32(X)), sp.csr_array(Y))
    assert found.has_canonical_format
    assert_allclose(found.toarray(), centroids_reference(X, Y), atol=1e-5)


def test_values_that_cancel_out_take_no_room():
    X = sp.csr_array(np.tile(np.float32([[1, 1], [-1, -1]]), (50, 1)))
    found = find_centroids(X, sp.csr_array(np.ones((100, 3))))
    assert_array_equal(found.toarray(), np.zeros((3, 2)))


def test_the_largest_values_of_a_centroid_are_kept():
    X = np.arange(1, 201, dtype=np.float32)[None] * np.where(np.arange(200) % 2, 1, -1)
    found = find_centroids(sp.csr_array(X), sp.csr_array([[1.0]]))
    assert_array_equal(found.indices, np.arange(200 - MOST_FEATURES, 200))
    expected = X[0, found.indices] / np.linalg.norm(X[0, found.indices])
    assert_allclose(found.data, expected, rtol=1e-6)


def make_points(rng, n_labels, n_features=8):
    points = rng.normal(size=(n_labels, n_features))
    return unit_points(points * (rng.random(points.shape) < 0.7))


def clusters_of(tree):
    """Yield a cluster and those below it."""
    yield tree
    for child in tree:
        if isinstance(child, list):
            yield from clusters_of(child)


def labels_of(tree):
    return [n for each in clusters_of(tree) for n in each if not isinstance(n, list)]


@given(
    seeds,
    st.integers(0, 60),
    st.one_of(st.none(), st.integers(1, 9)),
    st.integers(1, 9),
    st.booleans(),
)
def test_every_label_stands_in_one_cluster(seed, n_labels, k, leaf_labels, balanced):
    rng = np.random.default_rng(seed)
    points = make_points(rng, n_labels)
    how = Clustering(k, leaf_labels, balanced)
    tree = cluster_labels(points, np.arange(n_labels), how, rng)
    assert sorted(labels_of(tree)) == list(range(n_labels))
    for cluster in clusters_of(tree):
        is_leaf = not any(isinstance(child, list) for child in cluster)
        assert k == 1 or not is_leaf or len(cluster) <= max(leaf_labels, 1)
        assert is_leaf or k is None or len(cluster) <= k


@given(seeds, st.integers(2, 80), st.integers(2, 9))
def test_balanced_clusters_are_as_large_as_each_other(seed, n_labels, k):
    rng = np.random.default_rng(seed)
    points = make_points(rng, n_labels, 3)
    how = Clustering(k, leaf_labels=n_labels, balanced=True)
    tree = cluster_labels(points, np.arange(n_labels), how, rng)
    most = ceil(n_labels / min(k, n_labels))
    sizes = [len(child) for child in tree]
    assert max(sizes) == most
    assert len(sizes) >= ceil(n_labels / most)


def test_clusters_follow_the_points():
    points = unit_points(np.repeat(np.eye(4) + 0.01, 25, axis=0))
    how = Clustering(n_clusters=4, leaf_labels=25, balanced=False)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        tree = cluster_labels(points, np.arange(100), how, rng)
        for cluster in clusters_of(tree):
            assert len({n // 25 for n in cluster if not isinstance(n, list)}) <= 1


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("point", [[0.0, 0.0], [1.0, 2.0]])
def test_equal_labels_are_parted_and_the_parting_ends(balanced, point):
    points = unit_points(np.tile(point, (1000, 1)))
    for k, leaf_labels in ((2, 1), (7, 3), (None, 1), (None, 400)):
        how = Clustering(k, leaf_labels, balanced)
        tree = cluster_labels(points, np.arange(1000), how, np.random.default_rng(0))
        assert sorted(labels_of(tree)) == list(range(1000))
        assert max(map(len, clusters_of(tree))) <= max(leaf_labels, k or 256)


def test_a_label_unlike_all_others_does_not_stop_the_parting():
    points = unit_points(np.vstack([np.tile([1.0, 0], (99, 1)), [[0, 1.0]]]))
    tree = cluster_labels(points, np.arange(100), WIDE, np.random.default_rng(0))
    assert sorted(labels_of(tree)) == list(range(100))


def test_many_labels_are_clustered_by_a_sample_of_them():
    rng = np.random.default_rng(0)
    points = make_points(rng, 3000)
    how = Clustering(n_clusters=4, leaf_labels=2000, balanced=False)
    tree = cluster_labels(points, np.arange(3000), how, rng)
    assert sorted(labels_of(tree)) == list(range(3000))
    assert len(tree) == 4


def test_clusters_do_not_depend_on_threads(corpus):
    models = [
        LabelTree(n_clusters=5, leaf_labels=4, n_estimators=2, n_jobs=n)
        .fit(corpus.X, corpus.Y)
        .nodes_
        for n in (None, 3)
    ]
    for one, other in zip(*models, strict=True):
        assert_array_equal(one, other)


def test_another_seed_gives_other_clusters(corpus):
    one, other = (
        LabelTree(n_clusters=5, leaf_labels=4, random_state=seed)
        .fit(corpus.X, corpus.Y)
        .nodes_
        for seed in (0, 1)
    )
    assert not np.array_equal(one.labels, other.labels)


def test_label_features_make_the_clusters(corpus):
    group = np.arange(40) % 4
    model = LabelTree(
        n_clusters=4, leaf_labels=10, label_features=np.eye(4)[group]
    ).fit(corpus.X, corpus.Y)
    nodes = model.nodes_
    for node in set(nodes.parents[nodes.labels >= 0]):
        assert len(set(group[nodes.labels_below(node)])) == 1


@pytest.mark.parametrize("n_labels", [39, 41])
def test_label_features_of_another_length_are_refused(n_labels, corpus):
    model = LabelTree(label_features=np.ones((n_labels, 2)))
    with pytest.raises(ValueError, match="label_features must have 40 rows"):
        model.fit(corpus.X, corpus.Y)


def test_label_features_and_parents_at_once_are_refused(corpus):
    model = LabelTree(label_features=np.ones((40, 2)), parents=[-1] * 40)
    with pytest.raises(ValueError, match="label_features and parents must not both"):
        model.fit(corpus.X, corpus.Y)

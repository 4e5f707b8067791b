"""Hierarchies that are given, and the shape of trees."""

import numpy as np
import pytest
import scipy.sparse as sp

from manylabel import LabelTree

# Animals (0) have cats (1) and dogs (2); things are a group (6) of cars (3) and, in
# another group (7), of cups (4) and plates (5).
PARENTS = [-1, 0, 0, 6, 7, 7, -1, 6]


def nested(nodes, node=1):
    """Return the labels below a node as nested sets."""
    if nodes.labels[node] >= 0:
        return int(nodes.labels[node])
    return frozenset(nested(nodes, n) for n in range(*nodes.child_starts[node:][:2]))


def fit(parents, n_labels, unseen=(), **options):
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (60, n_labels))
    Y[:, list(unseen)] = 0
    return LabelTree(parents=parents, **options).fit(rng.random((60, 5)), Y)


def test_a_label_with_others_below_it_stands_in_its_cluster():
    nodes = fit(PARENTS, 6).nodes_
    animals, things = frozenset({0, 1, 2}), frozenset({3, frozenset({4, 5})})
    assert nested(nodes) == {animals, things}


def test_labels_that_no_row_has_are_left_out():
    nodes = fit(PARENTS, 6, unseen=[2, 4]).nodes_
    assert nested(nodes) == {frozenset({0, 1}), frozenset({3, 5})}


def test_a_label_stands_above_those_below_one_that_no_row_has():
    nodes = fit([-1, 0, 1, 1, -1], 5, unseen=[1]).nodes_
    assert nested(nodes) == {4, frozenset({0, frozenset({2, 3})})}


def test_a_hierarchy_of_one_level_is_one_vs_rest():
    nodes = fit([-1] * 5, 5).nodes_
    assert nested(nodes) == set(range(5))
    assert len(nodes.levels()) == 2


def test_groups_without_labels_leave_no_node():
    nodes = fit([-1, -1, -1, 2, 3], 2).nodes_
    assert nested(nodes) == {0, 1}


def test_a_group_of_many_labels_is_clustered():
    nodes = fit([10] * 9 + [-1, -1], 10, leaf_labels=3).nodes_
    sizes = [len(nodes.labels_below(n)) for n in range(*nodes.child_starts[1:3])]
    assert sorted(sizes) == [1, 9]
    assert np.diff(nodes.child_starts).max() <= 5
    assert sorted(nodes.labels[nodes.labels >= 0]) == list(range(10))


@pytest.mark.parametrize("parents", [[1, 0], [0, -1], [-1, 2, 3, 1]])
def test_cycles_are_refused(parents):
    with pytest.raises(ValueError, match=r"have no cycle. Got one through"):
        fit(parents, 2)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([-1, 0], "parents must have an entry for each of 3 labels. Got 2."),
        ([-1, 0, 3], "parents must be columns from 0 to 2, or -1. Got 3."),
        ([-1, 0, -2], "parents must be columns from 0 to 2, or -1. Got -2."),
        ([-1.0, 0, 1], "parents must be a sequence of columns, -1 for a label without"),
        ([[-1, 0, 1]], "parents must be a sequence of columns, -1 for a label without"),
        (["a", "b", "c"], "parents must be a sequence of columns"),
    ],
)
def test_parents_that_are_no_columns_are_refused(parents, message):
    with pytest.raises(ValueError, match=message):
        fit(parents, 3)


def test_a_chain_of_thousands_is_made_without_recursion():
    rows = np.arange(60)
    last = (np.ones(60), (rows, 29_998 + rows % 2))
    model = LabelTree(parents=np.arange(30_000) - 1)
    model.fit(np.ones((60, 1)), sp.csr_array(last, shape=(60, 30_000)))
    assert model.nodes_.labels.tolist() == [-1, -1, 29_998, 29_999]


def test_a_tree_too_deep_is_refused():
    Y = sp.csr_array(np.eye(3000))
    model = LabelTree(parents=np.arange(3000) - 1)
    with pytest.raises(ValueError, match="at most 1000 levels: ask for more clusters"):
        model.fit(np.ones((3000, 1)), Y)


def test_a_node_too_wide_is_refused(monkeypatch):
    monkeypatch.setattr("manylabel.label_tree._hierarchy.MOST_CHILDREN", 4)
    with pytest.raises(ValueError, match=r"at most 4 labels and clusters .* Got 5."):
        fit([-1] * 5, 5)


def test_rows_go_to_the_labels_of_their_group(corpus, fresh):
    group = 40 + np.arange(40) // 10
    model = LabelTree(parents=[*group, -1, -1, -1, -1], tilt=0.0, beam=None)
    found = model.fit(corpus.X, corpus.Y).predict_topk(fresh[0], 5)
    plain = LabelTree(tilt=0.0).fit(corpus.X, corpus.Y).predict_topk(fresh[0], 5)
    hits, best = ((fresh[1].multiply(each != 0)).sum() for each in (found, plain))
    assert hits > 0.85 * best

"""Hierarchies that are given, and the shape of trees."""

import numpy as np
import pytest
import scipy.sparse as sp

from manylabel import LabelTree, Tagger, load

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


NAMES = ["animals", "cats", "dogs", "cars", "cups", "plates"]
BY_NAME = {"cats": "animals", "dogs": "animals", "animals": None, "cars": "things"}
BY_NAME |= {"cups": "dishes", "plates": "dishes", "dishes": "things"}


def tagged(parents):
    rng = np.random.default_rng(0)
    tags = [[n for n in NAMES if rng.random() < 0.5] for _ in range(60)]
    tagger = Tagger(LabelTree(parents=parents), vectorizer="passthrough")
    return tagger.fit(rng.random((60, 5)), tags)


def test_a_tagger_takes_a_hierarchy_of_names(tmp_path):
    tagger = tagged(BY_NAME)
    names = {name: n for n, name in enumerate(tagger.label_names_)}
    animals = frozenset(names[n] for n in ("animals", "cats", "dogs"))
    things = frozenset({names["cars"], frozenset({names["cups"], names["plates"]})})
    assert nested(tagger.learner_.nodes_) == {animals, things}
    tagger.save(tmp_path / "model")
    assert load(tmp_path / "model").learner.parents == BY_NAME


def test_names_that_are_none_are_refused():
    with pytest.raises(TypeError, match=r"parents must map names to names. Got 3."):
        tagged({"cats": 3})


def test_names_without_a_tagger_are_refused():
    with pytest.raises(ValueError, match="parents must be columns, not names, unless"):
        fit({"a": "b"}, 3)


def test_cycles_of_names_are_refused():
    with pytest.raises(ValueError, match="parents must have no cycle"):
        tagged({"cats": "dogs", "dogs": "cats"})


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
    monkeypatch.setattr("manylabel.solvers.shape.MOST_CHILDREN", 4)
    with pytest.raises(ValueError, match=r"at most 4 labels and clusters .* Got 5."):
        fit([-1] * 5, 5)


def test_rows_go_to_the_labels_of_their_group(corpus, fresh):
    group = 40 + np.arange(40) // 10
    model = LabelTree(parents=[*group, -1, -1, -1, -1], tilt=0.0, beam=None)
    found = model.fit(corpus.X, corpus.Y).predict_topk(fresh[0], 5)
    plain = LabelTree(tilt=0.0).fit(corpus.X, corpus.Y).predict_topk(fresh[0], 5)
    hits, best = ((fresh[1].multiply(each != 0)).sum() for each in (found, plain))
    assert hits > 0.85 * best

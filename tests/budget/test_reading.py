"""Trees over labels in figures and in words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manylabel import AnnotationTree, PowersetTree

TREES = [AnnotationTree, PowersetTree]
each_tree = pytest.mark.parametrize("kind", TREES)
EXAMPLE = np.repeat(
    [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0]], [3, 1, 3, 1], 0
)
X = np.repeat(np.eye(4), [3, 1, 3, 1], 0)
WORDS = ["sea", "wood", "street", "sand"]


@given(arrays(np.int8, (15, 5), elements=st.integers(0, 1)))
def test_theorem_12_holds_for_the_powerset_tree(Y):
    found = PowersetTree().fit(np.eye(15), Y).diagnostics()
    assert found.entropy - 1e-9 <= found.mean_decisions < found.entropy + 1


def test_theorem_13_does_not_hold_for_the_annotation_tree():
    found = AnnotationTree().fit(np.eye(20), np.eye(20)).diagnostics()
    assert found.mean_decisions > found.entropy + 1
    assert found.depth == 19


def test_figures_of_the_papers_example():
    found = PowersetTree(C=100).fit(X, EXAMPLE).diagnostics()
    assert (found.n_leaves, found.depth) == (4, 3)
    assert found.mean_decisions == (8 + 5 + 2) / 8
    assert found.entropy == pytest.approx(-2 * (3 / 8 * np.log2(3 / 8) - 3 / 8))
    assert 0 < found.margin < np.inf
    assert found.bound > 0


@each_tree
def test_a_single_labelset_has_no_decisions_to_judge(kind):
    found = kind().fit(X, np.ones((8, 2))).diagnostics()
    assert (found.n_leaves, found.mean_decisions, found.entropy) == (1, 0, 0)


@each_tree
def test_an_explanation_leads_to_the_labels_predicted(kind):
    model = kind(C=100).fit(X, EXAMPLE)
    for row, labels in zip(X, EXAMPLE, strict=True):
        (path,) = model.explain(row[None]).paths
        assert path.labels == np.flatnonzero(labels).tolist()
        for step in path.decisions:
            pushes = sum(push for _, push in step.features)
            assert step.score == pytest.approx(
                pushes + model.tree_.intercept[step.node]
            )


def test_a_path_is_told_in_words():
    text = (
        AnnotationTree(C=100)
        .fit(X, EXAMPLE)
        .explain(X[:1])
        .text(feature_names=WORDS, label_names="abce")
    )
    assert "8 rows: a? yes" in text
    assert "by sea +" in text
    assert text.endswith("3 rows in the leaf: a, b")


@each_tree
def test_the_tree_is_told_in_words(kind):
    model = kind(C=100).fit(X, EXAMPLE)
    text = model.outline(feature_names=WORDS, label_names="abce")
    assert text.startswith(
        "8 rows: a?" if kind is AnnotationTree else "8 rows: above 0?"
    )
    assert len(text.splitlines()) == len(model.tree_.children)
    assert len(model.outline(depth=0).splitlines()) == 1
    assert model.outline(None) == model.outline(len(model.tree_.children))


@each_tree
def test_nodes_have_what_the_arrays_have(kind):
    model = kind(C=100).fit(X, EXAMPLE)
    nodes = {node.node: node for node in model.nodes()}
    assert sorted(nodes) == list(range(len(model.tree_.children)))
    weights = model.coef_.toarray()
    for node in nodes.values():
        assert node.n_rows == model.tree_.n_rows[node.node]
        assert node.is_leaf == (model.tree_.children[node.node] == 0)
        assert dict(node.features) == {
            column: weights[node.node, column]
            for column in np.flatnonzero(weights[node.node])
        }
        if node.parent >= 0:
            first = model.tree_.children[node.parent]
            assert node.node == first + (not node.is_first)
            assert node.level == nodes[node.parent].level + 1


def test_nodes_stop_at_a_depth():
    model = AnnotationTree().fit(np.eye(20), np.eye(20))
    for depth in (0, 1, 5):
        assert max(node.level for node in model.nodes(depth)) == depth
    with pytest.raises(ValueError, match="depth == -1, must be >= 0"):
        model.nodes(-1)


@each_tree
def test_only_one_row_is_explained(kind):
    with pytest.raises(ValueError, match=r"X must be one row to explain\. Got 2"):
        kind().fit(X, EXAMPLE).explain(X[:2])

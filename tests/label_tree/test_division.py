"""A fit of label trees in parts: what is learnt together, and what it costs."""

import sys

import numpy as np
import pytest

import manylabel as ml

WHOLE = "classifiers"
MODULE = "manylabel.label_tree._division"


@pytest.fixture
def division():
    corpus = ml.make_corpus(n_rows=200, n_features=30, n_labels=120, random_state=0)
    return ml.LabelTree(leaf_labels=25)._divide(corpus.X, corpus.Y)


def rows_of(division, node):
    """Return how often the labels below a node occur, found one by one."""
    (shape,) = division.shapes
    if shape.labels[node] >= 0:
        return int(division.learner.counts_[shape.labels[node]])
    children = range(*shape.child_starts[node : node + 2].tolist())
    return sum(rows_of(division, child) for child in children)


def test_siblings_are_learnt_in_the_order_of_frequency(division, monkeypatch):
    learnt, fit_children = {}, sys.modules[MODULE].fit_children

    def note(lesson, level, n_jobs, node, children):
        learnt.setdefault(node, []).extend(np.diff(level.children.indptr)[children])
        return fit_children(lesson, level, n_jobs, node, children)

    monkeypatch.setattr(f"{MODULE}.fit_children", note)
    n_units = len(division.stages[WHOLE])
    for start in range(0, n_units, 40):
        division.fit(WHOLE, range(start, min(start + 40, n_units)))
    leaves = division.shapes[0].labels >= 0
    last = [node for node in learnt if leaves[division.shapes[0].child_starts[node]]]
    assert any(len(set(learnt[node])) > 1 for node in last)
    for node in last:
        assert learnt[node] == sorted(learnt[node], reverse=True)


def test_a_node_counts_the_labels_below_it(division):
    (shape,) = division.shapes
    found = shape.count_below(division.learner.counts_)
    expected = [rows_of(division, node) for node in range(len(shape.labels))]
    assert found.tolist() == expected


def test_a_plan_looks_for_the_rows_of_no_node(division, monkeypatch):
    monkeypatch.setattr(f"{MODULE}.find_level", None)
    assert division.stages[WHOLE].sum() > 0

"""The powerset tree and the annotation tree: shape, way down, ranking, odd data."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import AnnotationTree, PowersetTree
from manylabel._kernels.coding_tree import chains
from manylabel.budget import _nodes
from manylabel.budget._shape import annotation_shape, powerset_shape

TREES = [AnnotationTree, PowersetTree]
each_tree = pytest.mark.parametrize("kind", TREES)
A, B, C, E = range(4)
# The paper's example (Figures 2 and 3): {a, b} and {e} thrice, {a, c} and {c} once.
EXAMPLE = np.repeat(
    [[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0]], [3, 1, 3, 1], 0
)
matrices = st.tuples(st.integers(1, 12), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.int8, shape, elements=st.integers(0, 1))
)


def ways(shape):
    """Return for each row what it is asked on its way, the answers, and its set."""
    found = {}

    def visit(at, asked, labels):
        labels = labels | set(
            shape.f_indices[slice(*shape.f_indptr[at : at + 2])].tolist()
        )
        if child := shape.children[at]:
            visit(child, [*asked, (shape.asked[at], 1)], labels)
            visit(child + 1, [*asked, (shape.asked[at], 0)], labels)
        else:
            for row in shape.rows[shape.bounds[at, 0] : shape.bounds[at, 2]]:
                found[int(row)] = asked, labels

    visit(0, [], set())
    return found


def recursive_ways(Y, rows, order):
    """Algorithm 4, on dense labels: most frequent working label first."""
    counts = Y[rows].sum(axis=0)
    working = [label for label in order if 0 < counts[label] < len(rows)]
    if not working:
        return {row: [] for row in rows}
    label = max(working, key=lambda label: counts[label])
    found = {}
    for answer in (1, 0):
        part = [row for row in rows if Y[row, label] == answer]
        for row, way in recursive_ways(Y, part, order).items():
            found[row] = [(label, answer), *way]
    return found


def by_frequency(Y):
    return sorted(
        range(Y.shape[1]), key=lambda n: (-Y[:, n].sum(), (-Y[:, n]).tolist())
    )


@given(matrices)
def test_the_annotation_tree_is_that_of_the_recursion(Y):
    found = ways(annotation_shape(sp.csr_array(Y)))
    expected = recursive_ways(Y, list(range(len(Y))), by_frequency(Y))
    assert {row: way for row, (way, _) in found.items()} == expected


@pytest.mark.parametrize("shape", [annotation_shape, powerset_shape])
@given(Y=matrices)
def test_each_row_finds_its_own_labels_in_its_leaf(shape, Y):
    found = ways(shape(sp.csr_array(Y)))
    assert sorted(found) == list(range(len(Y)))
    for row, (_, labels) in found.items():
        assert labels == set(np.flatnonzero(Y[row]))


def test_the_powerset_tree_of_the_paper():
    shape = powerset_shape(sp.csr_array(EXAMPLE))
    depths = [len(way) for _, (way, _) in sorted(ways(shape).items())]
    assert np.ptp(shape.bounds, axis=1)[shape.children > 0].tolist() == [8, 5, 2]
    assert sorted(depths) == [1, 1, 1, 2, 2, 2, 3, 3]
    assert depths[3] == depths[7] == 3


def test_the_annotation_tree_of_the_paper():
    shape = annotation_shape(sp.csr_array(EXAMPLE))
    assert shape.asked.tolist() == [A, B, E, -1, -1, -1, -1]
    assert shape.children.tolist() == [1, 3, 5, 0, 0, 0, 0]
    fixed = np.split(shape.f_indices, shape.f_indptr[1:-1])
    assert [set(f) for f in fixed] == [set(), {A}, set(), {B}, {C}, {E}, {C}]


@each_tree
def test_the_example_is_learnt(kind):
    X = np.repeat(np.eye(4), [3, 1, 3, 1], 0)
    assert_array_equal(kind(C=100).fit(X, EXAMPLE).predict(X), EXAMPLE)


def drawn(n_rows=120, n_features=15, n_labels=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.5)
    return X, (X @ rng.normal(size=(n_features, n_labels)) > 1.2).astype(int)


def nodes(model, x):
    """Yield all nodes as their labels, their chance, and whether x comes by."""
    weights, waiting = model.coef_.toarray(), [(0, 1.0, True)]
    while waiting:
        at, chance, here = waiting.pop()
        yield (
            model.tree_.f_indices[slice(*model.tree_.f_indptr[at : at + 2])],
            chance,
            here,
        )
        if child := model.tree_.children[at]:
            score = weights[at] @ x + model.tree_.intercept[at]
            share = 1 / (
                1 + np.exp(-(model.tree_.slope * score + model.tree_.shift[at]))
            )
            waiting.append((child, chance * share, here and score > 0))
            waiting.append((child + 1, chance * (1 - share), here and score <= 0))


def chances_of_a_beam(model, x, width):
    """Return the chances of all labels by the best paths, found level by level."""
    tree, weights = model.tree_, model.coef_.toarray()
    total, ends, level = np.zeros(len(model.classes_)), 0.0, [(1.0, 0)]
    while level:
        below = []
        for chance, at in level:
            score = weights[at] @ x + tree.intercept[at]
            share = 1 / (1 + np.exp(-(tree.slope * score + tree.shift[at])))
            for second, own in enumerate((chance * share, chance * (1 - share))):
                child = tree.children[at] + second
                total[tree.f_indices[slice(*tree.f_indptr[child : child + 2])]] += own
                if tree.children[child]:
                    below.append((own, child))
                else:
                    ends += own
        best = sorted(below, reverse=True)[:width]
        level = [path for path in best if path[0] >= 1e-4 * best[0][0]]
    return total, ends


@each_tree
@pytest.mark.parametrize("width", [1, 2, 3])
def test_chances_by_a_narrow_beam_are_those_of_its_paths(kind, width):
    X, Y = drawn()
    model = kind(beam=width).fit(X, Y)
    found = model.decision_function(X[:30]) + model.threshold_
    for x, chances in zip(X[:30].astype(np.float32), found, strict=True):
        total, ends = chances_of_a_beam(model, x, width)
        expected = total / ends if kind is PowersetTree else total
        seen = model.seen_ & (total > 0)
        assert_allclose(chances[seen], expected[seen], rtol=1e-3, atol=1e-5)


def assert_labels_are_those_of_the_way_down(model, X):
    for x, labels in zip(X.astype(np.float32), model.predict(X), strict=True):
        fixed = [labels for labels, _, here in nodes(model, x) if here]
        assert set(np.flatnonzero(labels)) == set(np.concatenate(fixed))


@each_tree
@pytest.mark.parametrize("n_nonzero", [1, 15])  # chains are long for it, or short
@pytest.mark.parametrize("table", [0, 1 << 22])
def test_predictions_are_the_labels_of_the_way_down(
    kind, n_nonzero, table, monkeypatch
):
    monkeypatch.setattr(_nodes, "TABLE", table)
    X, Y = drawn()
    model = kind().fit(X, Y)
    X[:, n_nonzero:] = 0
    assert_labels_are_those_of_the_way_down(model, X)


@pytest.mark.slow
def test_a_chain_of_many_windows_is_left_where_every_decision_says():
    n_labels = 1300
    X = np.random.default_rng(0).normal(size=(n_labels, 6))
    model = AnnotationTree(budget=3, max_planes=1).fit(X, np.eye(n_labels, dtype=int))
    assert model.diagnostics().depth > 2 * chains.WINDOW
    X[:20, 1:] = 0  # a row of one feature has no short chain
    assert_labels_are_those_of_the_way_down(model, X[:40])
    paths = [model.explain(X[i : i + 1]).paths[0] for i in range(20)]
    assert max(len(path.decisions) for path in paths) > chains.WINDOW


@each_tree
def test_a_wide_beam_gives_the_chances_of_all_paths(kind):
    X, Y = drawn()
    model = kind(beam=500).fit(X, Y)
    scores = model.decision_function(X[:20]) + model.threshold_
    for x, row in zip(X[:20].astype(np.float32), scores, strict=True):
        chance = np.zeros(Y.shape[1])
        for labels, own, _ in nodes(model, x):
            chance[labels] += own
        assert_allclose(row, chance, atol=0.01)


@each_tree
def test_without_a_beam_labels_of_the_path_come_first_then_by_chance(kind):
    X, Y = drawn()
    path, beam = (kind(C=1.0, budget=20, beam=b).fit(X, Y) for b in (None, 10))
    scores, labels = path.decision_function(X), path.predict(X)
    chances = np.minimum(beam.decision_function(X) + beam.threshold_, 1)
    assert_array_equal(scores > 0, labels)
    expected = np.where(labels, chances, chances - 1)
    assert_allclose(scores, expected, atol=1e-6)


@each_tree
def test_chances_are_as_frequent_as_they_say(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 10))
    odds = X[:, :3] @ rng.normal(size=(3, 4)) - 1
    Y = (rng.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(int)
    model = kind(beam=20).fit(X[:1500], Y[:1500])
    chances = model.decision_function(X[1500:]) + model.threshold_
    for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 1.01)):
        there = (chances >= low) & (chances < high)
        assert abs(chances[there].mean() - Y[1500:][there].mean()) < 0.1


def test_a_threshold_for_f1_beats_one_half_where_labels_are_hard_to_tell():
    rng = np.random.default_rng(0)
    X, Y = drawn(n_rows=900, n_labels=6)
    Y = Y * (rng.random(Y.shape) < 0.5)
    half, chosen = (
        AnnotationTree(beam=10, cost=c).fit(X[:600], Y[:600]) for c in (None, "f1")
    )
    assert half.threshold_ == 0.5
    assert chosen.threshold_ < 0.5
    f1 = [
        2 * (P * Y[600:]).sum() / (P + Y[600:]).sum()
        for P in (half.predict(X[600:]), chosen.predict(X[600:]))
    ]
    assert f1[1] > f1[0] + 0.02


@each_tree
def test_rare_labels_gain_by_their_propensity(kind):
    X, Y = drawn()
    worth = np.linspace(1, 4, Y.shape[1])
    plain, tilted = (kind(beam=5, propensity=p).fit(X, Y) for p in (None, 1 / worth))
    chances = plain.decision_function(X) + plain.threshold_
    found = tilted.decision_function(X) + tilted.threshold_
    assert_allclose(found, chances * worth, rtol=1e-4, atol=1e-5)


@each_tree
def test_a_decision_looks_at_no_more_features_than_its_budget(kind):
    X, Y = drawn()
    model = kind(budget=2, max_planes=2).fit(X, Y)
    assert np.diff(model.tree_.w_indptr).max() <= 4
    assert_array_equal(np.unique(model.coef_.indices), model.selected_features_)


@each_tree
def test_a_budget_above_the_features_is_all_of_them(kind):
    X, Y = drawn()
    more, all_ = (kind(budget=b, max_planes=1).fit(X, Y) for b in (1000, 15))
    assert_array_equal(more.coef_.toarray(), all_.coef_.toarray())


@each_tree
def test_one_labelset_needs_no_decision(kind):
    X, _ = drawn()
    for labels in ([0, 0, 0], [1, 0, 1]):
        model = kind().fit(X, np.tile(labels, (len(X), 1)))
        assert model.tree_.children.tolist() == [0]
        assert_array_equal(model.predict(X), np.tile(labels, (len(X), 1)))
        assert_array_equal(model.decision_function(X) > 0, model.predict(X))


@each_tree
def test_a_labelset_seen_once_has_a_leaf(kind):
    X, Y = np.eye(6), np.repeat([[1, 0], [0, 0]], [5, 1], 0)
    model = kind(C=1000).fit(X, Y)
    assert model.tree_.n_rows.tolist() == (
        [6, 1, 5] if kind is PowersetTree else [6, 5, 1]
    )
    assert_array_equal(model.predict(X), Y)


@each_tree
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 0}, "budget == 0, must be >= 1"),
        ({"max_planes": 0}, "max_planes == 0, must be >= 1"),
        ({"beam": 0}, "beam == 0, must be >= 1"),
        ({"C": 0}, "C == 0, must be > 0"),
        ({"tol": 0}, "tol == 0, must be > 0"),
        ({"loss": "hinge"}, "loss must be one of squared_hinge, logistic"),
    ],
)
def test_parameters_out_of_range_are_refused(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        kind(**parameters).fit(*drawn())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"children": np.int32([1, 2, 3])}, "children must follow"),
        ({"children": np.int32([2, 0, 0])}, "children must follow"),
        ({"children": np.int32([0, 0, 0])}, "children must have one parent"),
        ({"f_indices": np.int32([9])}, "f_indices must hold numbers"),
        ({"f_indptr": np.array([0, 1, 0, 1])}, "f_indptr must rise"),
        ({"f_indptr": np.array([0, 2**63 - 1, 0, 1])}, "f_indptr must rise"),
        ({"selected": np.array([-1])}, "selected must hold numbers from 0"),
        ({"w_data": np.float32([])}, "w_data must have shape"),
        ({"w_data": np.float32([np.nan])}, "w_data must hold finite"),
        ({"n_rows": np.int32([2, 1, 0])}, "n_rows must hold finite numbers of 1"),
        ({"asked": np.int32([-2, -1, -1])}, "asked must hold numbers from -1"),
        ({"shift": np.zeros(3)}, "shift must be an array of float32"),
        ({"slope": float("inf")}, "slope must be a number"),
    ],
)
def test_nodes_that_lead_astray_are_refused(change, message):
    model = AnnotationTree().fit([[1.0, 0.0], [0.0, 0.0]], [[1, 0], [0, 0]])
    assert model.tree_.children.tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match=message):
        model.set_state(
            model.get_state()
            | {f"tree_.{name}": array for name, array in change.items()}
        )


@pytest.mark.parametrize(
    ("starts", "labels"), [([0, 1, 2, 2], [1, 1]), ([0, 0, 0, 2], [0, 0])]
)
def test_a_label_that_is_fixed_twice_on_a_path_is_refused(starts, labels):
    model = AnnotationTree().fit([[1.0, 0.0], [0.0, 0.0]], [[1, 0], [0, 0]])
    change = {"tree_.f_indptr": np.array(starts), "tree_.f_indices": np.int32(labels)}
    with pytest.raises(ValueError, match="once on a path"):
        model.set_state(model.get_state() | change)


@pytest.mark.parametrize("kind", [AnnotationTree, PowersetTree])
@pytest.mark.parametrize("is_chain", [False, True])
@pytest.mark.parametrize("beam", [None, 1, 3, 1000])
def test_workspaces_hold_what_declared_trees_can_ask_for(kind, is_chain, beam):
    """The deepest and the bushiest tree, every leaf with every label, none refused."""
    n_labels, n_nodes = 7, 2 * 64 - 1
    X = np.eye(4, dtype=np.float32)
    model = kind(beam=beam).fit(X, np.eye(4, n_labels, dtype=int))
    inner = np.arange(n_nodes) < n_nodes // 2
    children = np.where(inner, 2 * np.arange(n_nodes) + 1, 0)
    if is_chain:  # each second child has two
        children = np.where(np.arange(n_nodes) % 2 == 0, np.arange(n_nodes) + 1, 0)
        children[-1] = 0
    leaf = children == 0
    change = {
        "children": children.astype(np.int32),
        "n_rows": np.ones(n_nodes, np.int32),
        "asked": np.full(n_nodes, -1, np.int32),
        "intercept": np.full(n_nodes, -1, np.float32),  # to the second child
        "w_indptr": np.zeros(n_nodes + 1, np.int64),
        "w_indices": np.zeros(0, np.int32),
        "w_data": np.zeros(0, np.float32),
        "f_indptr": np.concatenate([[0], np.cumsum(n_labels * leaf)]),
        "f_indices": np.tile(np.arange(n_labels, dtype=np.int32), leaf.sum()),
        "shift": np.zeros(n_nodes, np.float32),
    }
    state = {f"tree_.{name}": array for name, array in change.items()}
    model.set_state(model.get_state() | state | {"seen_": np.ones(n_labels, bool)})
    assert model.predict_topk(X, n_labels + 1).nnz == 4 * n_labels
    assert model.predict(X).shape == (4, n_labels)
    assert len(model.explain(X[:1], k=n_labels).labels) == n_labels

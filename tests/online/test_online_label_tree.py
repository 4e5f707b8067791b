"""OnlineLabelTree: the paper, the laws of streams, growth, memory and refusals."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import manylabel as ml
from manylabel import OnlineLabelTree


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


class SlowTree:
    """A dense tree of dicts: a node is a list of children, its models are arrays."""

    def __init__(self, arity, n_features, eta0=1.0):
        self.arity, self.n_features, self.eta0 = arity, n_features, eta0
        self.counts, self.root = {}, self.node(0.0)

    def node(self, odds):
        """Return a node whose first child is probable."""
        w = np.zeros((self.arity, self.n_features + 1))
        w[:, -1], w[0, -1] = -odds, odds
        return {"children": [], "w": w, "squares": np.zeros_like(w)}

    def labels(self, child):
        """Return the labels below a child."""
        if not isinstance(child, dict):
            return [child]
        return [label for each in child["children"] for label in self.labels(each)]

    def place(self, label, x):
        """Make a label a leaf."""
        node, capacity = self.root, self.arity
        while capacity <= len(self.labels(node)):
            capacity *= self.arity
        while len(node["children"]) == self.arity:
            capacity //= self.arity
            scores = node["w"] @ x
            full = [len(self.labels(child)) >= capacity for child in node["children"]]
            best = int(np.argmax(np.where(full, -np.inf, scores)))
            if not isinstance(old := node["children"][best], dict):
                node["children"][best] = below = self.node(np.log(self.counts[old] + 1))
                below["children"].append(old)
            node = node["children"][best]
        node["children"].append(label)

    def learn(self, x, labels, weights):
        """Learn one row."""
        x = np.append(x / max(np.linalg.norm(x), 1e-30), 1)
        for label in labels:
            if label not in self.labels(self.root):
                self.counts[label] = 0
                self.place(label, x)
        self.teach(self.root, x, dict(zip(labels, weights, strict=True)))
        for label in labels:
            self.counts[label] += 1

    def teach(self, node, x, weights):
        """Step the models of a node and of those below."""
        wanted = np.zeros(self.arity)
        for c, child in enumerate(node["children"]):
            wanted[c] = max((weights.get(i, 0) for i in self.labels(child)), default=0)
        p = sigmoid(node["w"] @ x)
        gradient = np.outer(np.where(wanted > 0, wanted * (p - 1), p), x)
        # A feature is not begun by gradients that are all small.
        is_new = (node["squares"] == 0).all(axis=0) & (
            abs(gradient).max(axis=0) < 0.2 / np.sqrt(max(1, np.count_nonzero(x[:-1])))
        )
        gradient[:, :-1][:, is_new[:-1]] = 0
        node["squares"] += gradient**2
        node["w"] -= self.eta0 * gradient / np.sqrt(node["squares"] + 0.03)
        for c, child in enumerate(node["children"]):
            if isinstance(child, dict) and wanted[c]:
                self.teach(child, x, weights)

    def probabilities(self, x):
        """Return the probability of each label seen."""
        x = np.append(x / max(np.linalg.norm(x), 1e-30), 1)
        found, todo = {}, [(self.root, 1.0)]
        while todo:
            node, p = todo.pop()
            for child, q in zip(node["children"], sigmoid(node["w"] @ x), strict=False):
                if isinstance(child, dict):
                    todo.append((child, p * q))
                else:
                    found[child] = p * q
        return found


@st.composite
def streams(draw, n_features=5, n_labels=9):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(1, 30))
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.7)
    return X.astype(np.float32), (rng.random((n_rows, n_labels)) < 0.25).astype(int)


@given(streams(), st.integers(2, 5), st.sampled_from([None, np.linspace(0.2, 1, 9)]))
def test_it_learns_what_the_slow_tree_learns(stream, arity, propensity):
    X, Y = stream
    slow = SlowTree(arity, X.shape[1])
    for x, y in zip(X, Y, strict=True):
        labels = np.flatnonzero(y).tolist()
        weights = np.ones(9) if propensity is None else 2 / propensity - 1
        slow.learn(x, labels, weights[labels])
    tree = OnlineLabelTree(arity=arity, propensity=propensity).fit(X, Y)
    found = tree.predict_proba(X)
    for x, p in zip(X, found, strict=True):
        expected = slow.probabilities(x)
        seen = sorted(expected)
        assert_allclose(p[seen], [expected[i] for i in seen], rtol=1e-3, atol=1e-5)
        assert not np.delete(p, seen).any()


def corpus(n_rows=300, n_features=30, n_labels=40, seed=0):
    """Return rows whose labels depend on them, some far rarer than others."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.3)
    scores = X @ rng.normal(size=(n_features, n_labels))
    return X.astype(np.float32), (scores > np.linspace(1, 3, n_labels)).astype(int)


def assert_same(one, other):
    mine, theirs = one.get_state(), other.get_state()
    assert mine.keys() == theirs.keys()
    for name, value in mine.items():
        assert_array_equal(value, theirs[name], err_msg=name)


PARAMETERS = [{}, {"arity": 2, "n_bits": 10}, {"propensity": "running"}]


def test_the_small_table_of_these_tests_has_to_forget():
    X, Y = corpus()
    sizes = [
        OnlineLabelTree(arity=2, n_bits=n).fit(X, Y).state_.counters[2]
        for n in (10, 20)
    ]
    assert sizes[0] <= 3 * 1024 // 4 < sizes[1]


@pytest.mark.parametrize("parameters", PARAMETERS)
@settings(max_examples=15)
@given(cuts=st.sets(st.integers(1, 299), max_size=6))
def test_chunks_do_not_matter(parameters, cuts):
    X, Y = corpus()
    whole, parts = OnlineLabelTree(**parameters), OnlineLabelTree(**parameters)
    whole.fit(X, Y)
    for start, end in pairwise([0, *sorted(cuts), len(X)]):
        parts.partial_fit(X[start:end], sp.csr_array(Y[start:end]))
    parts.sparse_output_ = False
    assert_same(whole, parts)


def test_single_rows_are_chunks_of_one_row():
    X, Y = corpus(60)
    whole, parts = OnlineLabelTree().fit(X, Y), OnlineLabelTree()
    for x, y in zip(X, Y, strict=True):
        row = {j: float(x[j]) for j in np.flatnonzero(x)}
        parts.learn_one(row, np.flatnonzero(y).tolist())
    for name in ("children", "keys", "blocks", "bias"):
        assert_array_equal(getattr(whole.state_, name), getattr(parts.state_, name))
    row = {j: float(X[0, j]) for j in np.flatnonzero(X[0])}
    assert parts.predict_one(row) == set(np.flatnonzero(whole.predict(X[:1])[0]))


def depth_and_leaves(state):
    """Return the depth of each label that has a leaf."""
    depths = []
    for v in state.leaf[state.leaf >= 0]:
        depth = 1
        while v:
            v, depth = state.parent[v], depth + 1
        depths.append(depth)
    return depths


@given(st.integers(2, 6), st.integers(1, 120), st.integers(0, 5))
def test_the_tree_is_no_deeper_than_its_labels_need(arity, n_labels, seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.random((n_labels, 8)), np.eye(n_labels, dtype=int)
    state = OnlineLabelTree(arity=arity).fit(X, Y).state_
    depths = depth_and_leaves(state)
    assert len(depths) == n_labels
    assert arity ** (max(depths) - 1) <= max(1, n_labels - 1) or max(depths) == 1


def test_labels_that_come_late_are_learnt_as_if_declared():
    X, Y = corpus(400)
    first = np.where(Y.any(axis=0), Y.argmax(axis=0), len(Y))
    Y = Y[:, np.argsort(first, kind="stable")]
    known, grown = OnlineLabelTree().fit(X, Y), OnlineLabelTree()
    for x, y in zip(X, Y, strict=True):
        last = np.flatnonzero(y).max(initial=0)
        grown.partial_fit(x[np.newaxis], y[np.newaxis, : last + 1])
    n = len(grown.classes_)
    assert n < Y.shape[1] or not (first == len(Y)).any()
    assert_array_equal(known.decision_function(X)[:, :n], grown.decision_function(X))


@pytest.mark.slow
def test_labels_revealed_late_cost_at_most_2_percent():
    hits = {"late": 0.0, "known": 0.0}
    for seed in range(4):
        X, Y = corpus(3000, n_labels=60, seed=seed)
        late = np.arange(0, 60, 3)
        begun = Y.copy()
        begun[:1000, late] = 0
        test_X, test_Y = X[2500:], Y[2500:]
        for name, labels in (("known", Y), ("late", begun)):
            tree = OnlineLabelTree().fit(X[:2500], labels[:2500])
            best = tree.predict_topk(test_X, k=1)
            hits[name] += test_Y[np.arange(len(test_Y)), best.indices].mean()
    assert hits["late"] >= 0.98 * hits["known"]


def test_a_new_label_is_found_after_five_rows():
    X, Y = corpus(400)
    tree = OnlineLabelTree().fit(X, Y)
    for _ in range(5):
        tree.learn_one({500: 1.0, 501: 0.5}, {77})
    row = sp.csr_array(([1.0, 0.5], [500, 501], [0, 2]), shape=(1, 502))
    best = tree.predict_topk(row, k=1)
    assert best.indices.tolist() == [77]
    assert tree.predict_one({500: 1.0, 501: 0.5}) == {77}


def test_features_that_come_late_are_learnt_as_if_they_had_been_zero():
    X, Y = corpus(80)
    X[:50, 20:] = 0
    whole = OnlineLabelTree().fit(X, Y)
    late = OnlineLabelTree().fit(X[:50, :20], Y[:50]).partial_fit(X[50:], Y[50:])
    assert_same(whole, late)


def test_features_never_learnt_are_ignored():
    X, Y = corpus(80)
    tree = OnlineLabelTree().fit(X, Y)
    assert tree.predict_one({10**6: 1.0}) == tree.predict_one({})
    assert tree.predict(X[:, :5]).shape == (80, Y.shape[1])


def n_bytes(tree):
    return sum(array.nbytes for array in tree.state_)


def test_memory_is_bounded_and_what_matters_is_kept():
    X, Y = corpus(2000, n_features=100)
    free, bound = OnlineLabelTree(arity=3), OnlineLabelTree(arity=3, n_bits=10)
    free.fit(X, Y)
    bound.fit(X, Y)
    assert free.state_.counters[2] > 1024
    assert bound.state_.counters[2] <= 3 * 1024 // 4
    assert len(bound.state_.keys) == len(bound.state_.blocks) == 1024
    assert n_bytes(bound) < 1024 * (8 * 3 + 8) + 10_000
    hits = [
        Y[np.arange(len(Y)), tree.predict_topk(X, k=1).indices].mean()
        for tree in (free, bound)
    ]
    assert hits[1] > 0.8 * hits[0]


def test_a_row_larger_than_the_table_is_learnt_in_part():
    x = dict.fromkeys(range(5000), 1.0)
    tree = OnlineLabelTree(n_bits=10).learn_one(x, {0, 1})
    assert tree.state_.counters[2] == len(tree.state_.keys) - 1 == 1023
    for _ in range(3):
        tree.learn_one({9000: 1.0}, {1})
    assert tree.predict_one({9000: 1.0}) == {1}
    assert tree.state_.counters[2] <= 3 * 1024 // 4


@pytest.mark.parametrize("n_values", [10, 3000])
def test_rows_of_many_features_are_learnt_as_those_of_few(n_values):
    rng = np.random.default_rng(0)
    side = np.arange(60) % 2
    X = np.zeros((60, 8 * n_values), np.float32)
    for i, half in enumerate(side):
        X[i, 4 * n_values * half + rng.choice(4 * n_values, n_values)] = 1
    tree = OnlineLabelTree().fit(X[:40], np.eye(2, dtype=int)[side[:40]])
    assert_array_equal(tree.predict_topk(X[40:], k=1).indices, side[40:])


@given(streams(n_labels=30), st.integers(2, 4), st.integers(1, 40))
def test_a_wide_beam_finds_what_all_scores_tell(stream, arity, k):
    X, Y = stream
    tree = OnlineLabelTree(arity=arity, beam=100).fit(X, Y)
    scores = tree.decision_function(X)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    kept = np.zeros(scores.shape, bool)
    np.put_along_axis(kept, order, True, axis=1)
    best = tree.predict_topk(X, k=k)
    assert best.nnz == kept.sum()
    assert_array_equal(best.toarray(), np.where(kept, scores, 0))


def test_many_labels_are_listed_by_their_scores():
    X, Y = np.eye(1200, dtype=np.float32), np.eye(1200, dtype=int)
    tree = OnlineLabelTree().fit(sp.csr_array(X), sp.csr_array(Y))
    best = tree.predict_topk(sp.csr_array(X[:3]), k=1100)
    assert np.diff(best.indptr).tolist() == [1100] * 3


@pytest.mark.slow
def test_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 8, 40_000)
    truth = rng.random((8, 30)) ** 3
    X, Y = np.eye(8)[group], (rng.random((len(group), 30)) < truth[group]).astype(int)
    p = OnlineLabelTree(arity=6).fit(X, Y).predict_proba(np.eye(8))
    assert abs(p - truth).mean() < 0.03
    assert_allclose(p.sum(axis=1), truth.sum(axis=1), rtol=0.1)


def test_f1_gives_labels_that_hamming_leaves_out():
    rng = np.random.default_rng(1)
    Y = (rng.random((600, 6)) < 0.4).astype(int)
    X = np.ones((600, 1))
    few = OnlineLabelTree().fit(X, Y).predict(X[:1])
    many = OnlineLabelTree(cost="f1").fit(X, Y).predict(X[:1])
    assert few.sum() == 0
    assert many.sum() >= 3


def test_sets_cost_less_by_the_cost_they_are_made_for():
    X, Y = corpus(1500, n_labels=15)
    runs = {
        cost: ml.progressive(OnlineLabelTree(cost=cost), X, Y, costs=["f1", "hamming"])
        for cost in ("f1", "hamming")
    }
    for cost, other in (("f1", "hamming"), ("hamming", "f1")):
        assert runs[cost].mean[cost] < runs[other].mean[cost]


def test_subset_loss_wants_the_set_of_hamming_loss():
    X, Y = corpus(200, n_labels=8)
    one, other = (OnlineLabelTree(cost=c).fit(X, Y) for c in ("subset", "hamming"))
    assert_array_equal(one.predict(X), other.predict(X))


def test_propensities_lift_rare_labels():
    X, Y = corpus(800, n_labels=12)
    rare = np.arange(8, 12)
    plain, lifted = (OnlineLabelTree(propensity=p).fit(X, Y) for p in (None, "running"))
    found = [tree.predict_proba(X)[:, rare].mean() for tree in (plain, lifted)]
    assert found[1] > 1.5 * found[0]
    given = ml.Propensity().fit(Y)
    by_object = OnlineLabelTree(propensity=given).fit(X, Y)
    by_array = OnlineLabelTree(propensity=given.values_).fit(X, Y)
    assert_same(by_object, by_array)


def test_half_hidden_labels_are_predicted_with_their_propensity():
    rng = np.random.default_rng(0)
    X = np.eye(2)[rng.integers(0, 2, 4000)]
    Y = X.astype(int) * (rng.random(X.shape) < 0.4)
    assert not OnlineLabelTree().fit(X, Y).predict(np.eye(2)).any()
    tree = OnlineLabelTree(propensity=0.4).fit(X, Y)
    assert_array_equal(tree.predict(np.eye(2)), np.eye(2))


def test_rows_without_labels_are_learnt_as_such():
    X = np.eye(3)[np.arange(300) % 3]
    Y = X[:, :2].astype(int)
    assert_array_equal(OnlineLabelTree().fit(X, Y).predict(np.eye(3)), np.eye(3)[:, :2])


def test_identical_labels_are_equally_probable():
    X, Y = corpus(200, n_labels=6)
    tree = OnlineLabelTree().fit(X, np.hstack([Y, Y[:, :1]]))
    p = tree.predict_proba(X)
    assert_array_equal(p[:, 0], p[:, 6])


def test_the_length_of_a_row_does_not_matter():
    X, Y = corpus(100)
    one, other = OnlineLabelTree().fit(X, Y), OnlineLabelTree().fit(X * 1024, Y)
    assert_same(one, other)
    huge = OnlineLabelTree().fit(X * np.float32(1e37), Y)
    assert np.isfinite(huge.decision_function(X)).all()


@pytest.mark.parametrize("n_labels", [5, 60, 900])  # the last tree is not small
def test_rows_of_all_features_have_the_scores_of_rows_alone(n_labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 11)).astype(np.float32)
    Y = np.eye(n_labels, dtype=int)[np.arange(1000) % n_labels]
    tree = OnlineLabelTree(arity=4, beam=8).fit(X, Y)
    for find in (tree.decision_function, tree.predict_proba):
        alone = np.vstack([find(X[i : i + 1]) for i in range(100)])
        assert_array_equal(find(X)[:100], alone)
    alone = sp.vstack([tree.predict_topk(X[i : i + 1], 3) for i in range(100)])
    assert (tree.predict_topk(X, 3)[:100] != alone).nnz == 0

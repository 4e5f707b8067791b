"""OnlineLabelTree: saving, states made to deceive, and refusals."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manylabel as ml
from manylabel import OnlineLabelTree


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


def test_pickled_and_saved_trees_go_on_alike(tmp_path):
    X, Y = corpus(200)
    tree = OnlineLabelTree(arity=4).fit(X[:100], Y[:100])
    tree.save(tmp_path / "m")
    loaded, thawed = ml.load(tmp_path / "m"), pickle.loads(pickle.dumps(tree))
    for each in (tree, loaded, thawed):
        each.partial_fit(np.hstack([X, X])[100:], np.hstack([Y, Y])[100:])
    assert_same(tree, loaded)
    assert_same(tree, thawed)


EDITS = [
    ("children", (0, 0), -1, "follow their parents"),
    ("children", (-1, 0), 5, "as many as n_children"),
    ("children", (0, 0), ~0, "as many as|follow their parents"),
    ("children", (1, 0), ~1, "follow their parents"),
    ("children", (1, 0), ~(2**31 - 1), "follow their parents"),
    ("n_children", 0, 100, "as many as|lead up"),
    ("n_children", 0, -1, "of 0 or more"),
    ("parent", 1, 2, "lead up"),
    ("parent", 0, 0, "follow their parents"),
    ("place", 1, 3, "numbers from 0|lead up"),
    ("n_leaves", 1, 0, "lead up"),
    ("n_leaves", 0, 2**31 - 1, "lead up"),
    ("leaf", 0, -1, "lead up"),
    ("leaf", 0, 10**6, "hold numbers from -1"),
    ("leaf_place", 0, 99, "hold numbers from 0"),
    ("counts", 0, -5, "hold numbers from 0"),
    ("counters", 1, 0, "within the arrays"),
    ("counters", 1, 10**9, "within the arrays"),
    ("counters", 2, 0, "count the keys"),
    ("keys", slice(None), 1, "count the keys"),
    ("blocks", (0, 0), np.nan, "hold numbers from"),
    ("bias", (0, 0), np.inf, "hold numbers from"),
    ("bias", (0, -1), -1, "sums of squares"),
]


@pytest.mark.parametrize(("name", "at", "value", "reason"), EDITS)
def test_a_tree_made_to_deceive_is_refused(name, at, value, reason):
    X, Y = corpus(60, n_labels=12)
    tree = OnlineLabelTree(arity=3).fit(X, Y)
    state = tree.get_state()
    state[f"state_.{name}"][at] = value
    with pytest.raises(ValueError, match=reason):
        OnlineLabelTree(arity=3).set_state(state)


def test_a_label_has_one_leaf_and_exists():
    X, Y = corpus(60, n_labels=12)
    tree = OnlineLabelTree(arity=3).fit(X, Y)
    state = tree.get_state()
    children = state["state_.children"]
    places = np.argwhere(children >= 0)
    for label in (children[tuple(places[1])], 10**6):
        children[tuple(places[0])] = label
        with pytest.raises(ValueError, match="each label once"):
            OnlineLabelTree(arity=3).set_state(state)


def test_a_table_that_is_no_power_of_two_is_refused():
    tree = OnlineLabelTree().fit(*corpus(20))
    state = tree.get_state()
    state["state_.keys"] = np.append(state["state_.keys"], np.uint64(0))
    state["state_.blocks"] = np.vstack([state["state_.blocks"], np.zeros((1, 32), "f")])
    with pytest.raises(ValueError, match="power of two"):
        OnlineLabelTree().set_state(state)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"arity": 1}, "arity"),
        ({"arity": 2.0}, "arity"),
        ({"beam": 0}, "beam"),
        ({"n_bits": 9}, "n_bits"),
        ({"n_bits": 40}, "n_bits"),
        ({"eta0": 0}, "eta0"),
        ({"eta0": np.nan}, "eta0"),
        ({"propensity": "often"}, "propensity must be"),
        ({"propensity": 0.0}, "propensity must lie"),
        ({"max_inverse_propensity": 0.5}, "max_inverse_propensity"),
        ({"cost": "f2"}, "cost"),
        ({"cost": lambda y, y_hat: 0.0}, "cost must have from_counts"),
    ],
)
def test_bad_parameters_are_refused(parameters, reason):
    with pytest.raises((TypeError, ValueError), match=reason):
        OnlineLabelTree(**parameters).fit(np.eye(3), np.eye(3))


def test_the_arity_of_a_tree_must_stay():
    tree = OnlineLabelTree().fit(np.eye(3), np.eye(3))
    with pytest.raises(ValueError, match="arity must stay"):
        tree.set_params(arity=4).partial_fit(np.eye(3), np.eye(3))


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ({2**31 - 1: 1.0}, {0}, "X must have at most 2147483647 features"),
        ({2**40: 1.0}, {0}, "x must have columns of at most"),
        ({0: 1.0}, {2**31 - 1}, "New columns must not take more than"),
        ({0: np.nan}, {0}, "finite float32"),
    ],
)
def test_a_bad_row_makes_nothing_grow(x, y, reason):
    tree = OnlineLabelTree().fit(np.eye(4), np.eye(4))
    before = tree.get_state()
    with pytest.raises(ValueError, match=reason):
        tree.learn_one(x, y)
    for name, value in tree.get_state().items():
        assert_array_equal(value, before[name], err_msg=name)

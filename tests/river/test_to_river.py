"""Our learners as models of river: names, growth, its checks and its evaluation."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manylabel as ml
from manylabel.base import OnlineClassifier

river = pytest.importorskip("river", reason="the extra river is not installed")
checks = pytest.importorskip("river.checks")
evaluate = pytest.importorskip("river.evaluate")
metrics = pytest.importorskip("river.metrics")
preprocessing = pytest.importorskip("river.preprocessing")

ROOT = Path(__file__).parents[2]
FEATURES = [f"f{i}" for i in range(6)]
LABELS = ["red", ("a", 1), 7]
LEARNERS = [
    ml.CSDPP(cost="f1", n_components=2),
    ml.OnlineBinaryRelevance(),
    ml.OnlineRandomProjection(n_components=2, random_state=0),
    ml.OnlineCompressedSensing(n_components=2, random_state=0),
    ml.OnlineLabelTree(arity=2),
]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda x: repr(x)[:12])


class Counter(OnlineClassifier):
    """Scores a label by the rows that had both it and a feature; grows."""

    def __init__(self, *, grow=True):
        self.grow = grow

    def partial_fit(self, X, Y, classes=None):
        """Add rows and columns to the counts, then count."""
        if hasattr(self, "n_seen_"):
            more = X.shape[1] - self.n_features_in_, Y.shape[1] - len(self.classes_)
            self.counts_ = np.pad(self.counts_, ((0, more[0]), (0, more[1])))
            self.n_features_in_, self.classes_ = X.shape[1], np.arange(Y.shape[1])
        return super().partial_fit(X, Y)

    def _check_parameters(self):
        pass

    def _start(self, n_features, n_labels):
        self.counts_, self.n_seen_ = np.zeros((n_features, n_labels)), 0

    def _learn(self, X, Y):
        self.counts_ += X.T @ (2 * Y.toarray() - 1)
        self.n_seen_ += X.shape[0]

    def _scores(self, X):
        return X @ self.counts_


def matrices(n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, len(FEATURES))) * (rng.random((n_rows, 6)) < 0.7)
    Y = X @ rng.normal(size=(6, len(LABELS))) > 0.3
    return X.astype(np.float32), Y.astype(int)


def dicts(X, Y):
    for x, y in zip(X.tolist(), Y.astype(bool).tolist(), strict=True):
        yield (
            dict(zip(FEATURES, x, strict=True)),
            dict(zip(LABELS, y, strict=True)),
        )


class Music:
    """Stands in for river's data set of this name, which is a download."""

    def take(self, n_rows):
        """Return so many rows."""
        return list(dicts(*matrices(n_rows)))


def state(model):
    return model._learner.get_state()


def same(one, other):
    return one.keys() == other.keys() and all(
        np.array_equal(one[key], other[key]) for key in one
    )


@each_learner
def test_names_change_nothing(learner):
    X, Y = matrices()
    named, bare = ml.to_river(learner), copy.deepcopy(learner)
    for i, (x, y) in enumerate(dicts(X, Y)):
        predicted = named.predict_one(x)
        if i:
            (expected,) = bare.predict(X[i : i + 1]).tolist()
            assert predicted == dict(zip(LABELS, map(bool, expected), strict=True))
        assert named.learn_one(x, y) is None
        bare.partial_fit(X[i : i + 1], Y[i : i + 1])
    bare.sparse_output_ = True  # the form of predictions
    assert same(state(named), bare.get_state())
    assert not hasattr(learner, "n_seen_")


def test_new_names_get_columns_of_a_learner_that_grows():
    model = ml.to_river(Counter())
    assert model.predict_one({"a": 1.0}) == {}
    model.learn_one({"a": 1.0}, {"x": True})
    model.learn_one({"b": 1.0, "a": 0.0}, {"y": True, "x": False})
    model.learn_one({"c": True}, {})
    assert model.predict_one({"b": 2, "new": 9}) == {"x": False, "y": True}
    assert_array_equal(model._learner.counts_, [[1, 0], [-1, 1], [-1, -1]])


def test_csdpp_learns_names_as_they_come_up():
    model = ml.to_river(ml.CSDPP(cost="f1", n_components=2, grow=True))
    for _ in range(20):
        model.learn_one({"beak": 1.0}, {"bird": True})
    for _ in range(20):
        model.learn_one({"fin": 1.0}, {"fish": True})
    assert model.predict_one({"fin": 1.0}) == {"bird": False, "fish": True}
    assert model.predict_one({"beak": 1.0}) == {"bird": True, "fish": False}


def test_a_first_row_without_labels_is_learnt():
    model = ml.to_river(Counter())
    model.learn_one({"a": 1.0}, {})
    assert model.predict_one({"a": 1.0}) == {}
    model.learn_one({"a": 2.0}, {"x": True})
    assert model.predict_one({"a": 1.0}) == {"x": True}


def test_reserved_columns_are_for_names_to_come():
    model = ml.to_river(ml.OnlineBinaryRelevance(), n_features=2, n_labels=2)
    model.learn_one({"a": 1.0}, {"x": True})
    assert model.predict_one({"a": 1.0}) == {"x": True}
    model.learn_one({"b": 1.0}, {"y": True})
    assert list(model.predict_one({"b": 1.0})) == ["x", "y"]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"b": 1.0}, {}, "its 1 columns of features .* none for 'b'.*by n_features"),
        ({}, {"y": True}, "its 1 columns of labels .* none for 'y': .*by n_labels"),
        ({"a": np.nan}, {}, "x must hold finite float32 numbers. Got nan for 'a'."),
        ({"a": 1e39}, {}, "Got 1e.39 for 'a'"),
        ({"a": "big"}, {}, "Got 'big' for 'a'"),
        ({"a": None}, {}, "Got None for 'a'"),
        ({"a": 1.0}, {"x": 2}, "y must hold True or False. Got 2 for 'x'."),
    ],
)
def test_what_is_refused_leaves_no_trace(x, y, message):
    model = ml.to_river(ml.OnlineBinaryRelevance())
    model.learn_one({"a": 1.0}, {"x": True})
    before = copy.deepcopy(state(model))
    names = list(model._features), list(model._labels)
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, y)
    assert same(state(model), before)
    assert (list(model._features), list(model._labels)) == names


def test_names_of_a_row_that_the_learner_refuses_are_forgotten():
    model = ml.to_river(ml.CSDPP(cost="no such cost"))
    with pytest.raises(ValueError, match="no such cost"):
        model.learn_one({"a": 1.0}, {"x": True})
    assert (list(model._features), model._features.width) == ([], None)


@pytest.mark.parametrize(
    ("learner", "options", "error", "message"),
    [
        (ml.OneVsRest(), {}, TypeError, r"an online learner.*Got OneVsRest\(\)."),
        (ml.CSDPP(), {"n_labels": 0}, ValueError, "n_labels == 0, must be >= 1"),
        (ml.CSDPP(), {"n_features": 1.5}, TypeError, "n_features must be an instance"),
    ],
)
def test_wrong_arguments_are_named(learner, options, error, message):
    with pytest.raises(error, match=message):
        ml.to_river(learner, **options)


def test_rows_must_be_dicts():
    model = ml.to_river(ml.CSDPP())
    with pytest.raises(TypeError, match=r"x must be a dict of names .* Got list."):
        model.predict_one([1.0])
    with pytest.raises(TypeError, match=r"y must be a dict of names .* Got set."):
        model.learn_one({"a": 1.0}, {"x"})


def run_python(code):
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.slow
def test_river_is_imported_by_those_who_ask_for_it():
    run_python(
        "import sys, manylabel; manylabel.CSDPP; assert 'river' not in sys.modules"
    )


@pytest.mark.slow
def test_a_missing_river_is_named():
    # None in place of a module makes its import fail.
    run_python("""
import sys; sys.modules["river"] = None
from manylabel import *
try:
    to_river(CSDPP())
except ImportError as error:
    assert str(error).startswith("to_river needs river: ")
    assert str(error).endswith(" -m pip install 'manylabel[river]'")
else:
    raise SystemExit("there was no error")
""")


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_know_the_same_and_learn_apart(duplicate):
    rows = Music().take(40)
    model = ml.to_river(ml.CSDPP(cost="f1", n_components=2))
    for x, y in rows[:20]:
        model.learn_one(x, y)
    other = duplicate(model)
    before = copy.deepcopy(state(model))
    assert same(state(other), before)
    for x, y in rows[20:]:
        other.learn_one(x, y)
    assert same(state(model), before)
    assert not same(state(other), before)


def test_clones_know_nothing():
    model = ml.to_river(ml.CSDPP(), n_features=3)
    model.learn_one({"a": 1.0}, {"x": True})
    fresh = model.clone()
    assert fresh.predict_one({"a": 1.0}) == {}
    assert (fresh.n_features, list(fresh._features)) == (3, [])


@each_learner
@pytest.mark.parametrize("pipeline", [False, True], ids=["alone", "scaled"])
def test_river_scores_a_learner(learner, pipeline):
    model = ml.to_river(learner)
    if pipeline:
        model = preprocessing.StandardScaler() | model
    for metric in (
        metrics.multioutput.MicroAverage(metrics.F1()),
        metrics.multioutput.MacroAverage(metrics.Jaccard()),
        metrics.multioutput.SampleAverage(metrics.F1()),
        metrics.multioutput.ExactMatch(),
    ):
        found = evaluate.progressive_val_score(Music().take(30), model.clone(), metric)
        assert 0 <= found.get() <= 1


def test_river_scores_labels_that_come_up_late():
    rows = [({"a": 1.0}, {"x": True}), ({"a": 1.0}, {"x": True, "late": True})] * 2
    metric = metrics.multioutput.MicroAverage(metrics.Recall())
    evaluate.progressive_val_score(rows, ml.to_river(Counter()), metric)
    assert metric.get() == pytest.approx(3 / 5)  # not "late" at first, nor of 0 score


def run_river_checks(model):
    names = set()
    for check in checks.yield_checks(model):
        names.add(check.__name__)
        check(model.clone())
    assert {"check_emerging_features", "check_pickling", "check_learn_one"} <= names


@pytest.mark.slow
@each_learner
def test_river_checks_pass(learner, monkeypatch):
    # None is excused. Some drop features of the first row, so there is room reserved.
    monkeypatch.setattr("river.datasets.Music", Music)
    run_river_checks(ml.to_river(learner, n_features=6, n_labels=3))


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner", [Counter(), ml.CSDPP(cost="f1", n_components=2, grow=True)], ids=str
)
def test_river_checks_pass_without_room_where_learners_grow(learner, monkeypatch):
    monkeypatch.setattr("river.datasets.Music", Music)
    run_river_checks(ml.to_river(learner))

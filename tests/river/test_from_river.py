"""Models of river on our streams."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import manylabel as ml

pytest.importorskip("river", reason="the extra river is not installed")
compose = pytest.importorskip("river.compose")
linear_model = pytest.importorskip("river.linear_model")
multioutput = pytest.importorskip("river.multioutput")
preprocessing = pytest.importorskip("river.preprocessing")


class Recorder:
    """Predicts the labels that it was taught last, and keeps what it was given."""

    def __init__(self):
        self.rows, self.last = [], {}

    def learn_one(self, x, y):
        """Keep a row."""
        self.rows.append((x, y))
        self.last = y

    def predict_one(self, x):
        """Return the last labels."""
        return self.last


def stream(n_rows=80):
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 5)) * (rng.random((n_rows, 5)) < 0.6)
    Y = X @ rng.normal(size=(5, 3)) > 0.2
    return X, Y.astype(int)


def chain(order=(0, 1, 2)):
    model = linear_model.LogisticRegression()
    return multioutput.ClassifierChain(model, order=list(order))


def f1_by_hand(model, X, Y):
    losses = []
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        row = dict(enumerate(x))
        found = {label for label, is_on in model.predict_one(row).items() if is_on}
        true = set(np.flatnonzero(y).tolist())
        n_both = len(found) + len(true)
        losses.append(1 - 2 * len(found & true) / n_both if n_both else 0)
        model.learn_one(row, {label: bool(on) for label, on in enumerate(y)})
    return np.mean(losses)


@pytest.mark.parametrize("scaled", [False, True])
def test_a_model_costs_what_a_loop_by_hand_says(scaled):
    X, Y = stream()
    model = preprocessing.StandardScaler() | chain() if scaled else chain()
    run = ml.progressive(ml.from_river(model), X, Y, costs=["f1"])
    assert run.mean["f1"] == pytest.approx(f1_by_hand(model.clone(), X, Y))


def test_learners_of_both_kinds_take_the_same_stream():
    X, Y = stream()
    learner = ml.to_river(ml.OnlineBinaryRelevance())
    named = ml.progressive(ml.from_river(learner), X, Y)
    bare = ml.progressive(ml.OnlineBinaryRelevance(), X, Y)
    assert named.mean == bare.mean


def test_dense_rows_have_all_features_and_sparse_rows_those_stored():
    X, Y = [[0.0, 2.0]], [[1, 0]]
    dense = ml.from_river(Recorder()).partial_fit(X, Y).model_
    sparse = ml.from_river(Recorder()).partial_fit(sp.csr_array(X), Y).model_
    assert dense.rows == [({0: 0.0, 1: 2.0}, {0: True, 1: False})]
    assert sparse.rows == [({1: 2.0}, {0: True, 1: False})]


def test_columns_have_the_names_that_the_model_knows():
    names = {"feature_names": ("beak", "fin"), "label_names": ["bird", "fish"]}
    learner = ml.from_river(Recorder(), **names).partial_fit([[1, 0]], [[0, 1]])
    assert learner.model_.rows == [
        ({"beak": 1, "fin": 0}, {"bird": False, "fish": True})
    ]
    assert_array_equal(learner.predict([[1, 0], [0, 1]]), [[0, 1], [0, 1]])


def test_the_model_itself_learns_nothing_and_orders_start_alike():
    X, Y = stream(30)
    model = Recorder()
    learner = ml.from_river(model)
    run = ml.progressive(learner, X, Y, permutations=3, random_state=0)
    assert len(run.stderr) == 4
    assert not hasattr(learner, "model_")
    ml.progressive(learner, X, Y)
    assert len(learner.model_.rows) == 30
    assert not model.rows


def test_labels_and_features_may_come_up_late():
    learner = ml.from_river(Recorder())
    chunks = [([[1.0]], [[1]]), ([[1.0, 2.0]], [[1, 1]]), ([[0.0, 1.0]], [[1, 1]])]
    run = ml.progressive(learner, iter(chunks), costs=["hamming"])
    assert run.mean["hamming"] == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_no_rows_have_no_labels():
    learner = ml.from_river(Recorder()).partial_fit([[1.0]], [[1, 0]])
    assert learner.predict(np.empty((0, 1))).shape == (0, 2)


@pytest.mark.parametrize(
    "model", [3, Recorder, linear_model.LogisticRegression()], ids=str
)
def test_what_is_no_multi_label_model_is_refused(model):
    with pytest.raises(TypeError, match="model must be a multi-label classifier"):
        ml.from_river(model)


def test_nothing_is_predicted_before_a_row_is_learnt():
    with pytest.raises(NotFittedError, match="must have learnt rows"):
        ml.from_river(Recorder()).predict([[1.0]])


def test_columns_without_a_name_are_refused():
    learner = ml.from_river(Recorder(), feature_names=["a"], label_names=["x"])
    with pytest.raises(
        ValueError, match=r"feature_names must .* each of 2 columns. Go"
    ):
        learner.partial_fit([[1.0, 2.0]], [[1]])
    with pytest.raises(ValueError, match=r"label_names must .* of 2 columns. Got 1"):
        learner.partial_fit([[1.0]], [[1, 0]])


def test_labels_without_a_column_are_refused():
    learner = ml.from_river(Recorder()).partial_fit([[1.0]], [[1]])
    learner.model_.last = {"bird": True}
    with pytest.raises(
        ValueError, match=r"each label that the model predicts. Got 'bi"
    ):
        learner.predict([[1.0]])

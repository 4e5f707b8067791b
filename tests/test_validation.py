"""What the border takes, through the public names that lead to it."""

import numpy as np
import pytest
import scipy.sparse as sp

import manylabel as ml
from manylabel import _validation


class OnlyArray:
    """Data whose one talent is to become an array, as some frames and columns."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def __array_function__(self, function, *rest):
        raise TypeError(f"{function.__name__} is not for this")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    return X, (X[:, :2] > 0).astype(np.int64)


@pytest.mark.parametrize("kind", [ml.OneVsRest, ml.OnlineBinaryRelevance])
def test_objects_that_become_arrays_are_data(kind, rows):
    X, Y = rows
    expected = kind().fit(X, Y).decision_function(X)
    found = kind().fit(OnlyArray(X), OnlyArray(Y)).decision_function(OnlyArray(X))
    np.testing.assert_array_equal(found, expected)
    report = ml.evaluate(OnlyArray(Y), OnlyArray(expected), k=1)
    assert report["P@1"] == ml.evaluate(Y, expected, k=1)["P@1"]


def test_objects_of_another_shape_are_refused(rows):
    X, Y = rows
    with pytest.raises(ValueError, match=r"Y must be a matrix.* Got shape \(30,\)"):
        ml.OneVsRest().fit(X, OnlyArray(Y[:, 0]))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(30, 4), (1, 4), (0, 4)])
def test_dense_rows_are_those_of_scipy(order, shape, rows):
    X = np.asarray(rows[0][: shape[0]], order=order)
    for dense in (X, np.where(X > 1, 0, X)):
        found, expected = _validation.feature_matrix(dense), sp.csr_array(dense)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
        assert found.indices.dtype == found.indptr.dtype == np.int32


def test_rows_without_zeros_are_not_copied_unless_they_are_read_only(rows):
    X = rows[0]
    assert np.shares_memory(_validation.feature_matrix(X).data, X)
    X.flags.writeable = False
    assert _validation.feature_matrix(X).data.flags.writeable


def test_dense_rows_are_neither_changed_nor_kept(rows):
    X, Y = rows
    before = X.copy()
    for kind in (ml.OneVsRest, ml.FastXML, ml.CSDPP, ml.PLST, ml.LabelPowerset):
        model = kind().fit(X, Y)
        scores = model.decision_function(X)
        np.testing.assert_array_equal(X, before)
        X[:] = 1
        np.testing.assert_array_equal(model.decision_function(before), scores)
        X[:] = before


@pytest.mark.parametrize("kind", [ml.OneVsRest, ml.OnlineBinaryRelevance, ml.LabelTree])
@pytest.mark.parametrize(
    "labels",
    [
        [["wine"], ["bread", "wine"]],
        [["wine", "red"], ["bread", "rye"]],
        [[3], [7, 3]],
        [{3}, {7}],
        [(), ("wine",)],
        np.array([["wine"], ["bread", "wine"]], dtype=object),
    ],
)
def test_lists_of_labels_are_refused_with_the_ways_out(kind, labels):
    message = r"^Y must be a 0/1 matrix.* Got lists .*Tagger .*MultiLabelBinarizer"
    with pytest.raises(ValueError, match=message):
        kind().fit([[0.0, 1.0], [1.0, 0.0]], labels)


def test_lists_of_labels_are_no_vector_of_classes():
    for kind in (ml.BudgetedTree, ml.ObliqueTree):
        with pytest.raises(
            ValueError, match=r"^y must be a vector .* Got lists of lab"
        ):
            kind().fit([[0.0], [1.0]], [["a"], ["a", "b"]])


def test_lists_of_labels_are_no_scores():
    tags = [["wine"], ["bread", "wine"]]
    for truth, scores, name in ((tags, np.eye(2), "Y"), (np.eye(2), tags, "scores")):
        with pytest.raises(ValueError, match=rf"^{name} must be a .* Got lists of lab"):
            ml.evaluate(truth, scores)


def test_numbers_of_labels_in_lists_of_one_length_are_refused_with_the_ways_out():
    with pytest.raises(ValueError, match=r"Got 3\. If these are lists .*Tagger"):
        ml.OneVsRest().fit([[0.0, 1.0], [1.0, 0.0]], [[3, 7], [1, 2]])


def test_a_dense_list_of_lists_is_a_matrix():
    learnt = ml.OneVsRest().fit([[0.0, 1.0], [1.0, 0.0]], [[1, 0], [0, 1]])
    assert learnt.predict([[0.0, 1.0]]).tolist() == [[1, 0]]


def test_plain_rows_are_known_by_their_width_alone():
    model = ml.Popularity().fit(np.eye(3, dtype=np.float32), np.eye(3))
    for rows in (np.ones((2, 4), np.float32), np.ones(3, np.float32)):
        with pytest.raises(ValueError, match=r"features|2D array"):
            model.predict(rows)
    with pytest.raises(ValueError, match="Got inf at row 1, column 2"):
        model.predict(np.array([[0, 1, 2], [0, 1, np.inf]], np.float32))


def test_texts_for_rows_of_numbers_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"X must hold numbers\. Got texts: Tagger"):
        ml.OneVsRest().fit(["red wine", "bread"], [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (None, r"a matrix of shape \(n_rows, n_features\)\. Got None"),
        (
            np.array([["red wine"], ["bread"]], object),
            r"numbers\. Got 'red wine': Tagge",
        ),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused_by_name(rows, found):
    with pytest.raises(ValueError, match=rf"^X must .*{found}"):
        ml.OneVsRest().fit(rows, [[1, 0], [0, 1]])


def test_a_frame_of_texts_is_refused_with_the_way_out():
    frame = np.array([["red wine"], ["bread"]], object)
    with pytest.raises(ValueError, match=r"of texts, as df\['text'\], not the frame"):
        ml.Tagger().fit(frame, [["drink"], ["food"]])


def test_a_matrix_for_a_learner_of_two_classes_is_told_who_takes_it():
    X, Y = np.eye(4), np.eye(4, dtype=int)
    for many in (Y, Y.tolist(), sp.csr_array(Y)):
        with pytest.raises(ValueError, match="Got a matrix of 4 columns: OneVsRest, P"):
            ml.BudgetedTree().fit(X, many)


def test_the_features_of_texts_are_told_who_takes_them():
    texts = ml.Dataset(None, [[1, 0]], texts=["red wine"])
    with pytest.raises(ValueError, match="Got None, as a Dataset of texts has: Tagger"):
        ml.OneVsRest().fit(texts.X, texts.Y)

"""Dataset: what it holds, what it refuses, how rows are taken."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from manylabel import Dataset

X = np.array([[1.5, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
Y = np.array([[1, 0], [0, 0], [1, 1]])


def test_dense_arrays_become_sparse_singles():
    data = Dataset(X, Y)
    assert isinstance(data.X, sp.csr_array)
    assert (data.X.dtype, data.Y.dtype) == (np.float32, np.float32)
    assert_array_equal(data.X.toarray(), X)
    assert_array_equal(data.Y.toarray(), Y)
    assert (len(data), data.n_features, data.n_labels) == (3, 3, 2)


def test_int8_labels_beyond_127_are_kept():
    wide = sp.csr_array((np.ones(1, np.int8), [200], [0, 1]), shape=(1, 300))
    assert Dataset(None, wide).Y.indices.tolist() == [200]


@pytest.mark.parametrize(
    "rows",
    [slice(1, 3), [2, 0], np.array([True, False, True]), 1, slice(None, None, -1), []],
    ids=str,
)
def test_rows_are_taken_from_everything(rows):
    data = Dataset(X, Y, ids=["a", "b", "c"], texts=["x", "y", "z"])[rows]
    chosen = np.atleast_1d(np.arange(3)[rows])
    assert_array_equal(data.X.toarray(), X[chosen])
    assert_array_equal(data.Y.toarray(), Y[chosen])
    assert data.ids == tuple("abc"[i] for i in chosen)
    assert data.texts == tuple("xyz"[i] for i in chosen)


def test_a_row_that_is_not_there_is_an_index_error():
    with pytest.raises(IndexError):
        Dataset(X, Y)[5]


def test_the_repr_is_short():
    assert repr(Dataset(X, Y)) == "Dataset(3 rows, 3 features, 2 labels)"
    assert (
        repr(Dataset(None, Y, texts=["", "", ""])) == "Dataset(3 rows, texts, 2 labels)"
    )


def test_labels_without_names_are_called_by_their_column():
    assert list(Dataset(X, Y).labels) == ["0", "1"]
    assert list(Dataset(X, Y, label_names=["p", "q"]).labels) == ["p", "q"]


def test_a_data_set_cannot_be_changed():
    with pytest.raises(AttributeError):
        Dataset(X, Y).X = None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"X": X[:2]}, "X must have 3 rows. Got 2."),
        ({"X": X * np.nan}, "X must hold finite float32 numbers. Got NaN"),
        ({"Y": Y * 2}, "Y must hold only 0 and 1. Got 2."),
        ({"ids": ["a"]}, "ids must have 3 strings, one per row. Got 1."),
        ({"texts": ["a"] * 4}, "texts must have 3 strings, one per row. Got 4."),
        (
            {"label_names": ["a"]},
            "label_names must have 2 strings, one per column of Y",
        ),
        ({"feature_names": ["a"]}, "feature_names must have 3 strings, one per column"),
        ({"label_names": ["a", "a"]}, "names must differ. Got 'a' twice."),
    ],
)
def test_parts_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        Dataset(**{"X": X, "Y": Y} | fields)


@pytest.mark.parametrize("ids", ["abc", [1, 2, 3]])
def test_names_must_be_strings(ids):
    with pytest.raises(TypeError, match="ids must be a sequence of strings"):
        Dataset(X, Y, ids=ids)

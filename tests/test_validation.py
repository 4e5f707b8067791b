"""What the border takes, through the public names that lead to it."""

import numpy as np
import pytest

import manylabel as ml


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

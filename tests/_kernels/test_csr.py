"""Whether rows can be used as they are: SciPy and NumPy say the same."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from manylabel import OneVsRest
from manylabel._kernels import csr
from manylabel._validation import feature_matrix

SMALL = st.integers(-1, 4)
VALUES = st.sampled_from([0.0, 1.5, -2.0, np.nan, np.inf])


def is_sound(indptr, indices, data, n_columns):
    """Ask SciPy and NumPy."""
    if indptr[-1] != len(indices):  # SciPy would cut what is too much
        return False
    try:
        matrix = sp.csr_array((data, indices, indptr), (len(indptr) - 1, n_columns))
        matrix.check_format(full_check=True)
    except ValueError:
        return False
    return bool(matrix.has_canonical_format and np.isfinite(data).all())


@given(st.sets(st.tuples(st.integers(0, 2), st.integers(0, 3))), st.data())
def test_soundness(places, data):
    """Of sound rows with one number changed; the matrix has 3 rows and 4 columns."""
    dense = np.zeros((3, 4), np.float32)
    dense[tuple(np.transpose(sorted(places)))] = 1.0 if places else 0.0
    matrix = sp.csr_array(dense)
    parts = {name: getattr(matrix, name) for name in ("indptr", "indices", "data")}
    assert csr.is_sound(*parts.values(), 4)
    name = data.draw(st.sampled_from([name for name in parts if len(parts[name])]))
    place = data.draw(st.integers(0, len(parts[name]) - 1))
    parts[name][place] = data.draw(VALUES if name == "data" else SMALL)
    assert csr.is_sound(*parts.values(), 4) == is_sound(*parts.values(), 4)


@pytest.mark.parametrize(
    ("part", "value"), [("data", np.nan), ("indices", -1), ("indptr", 1)]
)
def test_rows_that_are_not_sound_are_refused(part, value):
    model = OneVsRest().fit(sp.csr_array(np.eye(3)), np.eye(3))
    row = sp.csr_array(np.ones((1, 3), np.float32))
    assert model.predict_topk(row, 1).nnz == 1
    getattr(row, part)[0] = value
    with pytest.raises(ValueError, match="X must"):
        model.predict_topk(row, 1)


def test_rows_of_another_order_are_sorted_in_a_copy():
    model = OneVsRest().fit(sp.csr_array(np.eye(3)), np.eye(3))
    parts = np.array([1, 9], np.float32), np.array([2, 0], np.int32), np.array([0, 2])
    row = sp.csr_array((parts[0], parts[1], parts[2].astype(np.int32)), (1, 3))
    assert model.predict_topk(row, 1).indices.tolist() == [0]
    assert row.indices.tolist() == [2, 0]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 1.0])
@pytest.mark.parametrize("width", [1, 31, 32, 33, 64, 100])
def test_dense_rows_are_compressed_as_scipy_does(share, width):
    rng = np.random.default_rng(0)
    dense = np.float32(rng.normal(size=(40, width)) * (rng.random((40, width)) < share))
    found, expected = feature_matrix(dense), sp.csr_array(dense)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    np.testing.assert_array_equal(
        feature_matrix(np.asfortranarray(dense)).data, found.data
    )


@pytest.mark.parametrize("n_full", [0, 1, 5, 39])
def test_dense_rows_that_differ_are_compressed_as_scipy_does(n_full):
    """Room is made by guess, and there may be enough for some of the rows only."""
    dense = np.zeros((40, 70), np.float32)
    dense[40 - n_full :] = 2.0
    dense[:, [3, 40, 69]] = [[1.0, -0.0, 1.0]]
    found, expected = feature_matrix(dense), sp.csr_array(dense)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


@pytest.mark.parametrize("column", [0, 31, 32, 49])
def test_a_dense_value_that_is_no_number_is_found(column):
    dense = np.zeros((3, 50), np.float32)
    dense[1, column] = np.nan
    with pytest.raises(ValueError, match=f"Got NaN at row 1, column {column}"):
        feature_matrix(dense)

"""Flattening is undone exactly, and refuses what JSON and arrays cannot say."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from sklearn.linear_model import Ridge

from manylabel import Propensity
from manylabel.persistence import flatten, tensors, unflatten

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
)
arrays = hnp.arrays(
    st.sampled_from(sorted(map(str, tensors.CODES))),
    hnp.array_shapes(min_dims=0, min_side=0, max_side=3),
)
texts = st.lists(st.text("ab", min_size=1), max_size=3)
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=3),
    st.lists(scalars, max_size=3).map(tuple),
    arrays,
    texts.map(lambda items: np.array(items, dtype=object)),
    texts.map(lambda items: np.array(items, dtype=str)),
    st.integers(0, 9).map(lambda seed: sp.random_array((3, 4), rng=seed, format="csr")),
    st.floats(0, 1).map(lambda a: Propensity(a=a)),
    st.floats(0.1, 1).map(lambda p: Propensity.given([p, 1.0])),
)


def assert_same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, sp.csr_array):
        assert found.shape == expected.shape
        assert (found != expected).nnz == 0
    elif isinstance(expected, np.ndarray):
        assert found.dtype.kind == expected.dtype.kind
        assert_array_equal(found, expected)
    elif isinstance(expected, Propensity):
        assert found.a == expected.a
        assert_same_attributes(vars(found), vars(expected))
    else:
        assert found == expected


def assert_same_attributes(found, expected):
    assert found.keys() == expected.keys()
    for name in expected:
        assert_same(found[name], expected[name])


@given(st.dictionaries(st.sampled_from(["a_", "b_", "c_"]), values))
def test_unflatten_undoes_flatten(attributes):
    assert_same_attributes(unflatten(flatten(attributes)), attributes)


@given(st.dictionaries(st.sampled_from(["a_", "b_", "c_"]), values))
def test_flat_means_arrays_and_json(attributes):
    flat = flatten(attributes)
    json.dumps([v for v in flat.values() if not isinstance(v, np.ndarray)])
    assert flatten(flat).keys() == flat.keys()


def test_numpy_scalars_become_python_numbers():
    assert flatten({"a": np.float32(0.5), "b": (np.int64(3), np.True_)}) == {
        "a": 0.5,
        "b.tuple": [3, True],
    }


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (len, "a builtin_function_or_method"),
        (np.random.RandomState(0), "a RandomState"),
        (np.random.default_rng(0), "a Generator"),
        ({1: "a"}, "a dict with a int for a key"),
        ({"a": [1j]}, "a complex"),
        (b"bytes", "a bytes"),
        ([[b"a"]], "a bytes"),
        (1j, "a complex"),
        (np.array([1j]), "an array of complex128"),
        (np.array([None]), "an array of object"),
        (np.array([["a"]]), "an array of <U1"),
        (sp.csc_array((2, 2)), "a csc_array"),
        (Ridge(), "a Ridge"),
        (Propensity, "a type|a ABCMeta"),
    ],
)
def test_what_a_folder_cannot_hold_is_refused_by_name(value, found):
    with pytest.raises(TypeError, match=f"The parameter cost cannot .* not ({found})"):
        flatten({"cost": value})


def test_a_refusal_inside_a_nested_estimator_says_where():
    with pytest.raises(TypeError, match=r"The parameter propensity\.params\.a cannot"):
        flatten({"propensity": Propensity(a=print)})


@pytest.mark.parametrize(
    ("flat", "message"),
    [
        ({"a_.what": 1}, "a_ is spelt in unknown parts"),
        ({"a_.indptr": [0, 1]}, "a_ is spelt in unknown parts"),
        ({"a_.class": "Corpus"}, "manylabel has no estimator 'Corpus'"),
        ({"a_.class": "os.system"}, "manylabel has no estimator 'os.system'"),
        ({"a_.class": "__name__"}, "manylabel has no estimator '__name__'"),
        ({"a_.class": "Calibrated"}, "parameter estimator of Calibrated is missing"),
    ],
)
def test_what_was_not_flattened_is_refused(flat, message):
    with pytest.raises(ValueError, match=message):
        unflatten(flat)


def test_a_parameter_that_was_not_saved_has_its_default():
    assert unflatten({"a_.class": "Propensity", "a_.params.b": 2.6})["a_"].a == 0.55


def test_indices_never_reach_a_kernel_unchecked():
    flat = flatten({"coef_": sp.csr_array(np.eye(3))})
    flat["coef_.indices"] = np.array([0, 1, 99], np.int32)
    with pytest.raises(ValueError, match="indices"):
        unflatten(flat)

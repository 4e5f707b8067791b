"""Propensity: the formula, the presets, given values, the refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from manylabel.propensity import PRESETS, Propensity

MATRICES = st.tuples(st.integers(0, 30), st.integers(0, 5)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 1))
)


def reference(Y, a, b):
    """Jain, Prabhu & Varma 2016: p = 1 / (1 + C e^(-a log(N_l + b)))."""
    c = (np.log(len(Y)) - 1) * (b + 1) ** a
    return 1 / (1 + c * np.exp(-a * np.log(Y.sum(axis=0) + b)))


@given(MATRICES, st.floats(0, 2), st.floats(0.01, 5))
def test_values_follow_the_formula_from_three_rows_on(Y, a, b):
    if len(Y) >= 3:
        assert_allclose(Propensity(a=a, b=b).fit(Y).values_, reference(Y, a, b))


@given(MATRICES)
def test_values_lie_in_the_unit_interval(Y):
    values = Propensity().fit(Y).values_
    assert values.shape == (Y.shape[1],)
    assert ((values > 0) & (values <= 1)).all()


@pytest.mark.parametrize("n_rows", [0, 1, 2])
def test_fewer_than_three_rows_say_nothing(n_rows):
    assert_array_equal(Propensity().fit(np.ones((n_rows, 2))).values_, [1, 1])


@given(MATRICES)
def test_a_frequent_label_has_no_smaller_value(Y):
    values = Propensity().fit(Y).values_
    assert (np.diff(values[np.argsort(Y.sum(axis=0), kind="stable")]) >= 0).all()


def test_sparse_labels_give_what_dense_ones_give():
    Y = np.random.default_rng(0).random((50, 7)) < 0.3
    assert_array_equal(
        Propensity().fit(sp.csr_array(Y)).values_, Propensity().fit(Y).values_
    )


@pytest.mark.parametrize(
    ("name", "a", "b"),
    [
        ("Wikipedia-500K", 0.5, 0.4),
        ("wikilshtc_325k", 0.5, 0.4),
        ("AMAZON 670K", 0.6, 2.6),
        ("Amazon-3M", 0.6, 2.6),
        ("AmazonCat-13K", 0.55, 1.5),
        ("bibtex", 0.55, 1.5),
    ],
)
def test_presets_are_found_however_they_are_spelt(name, a, b):
    assert Propensity.preset(name).get_params() == {"a": a, "b": b, "values": None}


def test_presets_differ_in_more_than_spelling():
    plain = {"".join(filter(str.isalnum, name)).lower() for name in PRESETS}
    assert len(plain) == len(PRESETS)


def test_an_unknown_preset_is_refused_with_the_way_out():
    with pytest.raises(
        ValueError, match=r"Amazon-3M; for other data use Propensity\(\)"
    ):
        Propensity.preset("Wikipedia-50K")


def test_given_values_are_fitted_copies():
    values = np.array([0.5, 1.0])
    model = Propensity.given(values)
    values[0] = 0.1
    assert_array_equal(model.values_, [0.5, 1.0])


def test_a_clone_keeps_given_values_and_has_them_back_after_fit():
    model = clone(Propensity.given([0.5, 0.25]))
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert_array_equal(model.fit([[1, 0], [0, 0]] * 50).values_, [0.5, 0.25])


def test_a_clone_keeps_the_parameters():
    assert clone(Propensity(a=0.6, b=2.6)).get_params() == {
        "a": 0.6,
        "b": 2.6,
        "values": None,
    }


def test_one_given_value_stands_for_all_labels():
    assert_array_equal(Propensity(values=0.3).fit([[1, 0, 0]]).values_, [0.3] * 3)


@pytest.mark.parametrize("wrong", [0.0, -0.5, 1.5, np.nan, np.inf])
def test_values_outside_the_unit_interval_are_refused(wrong):
    with pytest.raises(
        ValueError, match=r"propensity must lie in \(0, 1\]\. Got .* 1\."
    ):
        Propensity.given([0.5, wrong])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Propensity(b=0.0).fit([[1]]), "b == 0.0, must be > 0"),
        (lambda: Propensity(a=-1.0).fit([[1]]), "a == -1.0, must be >= 0"),
        (lambda: Propensity().fit([[2]]), "Y must hold only 0 and 1. Got 2"),
        (
            lambda: Propensity(values=[0.5]).fit([[1, 0]]),
            r"propensity must have 2 values, one per label. Got shape \(1,\)",
        ),
        (
            lambda: Propensity.given([[0.5, 0.5]]),
            r"propensity must have 2 values, one per label. Got shape \(1, 2\)",
        ),
        (
            lambda: Propensity(values=[0.9, 0.05]).fit([[1, 1]] * 20),
            "label 1 is recorded in 20 of 20 rows, which 0.05 does not",
        ),
    ],
)
def test_wrong_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("wrong", [{"a": np.nan}, {"b": np.inf}])
def test_constants_must_be_finite(wrong):
    with pytest.raises(ValueError, match="must be finite"):
        Propensity(**wrong).fit([[1, 0], [0, 1]])

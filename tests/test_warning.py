"""Warnings name the line of the program, not one of the library."""

import warnings

import pytest

import manylabel as ml
from manylabel.exceptions import DoubtfulLabels


def fit_a_tagger():
    ml.Tagger(ml.Popularity()).fit(["red wine", "bread"], [["drink"], None])


def ask_for_long_codes():
    Y = [[1] + [0] * 999, [0] * 999 + [1]]
    ml.CSDPP(n_components=0.9, random_state=0).partial_fit([[1.0], [2.0]], Y)


@pytest.mark.parametrize(
    ("call", "kind"),
    [(fit_a_tagger, DoubtfulLabels), (ask_for_long_codes, UserWarning)],
)
def test_a_warning_names_the_line_that_called_the_library(call, kind):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert [(each.filename, each.category) for each in caught] == [(__file__, kind)]


def test_a_warning_is_raised_where_warnings_are_errors():
    with pytest.raises(DoubtfulLabels, match="tags are missing for 1 row of 2"):
        fit_a_tagger()

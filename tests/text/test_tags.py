"""Tags as they are given: names in any collection, what is missing, what is refused."""

import re

import numpy as np
import pytest

import manylabel as ml
from manylabel.exceptions import DoubtfulLabels

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine", "water"]
TAGS = [["drink"], ["drink", "white"], {"food"}, ("food", "drink"), []]
MISSING = r"\Atags are missing for 1 row of \d, as if no label belonged there\.\Z"


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (TAGS[:-1], "tags must have 5 rows, one per text. Got 4."),
        ([[]] * 5, "tags must name at least one tag. Got none."),
        ("drink", "tags must be a list that has a list of names for each text"),
        (None, "tags must be a list that has a list of names for each text. Got None"),
        (
            ["drink"] * 5,
            "tags must have a list of names for each text. Got 'drink' at ",
        ),
        ([["a"], 7, [], [], []], "for each text. Got 7 at row 1."),
        (
            [["a", 3], [], [], [], []],
            "tags must be strings, as str() makes them. Got 3 at row 0.",
        ),
        (
            np.ones((5, 2)),
            "Got a matrix: rows of 0 and 1 are fitted as Dataset(None, Y, texts=texts)",
        ),
    ],
)
def test_refuses_wrong_tags(tags, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        ml.Tagger().fit(TEXTS, tags)


@pytest.mark.parametrize("kind", [tuple, set, np.array])
def test_names_may_come_in_any_collection(kind):
    tagger = ml.Tagger().fit(TEXTS, [kind(list(names)) for names in TAGS])
    names = tagger.label_names_.tolist()
    assert names == ml.Tagger().fit(TEXTS, TAGS).label_names_.tolist()
    assert {type(name) for name in names} == {str}


@pytest.mark.parametrize("nothing", [None, float("nan"), "", " "])
def test_what_is_missing_is_no_tag(nothing):
    texts = [*TEXTS, "one", "two"]
    with pytest.warns(DoubtfulLabels, match=MISSING):
        tagger = ml.Tagger().fit(texts, [*TAGS, nothing, ["drink", nothing]])
    alike = ml.Tagger().fit(texts, [*TAGS, [], ["drink"]])
    assert tagger.label_names_.tolist() == alike.label_names_.tolist()
    assert tagger.label_counts_.tolist() == alike.label_counts_.tolist()


def test_spaces_around_a_name_do_not_count():
    tagger = ml.Tagger().fit(["a b", "c d"], [["x", ""], ["x "]])
    assert tagger.label_names_.tolist() == ["x"]


def test_what_pandas_calls_missing_is_no_tag():
    pandas = pytest.importorskip("pandas")
    tags = pandas.Series([*TAGS[1:], pandas.NA], dtype=object)
    with pytest.warns(DoubtfulLabels, match=MISSING) as told:
        assert ml.Tagger().fit(TEXTS, tags).n_rows_ == len(TEXTS)
    assert len(told) == 1


class Index(list):
    """What of an index of pandas is looked at."""

    def equals(self, other):
        """Tell whether another has the same order."""
        return self == other


class Column(list):
    """What of a column of pandas is looked at."""

    iloc = None

    def __init__(self, values, order):
        super().__init__(values)
        self.index = Index(order)


def test_an_index_in_another_order_is_told():
    order = range(len(TEXTS))
    texts = Column(TEXTS, order)
    with pytest.warns(DoubtfulLabels, match="index of the items in another order"):
        ml.Tagger().fit(texts, Column(TAGS, reversed(order)))
    for same in (order, range(7, 7 + len(TAGS))):
        ml.Tagger().fit(texts, Column(TAGS, same))


def test_a_matrix_of_labels_for_rows_is_refused_with_the_way_out():
    with pytest.raises(TypeError, match=r"rows of 0 and 1 are fitted as Dataset\(X, Y"):
        ml.Tagger().fit(np.eye(3), np.eye(3))

"""LabelSpace: names to columns and back."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from manylabel import LabelSpace

rows = st.lists(st.lists(st.text(max_size=3), max_size=4), max_size=6)


@given(rows)
def test_decoding_undoes_encoding(labels):
    space = LabelSpace.from_labels(labels)
    Y = space.encode(labels)
    assert Y.shape == (len(labels), len(space))
    assert (Y.dtype, Y.indices.dtype) == (np.float32, np.int32)
    assert (Y.data == 1).all()
    assert space.decode(Y) == [sorted(set(row)) for row in labels]


@given(rows, st.randoms())
def test_the_order_of_rows_does_not_matter(labels, random):
    shuffled = [random.sample(row, len(row)) for row in labels]
    random.shuffle(shuffled)
    assert LabelSpace.from_labels(labels) == LabelSpace.from_labels(shuffled)


def test_scores_are_decoded_best_first_ties_by_column():
    scores = sp.csr_array([[0.2, 0.9, 0.9], [0.0, -1.0, 0.0]])
    space = LabelSpace("abc")
    assert space.decode(scores) == [["b", "c", "a"], ["b"]]
    assert space.decode(scores.toarray()) == [["b", "c", "a"], ["b"]]


def test_a_stored_zero_is_a_prediction():
    scores = sp.csr_array((np.array([0.0, -1.0]), [2, 0], [0, 2]), shape=(1, 3))
    assert LabelSpace("abc").decode(scores) == [["c", "a"]]


def test_a_space_is_a_collection_of_names():
    space = LabelSpace(["b", "a"])
    assert (len(space), list(space), space.column("a")) == (2, ["b", "a"], 1)
    assert "a" in space
    assert "c" not in space
    assert space == LabelSpace(("b", "a")) != LabelSpace(["a", "b"])
    assert space != ["b", "a"]
    assert len({space, LabelSpace(["b", "a"])}) == 1
    assert repr(space) == "LabelSpace(2 names)"


def test_wrong_names_are_refused():
    with pytest.raises(ValueError, match=r"names must differ. Got 'a' twice"):
        LabelSpace(["a", "b", "a"])
    with pytest.raises(TypeError, match=r"names must be strings. Got 3"):
        LabelSpace(["a", 3])
    for unknown in ("c", ["c"]):
        with pytest.raises(
            ValueError, match=r"labels must be among the 2 known. Got .*c"
        ):
            LabelSpace(["a", "b"]).encode([["a"], [unknown]])
    with pytest.raises(ValueError, match=r"Y must have 2 columns. Got 3"):
        LabelSpace(["a", "b"]).decode(np.zeros((1, 3)))

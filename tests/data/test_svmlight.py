"""svmlight: two ways of counting, two ways of saying yes and no."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

from manylabel import iter_chunks, read
from manylabel.exceptions import DataError

ONE_BASED = "0,2 1:0.5 3:1 # first\n# nothing\n\n 2:2\n1.0 qid:7 1:1\n"


def test_features_count_from_one_unless_a_zero_occurs(put):
    data = read(put(ONE_BASED))
    assert_array_equal(data.X.toarray(), [[0.5, 0, 1], [0, 2, 0], [1, 0, 0]])
    assert_array_equal(data.Y.toarray(), [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    assert_array_equal(read(put("0 0:1 2:2\n")).X.toarray(), [[1, 0, 2]])


def test_the_caller_may_say_how_features_count(put):
    path = put(ONE_BASED)
    assert read(path, zero_based=True).n_features == 4
    assert read(path, zero_based=False).n_features == 3
    with pytest.raises(DataError, match=r"line 1: .* feature from 1 to .* found '0:1'"):
        read(put("0 0:1\n"), zero_based=False)
    with pytest.raises(ValueError, match=r"zero_based must be True, False or 'auto'"):
        read(path, zero_based="maybe")


def test_widths_may_be_asked_for(put):
    path = put(ONE_BASED)
    data = read(path, n_features=9, n_labels=8)
    assert (data.n_features, data.n_labels) == (9, 8)
    assert read(path, label_names=list("abc")).label_names == ("a", "b", "c")
    with pytest.raises(DataError, match=r"line 1: expected a label from 0 to 1, found"):
        read(path, n_labels=2)
    with pytest.raises(DataError, match=r"line 1: .* feature from 0 to 2, found '3:1'"):
        read(path, n_features=2)
    with pytest.raises(DataError, match=r"expected 2 features counted from 0, found"):
        read(put("0 0:1 2:1\n"), n_features=2)
    with pytest.raises(ValueError, match=r"n_labels must be 3, one per name. Got 4."):
        read(path, n_labels=4, label_names=list("abc"))
    with pytest.raises(ValueError, match=r"n_features must be from 1 to 2147483647"):
        read(path, n_features=0)


def test_plus_and_minus_one_are_one_label(put):
    path = put("+1 1:1\n-1 2:1\n1 1:1\n-1\n")
    assert_array_equal(read(path).Y.toarray(), [[1], [0], [1], [0]])
    chunks = list(iter_chunks(path, n_rows=1))
    assert [chunk.Y.toarray().tolist() for chunk in chunks] == [[[1]], [[0]]] * 2


def test_one_label_without_a_minus_must_be_asked_for(put):
    path = put("1 1:1\n1 2:1\n")
    assert read(path).n_labels == 2
    assert_array_equal(read(path, n_labels=1).Y.toarray(), [[1], [1]])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("-1 1:1\n0 1:1\n", "expected labels [+]1 and -1 only, found 0"),
        ("-1 1:1\n2 1:1\n", "expected labels [+]1 and -1 only, found 2"),
        ("-2 1:1\n", "line 1: expected a label from -1 to 2147483646, found '-2'"),
        ("0 1:1\n1.5 1:1\n", "line 2: expected a label .* found '1.5'"),
        ("0 1:1\n1 2147483647:1\n", "line 2: .* found '2147483647:1'"),
        ("0 1:1\n1 1:1 2\n", "line 2: expected feature:value"),
        ("0 1:1\n1 sid:1 2:1\n", "line 2: expected feature:value"),
        ("0 1:1\n\n# c\n1 1:inf\n", "line 4: expected a finite float32"),
    ],
)
def test_bad_text_is_refused(put, text, reason):
    with pytest.raises(DataError, match=reason):
        read(put(text))


labels = st.sets(st.integers(0, 5), max_size=3)
features = st.dictionaries(
    st.integers(0, 8), st.floats(-1e9, 1e9, width=32), min_size=1, max_size=4
)


@given(st.lists(st.tuples(labels, features), min_size=1, max_size=6), st.booleans())
def test_scikit_learn_reads_the_same(put, rows, shifted):
    text = "".join(
        ",".join(map(str, sorted(y)))
        + "".join(f" {f + shifted}:{v!r}" for f, v in sorted(x.items()))
        + "\n"
        for y, x in rows
    )
    path = put(text)
    X, Y = load_svmlight_file(str(path), multilabel=True, dtype=np.float32)
    data = read(path)
    assert_array_equal(data.X.toarray(), X.toarray())
    binarizer = MultiLabelBinarizer(classes=range(data.n_labels))
    assert_array_equal(data.Y.toarray(), binarizer.fit_transform(Y))

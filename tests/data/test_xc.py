"""The repository's text: what may stand in it and what may not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel import read
from manylabel.exceptions import DataError, SkippedLines

LONG = 200_000  # bytes, more than are read at once


def test_rows_without_labels_features_or_anything(put):
    data = read(put("5 3 4\n1,3 0:1 2:-2.5\n 1:.5\n2\n\n0:1 1:1\n"))
    assert_array_equal(
        data.X.toarray(), [[1, 0, -2.5], [0, 0.5, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0]]
    )
    assert_array_equal(
        data.Y.toarray(),
        [[0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    )
    assert (data.X.dtype, data.X.indices.dtype) == (np.float32, np.int32)
    assert (data.Y.dtype, data.Y.indices.dtype) == (np.float32, np.int32)


def test_unsorted_and_repeated_indices(put):
    data = read(put("2 4 4\n3,1,3 2:1 0:5 2:0.25 3:-0.0\n0 1:1\n"))
    assert data.X.has_canonical_format
    assert data.X[[0]].indices.tolist() == [0, 2, 3]
    assert data.X[[0]].data.tolist() == [5, 1.25, 0]
    assert_array_equal(data.Y.toarray(), [[0, 1, 0, 1], [1, 0, 0, 0]])


@pytest.mark.parametrize(
    "text",
    [
        "2 3 4\r\n1,3 0:1\t2:2 \r\n0  1:3\r\n",
        "\ufeff2 3 4\n1,3 0:1e0 2:+2.\n0 1:300e-2",
        " 2\t3 4 \n1,3 0:1 2:2\n0 1:3\n\n \n\r\n",
    ],
    ids=["windows", "mark-and-no-newline", "blanks"],
)
def test_blanks_line_ends_and_marks_do_not_matter(put, text):
    data = read(put(text))
    assert_array_equal(data.X.toarray(), [[1, 0, 2], [0, 3, 0]])
    assert_array_equal(data.Y.toarray(), [[0, 1, 0, 1], [1, 0, 0, 0]])


def test_no_rows_and_no_columns_are_fine(put):
    assert read(put("0 3 4\n")).X.shape == (0, 3)
    assert read(put("0 3 4")).Y.shape == (0, 4)
    assert read(put("2 0 0\n\n\n")).X.shape == (2, 0)


@given(st.lists(st.integers(0, 2000), min_size=1, max_size=8), st.booleans())
def test_where_blocks_are_cut_does_not_matter(put, lengths, zipped):
    rows = [
        " " + " ".join(f"{i}:{i + n}" for i in range(n % 2000)) for n in lengths
    ] * 10
    text = f"{len(rows)} 2000 1\n" + "\n".join(rows) + "\n"
    data = read(put(text, zipped=zipped))
    assert_array_equal(np.diff(data.X.indptr), lengths * 10 % np.array(2000))
    indices = np.concatenate([np.arange(n % 2000) for n in lengths] * 10)
    assert_array_equal(data.X.indices, indices)


def test_a_line_longer_than_a_block(put):
    n = LONG
    text = f"2 {n} 1\n0 " + " ".join(f"{i}:1" for i in range(n)) + "\n0\n"
    assert read(put(text)).X.nnz == n


def test_values_in_doubt_are_read_exactly(put):
    texts = ["1.000000059604644775390625", "1.000000059604644775390626", "-1.5e-46"]
    texts += [
        repr(float(np.float32(1) + k * 2.0**-53)) for k in range(2**28, 2**28 + 9)
    ]
    entries = " ".join(f"{i}:{text}" for i, text in enumerate(texts))
    data = read(put(f"1 {len(texts)} 1\n0 {entries}\n"))
    assert_array_equal(data.X.toarray()[0], np.float32([float(text) for text in texts]))


def test_names_come_from_a_sequence_or_a_file(put):
    path = put("1 2 2\n0 1:1\n")
    names = put("one\ntwo\n", "names.txt", zipped=True)
    data = read(path, label_names=["a", "b"], feature_names=names)
    assert data.label_names == ("a", "b")
    assert data.feature_names == ("one", "two")
    assert read(path, label_names=np.array(["a", "b"])).label_names == ("a", "b")
    with pytest.raises(ValueError, match="label_names must have 2 strings"):
        read(path, label_names=["a"])
    with pytest.raises(
        DataError, match=r"names.txt: expected UTF-8, found byte 0xff at 2"
    ):
        read(path, label_names=put("é".encode() + b"\xff\n", "names.txt"))


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("3 3 4\n0 0:1\n1 1:1\n", None, "expected 3 rows, found 2"),
        ("1 3 4\n0 0:1\n1 1:1\n", 3, "expected 1 rows as the header says, found more"),
        ("1 3 4\n\n\n1 1:1\n", 3, "found more"),
        ("2 3 4\n0 0:1\n1 3:1\n", 3, "a feature from 0 to 2, found '3:1'"),
        ("2 3 4\n0 0:1\n1 -1:1\n", 3, "a feature from 0 to 2, found '-1:1'"),
        ("2 3 4\n0 0:1\n1 99999999999999999999:1\n", 3, "a feature from 0 to 2"),
        ("2 3 4\n4 0:1\n1 1:1\n", 2, "expected a label from 0 to 3, found '4'"),
        ("2 3 4\n1,-2 0:1\n1 1:1\n", 2, "expected a label from 0 to 3, found '-2'"),
        ("1 3 4\n0 0:nan\n", 2, "expected a finite float32 after the feature, found"),
        ("1 3 4\n0 0:-inf\n", 2, "expected a finite float32 after the feature"),
        ("1 3 4\n0 0:1e39\n", 2, "expected a finite float32 after the feature"),
        ("1 3 4\n0 0:3e38 0:3e38\n", None, "repeated features to add up to a float32"),
        ("1 3 4\n0 0:1 hello\n", 2, "expected feature:value .* found 'hello'"),
        ("1 3 4\n0 0:1 # no\n", 2, "expected feature:value"),
        ("1 3 4\n0 0:\x01\n", 2, "found '0:.x01'"),
        ("1 3 9999999999\n", 1, "expected at most 2147483647 columns"),
    ],
)
def test_bad_text_is_refused_with_its_line(put, text, line, reason):
    path = put(text)
    with pytest.raises(DataError, match=reason) as caught:
        read(path)
    assert (caught.value.path, caught.value.line) == (path, line)


@pytest.mark.parametrize("text", ["1 2\n0 0:1\n", "a b c\n", "1 2 3 4\n", "-1 2 3\n"])
def test_a_header_is_three_counts(put, text):
    with pytest.raises(DataError, match="line 1: expected a header of three counts"):
        read(put(text), format="xc")


def test_bad_lines_can_be_skipped_and_are_counted(put):
    path = put("9 3 4\n0 0:1\nx\n1 1:1\n" + "9 0:1\n" * 5 + "2 2:nan\n")
    with pytest.warns(SkippedLines, match="skipped 7 bad lines, the first: .*line 3"):
        data = read(path, skip_bad_lines=True)
    assert_array_equal(data.X.toarray(), [[1, 0, 0], [0, 1, 0]])
    with pytest.warns(SkippedLines) as caught:
        read(path, skip_bad_lines=True)
    warning = caught[0].message
    assert (warning.path, warning.count) == (path, 7)
    assert [error.line for error in warning.errors] == [3, 5, 6, 7, 8]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("n_blank", [0, 1, 2 * LONG])
@pytest.mark.parametrize("rows", ["0 0:1\n", "x\n", "0 0:1\nx\n", "\n", ""])
def test_a_bad_line_too_many_is_refused_wherever_blocks_are_cut(put, rows, n_blank):
    path = put(f"{rows.count(chr(10))} 3 4\n{rows}" + "\n" * n_blank + "x\n")
    with pytest.raises(DataError, match="as the header says, found more"):
        read(path, skip_bad_lines=True)

"""The row kernel against the obvious way of splitting lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel._kernels.parsing import rows as kernel

N_LABELS, N_FEATURES = 7, 50


def reference(text):
    """Split at newlines, blanks, commas and colons."""
    rows = []
    for line in text.split("\n")[:-1]:
        first, *rest = line.split(" ") if ":" not in line.split(" ")[0] else ["", line]
        labels = [int(label) for label in first.split(",") if label]
        tokens = " ".join(rest).split()
        pairs = [token.split(":") for token in tokens]
        rows.append((labels, [(int(f), np.float32(v)) for f, v in pairs]))
    return rows


def parse(text, *, loose=False, labels=(0, N_LABELS - 1)):
    data = np.frombuffer(text.encode(), np.uint8)
    size = len(text) + 1
    arrays = (
        np.zeros(size, np.int64),
        np.empty(size, np.int32),
        np.zeros(size, np.int64),
        np.empty(size, np.int32),
        np.empty(size, np.float32),
        np.empty((size, 3), np.int64),
    )
    progress = np.zeros(8, np.int64)
    limits = (*labels, 0, N_FEATURES - 1)
    verdict = kernel.parse_rows(data, loose, *limits, *arrays, progress)
    y_indptr, y_indices, x_indptr, x_indices, x_data, _ = arrays
    rows = []
    for i in range(progress[kernel.N_ROWS]):
        y, x = slice(*y_indptr[i : i + 2]), slice(*x_indptr[i : i + 2])
        pairs = zip(x_indices[x].tolist(), x_data[x], strict=True)
        rows.append((y_indices[y].tolist(), list(pairs)))
    return verdict, rows, progress


blanks = st.sampled_from([" ", "  ", "\t", " \t "])
values = st.sampled_from(["1", "0.5", "-2e-3", ".25", "3.", "+7", "-0.0", "0.1"])
labels = st.lists(st.integers(0, N_LABELS - 1), max_size=4)
features = st.lists(st.tuples(st.integers(0, N_FEATURES - 1), values), max_size=5)


@st.composite
def lines(draw):
    tokens = [",".join(map(str, draw(labels)))]
    tokens += [f"{feature}:{value}" for feature, value in draw(features)]
    line = "".join(token + draw(blanks) for token in tokens)
    return line.rstrip() if draw(st.booleans()) and line.strip() else line


@given(st.lists(lines(), max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_rows_are_split_as_they_should_be(rows, newline):
    text = "".join(row + newline for row in rows)
    verdict, got, progress = parse(text)
    assert verdict == kernel.FINE
    assert progress[kernel.AT] == len(text)
    assert got == reference(text.replace("\t", " ").replace("\r", " "))
    increasing = all(
        labels == sorted(set(labels)) and features == sorted(dict(features).items())
        for labels, features in got
    )
    assert bool(progress[kernel.UNTIDY]) != increasing


@given(st.lists(lines(), min_size=1, max_size=4), st.data())
def test_a_bad_line_stops_the_kernel_at_its_start(rows, data):
    place = data.draw(st.integers(0, len(rows)))
    bad = data.draw(
        st.sampled_from(
            "7|-1|1,|,1|1;2|x|0 50:1|0 -1:1|0 1:nan|0 1:inf|0 1:|0 :1|0 1|0 1:1x|"
            "0 1:1e39|0 1:0x1|1.0|0 1:1#".split("|")
        )
    )
    text = "".join(row + "\n" for row in [*rows[:place], bad, *rows[place:]])
    verdict, got, progress = parse(text)
    assert verdict != kernel.FINE
    assert len(got) == progress[kernel.N_LINES] == place
    assert progress[kernel.AT] == sum(len(row) + 1 for row in rows[:place])


def test_loose_text_has_comments_queries_floats_and_blank_lines():
    text = "# all\n1.0,2. qid:3 4:1 # note\n\n  \n 5:2#x\n-1\n+1 qid:1\n6:1\n"
    verdict, rows, progress = parse(text, loose=True, labels=(-1, 6))
    assert verdict == kernel.FINE
    assert rows == [
        ([1, 2], [(4, 1)]),
        ([], [(5, 2)]),
        ([-1], []),
        ([1], []),
        ([], [(6, 1)]),
    ]
    assert progress[kernel.N_LINES] == text.count("\n")


def test_values_in_doubt_are_listed_with_their_place():
    text = "0 3:1 4:1.000000059604644775390625 5:2\n"
    data = np.frombuffer(text.encode(), np.uint8)
    size = len(text)
    unsure, progress = np.empty((size, 3), np.int64), np.zeros(8, np.int64)
    indptr = np.zeros(2, np.int64)
    indices, x_data = np.empty(size, np.int32), np.empty(size, np.float32)
    kernel.parse_rows(
        *(data, False, 0, 0, 0, 9),
        *(indptr, indices.copy(), indptr.copy(), indices, x_data, unsure, progress),
    )
    assert progress[kernel.N_UNSURE] == 1
    place, start, end = unsure[0]
    assert_array_equal([place, text[start:end]], [1, "1.000000059604644775390625"])


@pytest.mark.parametrize(
    ("line", "untidy"),
    [
        ("1,2 1:1 2:1", False),
        ("2,2 1:1", True),
        ("2,1 1:1", True),
        ("1 2:1 2:1", True),
        ("1 2:1 1:1", True),
    ],
)
def test_repeats_and_disorder_are_noticed(line, untidy):
    assert parse(line + "\n")[2][kernel.UNTIDY] == untidy

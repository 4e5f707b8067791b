"""The ARFF kernel against the obvious way of splitting lines."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from manylabel._kernels.parsing import cells as kernel
from manylabel._kernels.parsing.rows import AT, N_LINES, N_ROWS

KINDS = np.array([kernel.NUMBER, kernel.ZERO_ONE, kernel.NUMBER, kernel.ZERO_ONE])
COLUMNS = np.array([0, -1, 1, -2])


def reference(text):
    """Split at newlines and commas."""
    rows = []
    for line in map(str.strip, text.split("\n")[:-1]):
        if line and not line.startswith("%"):
            if line.startswith("{"):
                entries = [e.split() for e in line.strip("{}").split(",") if e.strip()]
                cells = {int(place): cell for place, cell in entries}
            else:
                cells = dict(enumerate(map(str.strip, line.split(","))))
            value = {p: np.float32(c if c != "?" else 0) for p, c in cells.items()}
            rows.append(
                (
                    [-1 - COLUMNS[p] for p in (1, 3) if value.get(p)],
                    [(COLUMNS[p], value[p]) for p in (0, 2) if value.get(p)],
                )
            )
    return rows


def parse(text, *, read_sparse=True, kinds=KINDS):
    size = len(text) + 1
    y_indptr, y_indices = np.zeros(size, np.int64), np.empty(size, np.int32)
    x_indptr, x_indices = np.zeros(size, np.int64), np.empty(size, np.int32)
    x_data, progress = np.empty(size, np.float32), np.zeros(8, np.int64)
    kernel.parse_cells(
        *(np.frombuffer(text.encode(), np.uint8), kinds, COLUMNS, read_sparse),
        *(y_indptr, y_indices, x_indptr, x_indices, x_data),
        *(np.empty((size, 3), np.int64), progress),
    )
    rows = []
    for i in range(progress[N_ROWS]):
        y, x = slice(*y_indptr[i : i + 2]), slice(*x_indptr[i : i + 2])
        pairs = zip(x_indices[x].tolist(), x_data[x], strict=True)
        rows.append((y_indices[y].tolist(), list(pairs)))
    return rows, progress


numbers = st.sampled_from(["1", "0", "0.5", "-2e-3", "?", " 7 ", "0.0", "-0"])
bits = st.sampled_from(["0", "1", "?", " 1", "1.0"])
cells = st.tuples(numbers, bits, numbers, bits)
dense = cells.map(",".join)
sparse = st.tuples(cells, st.sets(st.integers(0, 3))).map(
    lambda drawn: (
        "{"
        + ", ".join(f"{place} {drawn[0][place]}" for place in sorted(drawn[1]))
        + "}"
    )
)
others = st.sampled_from(["", "  ", "% a comment", "\t%"])


@given(st.lists(dense | sparse | others, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_plain_lines_are_split_as_they_should_be(lines, newline):
    text = "".join(line + newline for line in lines)
    rows, progress = parse(text)
    assert progress[AT] == len(text)
    assert progress[N_LINES] == len(lines)
    assert rows == reference(text)


@given(
    st.lists(dense, max_size=3),
    st.sampled_from(
        "1,2,3,1|1,1,1|1,1,1,1,1|1,1,1,1,|1,a,1,1|'1',1,1,1|nan,1,1,1|1e39,1,1,1|{4 1}|"
        "{1}|{1 1|{2 1,1 1}|{1 1,1 1}|{0 1} x|{-1 1}|{0 1 1}|1 1,1,1".split("|")
    ),
)
def test_other_lines_stop_the_kernel_at_their_start(lines, bad):
    before = "".join(line + "\n" for line in lines)
    rows, progress = parse(before + bad + "\n1,1,1,1\n")
    assert len(rows) == len(lines)
    assert progress[AT] == len(before)


def test_words_and_sparse_rows_are_left_to_the_caller():
    words = np.full(4, kernel.WORD)
    assert parse("1,1,1,1\n", kinds=words)[1][AT] == 0
    assert parse("{1 1}\n", read_sparse=False)[1][AT] == 0

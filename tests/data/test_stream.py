"""Chunks: the same rows as the whole file, in the memory of one chunk."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel import iter_chunks, read
from manylabel.exceptions import DataError, SkippedLines

ROW = " ".join(f"{i}:0.{i}" for i in range(10, 60))
TEXTS = {
    "xc": lambda n: f"{n} 60 9\n" + "".join(f"{i % 9} {ROW}\n" for i in range(n)),
    "svmlight": lambda n: "".join(f"{i % 9} {ROW}\n" for i in range(n)),
    "meka": lambda n: (
        "@relation 'x: -C 1'\n@attribute a {0,1}\n@attribute b real\n@data\n"
        + "{0 1, 1 0.25}                                                      \n" * n
    ),
    "jsonl": lambda n: "".join(
        f'{{"text": "{"word " * 20}", "labels": ["{i % 9}"]}}\n' for i in range(n)
    ),
}


@pytest.mark.parametrize("name", TEXTS)
@given(
    n=st.integers(1, 30),
    n_rows=st.integers(1, 12),
    zipped=st.booleans(),
)
def test_chunks_are_the_rows_of_the_whole(put, name, n, n_rows, zipped):
    path = put(TEXTS[name](n), zipped=zipped)
    whole, chunks = read(path), list(iter_chunks(path, n_rows=n_rows))
    assert [len(chunk) for chunk in chunks[:-1]] == [n_rows] * (len(chunks) - 1)
    assert 0 < len(chunks[-1]) <= n_rows
    assert_array_equal(sp.vstack([c.Y for c in chunks]).toarray(), whole.Y.toarray())
    if whole.X is not None:
        X = sp.vstack([chunk.X for chunk in chunks])
        assert_array_equal(X.toarray(), whole.X.toarray())
    assert {chunk.label_names for chunk in chunks} == {whole.label_names}


def test_rows_that_span_many_blocks(put):
    path = put(TEXTS["svmlight"](5000))
    whole = read(path, zero_based=True)
    chunks = list(iter_chunks(path, n_rows=777, zero_based=True))
    assert_array_equal(
        np.concatenate([chunk.X.indices for chunk in chunks]), whole.X.indices
    )


@pytest.mark.slow
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", TEXTS)
def test_memory_does_not_grow_with_the_file(put, name, zipped):
    def peak(n):
        path = put(TEXTS[name](n), zipped=zipped)
        tracemalloc.start()
        n_seen = sum(len(chunk) for chunk in iter_chunks(path, n_rows=100))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert n_seen == n
        return most

    assert peak(12_000) < 1.1 * peak(4000)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("xc", {}),
        ("svmlight", {"n_features": 60, "n_labels": 9, "zero_based": True}),
        ("jsonl", {"label_names": [str(i) for i in range(9)]}),
    ],
)
def test_known_columns_need_one_pass(put, monkeypatch, name, known):
    path, opened, open_path = put(TEXTS[name](20)), [], Path.open
    monkeypatch.setattr(
        Path, "open", lambda *given: opened.append(given) or open_path(*given)
    )
    chunks = iter_chunks(path, n_rows=3, **known)
    opened.clear()  # what tells the format
    assert len(list(chunks)) == 7
    assert len(opened) == 1
    if known:
        chunks = iter_chunks(path, n_rows=3)
        opened.clear()
        assert len(list(chunks)) == 7
        assert len(opened) == 2


ROWS = "0 1:1\n1 1:1\n2 1:x\n"
ARFF = "@relation 'x: -C 1'\n@attribute a {0,1}\n@data\n1\n0\n2\n"
RECORDS = '{"text": "a", "labels": []}\n' * 2


@pytest.mark.parametrize(
    ("text", "line", "options"),
    [
        ("3 5 4\n" + ROWS, 4, {}),
        ("2 5 4\n" + ROWS.replace("x", "1"), 4, {}),
        (ROWS, 3, {"n_features": 5, "n_labels": 4, "zero_based": True}),
        (ARFF, 6, {}),
        (RECORDS + "[]\n", 3, {"label_names": ["x"]}),
        (RECORDS + '{"text": "a"}\n', 3, {"label_names": ["x"]}),
    ],
    ids=["xc", "too-many-rows", "svmlight", "arff", "not-a-record", "bad-record"],
)
def test_chunks_before_an_error_come_first(put, text, line, options):
    chunks = iter_chunks(put(text), n_rows=1, **options)
    assert [len(next(chunks)), len(next(chunks))] == [1, 1]
    with pytest.raises(DataError, match=f"line {line}: expected"):
        next(chunks)


def test_a_file_that_is_not_there_is_refused_at_once(tmp_path):
    with pytest.raises(FileNotFoundError):
        iter_chunks(tmp_path / "nothing")


def test_skipped_lines_are_counted_once_at_the_end(put):
    path = put("0 1:1\nx\n1 1:1\n2 1:x\n")
    with pytest.warns(SkippedLines, match="skipped 2 bad lines") as caught:
        chunks = list(iter_chunks(path, n_rows=1, skip_bad_lines=True))
    assert len(chunks) == 2
    assert len(caught) == 1
    assert caught[0].message.count == 2


def test_no_rows_give_one_chunk_with_the_columns(put):
    (chunk,) = iter_chunks(put("0 3 4\n"))
    assert (len(chunk), chunk.n_features, chunk.n_labels) == (0, 3, 4)


@pytest.mark.parametrize("n_rows", [0, -1])
def test_a_chunk_has_rows(put, n_rows):
    with pytest.raises(ValueError, match=r"n_rows == .*, must be >= 1"):
        iter_chunks(put("0 3 4\n"), n_rows=n_rows)
    with pytest.raises(TypeError, match="n_rows must be an instance of"):
        iter_chunks(put("0 3 4\n"), n_rows=1.5)


def test_a_chunk_has_any_integral_number_of_rows(put):
    chunks = iter_chunks(put(TEXTS["xc"](12)), n_rows=np.int64(5))
    assert [len(chunk) for chunk in chunks] == [5, 5, 2]

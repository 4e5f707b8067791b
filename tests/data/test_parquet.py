"""Parquet: the same records in columns."""

import builtins

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manylabel import iter_chunks, read
from manylabel.exceptions import DataError, MissingExtra

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

COLUMNS = {
    "id": ["a", "b", "c"],
    "text": ["one", "two", "three"],
    "labels": [["y", "x"], [], ["z"]],
    "year": [1, 2, 3],
}


@pytest.fixture
def table(put):
    """Return a function that writes columns to a Parquet file."""

    def write(columns, name="data.bin"):
        path = put(b"", name)
        parquet.write_table(pa.table(columns), path)
        return path

    return write


def test_columns_are_found_by_name(table):
    data = read(table(COLUMNS))
    assert (data.ids, data.texts) == (("a", "b", "c"), ("one", "two", "three"))
    assert data.label_names == ("x", "y", "z")
    assert_array_equal(data.Y.toarray(), [[1, 1, 0], [0, 0, 0], [0, 0, 1]])


def test_several_texts_and_numbered_labels(table):
    data = read(
        table({"title": ["a"], "content": ["b"], "target_ind": [[2]]}), n_labels=5
    )
    assert data.texts == ("a\nb",)
    assert data.Y.indices.tolist() == [2]
    assert data.n_labels == 5


def test_chunks_have_the_same_columns(table):
    chunks = list(iter_chunks(table(COLUMNS), n_rows=2))
    assert [len(chunk) for chunk in chunks] == [2, 1]
    assert {chunk.label_names for chunk in chunks} == {("x", "y", "z")}


@pytest.mark.slow
@pytest.mark.parametrize("row_group_size", [500, 1_000_000])
def test_memory_does_not_grow_with_the_file(put, row_group_size):
    rng = np.random.default_rng(0)

    def peak(n):
        texts = [rng.bytes(50).hex() for _ in range(n)]
        columns = {"text": texts, "labels": [["x"]] * n}
        path, pool = put(b"", "data.parquet"), pa.default_memory_pool()
        parquet.write_table(pa.table(columns), path, row_group_size=row_group_size)
        before = pool.bytes_allocated()
        chunks = iter_chunks(path, n_rows=100)
        return max(pool.bytes_allocated() - before for _ in chunks)

    assert peak(30_000) < 1.1 * peak(10_000)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"text": ["a"]}, "expected the labels in a field 'labels'"),
        ({"text": ["a", None], "labels": [["x"], ["x"]]}, "line 2: expected a string"),
        ({"text": ["a"], "labels": [1]}, "line 1: expected a list of labels"),
    ],
)
def test_wrong_columns_are_refused(table, columns, reason):
    with pytest.raises(DataError, match=reason):
        read(table(columns))


def test_damaged_and_gzipped_files_are_refused(table, put):
    whole = table(COLUMNS).read_bytes()
    with pytest.raises(DataError, match="expected a whole Parquet file"):
        read(put(whole[:-20]))
    with pytest.raises(
        DataError, match="expected Parquet as it is, found it inside gzip"
    ):
        read(put(whole, zipped=True))
    with pytest.raises(DataError, match="expected a whole Parquet file"):
        read(put("some text"), format="parquet")


def test_without_pyarrow_the_error_says_how_to_get_it(table, monkeypatch):
    path, ordinary = table(COLUMNS), builtins.__import__

    def without(name, *rest, **options):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return ordinary(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"pip install 'manylabel\[parquet\]'"):
        read(path)

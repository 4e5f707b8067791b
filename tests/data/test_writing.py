"""Writing: what was written is read back, and nothing is half written."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from manylabel import Dataset, read, write

singles = st.floats(width=32, allow_nan=False, allow_infinity=False)
names = st.text(st.characters(codec="utf-8"), max_size=6)


@st.composite
def datasets(draw, with_names=False):
    n, d, k = draw(st.tuples(*[st.integers(1, 4)] * 3))
    cells = draw(st.dictionaries(st.integers(0, n * d - 1), singles))
    dense = np.zeros(n * d, np.float32)
    dense[list(cells)] = list(cells.values())
    Y = draw(st.lists(st.integers(0, 1), min_size=n * k, max_size=n * k))
    columns = st.lists(names, min_size=d + k, max_size=d + k, unique=True)
    called = draw(columns) if with_names else None
    return Dataset(
        sp.csr_array(dense.reshape(n, d)),
        np.reshape(Y, (n, k)),
        label_names=called and called[:k],
        feature_names=called and called[k:],
    )


def assert_same(left, right):
    assert_array_equal(left.X.toarray(), right.X.toarray())
    assert_array_equal(left.Y.toarray(), right.Y.toarray())


@given(datasets(), st.sampled_from(["set.txt", "set.txt.gz"]))
def test_repository_text_is_read_back(put, data, name):
    path = put("", name)
    write(data, path)
    again = read(path)
    assert_same(again, data)
    assert_array_equal(again.X.data, data.X.data)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")


@given(datasets(), st.sampled_from(["set.svm", "set.svmlight.gz"]))
def test_svmlight_is_read_back_given_the_widths(put, data, name):
    path = put("", name)
    write(data, path)
    again = read(path, n_features=data.n_features, n_labels=data.n_labels)
    assert_same(again, data)


@given(datasets(with_names=True))
def test_arff_is_read_back_with_its_names(put, data):
    path = put("", "set.arff")
    write(data, path)
    again = read(path)
    assert_same(again, data)
    assert again.label_names == data.label_names
    assert again.feature_names == data.feature_names


@given(
    st.lists(
        st.tuples(
            st.text(max_size=9), st.text(max_size=9), st.sets(st.sampled_from("abc"))
        ),
        min_size=1,
    )
)
def test_texts_are_read_back(put, rows):
    ids, texts, labels = zip(*rows, strict=True)
    Y = np.array([[label in row for label in "abc"] for row in labels], int)
    path = put("", "set.jsonl")
    write(
        Dataset(None, Y, label_names=["a", "b", "c"], ids=ids, texts=texts),
        path,
    )
    again = read(path, label_names=["a", "b", "c"])
    assert (again.ids, again.texts) == (ids, texts)
    assert_array_equal(again.Y.toarray(), Y)
    write(Dataset(None, Y, texts=texts), path)
    assert_array_equal(read(path, n_labels=3).Y.toarray(), Y)


@given(st.lists(singles, min_size=1, max_size=50))
def test_every_float_is_read_back_with_its_bits(put, values):
    indptr = [0, len(values)]
    X = sp.csr_array((np.float32(values), np.arange(len(values)), indptr))
    path = put("", "set.txt")
    write(Dataset(X, np.ones((1, 1))), path)
    assert read(path).X.data.tobytes() == X.data.tobytes()


def test_random_bits_are_read_back():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2**31, 50_000, dtype=np.uint32).view(np.float32)
    values = values[np.isfinite(values)]
    again = np.float32([float(str(value)) for value in values])
    assert_array_equal(again, values)


def test_the_format_can_be_forced(tmp_path):
    data = Dataset([[1.0, 0]], [[1, 0]])
    write(data, tmp_path / "set.data.gz", format="svmlight")
    assert gzip.decompress((tmp_path / "set.data.gz").read_bytes()) == b"0 1:1\n"


def test_equal_data_give_equal_files(tmp_path):
    for name in ("a.txt.gz", "b.txt.gz"):
        write(Dataset([[1.0]], [[1]]), tmp_path / name)
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()


def test_one_label_and_empty_rows_survive_svmlight(put):
    path = put("", "set.svm")
    write(Dataset([[0.0], [1]], [[1], [0]]), path)
    assert path.read_text() == "+1\n-1 1:1\n"
    write(Dataset([[0.0, 0], [1, 0]], [[0, 0], [0, 1]]), path)
    assert path.read_text() == " 1:0\n1 1:1\n"


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (Dataset(None, [[1]], texts=["x"]), "set.txt", "dataset must have features"),
        (Dataset(None, [[1]], texts=["x"]), "set.svm", "dataset must have features"),
        (Dataset([[1.0]], [[1]]), "set.jsonl", "dataset must have texts"),
        (Dataset([[1.0]], np.ones((1, 0))), "set.arff", "dataset must have labels"),
        (Dataset([[1.0]], [[1]], ["a"], ["a"]), "set.arff", "must all differ for ARFF"),
        (Dataset([[1.0]], [[1]]), "set.xls", "path must end with one of .txt, .svm"),
        (Dataset([[1.0]], [[1]]), "set.gz", "path must end with one of"),
    ],
)
def test_what_cannot_be_written_leaves_no_trace(tmp_path, data, name, message):
    with pytest.raises(ValueError, match=message):
        write(data, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "set.txt"
    path.write_text("old")

    def broken(dataset):
        yield "1 1 1"
        raise KeyboardInterrupt

    monkeypatch.setitem(write.__globals__["WRITERS"], "xc", broken)
    with pytest.raises(KeyboardInterrupt):
        write(Dataset([[1.0]], [[1]]), path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("set.txt", "old")]


def test_only_regular_files_are_replaced(tmp_path):
    data = Dataset([[1.0]], [[1]])
    for path in (tmp_path, "/dev/null"):
        with pytest.raises(ValueError, match="path must name a regular file"):
            write(data, path, format="xc")
    with pytest.raises(FileNotFoundError):
        write(data, tmp_path / "no-folder" / "set.txt")
    with pytest.raises(ValueError, match=r"format must be one of xc, .*Got 'parquet'"):
        write(data, tmp_path / "set", format="parquet")


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    write(Dataset([[1.0]], [[1]]), tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert len(read(tmp_path / "real.txt")) == 1


def test_what_is_no_data_set_or_no_path_is_refused(tmp_path):
    table = np.ones((2, 2))
    with pytest.raises(TypeError, match="dataset must be a Dataset, as read returns"):
        write(table, tmp_path / "o.csv")
    with pytest.raises(
        TypeError, match=r"path must be a str or a Path\. Got a ndarray"
    ):
        write(Dataset([[1.0]], [[1]]), table)
    with pytest.raises(
        TypeError, match=r"path must be a str or a Path\. Got a ndarray"
    ):
        read(table)
    with pytest.raises(
        ValueError, match=r"path must be on this machine\. Got https://x"
    ):
        read("https://x.org/a.csv")

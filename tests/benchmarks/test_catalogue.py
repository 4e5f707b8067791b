"""Data sets are found by their publishers' names, in any subfolder."""

import gzip

import numpy as np
import pytest

from benchmarks.catalogue import Catalogue
from manylabel.data import Dataset, make_corpus, write
from manylabel.exceptions import DataError


@pytest.fixture
def catalogue(home, data):
    return Catalogue(data, home / "data.toml")


def test_files_are_found_in_subfolders_and_packed(catalogue, data):
    found = catalogue["tiny"]
    assert found.missing == ()
    assert found.paths == {
        "train": data / "deep" / "tiny_train.txt.gz",
        "test": data / "deep" / "tiny_test.txt",
    }
    X, Y = found.whole
    assert X.shape == (60, 12)
    assert Y.shape == (60, 5)


def test_a_set_of_which_half_is_there_is_missing(catalogue, data):
    (data / "deep" / "tiny_test.txt").unlink()
    assert catalogue["tiny"].missing == ("tiny_train.txt", "tiny_test.txt")
    assert catalogue["lost"].missing == ("lost_train.txt", "lost_test.txt")


def test_a_name_does_not_match_the_end_of_another(catalogue, data):
    place = data / "deep"
    (place / "two.svm").rename(place / "thirty-two.svm")
    assert catalogue["two"].missing == ("two.svm",)


def test_the_repositorys_lists_of_rows_are_followed(home, data):
    corpus = make_corpus(n_rows=6, n_features=4, n_labels=3, random_state=0)
    write(Dataset(corpus.X, corpus.Y), data / "Listed_data.txt")
    (data / "tr.txt").write_text("6 1\n1 2\n2 3\n")
    (data / "te.txt").write_text("4 1\n")
    text = (home / "data.toml").read_text() + (
        '[listed]\nall = ["Listed_data.txt"]\ntrain_rows = ["tr.txt"]\n'
        'test_rows = ["te.txt"]\n'
    )
    (home / "data.toml").write_text(text)
    parts = Catalogue(data, home / "data.toml")["listed"].parts
    np.testing.assert_array_equal(
        parts["train"].X.toarray(), corpus.X[[5, 0, 1]].toarray()
    )
    np.testing.assert_array_equal(parts["test"].Y.toarray(), corpus.Y[[3]].toarray())


def test_features_of_a_stream_are_between_0_and_1(catalogue):
    X, _ = catalogue["tiny"].spread
    assert X.min() == 0
    assert X.max() == 1


def test_classes_are_drawn_by_seed_in_the_sizes_told(catalogue):
    X, test_X, y, test_y = catalogue["two"].classes(seed=3)
    assert (X.shape, test_X.shape) == ((40, 4), (20, 4))
    assert (len(y), len(test_y)) == (40, 20)
    again = catalogue["two"].classes(seed=3)
    other = catalogue["two"].classes(seed=4)
    assert (X != again[0]).nnz == 0
    assert (X != other[0]).nnz > 0


def test_the_generated_classes_are_the_xor_of_two_signs(catalogue):
    X, test_X, y, test_y = catalogue["xor"].classes(seed=0)
    assert (X.shape, test_X.shape) == ((60, 5), (40, 5))
    np.testing.assert_array_equal(test_y, test_X[:, 0] * test_X[:, 1] > 0)
    np.testing.assert_array_equal(y, X[:, 0] * X[:, 1] > 0)


def test_published_test_rows_are_kept(home, data):
    (data / "p").write_text("1 1:1\n-1 2:1\n")
    with gzip.open(data / "p.t.gz", "wt") as file:
        file.write("1 1:5\n")
    text = (home / "data.toml").read_text() + '[p]\ntrain = ["p"]\ntest = ["p.t"]\n'
    (home / "data.toml").write_text(text)
    X, test_X, y, test_y = Catalogue(data, home / "data.toml")["p"].classes(seed=0)
    assert (X.shape, test_X.toarray().tolist()) == ((2, 2), [[5, 0]])
    assert (y.tolist(), test_y.tolist()) == ([1, -1], [1])


def test_rows_of_two_parts_are_drawn_where_a_split_is_told(home, data):
    both = '[both]\ntrain = ["two.svm"]\ntest = ["two.svm"]\nsplit = [80, 40]\n'
    (home / "data.toml").write_text(both)
    source = Catalogue(data, home / "data.toml")["both"]
    X, test_X, y, test_y = source.classes(seed=0)
    assert (X.shape[0], test_X.shape[0]) == (len(y), len(test_y)) == (80, 40)
    assert (source.classes(seed=1)[0] != X).nnz > 0


def test_an_unknown_set_is_refused(catalogue):
    with pytest.raises(DataError, match=r"data.toml: expected the data set 'no'"):
        catalogue["no"]

"""RCV1 comes through scikit-learn, here in a small disguise."""

from urllib.error import URLError

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import datasets
from sklearn.utils import Bunch

import manylabel as ml


@pytest.fixture
def asked(monkeypatch):
    """Stand in for scikit-learn's function and note what it is asked for."""
    calls = []

    def fetch_rcv1(**arguments):
        calls.append(arguments)
        return Bunch(
            data=sp.csr_array([[0.6, 0, 0.8], [0, 1, 0]]),
            target=sp.csr_array(np.array([[1, 0], [1, 1]], np.uint8)),
            sample_id=np.array([2286, 2287], np.uint32),
            target_names=np.array(["C11", "ECAT"], dtype=object),
        )

    monkeypatch.setattr(datasets, "fetch_rcv1", fetch_rcv1)
    return calls


def test_rcv1_becomes_a_dataset_with_names(asked):
    data = ml.fetch_rcv1()
    assert repr(data) == "Dataset(2 rows, 3 features, 2 labels)"
    assert data.X.dtype == data.Y.dtype == np.float32
    assert data.ids == ("2286", "2287")
    assert data.labels.decode(data.Y) == [["C11"], ["C11", "ECAT"]]


def test_folder_and_subset_are_passed_on(asked, tmp_path):
    ml.fetch_rcv1(tmp_path, subset="train")
    assert asked == [{"data_home": tmp_path, "subset": "train"}]


def test_the_stand_in_takes_what_the_real_one_takes(asked, monkeypatch):
    ml.fetch_rcv1()
    monkeypatch.undo()
    with pytest.raises(ValueError, match="'subset' parameter of fetch_rcv1 must be"):
        datasets.fetch_rcv1(**asked[0] | {"subset": "none"})


def test_without_internet_one_sentence_says_so(monkeypatch):
    def fetch_rcv1(**_):
        raise URLError("no route to host")

    monkeypatch.setattr(datasets, "fetch_rcv1", fetch_rcv1)
    with pytest.raises(OSError, match="RCV1 cannot be downloaded: no route"):
        ml.fetch_rcv1()

"""Texts as rows: words of the training rows, and labels that only test rows have."""

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.catalogue import Catalogue
from benchmarks.peers.judging import judge
from benchmarks.peers.rows import convert
from manylabel import Propensity
from manylabel.data import Dataset, LabelSpace, read, write

TEXTS = {
    "train": ["red wine", "red wine", "Red wine, white bread", "white bread"],
    "test": ["white wine", "red bread", "bread"],
}
LABELS = {
    "train": [["drink"], ["drink"], ["drink", "food"], ["food"]],
    "test": [["both", "drink", "white"], ["food"], ["alone"]],
}


@pytest.fixture
def rows(tmp_path):
    """Return the folder of the rows that entrants get of a few texts."""
    for part, texts in TEXTS.items():
        space = LabelSpace.from_labels(LABELS[part])
        Y = space.encode(LABELS[part])
        write(
            Dataset(None, Y, label_names=tuple(space), texts=texts),
            tmp_path / f"{part}.jsonl.gz",
        )
    entry = '[few]\ntrain = ["train.jsonl"]\ntest = ["test.jsonl"]\n'
    (tmp_path / "data.toml").write_text(entry)
    source = Catalogue(tmp_path, tmp_path / "data.toml")["few"]
    return convert(source, tmp_path / "rows")


def _matrix(rows, name):
    return sp.csr_array(sp.load_npz(rows / f"{name}.npz"))


def test_words_are_those_of_three_training_rows_and_rows_have_unit_length(rows):
    train, test = (_matrix(rows, f"{part}_X") for part in TEXTS)
    assert train.shape == (4, 2)  # red and wine; white and bread are in two
    lengths = np.sqrt(train.multiply(train).sum(axis=1))
    np.testing.assert_allclose(lengths, [1, 1, 1, 0], rtol=1e-6)
    assert np.diff(test.indptr).tolist() == [1, 1, 0]


def test_labels_of_test_rows_only_come_after_those_that_can_be_learnt(rows):
    train, test = (_matrix(rows, f"{part}_Y") for part in TEXTS)
    assert train.toarray().tolist() == [[1, 0], [1, 0], [1, 1], [0, 1]]
    # drink, food; then alone, both, white
    assert test.toarray().tolist() == [
        [1, 0, 0, 1, 1],
        [0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
    ]
    assert read(rows / "train.txt").Y.shape == (4, 2)


def test_labels_that_nobody_can_find_are_missed(rows, tmp_path):
    ranked = tmp_path / "out.npz"
    np.savez(ranked, labels=np.array([[0, 1, -1, -1, -1]] * 3))
    found = judge(rows, ranked, {"a": 0.55, "b": 1.5})
    assert found["P@1"] == pytest.approx(1 / 3)
    assert found["P@3"] == pytest.approx(2 / 9)
    seen, unseen = 1 / Propensity().fit([[1, 0]] * 3 + [[0, 0]]).values_
    food = 1 / Propensity().fit([[1]] * 2 + [[0]] * 2).values_[0]
    assert found["PSP@1"] == pytest.approx(seen / (2 * unseen + food))
    assert found["PSP@3"] == pytest.approx((seen + food) / (3 * unseen + seen + food))

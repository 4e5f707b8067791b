"""Profiles count what is there, in chunks of any size, and can be drawn."""

import sys
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from manylabel.data import Dataset
from manylabel.evaluation.plots import plot_profile
from manylabel.evaluation.profile import Profile
from manylabel.exceptions import MissingExtra


@st.composite
def datasets(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, k = draw(st.tuples(st.integers(1, 30), st.integers(1, 5), st.integers(1, 12)))
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    return Dataset(X, rng.random((n, k)) < draw(st.floats(0, 0.6)))


def gini(values):
    """Half the mean difference of two values, by their mean."""
    differences = np.abs(values[:, None] - values[None, :])
    return differences.mean() / 2 / values.mean() if values.any() else 0.0


@given(datasets())
def test_counts_are_those_of_a_dense_count(data):
    X, Y = data.X.toarray(), data.Y.toarray().astype(int)
    found = Profile([data]).figures()
    assert (found["rows"], found["features"], found["labels"]) == (*X.shape, Y.shape[1])
    assert found["rows_without_features"] == (X == 0).all(axis=1).sum()
    assert found["rows_without_labels"] == (Y == 0).all(axis=1).sum()
    assert found["labels_without_rows"] == (Y == 0).all(axis=0).sum()
    assert found["feature_density"] == pytest.approx((X != 0).mean())
    assert found["label_density"] == pytest.approx(Y.mean())
    assert found["labels_per_row"] == pytest.approx(spread(Y.sum(axis=1)))
    assert found["rows_per_label"] == pytest.approx(spread(Y.sum(axis=0)))
    rare = found["share_of_labels_in_at_most_5_rows"]
    assert rare == pytest.approx((Y.sum(axis=0) <= 5).mean())
    assert found["gini_of_labels"] == pytest.approx(gini(Y.sum(axis=0)))
    assert sum(found["most_frequent_labels"].values()) <= Y.sum()


def spread(values):
    quantiles = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
    names = ("min", "q1", "median", "q3", "max")
    return {"mean": values.mean()} | dict(zip(names, quantiles, strict=True))


@given(datasets())
def test_labelsets_are_told_apart(data):
    counts = Counter(tuple(row) for row in data.Y.toarray().tolist())
    profile = Profile([data])
    assert profile.labelset_counts.tolist() == sorted(counts.values(), reverse=True)
    assert profile.figures()["labelsets"] == len(counts)


@given(datasets(), st.integers(1, 30))
def test_chunks_do_not_matter(data, n_rows):
    starts = range(0, len(data), n_rows)
    chunks = [data[slice(start, start + n_rows)] for start in starts]
    assert Profile(chunks).figures() == Profile([data]).figures()


def test_no_rows_have_figures_too():
    for chunks in ([], [Dataset(np.zeros((0, 2)), np.zeros((0, 3)))]):
        assert Profile(chunks).figures()["labels_per_row"] == {"mean": 0.0}


def test_a_label_space_that_is_nearly_empty_costs_nothing():
    Y = sp.csr_array(([1.0], [2**31 - 2], [0, 1]), shape=(1, 2**31 - 1))
    found = Profile([Dataset([[1.0]], Y)]).figures()
    assert found["labels_without_rows"] == 2**31 - 2
    assert found["most_frequent_labels"] == {str(2**31 - 2): 1}


def test_names_stand_for_columns_and_texts_have_lengths():
    data = Dataset(None, [[0, 1], [0, 1]], label_names=["a", "b"], texts=["abc", "d"])
    found = Profile([data]).figures()
    assert found["most_frequent_labels"] == {"b": 2}
    assert found["characters_per_text"]["mean"] == 2
    assert "features" not in found


@pytest.mark.parametrize("density", [0, 0.3])
def test_plots_are_drawn_and_replaced(tmp_path, density):
    data = Dataset(np.eye(9), np.random.default_rng(0).random((9, 4)) < density)
    path = tmp_path / "labels.png"
    path.write_text("old")
    plot_profile(Profile([data]), path, title="nine rows")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in tmp_path.iterdir()] == ["labels.png"]


def test_plots_need_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"pip install 'manylabel\[plot\]'"):
        plot_profile(Profile([]), tmp_path / "labels.png")
    assert not list(tmp_path.iterdir())

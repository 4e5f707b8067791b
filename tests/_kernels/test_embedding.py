"""Codes of SLEEC: neighbours by labels, singular value projection, regression."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel._kernels.embedding import neighbours
from manylabel._kernels.forest.router import Rows
from manylabel.baselines import _sleec_embedding as embedding


def draw(seed, n_rows=40, n_features=6, n_labels=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    X *= rng.random(X.shape) < 0.7
    Y = X @ rng.normal(size=(n_features, n_labels)) > 0.3
    Y[:n_labels] |= np.eye(n_labels, dtype=bool)
    return X, sp.csr_array(Y, dtype=np.float32)


def unit(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1)


@given(seed=st.integers(0, 2**32 - 1), n_neighbors=st.integers(1, 50))
def test_neighbours_by_labels_have_the_largest_cosines(seed, n_neighbors):
    Y = sp.csr_array((np.random.default_rng(seed).random((20, 6)) < 0.3) * 1.0)
    n_columns = min(n_neighbors, 20)
    columns, cosines = np.empty((20, n_columns), np.int64), np.empty((20, n_columns))
    by_label = Y.tocsc()
    lists = Rows(by_label.indptr, by_label.indices, by_label.data)
    shared, turned = np.zeros(20, np.int64), np.empty(20)
    neighbours.share_labels(
        Y.indptr, Y.indices, lists, shared, turned, columns, cosines
    )
    likeness = unit(Y.toarray()) @ unit(Y.toarray()).T
    assert not shared.any()
    assert_allclose(cosines, -np.sort(-likeness, axis=1)[:, :n_columns], atol=1e-12)
    for i, n in zip(*np.nonzero(columns >= 0), strict=True):
        assert_allclose(likeness[i, columns[i, n]], cosines[i, n])
    assert ((columns >= 0) == (cosines > 0)).all()


def test_codes_keep_the_cosines_of_neighbours():
    Y = draw(1)[1]
    codes = embedding.embed(Y, 40, 10, 300, seed=0)
    likeness = unit(Y.toarray()) @ unit(Y.toarray()).T
    assert_allclose(codes @ codes.T, likeness, atol=0.02)


def test_steps_are_those_of_singular_value_projection():
    """Enough powers make the subspace that of the largest eigenvalues."""
    Y = draw(2)[1]
    kept = embedding._like_rows(Y, 6).toarray()
    M = np.zeros_like(kept)
    for _ in range(3):
        values, vectors = np.linalg.eigh(M + 0.5 * np.where(kept > 0, kept - M, 0))
        values[:-4] = 0
        M = (vectors * np.maximum(values, 0)) @ vectors.T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedding, "N_POWERS", 2000)
        codes = embedding.embed(Y, 6, 4, 3, seed=0)
    assert_allclose(codes @ codes.T, M, atol=1e-3)


@given(seed=st.integers(0, 2**32 - 1), reg=st.sampled_from([0.1, 1.0, 10.0]))
def test_regressors_are_those_of_ridge_regression(seed, reg):
    X, _ = draw(seed)
    targets = np.random.default_rng(seed).normal(size=(len(X), 3))
    targets[:, 1] = 0
    expected = np.linalg.solve(X.T @ X + reg * np.eye(6), X.T @ targets)
    found = embedding.solve_ridge(sp.csr_array(X), targets, reg)
    assert_allclose(found, expected, atol=5e-3)

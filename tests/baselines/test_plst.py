"""PLST: the definition by singular values, its bound, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel import PLST, OnlineBinaryRelevance


def draw(seed, n_rows=30, n_features=5, n_labels=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    return X, (X @ rng.normal(size=(n_features, n_labels)) > 0.5).astype(int)


def scores_by_svd(X, Y, n_components, reg):
    signs = 2.0 * Y - 1
    mean = signs.mean(axis=0)
    V = np.linalg.svd(signs - mean, full_matrices=False)[2][:n_components]
    padded = np.column_stack([X, np.ones(len(X))]).astype(float)
    gram = padded.T @ padded + reg * np.eye(padded.shape[1])
    weights = np.linalg.solve(gram, padded.T @ (signs - mean) @ V.T)
    return padded @ weights @ V + mean


@given(
    seed=st.integers(0, 2**32 - 1),
    n_components=st.integers(1, 6),
    reg=st.sampled_from([0.1, 1.0]),
)
def test_scores_are_those_of_the_singular_value_decomposition(seed, n_components, reg):
    X, Y = draw(seed)
    Y[:6] |= np.eye(6, dtype=int)  # a label that no row had would rank last
    model = PLST(n_components=n_components, l2_regularization=reg).fit(X, Y)
    variances = np.linalg.svd(Y - Y.mean(axis=0), compute_uv=False)
    if n_components < 6 and np.isclose(*variances[n_components - 1 : n_components + 1]):
        return  # the last component is any of several
    expected = scores_by_svd(X, Y, n_components, reg)
    assert_allclose(model.decision_function(X), expected, rtol=1e-6, atol=1e-6)


def test_components_are_orthonormal_and_the_largest_first():
    X, Y = draw(0)
    model = PLST(n_components=4).fit(X, Y)
    assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-12)
    kept = ((2 * Y - 1 - model.mean_) @ model.components_.T).var(axis=0)
    assert (np.diff(kept) <= 1e-12).all()


def test_hamming_loss_keeps_the_bound_of_theorem_1():
    X, Y = draw(1)
    model = PLST(n_components=2).fit(X, Y)
    signs, P = 2 * Y - 1.0, model.components_
    shifted = signs - model.mean_
    predicted = (model.decision_function(X) - model.mean_) @ P.T
    error = ((predicted - shifted @ P.T) ** 2).sum(axis=1)
    lost = ((shifted - shifted @ P.T @ P) ** 2).sum(axis=1)
    wrong = (model.predict(X) != Y).sum(axis=1)
    assert (wrong <= error + lost + 1e-9).all()


def test_all_components_with_centred_labels_are_binary_relevance():
    X, Y = draw(2)
    X, Y = np.vstack([X, -X]), np.vstack([Y, 1 - Y])  # the mean is 0
    coded = PLST(n_components=1.0).fit(X, Y).decision_function(X)
    plain = OnlineBinaryRelevance().fit(X, Y).decision_function(X)
    assert_allclose(coded, plain, rtol=1e-6, atol=1e-8)


def test_too_many_labels_are_refused(monkeypatch):
    X, Y = draw(0)
    model = PLST().fit(X, Y[:, :2])
    monkeypatch.setattr("manylabel.baselines._label_code.MAX_LABELS", 3)
    with pytest.raises(ValueError, match=r"at most 3 labels\. Got 6: use CSDPP"):
        model.fit(X, Y)
    assert model.predict(X).shape == (30, 2)


def test_no_regularisation_is_refused():
    with pytest.raises(ValueError, match="l2_regularization == 0, must be > 0"):
        PLST(l2_regularization=0).fit(*draw(0))

"""CPLST, CompressedSensing and MLCSSP: their definitions, laws and refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import (
    CPLST,
    LEML,
    MLCSSP,
    PLST,
    CompressedSensing,
    evaluate,
    read,
)

# Extreme Classification Repository: P@1, P@3, P@5 on bibtex and on delicious.
PUBLISHED = {
    CPLST: ((62.38, 37.84, 27.62), (65.31, 59.95, 55.31)),
    CompressedSensing: ((58.87, 33.53, 23.72), (61.36, 56.46, 52.07)),
    MLCSSP: ((44.98, 30.43, 23.53), (63.04, 56.26, 50.16)),
    LEML: ((62.54, 38.41, 28.21), (65.67, 60.55, 56.08)),
}
KINDS = [CPLST, CompressedSensing, MLCSSP]
seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_rows=40, n_features=5, n_labels=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    Y = (X @ rng.normal(size=(n_features, n_labels)) > 0.7).astype(int)
    Y[:n_labels] |= np.eye(n_labels, dtype=int)  # each label has a row
    return X, Y


def padded(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.column_stack([unit, np.ones(len(X))]).astype(float)


def regress(X, targets, reg):
    gram = X.T @ X + reg * np.eye(X.shape[1])
    return X @ np.linalg.solve(gram, X.T @ targets)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PUBLISHED)
@pytest.mark.parametrize("place", [0, 1], ids=["bibtex", "delicious"])
def test_reaches_the_published_precision(kind, place, data_folder):
    folder = data_folder / "xmc" / ("bibtex", "delicious")[place]
    train, test = (read(folder / f"{part}.txt.gz") for part in ("train", "test"))
    model = kind().fit(train.X, train.Y)
    report = evaluate(test.Y, model.predict_topk(test.X, k=5))
    for k, published in zip((1, 3, 5), PUBLISHED[kind][place], strict=True):
        assert 100 * report[f"P@{k}"] > published - 1.0


@given(seed=seeds, size=st.integers(1, 8), reg=st.sampled_from([0.1, 1.0]))
def test_cplst_keeps_the_directions_of_the_hat_matrix(seed, size, reg):
    X, Y = draw(seed)
    signs, rows = 2.0 * Y - 1, padded(X)
    shifted = signs - signs.mean(axis=0)
    fitted = regress(rows, shifted, reg)  # H Z
    values, vectors = np.linalg.eigh(shifted.T @ fitted)
    if size < 8 and np.isclose(values[-size], values[-size - 1], rtol=1e-4, atol=1e-6):
        return  # the last component is any of several
    V = vectors[:, -size:]
    expected = fitted @ V @ V.T + signs.mean(axis=0)
    model = CPLST(n_components=size, l2_regularization=reg).fit(X, Y)
    assert_allclose(model.decision_function(X), expected, rtol=1e-4, atol=1e-4)


def test_cplst_misses_less_of_the_labels_than_plst():
    X, Y = draw(3, n_rows=200, n_labels=12)
    Y[:, 6:] = np.random.default_rng(0).random((200, 6)) < 0.5  # that no one can tell
    same = {"n_components": 3, "l2_regularization": 1e-3, "normalize": True}
    left = [
        ((kind(**same).fit(X, Y).decision_function(X) - (2 * Y - 1)) ** 2).sum()
        for kind in (CPLST, PLST)
    ]
    assert left[0] < 0.9 * left[1]


def pursue(z, code, sparsity):
    chosen, rest, found = [], z, np.zeros(len(code))
    for _ in range(sparsity):
        chosen.append(int(np.argmax(np.abs(code @ rest))))
        coefficients = np.linalg.lstsq(code[chosen].T, z, rcond=None)[0]
        rest = z - coefficients @ code[chosen]
    found[chosen] = coefficients
    return found


@given(seed=seeds, size=st.integers(4, 8), sparsity=st.integers(1, 3))
def test_compressed_sensing_pursues_the_regressed_sums(seed, size, sparsity):
    X, Y = draw(seed)
    model = CompressedSensing(
        n_components=size, sparsity=sparsity, random_state=seed % 1000
    ).fit(X, Y)
    codes = regress(padded(X), Y @ model.code_, 1.0)
    expected = np.array([pursue(z, model.code_, sparsity) for z in codes]) - 0.5
    scores = model.decision_function(X)
    assert_allclose(scores, expected, rtol=1e-3, atol=1e-4)
    assert ((scores != -0.5).sum(axis=1) <= sparsity).all()


def test_codes_of_unit_length_come_from_the_seed():
    X, Y = draw(0)
    first, same, other = (
        CompressedSensing(n_components=4, random_state=s).fit(X, Y).code_
        for s in (0, 0, 1)
    )
    assert_array_equal(first, same)
    assert not np.isclose(first, other).any()
    assert_allclose((first**2).sum(axis=1), 1)


@given(seed=seeds, size=st.integers(1, 8))
def test_mlcssp_makes_all_labels_of_the_chosen_ones(seed, size):
    X, Y = draw(seed)
    model = MLCSSP(n_components=size, random_state=seed % 1000).fit(X, Y)
    chosen = Y[:, model.selected_labels_]
    assert len(np.unique(model.selected_labels_)) == size
    made = np.linalg.pinv(chosen.astype(float)) @ Y
    expected = regress(padded(X), chosen, 1.0) @ made - 0.5
    assert_allclose(model.decision_function(X), expected, rtol=1e-4, atol=1e-4)


def test_labels_are_chosen_by_their_leverage():
    X, Y = draw(5)
    V = np.linalg.svd(Y, full_matrices=False)[2][:1]
    leverage, n_draws = (V**2).sum(axis=0), 600
    counts = np.zeros(8)
    for seed in range(n_draws):
        model = MLCSSP(n_components=1, random_state=seed).fit(X[:, :1], Y)
        counts[model.selected_labels_] += 1
    deviation = np.sqrt(leverage * (1 - leverage) / n_draws)
    assert (np.abs(counts / n_draws - leverage) < 4 * deviation).all()


def test_labels_without_rows_are_never_chosen():
    X, Y = draw(0)
    Y[:, [2, 5]] = 0
    model = MLCSSP(n_components=7).fit(X, Y)
    assert_array_equal(model.selected_labels_, [0, 1, 3, 4, 6, 7])
    nothing = MLCSSP().fit(X, 0 * Y)
    assert not nothing.predict(X).any()


def test_labels_that_are_copies_of_others_are_decoded():
    X, Y = draw(0)
    twice = MLCSSP().fit(X, np.hstack([Y, Y])).decision_function(X)
    assert_allclose(twice[:, :8], twice[:, 8:], atol=1e-8)
    assert_allclose(twice[:, :8], MLCSSP().fit(X, Y).decision_function(X), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_the_length_of_rows_does_not_matter_unless_asked_for(kind):
    X, Y = draw(0)
    scores = kind().fit(X, Y).decision_function(X)
    assert_allclose(kind().fit(4 * X, Y).decision_function(2 * X), scores)
    raw = kind(normalize=False).fit(X, Y).decision_function(X)
    assert not np.allclose(raw, scores, atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_more_features_than_rows_are_learnt(kind):
    X, Y = draw(0)
    wide = sp.hstack([sp.csr_array((40, 100_000)), sp.csr_array(X)], format="csr")
    found = kind().fit(wide, Y).decision_function(wide)
    assert_allclose(found, kind().fit(X, Y).decision_function(X), atol=1e-6)


@pytest.mark.parametrize("kind", [CPLST, MLCSSP])
def test_too_many_labels_are_refused(kind, monkeypatch):
    monkeypatch.setattr("manylabel.baselines._label_code.MAX_LABELS", 3)
    with pytest.raises(ValueError, match=r"at most 3 labels\. Got 8: use LEML"):
        kind().fit(*draw(0))


def test_weights_beyond_the_memory_are_refused():
    wide = sp.csr_array((2, 2**31 - 1), dtype=np.float32)
    with pytest.raises(ValueError, match=r"for 2 labels\. Got 2147483647: use LEML"):
        CPLST().fit(wide, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        *((kind(l2_regularization=0), "l2_regularization == 0") for kind in KINDS),
        *((kind(n_components=0), "n_components == 0") for kind in KINDS),
        (CompressedSensing(sparsity=0), "sparsity == 0, must be >= 1"),
    ],
)
def test_parameters_out_of_range_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(*draw(0))

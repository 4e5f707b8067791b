"""Dense results that would fill the memory are refused before they are made."""

import numpy as np
import pytest
import scipy.sparse as sp

import manylabel as ml

N_LABELS = 1_000_000
LEARNERS = (ml.Popularity, ml.OneVsRest, ml.FastXML)
REFUSAL = r"for dense scores of 1000000 labels; use predict_topk"


@pytest.fixture(scope="module")
def corpus():
    """Return a few rows of a million labels."""
    rng = np.random.default_rng(0)
    places = np.arange(20), rng.integers(N_LABELS, size=20)
    Y = sp.csr_array((np.ones(20), places), shape=(20, N_LABELS))
    return sp.random_array((20, 9), density=0.5, rng=rng, format="csr"), Y


@pytest.mark.parametrize("kind", LEARNERS)
def test_dense_scores_of_a_million_labels_are_refused(kind, corpus):
    model = kind().fit(*corpus)
    many = sp.csr_array((100_000, 9), dtype=np.float32)
    verbs = ("decision_function", "predict_proba")
    for verb in filter(lambda verb: hasattr(model, verb), verbs):
        with pytest.raises(ValueError, match=REFUSAL):
            getattr(model, verb)(many)
        assert getattr(model, verb)(many[:2]).shape == (2, N_LABELS)
    assert model.predict_topk(many[:50], 3).nnz == 150


@pytest.mark.parametrize("verb", ["decision_function", "predict"])
def test_the_limit_is_by_rows_and_labels(verb, monkeypatch):
    model = ml.CSDPP().fit(np.eye(4), np.eye(4))
    monkeypatch.setattr("manylabel._validation.MAX_BYTES", 8 * 4 * 3)
    assert getattr(model, verb)(np.eye(4)[:3]).shape == (3, 4)
    with pytest.raises(ValueError, match="at most 3 rows for dense scores of 4 labels"):
        getattr(model, verb)(np.eye(4))
    sparse = ml.CSDPP().fit(np.eye(4), sp.csr_array(np.eye(4)))
    assert sparse.predict(np.eye(4)).shape == (4, 4)

"""LEML: its objective, entry by entry; what is missing; refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel import LEML, Propensity, evaluate, make_corpus


def draw(seed, n_rows=40, n_features=5, n_labels=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    Y = (X @ rng.normal(size=(n_features, n_labels)) > 0.5).astype(int)
    Y[:n_labels] |= np.eye(n_labels, dtype=int)
    return X, Y


def with_stored_zeros(Y, seed, share=0.3):
    """Return a sparse Y that stores some of its zeros, and where these are."""
    known = (np.random.default_rng(seed).random(Y.shape) < share) & (Y == 0)
    marks = sp.csr_array(Y + 2 * known)
    marks.data[marks.data == 2] = 0
    assert marks.nnz == np.count_nonzero(Y | known)
    return marks, known


def slopes(model, X, Y, known):
    """Return the gradient of the loss of each entry, by W and by H."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    rows = np.column_stack([unit, np.ones(len(X))]).astype(float)
    W, H, c = model.coef_, model.components_.T, model.missing_weight
    p = 1.0 if model.propensity is None else np.asarray(model.propensity)
    s = rows @ W @ H.T
    # of ((1 - s)^2 - c s^2) / p + c s^2, of s^2 and of c s^2, halved
    of_ones, of_rest = (s - 1 - c * s) / p + c * s, c * s
    slope = np.where(Y == 1, of_ones, np.where(known, s, of_rest))
    reg = model.l2_regularization
    return rows.T @ slope @ H + reg * W, slope.T @ rows @ W + reg * H


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 6),
    missing_weight=st.sampled_from([0.0, 0.3, 1.0]),
    biased=st.booleans(),
)
def test_both_parts_are_where_the_loss_is_flat(seed, size, missing_weight, biased):
    X, Y = draw(seed)
    marks, known = with_stored_zeros(Y, seed)
    propensity = np.linspace(0.4, 1, 6) if biased else None
    model = LEML(
        n_components=size,
        missing_weight=missing_weight,
        propensity=propensity,
        l2_regularization=0.5,
        max_iter=300,
        tol=0,
    ).fit(X, marks)
    for gradient in slopes(model, X, Y, known):
        assert np.abs(gradient).max() < 0.02


def test_turns_end_when_they_gain_little():
    X, Y = draw(0)
    turns = [LEML(tol=tol).fit(X, Y).n_iter_ for tol in (10, 0.01, 0)]
    assert turns[0] == 2  # the first has nothing to be compared with
    assert turns[0] < turns[1] < turns[2] <= 20


def test_full_rank_without_regularisation_is_least_squares():
    X, Y = draw(0)
    model = LEML(l2_regularization=1e-6, max_iter=50, tol=0).fit(X, Y)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    rows = np.column_stack([unit, np.ones(len(X))])
    expected = rows @ np.linalg.lstsq(rows, Y, rcond=None)[0] - 0.5
    assert_allclose(model.decision_function(X), expected, atol=1e-3)


def test_stored_zeros_are_zeros_like_others_where_nothing_is_missing():
    X, Y = draw(0)
    marks, _ = with_stored_zeros(Y, 0)
    plain, marked = (LEML().fit(X, y).coef_ for y in (sp.csr_array(Y), marks))
    assert_array_equal(plain, marked)


@pytest.mark.parametrize("form", [sp.csc_array, sp.coo_array, sp.csr_matrix])
def test_zeros_count_in_whichever_form_they_are_stored(form):
    X, Y = draw(0)
    marks, _ = with_stored_zeros(Y, 0)
    model = LEML(missing_weight=0)
    expected = model.fit(X, marks).decision_function(X)
    assert_array_equal(model.fit(X, form(marks)).decision_function(X), expected)


def test_a_label_is_ranked_higher_where_its_absence_counts_less():
    X, Y = draw(0)
    all_zeros, few = (
        LEML(missing_weight=w).fit(X, Y).decision_function(X) for w in (1, 0.1)
    )
    assert (few > all_zeros).mean() > 0.9


def test_observed_entries_alone_tell_what_is_hidden():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 10)).astype(np.float32)
    Y = (X @ rng.normal(size=(10, 3)) @ rng.normal(size=(3, 30)) > 1).astype(int)
    seen = rng.random(Y.shape) < 0.2
    marks = sp.csr_array(np.where(seen, 2 - Y, 0))  # 1 is there, 2 is not
    marks.data[marks.data == 2] = 0
    found = {}
    for weight in (0, 1):
        model = LEML(n_components=5, missing_weight=weight).fit(X, marks)
        found[weight] = (model.predict(X).toarray() == Y).mean()
    assert found[0] > 0.85
    assert found[0] > found[1] + 0.03


def test_propensities_bring_scores_nearer_to_complete_labels():
    corpus = make_corpus(n_rows=1500, n_features=200, n_labels=40, random_state=0)
    plain, unbiased = (
        LEML(propensity=p).fit(corpus.X, corpus.Y).decision_function(corpus.X) + 0.5
        for p in (None, corpus.propensity)
    )
    complete = corpus.complete.toarray()
    assert abs(unbiased.mean() / complete.mean() - 1) < 0.1
    assert plain.mean() < 0.8 * complete.mean()
    assert ((unbiased - complete) ** 2).sum() < ((plain - complete) ** 2).sum()


@pytest.mark.parametrize("missing_weight", [0.5, 1.0])
def test_propensities_raise_what_is_seldom_recorded(missing_weight):
    corpus = make_corpus(n_rows=1500, n_features=200, n_labels=40, random_state=0)
    models = [
        LEML(missing_weight=missing_weight, propensity=p)
        for p in (None, Propensity.given(corpus.propensity))
    ]
    trained, judged = slice(0, 1000), slice(1000, None)
    plain, unbiased = (
        evaluate(
            corpus.Y[judged],
            m.fit(corpus.X[trained], corpus.Y[trained]).predict_topk(corpus.X[judged]),
            propensity=corpus.propensity,
        )["PSP@5"]
        for m in models
    )
    assert unbiased > plain


def test_a_propensity_of_one_changes_nothing():
    X, Y = draw(0)
    for weight in (0.5, 1):
        plain, same = (
            LEML(missing_weight=weight, propensity=p).fit(X, Y).coef_ for p in (None, 1)
        )
        assert_array_equal(plain, same)


@pytest.mark.parametrize("missing_weight", [0.5, 1.0])
def test_threads_do_not_change_a_bit(missing_weight, monkeypatch):
    monkeypatch.setattr("manylabel.baselines._leml.NUMBERS_AT_ONCE", 80)
    X, Y = draw(0)
    one, two = (LEML(n_jobs=n, missing_weight=missing_weight).fit(X, Y) for n in (1, 2))
    assert_array_equal(one.coef_, two.coef_)
    assert_array_equal(one.components_, two.components_)


def test_no_labels_at_all_are_learnt():
    X, Y = draw(0)
    for weight in (0.5, 1):
        assert not LEML(missing_weight=weight).fit(X, 0 * Y).predict(X).any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"missing_weight": 0}, "missing_weight must be above 0 unless Y is sparse"),
        ({"missing_weight": 1.5}, "missing_weight == 1.5, must be <= 1"),
        ({"tol": -1}, "tol == -1, must be >= 0"),
        ({"max_iter": 0}, "max_iter == 0, must be >= 1"),
        ({"l2_regularization": 0}, "l2_regularization == 0, must be > 0"),
        ({"propensity": 1e-7}, "propensity must be at least 1e-06"),
        ({"propensity": [0.5]}, "propensity must have 6 values"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        LEML(**given).fit(*draw(0))

"""make_corpus: the laws it draws from, and what it hides."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from sklearn.linear_model import Ridge

from manylabel import Propensity, make_corpus


def slope(counts, first, last):
    """Slope of log count against log rank between two ranks."""
    ordered = np.sort(counts)[::-1][first:last]
    return np.polyfit(np.log(np.arange(first, last) + 1), np.log(ordered), 1)[0]


def counts(Y):
    return np.bincount(Y.indices, minlength=Y.shape[1])


def precision(scores, truth):
    return truth.toarray()[np.arange(len(scores)), scores.argmax(axis=1)].mean()


@pytest.fixture(scope="module")
def corpus():
    return make_corpus(20_000, 5_000, 500)


def test_words_follow_zipf(corpus):
    words = make_corpus(20_000, 5_000, 500, noise=1.0).X
    assert -1.1 < slope(counts(words), 10, 500) < -0.9
    assert -1.4 < slope(counts(corpus.X), 10, 500) < -0.4


@pytest.mark.parametrize(("skew", "correlation"), [(1.0, 0.0), (1.0, 0.9), (0.7, 0.5)])
def test_labels_follow_the_power_law_whatever_the_topics(skew, correlation):
    corpus = make_corpus(20_000, 50, 500, skew=skew, correlation=correlation)
    # The first ranks bend because a label drawn twice for a row counts once.
    assert abs(slope(counts(corpus.complete), 20, 300) + skew) < 0.1


def test_single_labels_are_drawn_by_the_law_itself():
    found = counts(make_corpus(50_000, 50, 100, n_labels_per_row=1).complete)
    share = 1 / np.arange(1, 101)
    expected = 50_000 * share / share.sum()
    assert (abs(found - expected) < 5 * np.sqrt(expected)).all()


def test_rows_have_the_promised_length():
    corpus = make_corpus(5_000, 10**6, 10**6, n_words=12, n_labels_per_row=3, skew=0)
    assert corpus.complete.sum() / 5_000 == pytest.approx(3, rel=0.05)
    assert corpus.complete.sum(axis=1).min() >= 1
    assert np.diff(corpus.X.indptr).min() >= 1
    lengths = np.sqrt(corpus.X.multiply(corpus.X).sum(axis=1))
    assert_allclose(lengths, 1, rtol=1e-6)


def test_labels_of_a_topic_come_together():
    n_topics = 10

    def together(correlation):
        Y = make_corpus(5_000, 50, 100, correlation=correlation).complete
        pairs = (Y.T @ Y).toarray()
        np.fill_diagonal(pairs, 0)
        topic = np.arange(100) % n_topics
        return pairs[topic[:, None] == topic].sum() / pairs.sum()

    assert together(0.9) > 3 * together(0.0)


def test_recorded_labels_are_true_labels(corpus):
    both = corpus.Y.multiply(corpus.complete)
    assert both.nnz == corpus.Y.nnz
    assert corpus.Y.dtype == corpus.complete.dtype == corpus.X.dtype == np.float32
    assert (corpus.Y.data == 1).all()
    assert (corpus.complete.data == 1).all()
    for matrix in (corpus.X, corpus.Y, corpus.complete):
        assert matrix.has_canonical_format
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


def test_the_dataset_holds_what_was_recorded(corpus):
    assert (corpus.dataset.X != corpus.X).nnz == 0
    assert (corpus.dataset.Y != corpus.Y).nnz == 0


def test_fitting_the_recorded_labels_estimates_the_truth(corpus):
    fitted = Propensity(a=0.55, b=1.5).fit(corpus.Y).values_
    assert abs(fitted - corpus.propensity).mean() < 0.03


def test_each_label_is_recorded_at_its_propensity(corpus):
    true, kept, p = counts(corpus.complete), counts(corpus.Y), corpus.propensity
    seen = true > 0
    z = (kept - p * true)[seen] / np.sqrt(true * p * (1 - p))[seen]
    assert abs(z).max() < 5
    assert z.std() == pytest.approx(1, abs=0.15)


def test_labels_are_hidden_independently_of_each_other():
    corpus = make_corpus(20_000, 50, 2, n_labels_per_row=10, propensity=0.5)
    both = corpus.complete.sum(axis=1) == 2
    kept = corpus.Y[both].toarray()
    assert abs(np.corrcoef(kept.T)[0, 1]) < 0.04


def test_rare_labels_are_hidden_most(corpus):
    order = np.argsort(counts(corpus.complete), kind="stable")
    assert (np.diff(corpus.propensity[order]) >= 0).all()
    assert corpus.propensity.min() < 0.2 < 0.7 < corpus.propensity.max()


@given(st.integers(3, 400), st.floats(0.05, 1), st.floats(0.1, 5), st.integers(0, 99))
def test_propensities_solve_the_law_of_jain(n_rows, a, b, seed):
    corpus = make_corpus(n_rows, 5, 30, propensity=(a, b), random_state=seed)
    C = (np.log(n_rows) - 1) * (b + 1) ** a
    expected = [
        brentq(lambda p, n=n: 1 / (1 + C * (p * n + b) ** -a) - p, 0, 1, xtol=1e-14)
        for n in counts(corpus.complete)
    ]
    assert_allclose(corpus.propensity, expected, rtol=1e-9)


def test_given_propensities_are_used():
    values = np.linspace(1, 0.2, 8)
    corpus = make_corpus(50, 20, 8, propensity=values)
    assert_array_equal(corpus.propensity, values)
    whole = make_corpus(50, 20, 8, propensity=1.0)
    assert (whole.Y != whole.complete).nnz == 0


def arrays(corpus):
    matrices = (corpus.X, corpus.Y, corpus.complete)
    parts = [part for m in matrices for part in (m.indptr, m.indices, m.data)]
    return [*parts, corpus.propensity]


def test_the_same_seed_gives_the_same_bits():
    first, second = (make_corpus(200, 100, 30, random_state=7) for _ in range(2))
    other = make_corpus(200, 100, 30, random_state=8)
    for one, two in zip(arrays(first), arrays(second), strict=True):
        assert_array_equal(one, two)
    assert (first.X != other.X).nnz > 0


@pytest.fixture(scope="module")
def split():
    """Return a corpus, scores learnt from its recorded labels, and the unseen rows."""
    corpus = make_corpus(3_000, 1_000, 100)
    model = Ridge(alpha=0.1).fit(corpus.X[:2_000], corpus.Y[:2_000].toarray())
    return corpus, model.predict(corpus.X[2_000:]), slice(2_000, None)


@pytest.mark.slow
def test_true_labels_can_be_learnt_from_the_words(split):
    corpus, scores, unseen = split
    popular = np.tile(counts(corpus.Y[:2_000]), (1_000, 1))
    truth = corpus.complete[unseen]
    assert precision(scores, truth) > 0.3 + precision(popular, truth)


def test_recorded_labels_prefer_the_popular_and_the_truth_does_not(split):
    corpus, scores, unseen = split
    recorded, truth = corpus.Y[unseen], corpus.complete[unseen]
    fair = scores / corpus.propensity
    assert precision(scores, recorded) > 0.03 + precision(fair, recorded)
    assert precision(scores, truth) < precision(fair, truth) - 0.01


def test_no_dense_array_is_made():
    tracemalloc.start()
    corpus = make_corpus(100_000, 100_000, 100_000, n_words=20, n_labels_per_row=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * sum(array.nbytes for array in arrays(corpus))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_rows": 0}, ValueError, "n_rows must lie between 1 and .* Got 0"),
        ({"n_rows": 2.5}, TypeError, "n_rows must be an integer. Got 2.5"),
        ({"n_labels": True}, TypeError, "n_labels must be an integer. Got True"),
        ({"n_features": -1}, ValueError, "n_features must lie between 1 and"),
        ({"n_words": 0.5}, ValueError, "n_words must lie between 1 and"),
        ({"n_words": "ten"}, TypeError, "n_words must be a number. Got 'ten'"),
        ({"n_labels_per_row": 0}, ValueError, "n_labels_per_row must lie between 1"),
        ({"skew": -1}, ValueError, "skew must lie between 0 and 10. Got -1"),
        ({"correlation": 1.5}, ValueError, "correlation must lie between 0 and 1"),
        (
            {"noise": float("nan")},
            ValueError,
            "noise must lie between 0 and 1. Got nan",
        ),
        ({"propensity": (0.5,)}, ValueError, r"a tuple \(a, b\) of positive numbers"),
        ({"propensity": (0, 1.5)}, ValueError, r"a tuple \(a, b\) of positive numbers"),
        ({"propensity": 0.0}, ValueError, r"propensity must lie in \(0, 1\]. Got 0"),
        ({"propensity": [0.5] * 3}, ValueError, "propensity must have 200 values"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        make_corpus(**arguments)

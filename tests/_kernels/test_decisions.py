"""The rows that a decision learns from: all of the rare side, enough of the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from manylabel.budget import AnnotationTree, _decisions
from manylabel.data import make_corpus

SIZES = st.integers(1, 30) | st.integers(200, 3_000) | st.integers(9_000, 30_000)


def enough(n_others):
    if n_others <= 8:
        return 256
    return 32 * n_others if n_others <= 256 else max(8192, 4 * n_others)


@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=5), st.integers(0, 9))
def test_large_sides_are_thinned(sizes, gap):
    before = gap + np.cumsum([0, *(sum(pair) for pair in sizes)])
    bounds = np.array(
        [(s, s + a, s + a + b) for s, (a, b) in zip(before, sizes, strict=False)]
    )
    rows = np.random.default_rng(0).permutation(before[-1])
    places = [np.arange(start, end) for start, _, end in bounds]
    cost = 1.0 + rows[np.concatenate(places)] % 3
    found, new, costs = _decisions._sample(rows, bounds, cost)
    assert (new[0, 0], new[-1, 2]) == (0, len(found))
    assert_array_equal(new[1:, 0], new[:-1, 2])
    for old, now in zip(bounds, new, strict=True):
        for at in (0, 1):
            kept = slice(*now[at : at + 2])
            everything, some = rows[old[at] : old[at + 1]], found[kept]
            n_other = np.ptp(old) - len(everything)
            assert len(some) == min(len(everything), enough(n_other))
            places = np.flatnonzero(np.isin(everything, some))
            assert_array_equal(everything[places], some)  # in order, none twice
            assert len(some) < 3 or np.ptp(np.diff(places)) <= 1  # evenly spaced
            weight = len(everything) / len(some)
            assert_allclose(costs[kept], (1.0 + some % 3) * weight)


def test_a_rare_label_is_learnt_as_from_all_rows(monkeypatch):
    corpus = make_corpus(n_rows=3_000, n_features=200, n_labels=100)
    few = AnnotationTree().fit(corpus.X, corpus.Y)
    monkeypatch.setattr(_decisions, "_enough", lambda n_others: n_others + 3_000)
    whole = AnnotationTree().fit(corpus.X, corpus.Y)
    assert_array_equal(
        few.tree_.children, whole.tree_.children
    )  # labels alone shape the tree
    errors = [(m.predict(corpus.X) != corpus.Y).nnz for m in (few, whole)]
    assert abs(errors[0] - errors[1]) <= 0.02 * corpus.Y.nnz
    assert not np.array_equal(few.tree_.intercept, whole.tree_.intercept)


def test_rows_that_are_drawn_cost_what_all_do(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = np.tile([0.0, 1.0, 0.5], (3_000, 1)), np.zeros((3_000, 2), int)
    X[:10], Y[:10] = rng.normal(size=(10, 3)), [1, 0]  # the other rows are all the same
    few = AnnotationTree(tol=1e-6).fit(X, Y)
    monkeypatch.setattr(_decisions, "_enough", lambda n_others: n_others + 3_000)
    whole = AnnotationTree(tol=1e-6).fit(X, Y)
    assert_allclose(few.tree_.intercept, whole.tree_.intercept, rtol=1e-3)
    assert_allclose(few.coef_.toarray(), whole.coef_.toarray(), rtol=1e-3)

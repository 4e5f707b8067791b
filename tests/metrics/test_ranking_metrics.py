"""Ranking metrics: ten-line references, dense and sparse, and the laws."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import ndcg_score

from manylabel import metrics


@st.composite
def problems(draw):
    """Draw truth, scores with many ties, which scores are stored, propensities, k."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_labels = draw(st.integers(1, 8)), draw(st.integers(1, 9))
    Y = rng.random((n, n_labels)) < draw(st.sampled_from([0.0, 0.2, 0.6, 1.0]))
    scores = rng.choice([-np.inf, -1.0, 0.0, 0.5, 0.5, 2.0], size=Y.shape)
    stored = rng.random(Y.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    return Y, scores, stored, rng.uniform(0.05, 1, n_labels), draw(st.integers(1, 10))


def stored_only(scores, stored):
    """Return the stored scores as CSR, zeros and negative ones too."""
    S = sp.csr_array(stored.astype(float))
    S.data = scores[stored]
    return S


def top(scores, stored, k):
    """List the k best stored columns of each row, the lower column first in a tie."""
    order = [sorted(np.flatnonzero(s), key=lambda c: -row[c]) for row, s in
             zip(scores, stored, strict=True)]  # fmt: skip
    return [columns[:k] for columns in order]


def precision(Y, tops, p, k):
    return np.mean([y[t].sum() / k for y, t in zip(Y, tops, strict=True)])


def recall(Y, tops, p, k):
    rows = zip(Y, tops, strict=True)
    return np.mean([y[t].sum() / y.sum() if y.any() else 0.0 for y, t in rows])


def f1(Y, tops, p, k):
    rows = zip(Y, tops, strict=True)
    return np.mean([2 * y[t].sum() / (k + y.sum()) for y, t in rows])


def discounted(gains):
    return sum(gain / np.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg(Y, tops, p, k):
    values = []
    for y, t in zip(Y, tops, strict=True):
        ideal = discounted(np.ones(min(k, y.sum())))
        values.append(discounted(y[t]) / ideal if ideal else 0.0)
    return np.mean(values)


def coverage(Y, tops, p, k):
    found = {c for y, t in zip(Y, tops, strict=True) for c in t if y[c]}
    return len(found) / max(Y.any(axis=0).sum(), 1)


def by_label(figure):
    """Return the mean over labels of a figure: of hits, rows given, rows that have."""

    def reference(Y, tops, p, k):
        given = np.array([np.isin(np.arange(Y.shape[1]), t) for t in tops])
        given = given.reshape(Y.shape)
        counts = ((given & (Y > 0)).sum(0), given.sum(0), Y.sum(0))
        return np.mean([figure(*c) for c in zip(*counts, strict=True)])

    reference.__name__ = figure.__name__
    return reference


@by_label
def macro_precision(hits, given, true):
    return hits / given if given else 0.0


@by_label
def macro_recall(hits, given, true):
    return hits / true if true else 0.0


@by_label
def macro_f1(hits, given, true):
    return 2 * hits / (given + true) if given + true else 0.0


def best(y, p, k):
    return np.sort(y / p)[::-1][: min(k, y.sum())]


def psp(Y, tops, p, k):
    gained = np.mean([(y / p)[t].sum() / k for y, t in zip(Y, tops, strict=True)])
    most = np.mean([best(y, p, k).sum() / k for y in Y])
    return gained / most if most else 0.0


def psndcg(Y, tops, p, k):
    gained = most = 0.0
    for y, t in zip(Y, tops, strict=True):
        ideal = discounted(np.ones(min(k, y.sum()))) or 1.0
        gained += discounted((y / p)[t]) / ideal
        most += discounted(best(y, p, k)) / ideal
    return gained / most if most else 0.0


CASES = [
    (metrics.precision_at_k, metrics.PrecisionAtK, precision),
    (metrics.recall_at_k, metrics.RecallAtK, recall),
    (metrics.f1_at_k, metrics.F1AtK, f1),
    (metrics.ndcg_at_k, metrics.NDCGAtK, ndcg),
    (metrics.coverage_at_k, metrics.CoverageAtK, coverage),
    (metrics.macro_precision_at_k, metrics.MacroPrecisionAtK, macro_precision),
    (metrics.macro_recall_at_k, metrics.MacroRecallAtK, macro_recall),
    (metrics.macro_f1_at_k, metrics.MacroF1AtK, macro_f1),
    (metrics.psp_at_k, metrics.PSPAtK, psp),
    (metrics.psndcg_at_k, metrics.PSNDCGAtK, psndcg),
]
SCORED = (psp, psndcg)
each_metric = pytest.mark.parametrize(
    ("function", "kind", "reference"), CASES, ids=[r.__name__ for _, _, r in CASES]
)


def options(reference, p):
    return {"propensity": p} if reference in SCORED else {}


@each_metric
@given(problem=problems())
def test_dense_scores_follow_the_reference(function, kind, reference, problem):
    Y, scores, _, p, k = problem
    expected = reference(Y, top(scores, np.ones_like(Y), k), p, k)
    for truth in (Y, sp.csr_array(Y)):
        value = function(truth, scores, k, **options(reference, p))
        assert_allclose(value, expected, atol=1e-12)


@each_metric
@given(problem=problems())
def test_sparse_scores_follow_the_reference(function, kind, reference, problem):
    Y, scores, stored, p, k = problem
    expected = reference(Y, top(scores, stored, k), p, k)
    for truth in (Y, sp.csr_array(Y)):
        value = function(truth, stored_only(scores, stored), k, **options(reference, p))
        assert_allclose(value, expected, atol=1e-12)


@each_metric
@given(problem=problems())
def test_values_lie_in_the_unit_interval(function, kind, reference, problem):
    Y, scores, stored, p, k = problem
    value = function(Y, stored_only(scores, stored), k, **options(reference, p))
    assert 0 <= value <= 1


@each_metric
@given(problem=problems(), data=st.data())
def test_chunks_do_not_matter(function, kind, reference, problem, data):
    Y, scores, _, p, k = problem
    cuts = sorted(data.draw(st.lists(st.integers(0, len(Y)), max_size=3)))
    parts = kind(k, **options(reference, p))
    for chunk in np.split(np.arange(len(Y)), cuts):
        parts.update(Y[chunk], scores[chunk])
    whole = function(Y, scores, k, **options(reference, p))
    assert parts.value == whole  # bits, not closeness


@each_metric
@given(problem=problems(), data=st.data())
def test_merging_is_seeing_both(function, kind, reference, problem, data):
    Y, scores, _, p, k = problem
    cut = data.draw(st.integers(0, len(Y)))
    left, right = (kind(k, **options(reference, p)) for _ in range(2))
    left.update(Y[:cut], scores[:cut]).merge(right.update(Y[cut:], scores[cut:]))
    assert left.n_rows == len(Y)
    assert left.value == function(Y, scores, k, **options(reference, p))


@each_metric
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_row_order_does_not_matter(function, kind, reference, problem, seed):
    Y, scores, _, p, k = problem
    shuffle = np.random.default_rng(seed).permutation(len(Y))
    shuffled = function(Y[shuffle], scores[shuffle], k, **options(reference, p))
    assert shuffled == function(Y, scores, k, **options(reference, p))


@each_metric
@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_label_order_does_not_matter_without_ties(
    function, kind, reference, problem, seed
):
    Y, _, _, p, k = problem
    rng = np.random.default_rng(seed)
    scores, shuffle = rng.normal(size=Y.shape), rng.permutation(Y.shape[1])
    assert_allclose(
        function(
            Y[:, shuffle], scores[:, shuffle], k, **options(reference, p[shuffle])
        ),
        function(Y, scores, k, **options(reference, p)),
        atol=1e-12,
    )


@each_metric
def test_no_rows_have_no_value(function, kind, reference):
    assert np.isnan(
        function(np.zeros((0, 3)), np.zeros((0, 3)), 2, **options(reference, 1.0))
    )


@each_metric
def test_a_perfect_ranking_has_the_value_1(function, kind, reference):
    Y = np.array([[1, 0, 1], [1, 1, 0]])
    assert_allclose(
        function(Y, Y.astype(float), 2, **options(reference, [0.1, 0.5, 1])), 1
    )


@given(problems())
def test_raw_psp_with_propensities_1_is_precision(problem):
    Y, scores, _, _, k = problem
    raw = metrics.psp_at_k(Y, scores, k, propensity=1.0, normalised=False)
    assert_allclose(raw, metrics.precision_at_k(Y, scores, k), atol=1e-12)


@given(problems())
def test_psp_with_propensities_1_is_precision_by_the_best_precision(problem):
    Y, scores, _, _, k = problem
    best_precision = metrics.precision_at_k(Y, Y.astype(float), k)
    assert_allclose(
        metrics.psp_at_k(Y, scores, k, propensity=1.0) * best_precision,
        metrics.precision_at_k(Y, scores, k),
        atol=1e-12,
    )


@given(problems(), st.floats(0.1, 1))
def test_a_common_factor_of_the_propensities_cancels_when_normalised(problem, factor):
    Y, scores, _, p, k = problem
    assert_allclose(
        metrics.psp_at_k(Y, scores, k, propensity=p * factor),
        metrics.psp_at_k(Y, scores, k, propensity=p),
    )


@given(problems())
def test_ndcg_agrees_with_scikit_learn_where_all_rows_have_labels(problem):
    Y, _, _, _, k = problem
    scores = np.random.default_rng(k).normal(size=Y.shape)  # it averages over ties
    if Y.any(axis=1).all() and Y.shape[1] > 1:
        assert_allclose(
            metrics.ndcg_at_k(Y, scores, k), ndcg_score(Y, scores, k=k), atol=1e-12
        )


@given(problems())
def test_the_first_label_is_found_by_all_metrics_alike(problem):
    Y, scores, _, _, _ = problem
    assert_allclose(
        metrics.precision_at_k(Y, scores, 1), metrics.ndcg_at_k(Y, scores, 1)
    )


def test_ties_go_to_the_lower_column():
    assert metrics.precision_at_k([[0, 1, 0]], [[0.5, 0.5, 0.5]], k=1) == 0
    assert metrics.precision_at_k([[1, 0, 0]], [[0.5, 0.5, 0.5]], k=1) == 1


def test_stored_zeros_and_negative_scores_are_predictions():
    S = sp.csr_array(([-1.0, 0.0], ([0, 1], [2, 1])), shape=(2, 3))
    assert metrics.precision_at_k([[0, 0, 1], [0, 1, 0]], S, k=1) == 1


def test_what_is_not_stored_is_a_miss():
    assert metrics.recall_at_k([[1, 0]], sp.csr_array((1, 2)), k=1) == 0
    assert metrics.recall_at_k([[1, 0]], np.zeros((1, 2)), k=1) == 1


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "3", (1, 3)])
def test_a_wrong_depth_is_refused(k):
    with pytest.raises(ValueError, match=r"k must be a positive integer\. Got"):
        metrics.precision_at_k([[1]], [[0.5]], k=k)


@pytest.mark.parametrize(
    ("Y", "scores", "message"),
    [
        ([[1, 0]], [[0.5, 0.1], [0.2, 0.3]], "scores must have 1 rows. Got 2"),
        ([[1, 0]], [[0.5]], "scores must have 2 columns. Got 1"),
        ([[1, 0]], [[0.5, np.nan]], "scores must hold numbers. Got NaN"),
        ([[1, 2]], [[0.5, 0.1]], "Y must hold only 0 and 1. Got 2"),
    ],
)
def test_wrong_input_is_refused(Y, scores, message):
    with pytest.raises(ValueError, match=message):
        metrics.ndcg_at_k(Y, scores)


def test_chunks_with_different_labels_are_refused():
    metric = metrics.PrecisionAtK(1).update([[1, 0]], [[0.5, 0.1]])
    with pytest.raises(
        ValueError, match="Y must have 2 columns, as in the first chunk"
    ):
        metric.update([[1]], [[0.5]])


def test_a_raw_value_does_not_claim_to_be_relative():
    for kind in (metrics.PSPAtK, metrics.PSNDCGAtK):
        assert "best attainable" in kind(3).meaning
        assert "best attainable" not in kind(3, normalised=False).meaning


def test_different_metrics_are_not_merged():
    raw = metrics.PSPAtK(1, normalised=False)
    for other in (metrics.PrecisionAtK(3), metrics.RecallAtK(1), raw, None):
        with pytest.raises(
            ValueError, match="P@1 can be merged only with its own kind"
        ):
            metrics.PrecisionAtK(1).merge(other)


def test_metrics_of_other_propensities_do_not_merge():
    one = metrics.PSPAtK(1, 0.5).update([[1, 0]], [[0.9, 0.1]])
    with pytest.raises(ValueError, match="only with its own kind"):
        one.merge(metrics.PSPAtK(1, 0.25).update([[1, 0]], [[0.9, 0.1]]))

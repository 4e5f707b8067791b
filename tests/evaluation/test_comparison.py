"""Models side by side: paired intervals, checked against slow loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import manylabel as ml
from manylabel.evaluation import Evaluation, LabelFigures, RowwiseEvaluation
from manylabel.metrics import resampling
from manylabel.metrics.resampling import resampled_sums

SEED = 3


def test_sets_of_one_model_beside_scores_of_another_are_refused():
    Y = np.array([[1, 0], [0, 1]])
    given = {"a": Y * 0.7, "b": Y, "c": Y * 0.3}
    with pytest.raises(ValueError, match=r"Got sets of b and scores of a, c\."):
        ml.compare(Y, given, k=1)


@pytest.fixture(scope="module")
def judged():
    """Return truth, propensities, and the scores and sets of two models."""
    rng = np.random.default_rng(0)
    Y = rng.random((40, 6)) < 0.3
    good, bad = Y + rng.normal(size=Y.shape), rng.normal(size=Y.shape)
    return Y.astype(int), rng.uniform(0.2, 1, 6), {"bad": bad, "good": good}


def drawn_rows(n_rows, n_resamples, seed):
    """Draw rows as the bootstrap does, one resample at a time."""
    rng = np.random.default_rng(seed)
    return [rng.integers(n_rows, size=n_rows) for _ in range(n_resamples)]


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 30))
def test_sums_are_those_of_the_rows_drawn(n_rows, n_sums, most):
    terms = np.arange(n_rows * n_sums, dtype=float).reshape(n_rows, n_sums) ** 2
    expected = [terms[rows].sum(axis=0) for rows in drawn_rows(n_rows, 7, SEED)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resampling, "MAX_DRAWN", most)
        assert_allclose(resampled_sums(terms, 7, SEED), expected)


@pytest.mark.parametrize("key", ["P@1", "nDCG@3", "recall@3", "PSP@3", "PSnDCG@1"])
def test_resampled_figures_are_figures_of_the_resampled_rows(judged, key):
    # A mean over rows and a ratio of two sums alike: whole rows are drawn, so that
    # numerator and denominator are of the same ones.
    Y, propensity, scores = judged
    options = {"k": (1, 3), "propensity": propensity}
    evaluation = RowwiseEvaluation(**options).update(Y, scores["good"])
    expected = [
        ml.evaluate(Y[rows], scores["good"][rows], **options)[key]
        for rows in drawn_rows(len(Y), 20, SEED)
    ]
    assert_allclose(evaluation.resampled(20, SEED)[key], expected, rtol=1e-12)


@pytest.mark.parametrize("key", ["hamming", "f1", "accuracy", "subset", "micro-F1"])
def test_resampled_set_figures_are_those_of_the_resampled_rows(judged, key):
    Y, _, scores = judged
    sets = (scores["good"] > 0.5).astype(int)
    evaluation = RowwiseEvaluation().update(Y[:9], sets[:9]).update(Y[9:], sets[9:])
    expected = [
        ml.evaluate(Y[rows], sets[rows])[key] for rows in drawn_rows(len(Y), 20, SEED)
    ]
    assert_allclose(evaluation.resampled(20, SEED)[key], expected, rtol=1e-12)


def test_merged_rows_are_drawn_too(judged):
    Y, _, scores = judged
    parts = (slice(0, 9), slice(9, 40))
    whole = RowwiseEvaluation().update(Y, scores["good"])
    first, second = (
        RowwiseEvaluation().update(Y[part], scores["good"][part]) for part in parts
    )
    expected = whole.resampled(5, SEED)["P@3"]
    assert_allclose(first.merge(second).resampled(5, SEED)["P@3"], expected)
    with pytest.raises(TypeError, match=r"must be a RowwiseEvaluation\. Got a Evalu"):
        whole.merge(Evaluation().update(Y, scores["good"]))


def test_differences_are_paired(judged):
    Y, propensity, scores = judged
    found = ml.compare(Y, scores, propensity=propensity, n_resamples=200)
    again = ml.compare(Y, scores, propensity=propensity, n_resamples=200)
    assert found.differences == again.differences
    for key, (value, low, high) in found.differences["good"].items():
        reports = found.reports
        assert value == reports["good"][key] - reports["bad"][key]
        assert low <= high
    same = ml.compare(Y, {"a": scores["good"], "b": scores["good"]}, n_resamples=50)
    assert set(same.differences["b"].values()) == {(0.0, 0.0, 0.0)}


def test_the_interval_is_as_wide_as_the_theory_says():
    rng = np.random.default_rng(1)
    Y = np.ones((900, 1), int)
    a, b = (np.where(rng.random(900) < p, 1, 0)[:, None] for p in (0.5, 0.6))
    hits = {"a": np.hstack([a, 1 - a]), "b": np.hstack([b, 1 - b])}
    Y = np.hstack([Y, 1 - Y])
    scores = {name: matrix.astype(float) for name, matrix in hits.items()}
    found = ml.compare(Y, scores, k=1, n_resamples=4000).differences["b"]["P@1"]
    error = np.std(b - a) / np.sqrt(900)
    assert_allclose(found.high - found.value, 1.96 * error, rtol=0.08)
    assert_allclose(found.value - found.low, 1.96 * error, rtol=0.08)


def test_figures_over_labels_have_no_interval(judged):
    Y, _, scores = judged
    sets = {name: (matrix > 0).astype(int) for name, matrix in scores.items()}
    found = ml.compare(Y, scores, k=1, predictions=sets, n_resamples=10)
    missing = set(found.reports["good"]) - set(found.differences["good"])
    over_labels = {"coverage@1", "macro-P@1", "macro-R@1", "macro-F1@1", "macro-F1"}
    assert missing == over_labels
    (line,) = (
        line for line in repr(found).splitlines() if line.startswith("macro-F1 ")
    )
    assert line.endswith(" -")


def test_what_cannot_be_compared_is_refused(judged):
    Y, _, scores = judged
    with pytest.raises(ValueError, match="same rows, at least one"):
        ml.compare(Y, {})
    with pytest.raises(ValueError, match="same rows, at least one"):
        ml.compare(Y[:0], {"a": scores["good"][:0]})
    with pytest.raises(ValueError, match="predictions must be of the models bad, good"):
        ml.compare(Y, scores, predictions={"bad": Y})
    with pytest.raises(ValueError, match="n_resamples == 0"):
        ml.compare(Y, scores, n_resamples=0)
    with pytest.raises(TypeError, match=r"scores must be a dict of names .* Got list"):
        ml.compare(Y, [scores["good"]])


def test_labels_are_counted_over_chunks_and_the_worst_come_first(judged):
    Y, _, scores = judged
    ranks, sets = scores["good"], (scores["good"] > 0.5).astype(int)
    names = list("abcdef")
    figures = LabelFigures(k=2)
    for part in (slice(0, 13), slice(13, 40)):
        figures.update(Y[part], ranks[part], sets[part])
    lines = list(figures.worst_first(names))
    best = np.argsort(-ranks, axis=1)[:, :2]
    for name, rows, predicted, precision, recall, f1, found in lines:
        label = names.index(name)
        hits = (Y[:, label] & sets[:, label]).sum()
        assert (rows, predicted) == (Y[:, label].sum(), sets[:, label].sum())
        assert_allclose([precision, recall], [hits / predicted, hits / rows])
        assert_allclose(f1, 2 * hits / (rows + predicted))
        at_k = sum(label in best[row] for row in np.flatnonzero(Y[:, label]))
        assert_allclose(found, at_k / rows)
    assert_array_equal([line[5] for line in lines], sorted(line[5] for line in lines))
    assert len(figures.columns) == len(lines[0])

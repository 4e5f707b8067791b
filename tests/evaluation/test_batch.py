"""Evaluation: every figure is its metric, chunks, memory, refusals."""

import json
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from manylabel import Popularity, compare, metrics
from manylabel.evaluation import Evaluation, Report, RowwiseEvaluation, evaluate
from manylabel.parallel import spawn_seeds
from manylabel.propensity import Propensity


def test_depths_of_sets_and_rankings_of_zeros_and_ones_are_doubted():
    Y = np.array([[1, 0], [0, 1]])
    for sets in (Y, Y == 1, sp.csr_array(Y)):
        with pytest.warns(UserWarning, match="k does not count: scores of integers"):
            evaluate(Y, sets, k=1)
        evaluate(Y, sets)
    sets = np.array([[1.0, 1.0], [0.0, 1.0]])
    for scores in (sets, sp.csr_array(sets)):
        with pytest.warns(UserWarning, match="scores hold only 0 and 1, and are"):
            evaluate(Y, scores, k=1)
        with pytest.warns(UserWarning, match="scores hold only 0 and 1, and are"):
            evaluate(Y, scores.astype(int), k=1, predictions=Y)
        with pytest.warns(UserWarning, match="scores hold only 0 and 1, and are"):
            compare(Y, {"a": scores}, k=1)
    evaluate(Y, 1.0 * Y, k=1)  # the first of each row is known
    with pytest.raises(TypeError, match=r"scores must be .* Got a model, Popularity"):
        evaluate(Y, Popularity().fit(Y, Y))
    evaluate(Y, sp.csr_array(sets), k=2)  # no order matters at this depth
    evaluate(Y, 0.5 * Y, k=1)
    evaluate(Y, 0.0 * Y, k=1)


FUNCTIONS = {
    "P": metrics.precision_at_k,
    "nDCG": metrics.ndcg_at_k,
    "recall": metrics.recall_at_k,
    "F1": metrics.f1_at_k,
    "coverage": metrics.coverage_at_k,
    "macro-P": metrics.macro_precision_at_k,
    "macro-R": metrics.macro_recall_at_k,
    "macro-F1": metrics.macro_f1_at_k,
    "PSP": metrics.psp_at_k,
    "PSnDCG": metrics.psndcg_at_k,
}
COSTS = ["hamming", "f1", "accuracy", "rank", "subset"]


def problem(seed=0, n_rows=20, n_labels=12):
    rng = np.random.default_rng(seed)
    Y = rng.random((n_rows, n_labels)) < 0.3
    return Y, rng.random(Y.shape).round(1), rng.random(Y.shape) < 0.3


@given(st.integers(0, 2**32 - 1))
def test_every_figure_is_the_value_of_its_metric(seed):
    Y, scores, predictions = problem(seed)
    propensity = Propensity().fit(Y)
    report = evaluate(
        Y, scores, k=(5, 1), propensity=propensity, predictions=predictions
    )
    for name, function in FUNCTIONS.items():
        more = {"propensity": propensity} if name.startswith("PS") else {}
        for k in (1, 5):
            assert report[f"{name}@{k}"] == function(Y, scores, k, **more)
    for cost in COSTS:
        assert report[cost] == metrics.mean_cost(Y, predictions, cost)
    assert report["micro-F1"] == metrics.micro_f1(Y, predictions)
    assert report["macro-F1"] == metrics.macro_f1(Y, predictions)
    assert len(report) == 2 * len(FUNCTIONS) + len(COSTS) + 2


@given(st.integers(0, 2**32 - 1), st.integers(0, 20))
def test_chunks_do_not_matter(seed, cut):
    Y, scores, predictions = problem(seed)
    parts = Evaluation(k=3, propensity=0.5)
    for rows in (slice(cut), slice(cut, None)):
        parts.update(Y[rows], scores[rows], predictions[rows])
    whole = evaluate(Y, scores, k=3, propensity=0.5, predictions=predictions)
    assert parts.report() == whole  # bits, not closeness


@given(st.integers(0, 2**32 - 1), st.integers(0, 20))
def test_merging_is_seeing_both(seed, cut):
    Y, scores, _ = problem(seed)
    left, right = Evaluation(), Evaluation()
    left.update(Y[:cut], scores[:cut])
    merged = (
        left.merge(right.update(Y[cut:], scores[cut:])).merge(Evaluation()).report()
    )
    assert merged == evaluate(Y, scores)


@given(st.integers(0, 2**32 - 1), st.randoms())
def test_eight_shards_in_any_order_give_the_bits_of_one_pass(seed, random):
    Y, scores, predictions = problem(seed)
    options = {"k": (1, 3), "propensity": Propensity().fit(Y)}
    new = Evaluation(**options)
    given = [Y, scores, predictions, scores]  # scores lie in [0, 1]
    shards = [
        Evaluation(**options).update(*(each[start::8] for each in given))
        for start in range(8)
    ]
    random.shuffle(shards)
    total = new
    for shard in shards:
        total = total + new.restored(shard.to_json())
    whole = evaluate(
        Y, scores, **options, predictions=predictions, proba=scores
    ).details()
    assert json.dumps(total.report().details()) == json.dumps(whole)


def test_adding_leaves_both_as_they_were():
    Y, scores, _ = problem()
    for kind in (Evaluation, RowwiseEvaluation):
        left, right = (
            kind().update(Y[rows], scores[rows]) for rows in (slice(5), slice(5, None))
        )
        before = left.to_json(), right.to_json()
        ((left + right) + kind()).update(Y, scores)
        assert (left.to_json(), right.to_json()) == before


def test_shards_of_other_figures_are_refused():
    Y, scores, _ = problem()
    written = Evaluation(k=3).update(Y, scores).to_json()
    with pytest.raises(
        ValueError, match=r"judged by the same figures\. Got F1@1, F1@3"
    ):
        Evaluation(k=1).restored(written)
    damaged = written.replace("0x", "z")
    with pytest.raises(ValueError, match="P@3 must be as to_json wrote it: expected a"):
        Evaluation(k=3).restored(damaged)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint8])
def test_scores_of_integers_are_predictions(dtype):
    Y, _, predictions = problem()
    for wrap in (np.asarray, sp.csr_array):
        report = evaluate(Y, wrap(predictions.astype(dtype)))
        assert list(report) == [*COSTS, "micro-F1", "macro-F1"]
    listed = evaluate(Y.astype(int).tolist(), predictions.astype(int).tolist())
    assert listed == report


def test_scores_of_integers_beside_predictions_are_scores():
    Y, scores, predictions = problem()
    whole = (10 * scores).astype(int)
    assert (
        evaluate(Y, whole, predictions=predictions)["P@1"] == evaluate(Y, scores)["P@1"]
    )


def test_without_propensities_nothing_is_propensity_scored():
    Y, scores, _ = problem()
    assert not [key for key in evaluate(Y, scores) if key.startswith("PS")]


def test_a_users_cost_is_reported_by_its_name():
    def misses(y, y_hat):
        return (y > y_hat).sum()

    report = evaluate([[1, 1, 0]], [[1, 0, 0]], costs=("f1", misses))
    assert report["misses"] == 1
    assert report.meaning("misses") == "Mean over rows of the cost 'misses'."


def test_no_rows_give_a_report_that_is_valid_json():
    report = evaluate(np.zeros((0, 3)), np.zeros((0, 3)), k=1)
    assert np.isnan(report["P@1"])
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["P@1"] is None


def test_an_evaluation_of_nothing_reports_nothing():
    assert len(Evaluation().report()) == 0


def test_many_labels_never_make_a_dense_array():
    n_rows, n_labels = 2000, 100_000  # dense it would have 200 million entries
    rng = np.random.default_rng(0)
    Y, scores = (
        sp.csr_array(
            (rng.random(5 * n_rows) + 0.1, rng.integers(n_labels, size=5 * n_rows),
             np.arange(0, 5 * n_rows + 1, 5)),
            shape=(n_rows, n_labels),
        )
        for _ in range(2)
    )  # fmt: skip
    Y.sum_duplicates()
    Y.data[:] = 1
    evaluate(Y[:2], scores[:2], propensity=0.5)
    tracemalloc.start()
    evaluate(Y, scores, propensity=0.5, predictions=Y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6


def test_bad_input_leaves_no_trace():
    Y, scores, _ = problem()
    evaluation = Evaluation().update(Y, scores)
    before = evaluation.report()
    with pytest.raises(ValueError, match="must hold only 0 and 1"):
        evaluation.update(2 * Y.astype(int), scores)
    assert evaluation.report() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be a positive integer. Got 0"),
        ({"k": (1, -3)}, "k must be a positive integer. Got -3"),
        ({"k": ()}, "k must name at least one depth"),
        ({"costs": ("f1", "f2")}, "cost must be one of hamming, f1, .* Got 'f2'"),
        ({"costs": ("f1", "f1")}, "costs must have different names. Got 'f1' twice"),
        ({"scores": np.zeros((3, 12))}, "scores must have 20 rows. Got 3"),
        ({"predictions": np.zeros((20, 3))}, "predictions must have 12 columns. Got 3"),
        ({"propensity": [0.5]}, "propensity must have 12 values"),
        ({"proba": np.zeros((20, 3))}, r"proba must have the shape of Y, \(20, 12\)"),
        ({"proba": np.full((20, 12), 1.5)}, r"proba must lie in \[0, 1\]. Got 1.5"),
        ({"n_resamples": -1}, "n_resamples == -1, must be >= 0"),
        ({"propensity": 1.5}, r"propensity must lie in \(0, 1\]. Got 1.5"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    Y, scores, _ = problem()
    with pytest.raises(ValueError, match=message):
        evaluate(Y, **({"scores": scores} | arguments))


def test_an_unfitted_propensity_is_refused():
    Y, scores, _ = problem()
    with pytest.raises(TypeError, match="propensity must be a fitted Propensity"):
        evaluate(Y, scores, propensity=Propensity())


def test_chunks_of_different_kinds_are_refused():
    Y, scores, predictions = problem()
    evaluation = Evaluation().update(Y, scores)
    with pytest.raises(
        ValueError, match="Every chunk must bring scores, predictions or"
    ):
        evaluation.update(Y, scores, predictions)
    with pytest.raises(ValueError, match="scores or predictions must be given"):
        evaluation.update(Y)
    with pytest.raises(ValueError, match="scores must be given where proba is"):
        Evaluation().update(Y, predictions=predictions, proba=scores)


@pytest.mark.parametrize("kind", [Evaluation, RowwiseEvaluation])
@pytest.mark.parametrize(
    ("options", "n_labels"),
    [({"k": (1, 5)}, 6), ({"costs": ("f1",)}, 6), ({"propensity": 0.5}, 6), ({}, 7)],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_not_merged_changes_nothing(kind, options, n_labels, is_first):
    Y = np.eye(6, n_labels)
    left = kind(k=(1, 3))
    if not is_first or n_labels != 6:
        left.update(np.eye(6), np.eye(6), np.eye(6))
    before = left.to_json()
    right = kind(**{"k": (1, 3)} | options).update(Y, Y, Y)
    for merge in (left.merge, left.__add__):
        with pytest.raises(ValueError, match="Got "):
            merge(right)
        assert left.to_json() == before


def test_evaluations_of_different_depth_are_not_merged():
    Y, scores, _ = problem()
    left, right = (Evaluation(k=k).update(Y, scores) for k in (1, 3))
    with pytest.raises(ValueError, match=r"the same figures\. Got .*P@1, P@3"):
        left.merge(right)


def test_a_report_is_a_mapping_of_fractions():
    Y, scores, predictions = problem()
    report = evaluate(Y, scores, predictions=predictions, propensity=0.5)
    assert isinstance(report, Report)
    assert dict(report) == report.to_dict()
    assert all(0 <= value <= 1 for value in report.values())


def test_a_report_says_what_each_figure_means():
    Y, scores, predictions = problem()
    report = evaluate(Y, scores, predictions=predictions, propensity=0.5)
    for key in report:
        assert report.meaning(key).endswith(".")
        assert report.is_loss(key) == report.meaning(key).startswith("Loss:")
        assert ("@" not in key) or key.split("@")[1] in report.meaning(key)


def test_a_report_reads_as_a_table_in_percent():
    text = str(evaluate([[1, 0]], [[0.2, 0.1]], k=(1, 2), predictions=[[1, 1]]))
    lines = text.splitlines()
    assert lines[:3] == [
        "percent       @1      @2",
        "more is better",
        "P         100.00   50.00",
    ]
    scores, losses = lines[: (at := lines.index("less is better"))], lines[at:]
    assert "hamming    50.00" in losses
    assert "micro-F1   66.67" in scores


def test_a_report_tells_other_programs_which_way_is_better():
    Y, scores, predictions = problem()
    report = evaluate(
        *(Y, scores), predictions=predictions, proba=scores, n_resamples=20
    )
    found = json.loads(json.dumps(report.details(), allow_nan=False))
    assert found["figures"] == report.to_dict()
    assert {found["better"][key] for key in ("P@1", "micro-F1", "macro-P@3")} == {
        "more"
    }
    assert {found["better"][key] for key in ("ECE@1", "hamming", "f1")} == {"less"}
    assert found["intervals"]["P@1"] == list(report.interval("P@1"))
    (bins,) = found["reliability"].values()
    assert list(found["reliability"]) == ["ECE@5"]
    assert sum(each["n_pairs"] for each in bins) == 5 * len(Y)


def test_probabilities_are_judged_by_recorded_and_by_true_labels():
    Y, scores, _ = problem()
    report = evaluate(Y, scores, k=(1, 3), proba=scores, propensity=0.5)
    assert list(report.reliability) == ["ECE@3", "PSECE@3"]
    error = metrics.calibration_error_at_k
    assert report["ECE@1"] == error(Y, scores, 1)
    assert report["PSECE@1"] == error(Y, scores, 1, propensity=0.5)
    assert evaluate(Y, scores, proba=scores).keys().isdisjoint({"PSECE@1"})


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_an_interval_is_that_of_the_figure_on_rows_drawn_again(seed):
    Y, scores, predictions = problem(seed)
    report = evaluate(
        Y, scores, k=3, predictions=predictions, n_resamples=30, random_state=seed
    )
    rng = np.random.default_rng(int(spawn_seeds(seed, 1)[0]))
    drawn = [
        evaluate(Y[rows], scores[rows], k=3, predictions=predictions[rows])
        for rows in rng.integers(len(Y), size=(30, len(Y)))
    ]
    for key in ("P@3", "nDCG@3", "hamming", "micro-F1"):
        values = [each[key] for each in drawn]
        assert_allclose(report.interval(key), np.quantile(values, [0.025, 0.975]))
    for key in ("coverage@3", "macro-F1@3", "macro-F1"):
        assert report.interval(key) is None


def test_figures_are_the_same_with_intervals_and_without():
    Y, scores, predictions = problem()
    options = {"predictions": predictions, "proba": scores, "propensity": 0.5}
    assert evaluate(Y, scores, **options) == evaluate(
        Y, scores, n_resamples=5, **options
    )
    assert " ±" in str(evaluate(Y, scores, n_resamples=5))


def test_many_rows_are_not_kept_for_intervals():
    Y, scores, _ = problem()
    evaluation = RowwiseEvaluation(k=1, max_rows=25).update(Y, scores)
    assert evaluation.report_with_intervals(5).interval("P@1") is not None
    evaluation.update(Y, scores)
    assert evaluation.report_with_intervals(5).interval("P@1") is None
    assert evaluation.terms() == {}


def test_no_rows_have_no_intervals():
    report = evaluate(np.zeros((0, 3)), np.zeros((0, 3)), k=1, n_resamples=5)
    assert report.interval("P@1") is None


def test_an_unknown_figure_is_refused_with_the_known_ones():
    report = evaluate([[1, 0]], [[0.2, 0.1]], k=1)
    for look in (report.__getitem__, report.meaning):
        with pytest.raises(KeyError, match=r"A report holds P@1, .* Got 'PSP@1'"):
            look("PSP@1")
    assert "PSP@1" not in report
    assert report.get("PSP@1") is None


def test_a_cost_that_fails_leaves_no_trace():
    def fails_on_the_second_chunk(y, y_hat):
        if y[0]:
            raise RuntimeError("no")
        return 0.0

    evaluation = Evaluation(k=1, costs=(fails_on_the_second_chunk,))
    scores, predictions = [[0.2, 0.9]], [[0, 1]]
    before = evaluation.update([[0, 1]], scores, predictions).report().to_dict()
    with pytest.raises(RuntimeError):
        evaluation.update([[1, 1]], scores, predictions)
    assert evaluation.report().to_dict() == before


def test_a_depth_beyond_all_reason_is_refused():
    with pytest.raises(ValueError, match="k must be at most"):
        evaluate([[1, 0]], [[0.5, 0.1]], k=10**30)


def test_a_model_in_place_of_labels_is_told_what_is_judged():
    model = Popularity().fit([[0.0], [1.0]], [[1, 0], [0, 1]])
    with pytest.raises(TypeError, match=r"Y must be the true labels\. Got a model"):
        evaluate(model, [[0.0]])


def test_rankings_that_were_cut_too_early_are_told():
    scores = sp.csr_array([[0.9, 0.0, 0.0], [0.0, 0.8, 0.7]])
    Y = np.eye(3)[:2]
    with pytest.warns(UserWarning, match="k is 5, and scores hold at most 2 labels of"):
        evaluate(Y, scores)
    evaluate(Y, scores, k=2)
    evaluate(Y, sp.csr_array([[0.9, 0.5, 0.2], [0.3, 0.8, 0.7]]))  # all are there
    evaluate(Y, (scores > 0).astype(int))  # sets have no ranks

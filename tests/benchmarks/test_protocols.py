"""Each protocol does what the paper says, compared with doing it by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import LinearSVC

import manylabel as ml
from benchmarks.catalogue import Catalogue
from benchmarks.reproduce.protocols import PROTOCOLS
from benchmarks.reproduce.table import read_table
from benchmarks.source import worded


@pytest.fixture
def catalogue(home, data):
    return Catalogue(data, home / "data.toml")


@pytest.fixture
def run(catalogue, home):
    def call(name, data="tiny", row=0, metric="f1", **changes):
        table = read_table("paper", name, home=home)
        trial = table.trials(data, table.entrants[row], metric)[0]
        trial = replace(trial, **changes)
        return PROTOCOLS[trial.protocol](trial, catalogue[data])

    return call


def test_a_stream_is_a_progressive_run_in_a_random_order(run, catalogue):
    outcome = run("table-1", seed=3)
    X, Y = catalogue["tiny"].spread
    learner = ml.CSDPP(n_components=2, cost="f1", random_state=3)
    by_hand = ml.progressive(
        learner, X, Y, costs=["f1"], permutations=1, random_state=3
    )
    assert outcome.values["f1"] == by_hand.mean["f1"]
    assert outcome.curves["rows"][-1] == 60
    assert outcome.curves["f1"][-1] == pytest.approx(by_hand.mean["f1"], abs=1e-6)


def test_a_stream_may_be_cut(run):
    assert run("table-1", settings={"rows": 10}).curves["rows"][-1] == 10
    assert run("table-1", settings={"rows": 1000}).curves["rows"][-1] == 60


def test_orders_of_labels_leave_the_rows_alone(run, catalogue):
    outcome = run("table-1", seed=3, settings={"label_orders": True, "rows": 30})
    X, Y = catalogue["tiny"].spread
    order = np.random.default_rng(3).permutation(5)
    learner = ml.CSDPP(n_components=2, cost="f1", random_state=3)
    by_hand = ml.progressive(learner, X[:30], Y[:30, order], costs=["f1"])
    assert outcome.values["f1"] == by_hand.mean["f1"]


def test_a_stream_hides_what_the_settings_say(run):
    all_hidden = run("table-1", settings={"hide": 1.0, "judge": "observed"})
    assert all_hidden.values["f1"] == 0  # nothing is left to be found


def test_a_stream_charges_empty_rows_the_rank_loss_of_the_settings(run):
    hidden = {"hide": 1.0, "judge": "observed"}
    given = {"metrics": ("hamming", "rank"), "metric": "hamming"}
    assert run("table-1", settings=hidden, **given).values["rank"] == 0
    assert run("table-1", settings=hidden | {"empty": 1.0}, **given).values["rank"] == 1


def test_a_split_is_judged_as_the_repository_does(run, catalogue):
    values = run("table-2", metric="P@1").values
    train, test = (catalogue["tiny"].parts[part] for part in ("train", "test"))
    best = ml.Popularity().fit(train.X, train.Y).predict_topk(test.X, k=5)
    report = ml.evaluate(test.Y, best, propensity=ml.Propensity().fit(train.Y))
    assert values["P@1"] == 100 * report["P@1"]
    assert values["PSP@3"] == 100 * report["PSP@3"]
    assert values["F1@5"] == 100 * report["F1@5"]


def test_sets_are_those_that_the_learner_predicts(run, catalogue):
    outcome = run("table-2", metric="P@1", protocol="sets", learner="OneVsRest")
    train, test = (catalogue["tiny"].parts[part] for part in ("train", "test"))
    found = ml.OneVsRest(random_state=0).fit(train.X, train.Y).predict(test.X)
    by_hand = 1 - ml.evaluate(test.Y, found, costs=["f1"])["f1"]
    assert outcome.values["f1"] == by_hand > 0
    assert {"train_seconds", "predict_seconds"} <= outcome.values.keys()


def test_generated_words_have_two_classes_that_few_words_tell_apart():
    X, test_X, y, test_y = worded((1500, 500), 2_000, seed=3)
    assert (X.shape, test_X.shape) == ((1500, 2_000), (500, 2_000))
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1, rtol=1e-5)
    assert 0.45 < y.mean() < 0.55
    error = 1 - LinearSVC(random_state=0).fit(X, y).score(test_X, test_y)
    assert 0.02 < error < 0.15  # one row in twenty cannot be told
    again = worded((1500, 500), 2_000, seed=3)
    assert (again[0] != X).nnz == 0
    assert (worded((1500, 500), 2_000, seed=4)[0] != X).nnz > 0


def test_folds_choose_on_training_rows_and_cover_all_rows_once(run, catalogue):
    X, Y = catalogue["tiny"].whole
    order, values = np.random.default_rng(1).permutation(60), []
    for fold in range(3):
        held = order % 3 == fold
        model = ml.OneVsRest(C=1.0, random_state=fold).fit(X[~held], Y[~held])
        found = model.predict(X[held])
        values.append(1 - ml.evaluate(Y[held], found, costs=["f1"])["f1"])
    assert [run("table-9", seed=k).values["f1"] for k in range(3)] == values
    assert min(values) > 0  # so C = 1e-6, which finds nothing, was never chosen


def test_classes_are_judged_by_percent_of_errors(run, catalogue):
    outcome = run("table-10", "two", metric="error")
    X, test_X, y, test_y = catalogue["two"].classes(seed=0)
    errors = [
        100 * (1 - LinearSVC(C=C, random_state=0).fit(X, y).score(test_X, test_y))
        for C in (0.1, 1.0)
    ]
    assert outcome.values["error"] in errors
    assert (outcome.values["features"], outcome.values["depth"]) == (4, 1)


def test_features_are_those_that_the_model_looks_at(run):
    assert run("table-10", "two", row=1, metric="error").values["features"] == 1

"""FastXML and PfastXML: their laws, their figures, their refusals."""

from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from manylabel import (
    FastXML,
    PfastreXML,
    PfastXML,
    Propensity,
    evaluate,
    load,
    parallel,
    read,
)
from manylabel.exceptions import ArchiveError
from manylabel.trees._forest import usual_cost

# The authors' program with 50 trees: P@1, P@3, P@5.
AUTHORS = {"bibtex": (63.46, 39.51, 28.72)}
FORESTS = [FastXML(n_estimators=6, C=10.0), PfastXML(n_estimators=6, C=10.0)]
each_forest = pytest.mark.parametrize("forest", FORESTS, ids=lambda f: type(f).__name__)


@pytest.mark.slow
def test_reaches_the_precision_of_the_authors(data_folder):
    folder = data_folder / "xmc" / "bibtex"
    train, test = read(folder / "train.txt.gz"), read(folder / "test.txt.gz")
    model = FastXML(n_jobs=2).fit(train.X, train.Y)
    report = evaluate(test.Y, model.predict_topk(test.X, k=5))
    for k, published in zip((1, 3, 5), AUTHORS["bibtex"], strict=True):
        assert 100 * report[f"P@{k}"] > published - 1.5  # seeds differ by 1


@each_forest
def test_training_rows_are_learnt(forest, problem):
    X, Y = problem
    model = forest.fit(X, Y)
    best = evaluate(Y, model.predict_topk(X, k=1), k=1)["P@1"]
    assert best > 0.75  # a fifth of the rows have no label


@each_forest
def test_a_warm_start_grows_the_same_forest_as_growing_it_at_once(
    forest, problem, assert_same_state
):
    once = type(forest)(n_estimators=5, C=10.0).fit(*problem)
    grown = type(forest)(n_estimators=2, C=10.0, warm_start=True).fit(*problem)
    assert_same_state(grown.set_params(n_estimators=5).fit(*problem), once)


@each_forest
def test_trimming_gives_the_forest_of_the_first_trees(
    forest, problem, assert_same_state
):
    whole = type(forest)(n_estimators=5, C=10.0).fit(*problem)
    trimmed = whole.trimmed(2)
    assert trimmed.n_estimators == 2
    assert_same_state(trimmed, type(forest)(n_estimators=2, C=10.0).fit(*problem))


def test_merging_adds_the_trees_of_the_other(problem, assert_same_state):
    one = FastXML(n_estimators=3, C=10.0).fit(*problem)
    other = FastXML(n_estimators=1, C=10.0, random_state=5).fit(*problem)
    merged = one.merged(other)
    expected = 3 * one.decision_function(problem[0])
    expected += other.decision_function(problem[0])
    assert merged.n_estimators == 4
    assert_allclose(merged.decision_function(problem[0]), expected / 4, atol=1e-6)
    assert_same_state(merged.trimmed(3), one)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_between_trees_leaves_the_forest_as_it_was(
    n_jobs, problem, assert_same_state
):
    model = FastXML(n_estimators=2, C=10.0, n_jobs=n_jobs).fit(*problem)
    before = deepcopy(model)

    def stop(stage, done):
        assert stage == "trees"
        if done > 0.1:
            raise KeyboardInterrupt

    with parallel.watched(stop), pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=9).fit(*problem)
    assert_same_state(model, before)


def test_propensities_of_one_make_it_a_dcg_forest(problem, assert_same_state):
    class DCG(FastXML):
        def _weighting(self, Y):
            return super()._weighting(Y)._replace(is_ndcg=False)

    expected = DCG(n_estimators=3, C=10.0).fit(*problem)
    assert_same_state(
        PfastXML(n_estimators=3, C=10.0, propensity=1.0).fit(*problem), expected
    )


def test_without_propensities_those_of_the_labels_are_taken(problem, assert_same_state):
    given = Propensity().fit(problem[1])
    expected = PfastXML(n_estimators=2, propensity=given).fit(*problem)
    assert_same_state(PfastXML(n_estimators=2).fit(*problem), expected)


def test_gains_of_a_power_of_two_scale_scores_and_change_no_split(problem):
    plain = FastXML(n_estimators=3, C=10.0).fit(*problem)
    double = FastXML(n_estimators=3, C=10.0, label_gain=2.0).fit(*problem)
    assert_array_equal(plain.forest_.children, double.forest_.children)
    scores = [model.decision_function(problem[0]) for model in (plain, double)]
    assert_allclose(2 * (scores[0] + 0.5), scores[1] + 0.5, atol=1e-6)


def test_leaves_hold_no_more_labels_than_asked_for(problem):
    model = FastXML(n_estimators=2, labels_per_leaf=2, C=10.0).fit(*problem)
    assert np.diff(model.leaves_.indptr).max() == 2
    many = FastXML(n_estimators=2, labels_per_leaf=10**6, C=10.0).fit(*problem)
    assert many.leaves_.nnz > model.leaves_.nnz


@pytest.mark.parametrize("X", [np.ones((30, 2)), np.zeros((30, 2))])
@each_forest
def test_identical_rows_share_a_leaf(forest, X):
    Y = np.zeros((30, 3), int)
    Y[:, 0], Y[:10, 1] = 1, 1
    model = forest.fit(X, Y)
    assert len(model.forest_.children) == model.n_estimators
    assert_array_equal(model.predict(X)[:, [0, 2]], [[1, 0]] * 30)


def test_a_memory_mapped_model_predicts_the_same(problem, tmp_path):
    model = FastXML(n_estimators=3, C=10.0).fit(*problem)
    model.save(tmp_path / "model")
    mapped = load(tmp_path / "model", mmap=True)
    expected = model.predict_topk(problem[0], k=3).toarray()
    assert_array_equal(mapped.predict_topk(problem[0], k=3).toarray(), expected)


def test_a_folder_whose_nodes_lead_astray_is_refused(problem, tmp_path):
    model = FastXML(n_estimators=2, C=10.0).fit(*problem)
    wrong = model.forest_.children[::-1].copy()
    model.forest_ = model.forest_._replace(children=wrong)
    model.save(tmp_path / "model")
    with pytest.raises(
        ArchiveError, match=r"forest_\.children must follow their parents"
    ):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators == 0, must be >= 1"),
        ({"leaf_size": 0}, "leaf_size == 0, must be >= 1"),
        ({"labels_per_leaf": 0}, "labels_per_leaf == 0, must be >= 1"),
        ({"C": 0.0}, "C == 0.0, must be > 0"),
        ({"C": float("inf")}, "C must be finite"),
        ({"intercept_scaling": -1.0}, "intercept_scaling == -1.0, must be >= 0"),
        ({"label_gain": [1.0, 2.0]}, r"label_gain must have 15 values.* shape \(2,\)"),
        ({"intercept_scaling": 1e300}, r"== 1e\+300, must be <= 1e\+30"),
        ({"label_gain": 0.0}, "label_gain must lie in .* Got 0 for label 0"),
        ({"label_gain": 1e300}, r"label_gain must lie in .*, 1e\+30\]. Got 1e\+300"),
        ({"label_gain": float("nan")}, "label_gain must lie in .* Got nan"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message, problem):
    with pytest.raises(ValueError, match=message):
        FastXML(**parameters).fit(*problem)


@pytest.mark.parametrize(
    ("propensity", "message"),
    [
        (np.ones(3), "propensity must have 15 values"),
        (0.0, r"propensity must lie in \(0, 1\]"),
        (1.5, r"propensity must lie in \(0, 1\]"),
        (1e-308, "propensity must be at least 1e-30. Got 1e-308 for label 0"),
    ],
)
def test_wrong_propensities_are_refused(propensity, message, problem):
    with pytest.raises(ValueError, match=message):
        PfastXML(propensity=propensity).fit(*problem)


def test_a_forest_is_neither_trimmed_to_nothing_nor_beyond_its_trees(problem):
    model = FastXML(n_estimators=2).fit(*problem)
    for n_estimators in (0, 3):
        with pytest.raises(ValueError, match="n_estimators =="):
            model.trimmed(n_estimators)


def test_unlike_forests_are_not_merged(problem):
    X, Y = problem
    model = FastXML(n_estimators=1).fit(X, Y)
    narrow = FastXML(n_estimators=1).fit(X, Y[:, :3])
    with pytest.raises(ValueError, match="other must be a FastXML of 60 features and"):
        model.merged(narrow)
    with pytest.raises(ValueError, match="Got a PfastXML of 60 and 15"):
        model.merged(PfastXML(n_estimators=1).fit(X, Y))
    with pytest.raises(ValueError, match="must weigh labels the same"):
        model.merged(FastXML(n_estimators=1, label_gain=2.0).fit(X, Y))
    half, third = (
        PfastreXML(n_estimators=1, propensity=p).fit(X, Y) for p in (0.5, 0.3)
    )
    with pytest.raises(ValueError, match="inverse_propensity_ differs"):
        half.merged(third)
    with pytest.raises(TypeError, match="other must be a forest"):
        model.merged(3)


def test_a_fitted_propensity_survives_trimming(problem, assert_same_state):
    given = Propensity(a=0.7).fit(problem[1])
    model = PfastXML(n_estimators=3, propensity=given, warm_start=True).fit(*problem)
    again = model.trimmed(1).set_params(n_estimators=3).fit(*problem)
    assert_same_state(again, model)


def test_a_warm_start_refuses_fewer_trees_and_other_data(problem):
    X, Y = problem
    model = FastXML(n_estimators=2, warm_start=True).fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="must have 60 and 15 columns"):
        model.fit(X, Y[:, :3])
    with pytest.raises(ValueError, match="n_estimators must be at least 2"):
        model.set_params(n_estimators=1).fit(X, Y)
    assert_array_equal(model.decision_function(X), before)


def test_a_weight_or_a_share_takes_four_bytes(problem):
    state = FastXML(n_estimators=2, C=10.0).fit(*problem).get_state()
    for name in ("weight_features", "weight_bits", "leaf_labels", "leaf_steps"):
        assert state[f"forest_.{name}"].dtype == np.uint16


def test_more_columns_than_16_bits_can_number_are_kept(problem):
    X, Y = problem
    far = sp.csr_array((X.data, X.indices + 70_000, X.indptr), shape=(200, 70_060))
    many = sp.csr_array((Y.data, Y.indices + 70_000, Y.indptr), shape=(200, 70_015))
    near, wide = (
        FastXML(n_estimators=3, C=10.0).fit(*data) for data in (problem, (far, many))
    )
    best = near.predict_topk(X, k=3), wide.predict_topk(far, k=3)
    found = best[0].toarray()
    assert_array_equal(best[1][:, 70_000:].toarray()[found > -0.5], found[found > -0.5])


@each_forest
def test_a_row_of_no_weight_is_as_if_it_were_not_there(
    forest, problem, assert_same_state
):
    X, Y = problem
    weight = np.random.default_rng(0).integers(0, 2, len(X.indptr) - 1)
    kept = weight > 0
    without = clone(forest).fit(X[kept], Y[kept])
    assert_same_state(clone(forest).fit(X, Y, sample_weight=weight), without)


@each_forest
def test_weights_count_in_proportion(forest, problem, assert_same_state):
    plain = clone(forest).fit(*problem)
    assert_same_state(
        clone(forest).fit(*problem, sample_weight=np.full(200, 8.0)), plain
    )


def test_heavy_rows_are_learnt_better(problem):
    X, Y = problem
    heavy = np.arange(200) % 2 == 0
    model = FastXML(n_estimators=6, C=1.0)
    found = []
    for weight in (np.where(heavy, 50, 1), np.where(heavy, 1, 50)):
        best = model.fit(X, Y, sample_weight=weight).predict_topk(X[heavy], k=1)
        found.append(evaluate(Y[heavy], best, k=1)["P@1"])
    assert found[0] > found[1] + 0.05


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"sample_weight must have 200 values.* shape \(3,\)"),
        (-np.ones(200), "sample_weight must hold finite.* Got -1 for row 0"),
        (np.full(200, np.nan), "sample_weight must hold finite.* Got nan for row 0"),
        (np.zeros(200), "sample_weight must be above 0"),
    ],
)
def test_wrong_weights_are_refused(weight, message, problem):
    with pytest.raises(ValueError, match=message):
        FastXML(n_estimators=1).fit(*problem, sample_weight=weight)


def test_importances_are_weights_times_rows(problem):
    model = FastXML(n_estimators=2, C=10.0).fit(*problem)
    expected = model.forest_.node_rows @ np.abs(model.coef_.toarray())
    assert_allclose(model.feature_importances_, expected / expected.sum(), rtol=1e-5)
    stump = FastXML(n_estimators=1, leaf_size=500).fit(*problem)
    assert_array_equal(stump.feature_importances_, 0)


def test_the_usual_cost_is_1_for_rows_too_long_for_singles():
    X = sp.csr_array(np.full((2, 3), 1e30, np.float32))
    assert usual_cost(X) == 1.0
    assert usual_cost(X / np.float32(1e30) / np.sqrt(3)) == pytest.approx(1.6)


@each_forest
@pytest.mark.parametrize("cost", [None, "f1"])
def test_labels_of_positive_score_are_predicted_without_all_scores(
    forest, cost, problem, monkeypatch
):
    X, Y = problem
    model = clone(forest).set_params(cost=cost).fit(X, Y)
    expected = model.decision_function(X) > 0
    monkeypatch.delattr("manylabel.trees._forest.ForestClassifier._scores")
    assert_array_equal(model.predict(X).toarray(), expected)

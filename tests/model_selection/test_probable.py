"""Learners that calibrate themselves, as the wrapper does, and those of streams."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from manylabel import (
    CPLST,
    CSDPP,
    HOMER,
    LEML,
    LPSR,
    MLCSSP,
    PLST,
    SLEEC,
    WSABIE,
    AnnotationTree,
    Blend,
    Calibrated,
    ClassifierChain,
    CompressedSensing,
    FastXML,
    LabelPowerset,
    LabelTree,
    NameMatch,
    OneVsRest,
    OnlineBinaryRelevance,
    OnlineCompressedSensing,
    OnlineLabelTree,
    OnlineRandomProjection,
    PDSparse,
    PfastreXML,
    PfastXML,
    Popularity,
    PowersetTree,
    Thresholds,
    load,
    make_corpus,
)

BATCH = [
    OneVsRest(),
    LabelTree(),
    LabelTree(tilt="auto"),
    FastXML(n_estimators=5),
    PfastXML(n_estimators=5),
    PfastreXML(n_estimators=5),
    Blend([OneVsRest(), FastXML(n_estimators=5)]),
    NameMatch(OneVsRest()),
    AnnotationTree(C=1, budget=8),
    PowersetTree(C=1, budget=8, beam=4),
    ClassifierChain(n_samples=10),
    ClassifierChain(method="greedy"),
    CompressedSensing(),
    CPLST(),
    HOMER(),
    LabelPowerset(),
    LEML(n_components=5),
    LPSR(),
    MLCSSP(),
    PDSparse(),
    PLST(n_components=5),
    Popularity(),
    SLEEC(n_estimators=1, n_components=5, n_iter=2),
    WSABIE(n_components=5, n_iter=2),
]
GROWING = [CSDPP(n_components=0.5), OnlineLabelTree()]
ONLINE = [
    *GROWING,
    OnlineBinaryRelevance(),
    OnlineCompressedSensing(n_components=0.9),
    OnlineRandomProjection(n_components=0.5, regressor="gradient"),
]
TRUE = [OneVsRest(), LabelTree(), LEML(n_components=5), AnnotationTree(C=1, budget=8)]
SAME = [OneVsRest(), FastXML(n_estimators=5), LabelTree()]


def name_of(learner):
    return f"{learner}"


def draw(n_rows, random_state, propensity=1.0):
    """Return rows of flags, recorded labels, and how probable true ones are."""
    rng = np.random.default_rng(random_state)
    weights = np.random.default_rng(7).normal(size=(8, 10)) * 2
    X = (rng.random((n_rows, 8)) < 0.5).astype(np.float32)
    chances = 1 / (1 + np.exp(2 - X @ weights))
    Y = (rng.random(chances.shape) < chances) & (rng.random(chances.shape) < propensity)
    return X, Y.astype(int), chances


def mean_error(found, chances, n_bins=15):
    """Return how far the stretches of what is found are from what is known."""
    order = np.argsort(found, axis=None, kind="stable")
    parts = np.array_split(order, n_bins)
    gaps = [abs(found.flat[p].mean() - chances.flat[p].mean()) for p in parts]
    return float(np.mean(gaps))


@pytest.mark.parametrize("learner", [*BATCH, *ONLINE], ids=name_of)
def test_known_probabilities_are_found_again(learner):
    X, Y, _ = draw(5_000, 0)
    fresh, _, chances = draw(2_000, 1)
    model = learner.__class__(**learner.get_params(deep=False) | {"calibrate": "auto"})
    found = model.fit(X, Y).predict_proba(fresh)
    assert mean_error(found, chances) < 0.03
    assert 0 <= found.min() <= found.max() <= 1


@pytest.mark.parametrize("learner", [*TRUE, *GROWING], ids=name_of)
def test_of_labels_that_are_lost_they_are_those_of_true_ones(learner):
    X, Y, _ = draw(8_000, 0, 0.5)
    fresh, _, chances = draw(2_000, 1)
    model = learner.__class__(
        **learner.get_params(deep=False) | {"calibrate": "auto", "propensity": 0.5}
    )
    assert mean_error(model.fit(X, Y).predict_proba(fresh), chances) < 0.05


@pytest.mark.parametrize("learner", SAME, ids=name_of)
@pytest.mark.parametrize("n_rows", [300, 5500])
def test_a_learner_and_the_wrapper_say_the_same(learner, n_rows):
    corpus = make_corpus(n_rows=n_rows, n_labels=20, random_state=0)
    own = learner.__class__(**learner.get_params() | {"calibrate": "auto"})
    probabilities = own.fit(corpus.X, corpus.Y).predict_proba(corpus.X)
    wrapped = Calibrated(learner).fit(corpus.X, corpus.Y).predict_proba(corpus.X)
    close = 0.0 if not isinstance(learner, LabelTree) else 0.05  # clusters of all rows
    assert np.abs(probabilities - wrapped).mean() <= close


@pytest.mark.parametrize("learner", [*BATCH, *ONLINE], ids=name_of)
def test_calibration_moves_no_score(learner):
    if getattr(learner, "tilt", None) == "auto":
        pytest.skip("few rows are then held out in turn, which may change the tilt")
    corpus = make_corpus(n_rows=300, n_labels=20, random_state=0)
    scores = [
        learner.__class__(**learner.get_params(deep=False) | {"calibrate": method})
        .fit(corpus.X, corpus.Y)
        .predict_topk(corpus.X, 5)
        for method in (None, "sigmoid")
    ]
    assert_array_equal(scores[0].indices, scores[1].indices)
    assert_array_equal(scores[0].data, scores[1].data)


@pytest.mark.parametrize("learner", [*BATCH, *ONLINE], ids=name_of)
def test_the_best_labels_have_their_probabilities(learner, tmp_path):
    corpus = make_corpus(n_rows=300, n_labels=20, random_state=0)
    parameters = learner.get_params(deep=False) | {"calibrate": "auto"}
    model = learner.__class__(**parameters).fit(corpus.X, corpus.Y)
    model.save(tmp_path / "model")
    best = load(tmp_path / "model").predict_topk(corpus.X, 4, proba=True)
    assert_array_equal(best.indices, model.predict_topk(corpus.X, 4).indices)
    rows = np.repeat(np.arange(300), 4)
    assert_allclose(best.data, model.predict_proba(corpus.X)[rows, best.indices])


@pytest.mark.parametrize("cost", ["f1", "hamming"])
def test_sets_are_those_of_least_cost_where_one_is_named(cost):
    corpus = make_corpus(n_rows=600, n_labels=20, random_state=0)
    tree = LabelTree(calibrate="auto", cost=cost).fit(corpus.X, corpus.Y)
    assert tree.threshold_ == 0.5  # none was sought
    given = tree.predict(corpus.X).toarray()
    if cost == "hamming":
        assert_array_equal(given, tree.predict_proba(corpus.X) > 0.5)
    else:
        assert given.sum() > (tree.predict_proba(corpus.X) > 0.5).sum()


@pytest.mark.parametrize("learner", ONLINE, ids=name_of)
def test_a_stream_may_be_cut_anywhere(learner):
    corpus = make_corpus(n_rows=200, n_labels=20, random_state=0)
    X, Y = corpus.X, corpus.Y
    models = []
    for cuts in ([0, 200], [0, 7, 8, 9, 100, 101, 200], range(201)):
        model = learner.__class__(**learner.get_params() | {"calibrate": "auto"})
        for start, end in pairwise(cuts):
            model.partial_fit(X[start:end], Y[start:end])
        models.append(model)
    for other in models[1:]:
        for name, value in models[0].get_state().items():
            assert_array_equal(value, other.get_state()[name], err_msg=name)
        assert_array_equal(models[0].predict_proba(X), other.predict_proba(X))


def test_a_stream_is_judged_by_rows_before_they_are_learnt():
    corpus = make_corpus(n_rows=40, n_labels=5, random_state=0)
    model = OnlineLabelTree(calibrate="auto").fit(corpus.X, corpus.Y)
    before = OnlineLabelTree().fit(corpus.X[:15], corpus.Y[:15])
    best = before.predict_topk(corpus.X[15:16], 5)
    n = len(best.indices)
    assert_array_equal(model.window_.labels[7, :n], best.indices)
    assert_array_equal(model.window_.scores[7, :n], best.data)
    hits = np.isin(best.indices, corpus.Y[15:16].indices)
    assert_array_equal(model.window_.hits[7, :n], hits)


def test_labels_that_come_later_have_probabilities_too():
    corpus = make_corpus(n_rows=400, n_labels=20, random_state=0)
    X, Y = corpus.X, corpus.Y
    tree = LabelTree(calibrate="auto").fit(X[:200], Y[:200, :15])
    assert tree.add_labels(X, Y).predict_proba(X).shape == (400, 20)
    online = OnlineLabelTree(calibrate="auto").partial_fit(X[:200], Y[:200, :15])
    assert online.partial_fit(X[200:], Y[200:]).predict_proba(X).shape == (400, 20)


def test_labels_never_seen_do_not_bend_the_curves():
    X, Y, _ = draw(400, 0)
    wider = np.hstack([Y, np.zeros((400, 5), int)])
    narrow, wide = (
        OneVsRest(calibrate="sigmoid").fit(X, each).predict_proba(X)
        for each in (Y, wider)
    )
    assert np.abs(narrow - wide[:, :10]).max() < 0.1


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (PLST(), r'PLST has no probabilities: fit PLST\(calibrate="auto"\)'),
        (
            Thresholds(PLST()),
            r"Thresholds has no probabilities: fit Calibrated\(Thresholds\(\)\)",
        ),
    ],
    ids=name_of,
)
def test_a_learner_says_how_to_get_probabilities(learner, message):
    assert not hasattr(learner, "predict_proba")
    with pytest.raises(AttributeError, match=message):
        learner.predict_proba  # noqa: B018 - to ask is enough


def test_what_was_not_calibrated_is_refused():
    X, Y, _ = draw(50, 0)
    with pytest.raises(ValueError, match="proba=True needs a learner that was cali"):
        OneVsRest().fit(X, Y).predict_topk(X, proba=True)
    for learner in [*BATCH, *ONLINE]:
        parameters = learner.get_params(deep=False) | {"calibrate": "beta"}
        with pytest.raises(ValueError, match="calibrate must be one of auto, sigmoid"):
            learner.__class__(**parameters).fit(X, Y)


@pytest.mark.parametrize("learner", BATCH, ids=name_of)
def test_to_ask_for_curves_after_fit_is_refused(learner):
    X, Y, _ = draw(50, 0)
    model = clone(learner).set_params(calibrate=None).fit(X, Y)
    model.set_params(calibrate="auto")
    with pytest.raises(ValueError, match="calibrate must be as it was in fit, None"):
        model.predict_topk(X, proba=True)
    with pytest.raises(ValueError, match="calibrate must be as it was in fit, None"):
        model.predict_proba(X)


def test_what_a_model_says_is_probable_without_curves():
    X, Y, chances = draw(5_000, 0)
    shares = Popularity().fit(X, Y).predict_proba(X)
    assert_allclose(shares[0], Y.mean(axis=0), rtol=1e-6)
    chain = ClassifierChain(cost="hamming", n_samples=50).fit(X, Y)
    assert mean_error(chain.predict_proba(X), chances) < 0.03
    assert not hasattr(ClassifierChain(method="cft"), "predict_proba")


def test_labels_never_seen_are_improbable_in_a_chain():
    X, Y, _ = draw(50, 0)
    Y[:, 3] = 0
    assert not ClassifierChain().fit(X, Y).predict_proba(X)[:, 3].any()


def test_zeros_that_are_stored_tell_a_calibrated_learner_too():
    X, Y, _ = draw(400, 0)
    known = np.random.default_rng(0).random(Y.shape) < 0.7
    rows, labels = np.nonzero(known | (Y > 0))
    told = sp.csr_array((Y[rows, labels], (rows, labels)), shape=Y.shape)
    model = LEML(n_components=5, missing_weight=0, calibrate="auto").fit(X, told)
    assert abs(model.predict_proba(X).mean() - Y.mean()) < 0.05


def test_rows_of_no_weight_say_nothing_of_probabilities():
    X, Y, _ = draw(400, 0)
    weight = np.arange(400) % 4 > 0
    for learner in (LEML(n_components=5, calibrate="auto"), PLST(calibrate="auto")):
        some = clone(learner).fit(X[weight], Y[weight]).predict_proba(X)
        assert_allclose(learner.fit(X, Y, weight).predict_proba(X), some, atol=1e-6)


def test_a_model_that_was_saved_before_it_could_be_calibrated_is_taken_over():
    X, Y, _ = draw(50, 0)
    for learner in (PLST(), AnnotationTree()):
        state = learner.fit(X, Y).get_state()
        assert not any(name.startswith("calibration_") for name in state)
        assert not clone(learner).set_state(state).calibration_
    state = OnlineBinaryRelevance().fit(X, Y).get_state()
    state = {n: v for n, v in state.items() if not n.startswith("window_")}
    again = OnlineBinaryRelevance(calibrate="auto").set_state(state)
    assert again.partial_fit(X, Y).predict_proba(X).max() > 0.5

"""Taggers: probabilities, sets of least cost, what is allowed, and rules of sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import manylabel as ml
from manylabel.base import BatchClassifier

NAMES = [f"label {n:02d}" for n in range(30)]
TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine"] * 6
TAGS = [["drink"], ["drink"], ["food"], ["drink", "food"]] * 6


class Features(BatchClassifier):
    """Its scores are the features."""

    def _learn(self, X, Y):
        """Learn nothing."""

    def _scores(self, X):
        return X.toarray()


@pytest.fixture(scope="module")
def data():
    corpus = ml.make_corpus(n_rows=300, n_labels=30, random_state=0)
    return ml.Dataset(corpus.X, corpus.Y, label_names=NAMES)


@pytest.fixture(scope="module")
def tagger(data):
    return ml.Tagger(ml.OneVsRest(), calibrate="auto").fit(data)


def of_scores(scores, names=None, **options):
    """Return a tagger whose scores are the items."""
    scores = np.asarray(scores, np.float32)
    names = names or [f"{n}" for n in range(scores.shape[1])]
    rows = ml.Dataset(scores, np.ones(scores.shape, int), label_names=names)
    return ml.Tagger(Features(), **options).fit(rows)


def test_probabilities_are_those_of_the_calibrated_learner(tagger, data):
    learner = ml.OneVsRest(calibrate="auto").fit(data.X, data.Y)
    assert_array_equal(tagger.predict_proba(data), learner.predict_proba(data.X))
    best = tagger.tag_many(data, k=3, proba=True)
    proba = tagger.predict_proba(data)
    for row, pairs in enumerate(best):
        for name, chance in pairs:
            assert chance == proba[row, NAMES.index(name)]
    plain = tagger.tag_many(data, k=3)
    assert [{n for n, _ in row} for row in best] == [{n for n, _ in r} for r in plain]
    assert tagger.tag(data.X[:1], k=3, proba=True) == best[0]


def test_sets_of_least_cost_are_told_by_the_ranking_that_they_came_of(
    tagger, data, monkeypatch
):
    depths, rank = set(), tagger.learner_.predict_topk
    monkeypatch.setattr(
        tagger.learner_, "predict_topk", lambda X, k: (depths.add(k), rank(X, k))[1]
    )
    found = tagger.tag_many(data, k=None)
    assert max(depths) == 50
    best = tagger.tag_many(data, k=30)
    for row, ranked in zip(found, best, strict=True):
        assert set(row) <= set(ranked)


@pytest.mark.parametrize("cost", [None, "f1"])
def test_a_text_without_a_known_word_is_given_nothing(cost):
    texts = ["red wine", "white wine", "wine and rye bread"] * 10
    tagger = ml.Tagger(ml.Popularity(), cost=cost).fit(texts, [["drink"]] * 30)
    assert tagger.predict(["", "qqqq zzzz", "wine"]) == [[], [], ["drink"]]
    assert tagger.tag("qqqq", k=None) == []
    assert [name for name, _ in tagger.tag("qqqq", k=1)] == ["drink"]


def test_a_row_of_zeros_is_not_a_text_without_words():
    rows = ml.Dataset(np.zeros((30, 2)), np.ones((30, 1), int), label_names=["all"])
    assert ml.Tagger(ml.Popularity()).fit(rows).predict(rows)[0] == ["all"]


@pytest.mark.parametrize("cost", [None, "f1", "hamming"])
def test_sets_are_those_of_least_cost(data, cost):
    tagger = ml.Tagger(ml.OneVsRest(), calibrate="auto", cost=cost).fit(data)
    proba = tagger.learner_.predict_topk(data.X, 30, proba=True)
    ratio = tagger.learner_.calibration_.size_ratio
    if cost == "hamming":  # asks for labels one by one
        ratio = (1.0,)
    sets = ml.LeastCost(cost or "f1", size_ratio=ratio).decide(proba)
    assert tagger.predict(data) == data.labels.decode(sets)
    given = tagger.predict_topk(data, k=None)
    assert_array_equal(given.toarray() != 0, sets.toarray() != 0)


def test_a_cost_asks_for_probabilities(data):
    tagger = ml.Tagger(ml.PLST(), cost="f1").fit(data)
    assert tagger.learner_.calibrate == "auto"
    assert tagger.predict_proba(data).shape == (300, 30)


def test_thresholds_keep_scores_and_probabilities(tagger, data):
    model = clone(tagger).fit(data)
    before = model.tag_many(data), model.tag_many(data, proba=True)
    model.choose_thresholds(data)
    assert (model.tag_many(data), model.tag_many(data, proba=True)) == before
    above = model.ranker_.decision_function(data.X) > model.learner_.thresholds_
    assert model.predict(data) == data.labels.decode(above.astype(int))


@pytest.mark.parametrize("n_labels", [30, 5000])
@pytest.mark.parametrize("k", [1, 4])
def test_the_best_of_the_allowed_come_back(n_labels, k):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, n_labels)).astype(np.float32)
    model = of_scores(scores)
    allowed = sorted(rng.permutation(n_labels)[:7].tolist())
    for options, columns in (
        ({"allow": [str(c) for c in allowed]}, allowed),
        ({"deny": [str(c) for c in allowed]}, np.setdiff1d(range(n_labels), allowed)),
        ({"allow": ["3", "5"], "deny": ["5"]}, [3]),
        ({"allow": []}, []),
    ):
        found = model.tag_many(scores, k, **options)
        for row, pairs in zip(scores, found, strict=True):
            best = sorted(columns, key=lambda c: -row[c])[:k]
            assert pairs == [(str(c), pytest.approx(row[c])) for c in best]
        assert model.tag(scores[0], k, **options) == found[0]


def test_sets_are_of_what_is_allowed(tagger, data):
    allow = NAMES[:5]
    sets = tagger.predict(data, allow=allow)
    assert set().union(*sets) <= set(allow)
    proba = tagger.predict_proba(data)[:, :5]
    expected = ml.LeastCost("f1").decide(proba)
    assert sets == ml.LabelSpace(allow).decode(expected)
    assert not set().union(*tagger.predict(data, deny=allow)) & set(allow)


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_rules_are_obeyed_best_first(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(3, 8)).astype(np.float32)
    # Labels 0 and 1 exclude each other, 2 and 3 too; 4 brings 0, 5 brings 4 and 2.
    groups, parents = [["0", "1"], ["2", "3"]], {"4": "0", "5": ["4", "2"]}
    model = of_scores(scores, rules=ml.Rules(at_most_one=groups, parents=parents))
    brings = {4: [0], 5: [4, 0, 2]}
    for row, found in zip(scores, model.predict(scores), strict=True):
        expected = set()
        for label in sorted(np.flatnonzero(row > 0), key=lambda c: -row[c]):
            more = expected | {label, *brings.get(label, [])}
            if not ({0, 1} <= more or {2, 3} <= more):
                expected = more
        assert found == [str(c) for c in sorted(expected)]
    given_ = [sorted(n for n, _ in pairs) for pairs in model.tag_many(scores, k=None)]
    assert given_ == model.predict(scores)
    assert model.tag_many(scores, k=8) == of_scores(scores).tag_many(scores, k=8)


def test_rules_part_candidates_before_sets_are_decided(data, tmp_path):
    rules = ml.Rules(at_most_one=[NAMES[:6]], parents={NAMES[20]: [NAMES[21]]})
    tagger = ml.Tagger(ml.OneVsRest(), calibrate="auto", rules=rules).fit(data)
    sets = tagger.predict(data)
    assert max(len(set(names) & set(NAMES[:6])) for names in sets) == 1
    for names in sets:
        assert NAMES[20] not in names or NAMES[21] in names
    tagger.save(tmp_path / "model")
    again = ml.load(tmp_path / "model")
    assert again.predict(data) == sets
    assert again.rules.get_params() == rules.get_params()
    denied = tagger.predict(data, deny=[NAMES[21]])
    assert not set().union(*denied) & {NAMES[20], NAMES[21]}


def test_a_stream_has_probabilities(data):
    tags = data.labels.decode(data.Y)
    learner = ml.CSDPP(regressor="gradient")
    whole = ml.Tagger(learner, vectorizer="passthrough", calibrate="auto")
    parts = clone(whole).partial_fit(data.X[:99], tags[:99], classes=NAMES)
    parts.partial_fit(data.X[99:], tags[99:])
    whole.partial_fit(data.X, tags, classes=NAMES)
    assert_allclose(whole.predict_proba(data), parts.predict_proba(data))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"allow": ["nosuch"]}, "allow must name labels of the model. Got 'nosuch'"),
        ({"deny": ["nosuch"]}, "deny must name labels of the model. Got 'nosuch'"),
        ({"allow": NAMES[0]}, "allow must be a list of names. Got 'label 00'"),
    ],
)
def test_names_that_are_not_known_are_refused(tagger, data, options, message):
    for verb in (tagger.tag_many, tagger.predict):
        with pytest.raises((TypeError, ValueError), match=message):
            verb(data, **options)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"at_most_one": [["a", "x"]]}, "rules must name labels of the model. Got 'x'"),
        ({"parents": {"x": "a"}}, "rules must name labels of the model. Got 'x'"),
        ({"parents": {"a": "b", "b": "a"}}, "parents must have no cycle. Got one at"),
        ({"parents": {"a": "a"}}, "parents must have no cycle. Got one at 'a'"),
        (
            {"at_most_one": [["a", "c"]], "parents": {"a": "b", "b": "c"}},
            "labels that come together. Got 'a' and 'c', which 'a' has",
        ),
        ({"at_most_one": ["ab"]}, "at_most_one must hold lists of names. Got 'ab'"),
        ({"at_most_one": [[1]]}, "at_most_one must hold lists of names. Got 1"),
        ({"parents": ["a"]}, "parents must be a mapping of names"),
    ],
)
def test_rules_that_cannot_hold_are_refused(rules, message):
    model = ml.Tagger(rules=ml.Rules(**rules))
    with pytest.raises((TypeError, ValueError), match=message):
        model.fit(np.eye(3), [["a"], ["b"], ["c"]])


def test_other_parameters_are_refused(data):
    with pytest.raises(ValueError, match="calibrate must be one of auto"):
        ml.Tagger(calibrate="beta").fit(data)
    with pytest.raises(ValueError, match="cost must be one of"):
        ml.Tagger(cost="beauty").fit(data)
    with pytest.raises(TypeError, match="rules must be Rules or None"):
        ml.Tagger(rules={"a": "b"}).fit(data)
    plain = ml.Tagger(ml.OneVsRest()).fit(data)
    with pytest.raises(ValueError, match=r"^predict_proba needs a model with probab"):
        plain.predict_proba(data)
    with pytest.raises(
        ValueError, match=r"^proba=True needs a model with probabilities"
    ):
        plain.tag_many(data, proba=True)
    for wrong, got in (
        (ml.OneVsRest, r"Got the class OneVsRest: add \(\)"),
        ("one-vs-rest", r"Got 'one-vs-rest', which is called OneVsRest\(\)"),
    ):
        with pytest.raises(TypeError, match=got):
            ml.Tagger(wrong).fit(data)


def test_a_cost_that_only_the_learner_can_mind_is_left_to_it():
    def missed(y, y_hat):
        return float(((y == 1) & (y_hat == 0)).sum())

    chain = ml.ClassifierChain(cost=missed, n_samples=20)
    tagger = ml.Tagger(chain, calibrate="auto").fit(TEXTS, TAGS)
    assert tagger.predict(TEXTS[:3]) == [
        tagger.label_names_[np.flatnonzero(row)].tolist()
        for row in tagger.learner_.predict(tagger.transform(TEXTS[:3])).toarray()
    ]
    assert 0 <= tagger.tag(TEXTS[0], 1, proba=True)[0][1] <= 1


@pytest.mark.parametrize("learner", [ml.OnlineBinaryRelevance(), ml.CSDPP()], ids=str)
def test_a_stream_that_is_calibrated_goes_on(learner):
    learner = clone(learner).set_params(regressor="gradient")
    words = ml.TextVectorizer(n_features=64)
    tagger = ml.Tagger(learner, calibrate="auto", vectorizer=words)
    for _ in range(2):
        tagger.partial_fit(TEXTS, TAGS, classes=["drink", "food"])
    assert 0 <= tagger.tag(TEXTS[0], 1, proba=True)[0][1] <= 1

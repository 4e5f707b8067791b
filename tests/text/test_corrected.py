"""Corrections beside a tagger: they show at once, whatever the main learner is."""

from itertools import chain

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manylabel as ml

pytestmark = pytest.mark.filterwarnings("ignore:min_recall=0.9 cannot be promised")

TEXTS = ["red wine", "white wine", "brown bread", "rye bread and wine", "water"] * 4
TAGS = [["drink"], ["drink", "white"], ["food"], ["food", "drink"], []] * 4
LEARNERS = [
    ml.OneVsRest(),
    ml.OneVsRest(loss="log_loss"),
    ml.LabelTree(),
    ml.LabelTree(cost="f1", calibrate="auto"),
    ml.FastXML(n_estimators=4),
    ml.Calibrated(ml.OneVsRest()),
    ml.Thresholds(ml.OneVsRest(), min_recall=0.9),
    ml.Thresholds(ml.OneVsRest(), per_label=True),
    ml.Popularity(),
]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)
STREAM = [
    (["apple pie"], [["food", "fruit"]], [["drink"]], [False]),
    (["red wine"], [["red"]], [[]], [False]),
    (["water", "rye bread"], [["drink"], ["food"]], [[], ["drink"]], [True, True]),
    (["a glass of beer"], [["drink", "beer"]], [["white"]], [True]),
    (["apple pie"], [["pastry"]], [["fruit"]], [True]),
]


def fit(learner=None):
    vectorizer = ml.TextVectorizer(min_df=1)
    return ml.Tagger(learner, vectorizer=vectorizer).fit(TEXTS, TAGS)


def learnt(model):
    state = model.get_state()
    return {name: v for name, v in state.items() if not name.startswith("tagger")}


def assert_same(model, other):
    one, two = learnt(model), learnt(other)
    assert one.keys() == two.keys()
    for name, value in one.items():
        assert_array_equal(value, two[name], name)


@each_learner
def test_without_corrections_all_is_as_the_tagger_says(learner):
    tagger = fit(learner)
    model = ml.Corrected(tagger)
    items = [*TEXTS[:5], "never seen", ""]
    for k in (1, 2, None):
        assert model.tag_many(items, k) == tagger.tag_many(items, k)
    assert model.predict(items) == tagger.predict(items)
    assert model.label_names_.tolist() == tagger.label_names_.tolist()
    assert (model.n_corrections_, model.weight_) == (0, 1.0)


@each_learner
def test_ranking_and_sets_at_once_are_those_that_are_asked_for_singly(learner):
    model = ml.Corrected(fit(learner))
    items = [*TEXTS[:5], "apple pie", "never seen"]
    for call in STREAM:
        assert model.tag_and_predict(items, 2) == (
            model.tag_many(items, 2),
            model.predict(items),
        )
        model.correct(*call)


@each_learner
def test_items_that_no_correction_touches_stay_as_the_tagger_says(learner):
    tagger = fit(learner)
    model = ml.Corrected(tagger).correct(["apple pie"], [["food"]], [["drink"]])
    items = [*TEXTS[:5], "never seen"]
    assert model.tag_many(items, 3) == tagger.tag_many(items, 3)
    assert model.tag_many(items, None) == tagger.tag_many(items, None)
    assert model.predict(items) == tagger.predict(items)


@each_learner
def test_labels_are_allowed_and_denied_as_the_tagger_does(learner):
    tagger = fit(learner)
    model = ml.Corrected(tagger)
    items = [*TEXTS[:5], "never seen"]
    for _ in range(2):
        for k in (1, 3, None):
            for some in ({"allow": ["food", "white"]}, {"deny": ["drink"]}):
                assert model.tag_many(items, k, **some) == tagger.tag_many(
                    items, k, **some
                )
        assert model.predict(items, deny=["food"]) == tagger.predict(
            items, deny=["food"]
        )
        model.correct(["apple pie"], [["food"]], [["drink"]])


@pytest.mark.parametrize(
    "parameters",
    [
        {"calibrate": "auto"},
        {"calibrate": "sigmoid", "cost": "hamming"},
        {"cost": "f1", "learner": ml.LabelTree()},
        {"calibrate": "auto", "rules": ml.Rules(parents={"white": "drink"})},
    ],
    ids=repr,
)
def test_probabilities_and_sets_are_the_taggers_where_no_correction_touches(parameters):
    vectorizer = ml.TextVectorizer(min_df=1)
    tagger = ml.Tagger(vectorizer=vectorizer, **parameters).fit(TEXTS, TAGS)
    model = ml.Corrected(tagger)
    items = [*TEXTS[:5], "never seen", ""]
    for _ in range(2):
        for k in (1, 3, None):
            assert model.tag_many(items, k, proba=True) == tagger.tag_many(
                items, k, proba=True
            )
        assert model.predict(items) == tagger.predict(items)
        model.correct(["apple pie"], [["food"]], [["drink"]])


def test_sets_obey_the_rules_after_corrections():
    rules = ml.Rules(at_most_one=[["drink", "food"]], parents={"white": "drink"})
    model = ml.Corrected(fit())
    model.tagger.rules = rules
    model.correct(["apple pie"], [["white"]])
    assert set(model.predict(["apple pie"])[0]) == {"drink", "white"}
    assert {name for name, _ in model.tag("apple pie", None)} == {"drink", "white"}
    model.correct(["brown bread"], [["drink"]])
    assert model.predict(["brown bread"]) == [["drink"]]


@each_learner
@pytest.mark.parametrize("complete", [None, [True]])
def test_the_same_item_has_what_was_said_of_it(learner, complete):
    model = ml.Corrected(fit(learner))
    for item in ("white wine", "something else"):
        accepted, rejected = [["food", "quite new"]], [["drink"]]
        model.correct([item], accepted, rejected, complete)
        ranked = [name for name, _ in model.tag(item, k=4)]
        assert set(ranked[:2]) == {"food", "quite new"}
        given = model.predict([item])[0]
        assert {"food", "quite new"} <= set(given)
        assert "drink" not in given
        if complete:
            assert set(given) == {"food", "quite new"}


def test_a_similar_item_changes_and_another_does_not():
    tagger = fit()
    model = ml.Corrected(tagger)
    model.correct(["apple pie with cream"], [["pastry"]], [["drink"]])
    before, after = (dict(m.tag("apple pie", 4)) for m in (tagger, model))
    assert "pastry" in after
    assert after["drink"] < before["drink"] - 0.1
    assert model.tag("white wine", 3) == tagger.tag("white wine", 3)


@pytest.mark.parametrize("label", ["quite new", "white"])
@pytest.mark.parametrize("learner", [ml.OneVsRest(), ml.LabelTree()], ids=repr)
def test_one_correction_brings_a_label_to_the_top_of_a_text_with_most_of_its_words(
    learner, label
):
    model = ml.Corrected(fit(learner)).correct(["zebra crossing"], [[label]])
    assert label in [name for name, _ in model.tag("zebra crossing here", 2)]


def test_many_labels_accepted_at_once_all_come_first():
    names = [f"new {n}" for n in range(20)]
    model = ml.Corrected(fit()).correct(["apple pie"], [names])
    assert {name for name, _ in model.tag("apple pie", 20)} == set(names)


@each_learner
def test_chunks_do_not_matter(learner):
    tagger = fit(learner)
    whole, parts = ml.Corrected(tagger), ml.Corrected(tagger)
    joined = [list(chain.from_iterable(part)) for part in zip(*STREAM, strict=True)]
    whole.correct(*joined)
    for call in STREAM:
        parts.correct(*call)
    assert_same(whole, parts)
    assert whole.tag_many(TEXTS) == parts.tag_many(TEXTS)


@each_learner
def test_saving_in_the_middle_does_not_matter(learner, tmp_path):
    model = ml.Corrected(fit(learner))
    for call in STREAM[:3]:
        model.correct(*call)
    model.save(tmp_path / "model")
    loaded = ml.load(tmp_path / "model")
    for call in STREAM[3:]:
        model.correct(*call)
        loaded.correct(*call)
    assert_same(model, loaded)
    assert loaded.label_names_.tolist() == model.label_names_.tolist()
    assert loaded.tag_many(TEXTS, proba=True) == model.tag_many(TEXTS, proba=True)


def test_a_model_without_corrections_is_saved_too(tmp_path):
    ml.Corrected(fit()).save(tmp_path / "model")
    assert ml.load(tmp_path / "model").n_corrections_ == 0


def test_a_copy_learns_by_itself():
    model = ml.Corrected(fit()).correct(*STREAM[0])
    before = learnt(model.copy())
    other = model.copy().correct(*STREAM[3])
    assert_same(model, model.copy())
    assert all(np.array_equal(before[name], v) for name, v in learnt(model).items())
    assert other.n_corrections_ == 2
    assert "beer" not in model.label_names_
    assert model.correct(["x"], [["mine"]]).tag("x", 1)[0][0] == "mine"
    assert other.correct(["x"], [["yours"]]).tag("x", 1)[0][0] == "yours"


def test_rows_of_features_are_corrected_too():
    X, Y = np.eye(4), [["a"], ["b"], ["a"], ["b"]]
    model = ml.Corrected(ml.Tagger().fit(X, Y))
    model.correct(X[:1], [["c"]], [["a"]])
    assert model.predict(X[:2])[0] == ["c"]
    assert model.tag(X[0], 1)[0][0] == "c"
    assert model.predict(X[1:]) == model.tagger.predict(X[1:])


def test_labels_may_be_allowed_and_denied():
    model = ml.Corrected(fit()).correct(["apple pie"], [["fruit", "food"]])
    (ranked,) = model.tag_many(["apple pie"], 9)
    names = [name for name, _ in ranked]
    (some,) = model.tag_many(["apple pie"], 9, allow=["white", "fruit"])
    assert [each for each in ranked if each[0] in ("white", "fruit")] == some
    (rest,) = model.tag_many(["apple pie"], 9, deny=["white", "fruit"])
    assert [name for name, _ in rest] == [
        n for n in names if n not in ("white", "fruit")
    ]
    assert model.tag_many(["apple pie"], 1, deny=names[:1]) == [ranked[1:2]]


def test_probabilities_lie_between_0_and_1_in_the_order_of_one_labels_scores():
    model = ml.Corrected(fit())
    before = dict(model.tag_many(["apple pie"], 3, proba=True)[0])
    model.correct(["apple pie"], [["food"]], [["drink"]])
    after = dict(model.tag_many(["apple pie"], 3, proba=True)[0])
    assert all(0 < p < 1 for p in (*before.values(), *after.values()))
    assert after["food"] > before["food"]
    assert after["drink"] < before["drink"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["x"], "food"), TypeError, "accepted must be a list that has a list"),
        ((["x"], ["food"]), TypeError, "accepted must have a list of names"),
        ((["x"], [[1]]), TypeError, r"accepted must be strings, as str\(\)"),
        ((["x"], []), ValueError, "accepted must have 1 rows, one per text. Got 0"),
        ((["x"], [[]], [[], []]), ValueError, "rejected must have 1 rows"),
        ((["x"], [["a"]], [["a"]]), ValueError, "must not share a label. Got 'a'"),
        ((["x"], [[]], None, [1]), TypeError, "complete must hold bools. Got 1"),
        ((["x"], [[]], None, []), ValueError, "complete must have 1 rows"),
        (([1], [[]]), TypeError, "texts must hold strings"),
    ],
)
def test_bad_corrections_are_refused_and_nothing_is_learnt(arguments, error, message):
    model = ml.Corrected(fit())
    with pytest.raises(error, match=message):
        model.correct(*arguments)
    assert model.n_corrections_ == 0
    assert model.label_names_.tolist() == ["drink", "food", "white"]


def test_what_is_no_fitted_tagger_is_refused():
    with pytest.raises(TypeError, match=r"tagger must be a Tagger\. Got OneVsRest"):
        ml.Corrected(ml.OneVsRest()).tag_many(["x"], proba=True)
    with pytest.raises(ValueError, match="not fitted"):
        ml.Corrected(ml.Tagger()).correct(["x"], [["a"]])
    with pytest.raises(ValueError, match="n_bits == 50"):
        ml.Corrected(fit(), n_bits=50).correct(["x"], [["a"]])


@pytest.mark.parametrize("argument", ["allow", "deny"])
def test_unknown_labels_to_allow_or_deny_are_refused(argument):
    model = ml.Corrected(fit())
    with pytest.raises(ValueError, match=f"{argument} must name labels of the model"):
        model.tag_many(["x"], **{argument: ["nothing"]})


def test_scores_of_wsabie_are_margins_whatever_their_threshold():
    texts, tags = ["red wine", "rye bread", "red bread"] * 9, [["a"], ["b"], ["c"]] * 9
    tagger = ml.Tagger(ml.WSABIE(n_components=2, random_state=0)).fit(texts, tags)
    tagger.learner_.threshold_ = -40.0  # probabilities have none like it
    model = ml.Corrected(tagger)
    scores = dict(model.tag("red wine", k=3))
    chances = dict(model.tag_many(["red wine"], 3, proba=True)[0])
    assert min(scores.values()) > 0, "all labels are above the threshold"
    assert all(chances[name] > 0.5 for name in scores)


def test_a_new_label_that_is_rejected_is_not_had():
    model = ml.Corrected(fit()).correct(["apple pie"], [["food"]], [["fod"]])
    assert "fod" not in model.label_names_
    both = [["fruit"], []], [[], ["fruit"]]  # once it is accepted, it may be rejected
    model.correct(["apple pie", "rye bread"], *both)
    (names,) = model.predict(["apple pie"])
    assert "fruit" in names

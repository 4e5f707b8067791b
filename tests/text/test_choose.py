"""Which learner is chosen, by quality and the size of the data."""

import pytest

import manylabel as ml
from manylabel.text import QUALITIES


@pytest.mark.parametrize("quality", QUALITIES)
def test_few_rows_get_one_learner_whatever_the_quality(quality):
    learner, reason = ml.choose(1999, 100, 1000, quality)
    assert isinstance(learner, ml.OneVsRest)
    assert reason.startswith("OneVsRest, because 1,999 rows are too few")


@pytest.mark.parametrize("n_labels", [2, 10**5])
def test_fast_is_one_tree(n_labels):
    learner, reason = ml.choose(10**6, 10**5, n_labels, "fast")
    assert learner.get_params() == ml.LabelTree().get_params()
    assert reason == "LabelTree, because nothing as good is quicker."


@pytest.mark.parametrize(
    ("n_labels", "settings"), [(1000, {"C": 0.5}), (1001, {"n_estimators": 3})]
)
def test_balanced_is_the_default_and_chooses_on_rows_held_out(n_labels, settings):
    learner, reason = ml.choose(2000, 100, n_labels)
    expected = ml.LabelTree(tilt="auto", cost="f1", calibrate="auto", **settings)
    assert learner.get_params() == expected.get_params()
    assert f"{n_labels:,} labels" in reason
    assert ml.choose(2000, 100, n_labels, "balanced").reason == reason


@pytest.mark.parametrize("size", [(2000, 5), (10**6, 10**5), (100, 1001)])
def test_best_is_a_blend_at_any_size(size):
    n_rows, n_labels = size
    learner, reason = ml.choose(n_rows, 10**6, n_labels, "best")
    assert learner.get_params() == ml.Blend(calibrate="auto").get_params()
    assert reason.startswith("Blend, because several learners")


def test_centres_of_clusters_fit_into_memory():
    wide = ml.choose(10**6, 2**24, 10**5, "fast").learner
    assert wide.n_clusters == 32
    assert ml.choose(10**6, 2**24, 1000, "fast").learner.n_clusters is None
    assert ml.choose(10**6, None, 10**5, "fast").learner.n_clusters is None


@pytest.mark.parametrize("quality", QUALITIES)
def test_a_reason_is_one_sentence(quality):
    reason = ml.choose(5000, 100, 2000, quality).reason
    assert reason.count(".") == 1
    assert reason.endswith(".")


def test_a_quality_that_does_not_exist_is_refused():
    message = "quality must be one of fast, balanced, best. Got 'good'."
    with pytest.raises(ValueError, match=message):
        ml.choose(10, 10, 10, "good")
    with pytest.raises(ValueError, match=message):
        ml.Tagger(ml.Popularity(), quality="good").fit(["wine"], [["drink"]])


def test_a_single_label_is_one():
    reason = ml.choose(2000, 100, 1).reason
    assert reason == (
        "LabelTree, because a classifier for the label is good and soon learnt."
    )

"""Explanations say what the learner does, whichever learner it is."""

import re

import numpy as np
import pytest

import manylabel as ml
from manylabel.text import _explanation

TEXTS = ["red wine", "white wine", "brown bread", "rye bread", "bread and wine"]
TAGS = [["drink"], ["drink"], ["food"], ["food"], ["drink", "food"]]
LEARNERS = {
    "OneVsRest": ml.OneVsRest(),
    "FastXML": ml.FastXML(n_estimators=20),
    "PfastreXML": ml.PfastreXML(n_estimators=20),
    "Blend": ml.Blend([ml.OneVsRest(), ml.FastXML(n_estimators=20)]),
    "AnnotationTree": ml.AnnotationTree(),
    "CSDPP": ml.CSDPP(regressor="gradient", learning_rate="adagrad", eta0=0.5),
}
N_LEFT_OUT = 3


@pytest.fixture(scope="module")
def tagger():
    vectorizer = ml.TextVectorizer(min_df=1)
    return ml.Tagger(vectorizer=vectorizer).fit(TEXTS, TAGS)


def score(tagger, text, tag):
    return dict(tagger.tag(text, k=1000))[tag]


def without(text, words):
    kept = [w for w in re.findall(r"\w+", text.lower()) if w not in words]
    return " ".join(kept)


def test_a_weight_is_what_the_score_loses_without_the_word(tagger):
    text = "Red wine, red bread"
    for reason in tagger.explain(text).reasons:
        assert reason.score == score(tagger, text, reason.tag)
        for word, weight in reason.words:
            lost = reason.score - score(tagger, without(text, {word}), reason.tag)
            assert weight == pytest.approx(lost, abs=1e-6)


def test_the_best_tags_come_first_and_the_heaviest_words(tagger):
    reasons = tagger.explain("red wine and bread", k=2).reasons
    assert [(r.tag, r.rank) for r in reasons] == [
        (tag, rank) for rank, (tag, _) in enumerate(tagger.tag("red wine and bread"), 1)
    ]
    for reason in reasons:
        sizes = [abs(weight) for _, weight in reason.words]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("text", ["", "xqzzy", "xqzzy qqqq"])
def test_says_that_no_word_is_known(tagger, text):
    found = tagger.explain(text)
    assert not found.is_known
    assert str(found).startswith("No word of the text is known; ")
    assert tagger.explain("xqzzy wine").is_known
    assert "known" not in str(tagger.explain("xqzzy wine"))


def test_tells_why_not(tagger):
    (reason,) = tagger.explain("red wine", tags=["food"]).reasons
    assert (reason.tag, reason.rank) == ("food", 2)
    assert dict(reason.words)["wine"] < 0


def test_is_printed_in_words(tagger):
    lines = str(tagger.explain("red wine", tags=["drink"])).splitlines()
    assert lines[0].startswith("drink  ")
    assert lines[0].endswith(", rank 1")
    assert lines[1].startswith("  for     wine +")


def test_a_text_without_words_has_no_reasons_but_scores(tagger):
    for reason in tagger.explain("?!").reasons:
        assert reason.words == []
    assert tagger.explain("unheard").reasons[0].words == []


def test_of_a_long_text_the_heaviest_words_are_tried(tagger):
    filler = " ".join(f"word{i}" for i in range(300))  # 200 words are tried
    (reason, _) = tagger.explain(f"{filler} red wine", k=2).reasons
    assert {word for word, _ in reason.words} == {"red", "wine"}


def test_batches_do_not_matter(tagger, monkeypatch):
    whole = tagger.explain("red wine and bread")
    monkeypatch.setattr(_explanation, "PAIRS_AT_ONCE", 1)
    assert tagger.explain("red wine and bread") == whole


def test_each_member_of_a_blend_is_explained():
    """So few texts would not say that three members are better than one."""
    vectorizer = ml.TextVectorizer(min_df=1)
    learners = [ml.OneVsRest(), ml.FastXML(n_estimators=3), ml.OneVsRest(C=0.1)]
    fitted = [ml.Tagger(m, vectorizer=vectorizer).fit(TEXTS, TAGS) for m in learners]
    tagger = ml.Tagger(ml.Blend(learners[:1]), vectorizer=vectorizer).fit(TEXTS, TAGS)
    blend = tagger.learner_
    blend.estimators_ = [each.learner_ for each in fitted]
    blend.weights_, blend.curves_ = np.full(3, 1 / 3), blend.curves_.repeat(3, axis=0)
    (reason,) = tagger.explain("red wine", tags=["drink"]).reasons
    assert list(reason.members) == ["OneVsRest 1", "FastXML", "OneVsRest 2"]
    (expected,) = fitted[0].explain("red wine", tags=["drink"]).reasons
    assert reason.members["OneVsRest 1"] == expected.words
    assert "  OneVsRest 1" in reason.lines()


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_removing_the_named_words_lowers_the_score_on_real_rows(name, debtags):
    texts, tags = debtags
    vectorizer = ml.TextVectorizer(n_features=2**14 if name == "CSDPP" else None)
    tagger = ml.Tagger(LEARNERS[name], vectorizer=vectorizer).fit(texts, tags)
    n_lower = n_asked = 0
    for text in texts[:30]:
        for reason in tagger.explain(text, k=2).reasons:
            heavy = [word for word, weight in reason.words if weight > 0][:N_LEFT_OUT]
            if not heavy:
                continue
            top = score(tagger, without(text, heavy[:1]), reason.tag)
            assert top < reason.score, f"{reason.tag}: {heavy[0]}"
            n_asked += 1
            n_lower += score(tagger, without(text, heavy), reason.tag) < reason.score
    assert n_asked >= 30
    assert n_lower >= 0.95 * n_asked

"""Texts of several languages: words, stems, pieces, and which language it is."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import manylabel as ml
from manylabel.exceptions import MissingExtra

# Sentences written for these tests.
FINNISH = [
    "Metsässä on paljon sieniä, ja ne ovat syötäviä.",
    "Sieniretkellä metsän sienet olivat jo liian vanhoja.",
    "Kirjaston kirjat ovat hyllyssä, mutta se ei ole auki.",
    "Luin kirjan, joka oli kirjastossa, ja se oli hyvä.",
]
GERMAN = [
    "Die Pilze im Wald sind essbar, aber nicht alle.",
    "Er sammelt einen Pilz in den Wäldern und isst ihn.",
    "Das Buch ist in der Bibliothek, und die Bücher sind alt.",
    "Ich habe ein Buch aus der Bibliothek gelesen.",
]
CHINESE = [
    "森林里有很多蘑菇，可以食用。",
    "我们在森林采蘑菇。",
    "图书馆里的书很旧。",
    "我从图书馆借了一本书。",
]
TAGS = [["nature"], ["nature"], ["reading"], ["reading"]]
ENGLISH = ["The mushrooms of the forest are edible, but not all of them."]
OTHERS = {
    "sv": "Det är inte lätt att hitta svamp i skogen, men vi har gått där och letat.",
    "fr": "Les champignons de la forêt ne sont pas tous bons, mais il y en a.",
    "es": "Los hongos del bosque no son todos comestibles, pero hay muchos que lo son.",
    "ru": "Грибы в лесу не все съедобны, но есть и такие, что можно есть.",
    "ja": "森にはきのこがたくさんあります。",
    "ko": "숲에는 버섯이 많이 있습니다.",
    "th": "ในป่ามีเห็ดมากมาย",
}
mixed = st.text("abÄß é.中国語かなカ한글กขค\u0e31\u0301\n", max_size=25)


def tag(texts, text, language):
    tagger = ml.Tagger(ml.OneVsRest(), language=language).fit(texts, TAGS)
    return tagger.tag(text, k=1)[0][0]


@pytest.mark.parametrize(
    ("texts", "text", "language"),
    [
        (FINNISH, "sienien", "fi"),
        (FINNISH, "kirjoja", "fi"),
        (GERMAN, "Pilzen", "de"),
        (GERMAN, "des Buches", "de"),
        (CHINESE, "新蘑菇", "zh"),
        (CHINESE, "大图书馆", "zh"),
    ],
)
@pytest.mark.parametrize("auto", [False, True])
def test_forms_that_were_never_seen_get_the_tags_of_their_stems(
    texts, text, language, auto
):
    expected = "nature" if text in ("sienien", "Pilzen", "新蘑菇") else "reading"
    assert tag(texts, text, "auto" if auto else language) == expected
    words = ml.TextVectorizer(min_df=1).fit(texts)
    known = words.transform([text]).nnz
    stems = ml.TextVectorizer(min_df=1, language=language).fit(texts)
    assert stems.transform([text]).nnz > known


@pytest.mark.parametrize(
    ("texts", "code"),
    [(FINNISH, "fi"), (GERMAN, "de"), (CHINESE, "zh"), (ENGLISH, "en")]
    + [([text], code) for code, text in OTHERS.items()],
)
def test_the_language_of_texts_is_told(texts, code):
    vectorizer = ml.TextVectorizer(min_df=1, language="auto").fit(texts)
    assert vectorizer.language_ == code


@pytest.mark.parametrize("texts", [["foo bar"], ["1 2 3"]])
def test_what_is_hard_to_tell_is_not_told(texts):
    vectorizer = ml.TextVectorizer(min_df=1, language="auto").fit(texts)
    assert vectorizer.language_ == ""


def test_texts_that_come_once_are_all_read():
    texts = FINNISH * 600
    once = ml.TextVectorizer(language="auto").fit_transform(iter(texts))
    named = ml.TextVectorizer(language="fi").fit_transform(texts)
    assert_array_equal(once.toarray(), named.toarray())


def test_ideographs_are_pairs_that_overlap_and_thai_is_runs_of_four():
    vectorizer = ml.TextVectorizer(language="zh")
    assert vectorizer.split("iPhone手机壳, 书！") == ["iphone", "手机", "机壳", "书"]
    assert vectorizer.split("เห็ดมาก")[:2] == ["เห็ด", "ห็ดม"]
    assert vectorizer.split("ＡＢＣ１") == ["abc1"]


@given(mixed, st.sampled_from([None, "zh", "fi", "de"]), st.booleans())
def test_words_joined_by_blanks_are_the_words(text, language, stop_words):
    vectorizer = ml.TextVectorizer(language=language, stop_words=stop_words)
    words = vectorizer.split(text)
    assert vectorizer.split(" ".join(words)) == words


@given(st.lists(mixed, min_size=1, max_size=5))
def test_words_of_a_language_follow_their_definition(texts):
    """Stems of split words, counted as words are without a language."""
    reader = ml.TextVectorizer(n_features=2**16, language="zh")
    joined = [" ".join(reader.split(text)) for text in texts]
    plain = ml.TextVectorizer(n_features=2**16).transform(joined)
    assert_array_equal(reader.transform(texts).toarray(), plain.toarray())


def test_stop_words_are_left_out_and_stems_need_not_be_taken():
    options = {"min_df": 1, "language": "de", "ngram_range": (1, 1)}
    every = ml.TextVectorizer(**options, stem=False).fit(GERMAN)
    fewer = ml.TextVectorizer(**options, stem=False, stop_words=True).fit(GERMAN)
    gone = {*every.get_feature_names_out()} - {*fewer.get_feature_names_out()}
    assert {"die", "und", "nicht", "der"} <= gone
    assert "wald" not in gone
    assert "bibliothek" in fewer.get_feature_names_out()


def test_characters_are_not_stemmed():
    reader = ml.TextVectorizer(analyzer="char", min_df=1, language="fi")
    plain = ml.TextVectorizer(analyzer="char", min_df=1)
    assert_array_equal(
        reader.fit_transform(FINNISH).toarray(), plain.fit_transform(FINNISH).toarray()
    )


def test_a_language_is_saved_with_the_model(tmp_path):
    tagger = ml.Tagger(ml.OneVsRest(), language="auto").fit(FINNISH, TAGS)
    tagger.save(tmp_path / "model")
    again = ml.load(tmp_path / "model")
    assert again.vectorizer_.language_ == "fi"
    assert again.tag("sienien") == tagger.tag("sienien")
    assert "language fi" in again.card()["reads"]


def test_models_without_a_language_are_as_they_were():
    vectorizer = ml.TextVectorizer(min_df=1).fit(FINNISH)
    assert list(vectorizer.get_state()) == [
        f"terms_.{part}" for part in ("hashes", "idf", "names", "offsets")
    ]


def test_chinese_texts_are_explained_by_pieces():
    tagger = ml.Tagger(ml.OneVsRest(), language="zh").fit(CHINESE, TAGS)
    (reason,) = tagger.explain("森林图书馆", tags=["reading"]).reasons
    assert {word for word, weight in reason.words if weight > 0} == {"图书", "书馆"}


def test_corrections_are_learnt_by_stems():
    tagger = ml.Tagger(ml.OneVsRest(), language="fi").fit(FINNISH, TAGS)
    model = ml.Corrected(tagger).correct(["autot"], [["cars"]])
    assert model.tag("autojen", k=1)[0][0] == "cars"


def test_threads_stem_as_one_does():
    texts = [f"{text} {n}" for n in range(50) for text in FINNISH]
    vectorizer = ml.TextVectorizer(language="fi").fit(texts)
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: vectorizer.transform([text]), texts))
    found = np.concatenate([row.toarray() for row in rows])
    assert_array_equal(found, vectorizer.transform(texts).toarray())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "xx"}, "language must be one of auto, da, de"),
        ({"language": "auto", "n_features": 8}, "language must be named where n_feat"),
    ],
)
def test_refuses_languages_that_it_cannot_read(options, message):
    with pytest.raises(ValueError, match=message):
        ml.TextVectorizer(**options).fit(FINNISH)


def test_a_tagger_with_a_vectorizer_takes_no_language():
    tagger = ml.Tagger(language="fi", vectorizer=ml.TextVectorizer())
    with pytest.raises(ValueError, match="language must be told to the vectorizer"):
        tagger.fit(FINNISH, TAGS)


def test_without_a_stemmer_says_how_to_get_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    words = ml.TextVectorizer(language="hu", min_df=1)
    with pytest.raises(MissingExtra, match=r"manylabel\[languages\]"):
        words.fit(["erdő"])
    assert words.set_params(stem=False).fit(["erdő"]).n_features_out_ == 1

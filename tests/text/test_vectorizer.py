"""Texts as rows: the definition, the laws, and what is refused."""

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from math import log, sqrt
from weakref import WeakSet

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import manylabel as ml
from manylabel import persistence

corpora = st.lists(st.text("abAB_1 .\x00\n\u2019éÉ日\u0301", max_size=15), max_size=6)
odd_corpora = st.lists(st.text(max_size=30), max_size=4)
CHUNK = 1 << 20  # bytes of text that are read at a time
TEXTS = ["red wine", "red wine, white wine", "white bread", "", "red bread"]


def runs(text, analyzer, least, most):
    """Return the runs of a text that a vectorizer counts; slow and obvious."""
    text = unicodedata.normalize("NFC", text.lower())
    letters = (c if c == "_" or c.isalnum() or is_mark(c) else " " for c in text)
    words = "".join(letters).split()
    if analyzer == "word":
        sizes = [(words, " ".join, least, most)]
    else:
        padded = [f" {word} " for word in words]
        sizes = [(w, str, min(least, len(w)), min(most, len(w))) for w in padded]
    return Counter(
        join(item[i : i + n])
        for item, join, low, high in sizes
        for i in range(len(item))
        for n in range(low, high + 1)
        if i + n <= len(item)
    )


def is_mark(character):
    return ord(character) > 127 and unicodedata.category(character)[0] == "M"


def reference(texts, analyzer, sizes, min_df):
    """Return each text's values by name, from dictionaries."""
    counts = [runs(text, analyzer, *sizes) for text in texts]
    n_rows = Counter(name for row in counts for name in row)
    rows = []
    for row in counts:
        values = {
            name: (1 + log(c)) * (1 + log((1 + len(texts)) / (1 + n_rows[name])))
            for name, c in row.items()
            if n_rows[name] >= min_df
        }
        if analyzer == "word":
            values = {name: v / 2 ** name.count(" ") for name, v in values.items()}
        length = sqrt(sum(v * v for v in values.values()))
        rows.append({name: v / length for name, v in values.items()})
    return rows


def by_name(vectorizer, X):
    names = vectorizer.get_feature_names_out()
    return [
        dict(zip(names[X[[i]].indices], X[[i]].data.tolist(), strict=True))
        for i in range(X.shape[0])
    ]


@given(corpora, st.sampled_from(["word", "char"]), st.integers(1, 2))
def test_follows_its_definition(texts, analyzer, min_df):
    sizes = {"word": (1, 2), "char": (3, 5)}[analyzer]
    expected = reference(texts, analyzer, sizes, min_df)
    vectorizer = ml.TextVectorizer(analyzer=analyzer, min_df=min_df)
    if not any(expected):
        with pytest.raises(ValueError, match="min_df"):
            vectorizer.fit(texts)
        return
    found = by_name(vectorizer, vectorizer.fit_transform(texts))
    assert found == [pytest.approx(row, rel=1e-5) for row in expected]


@given(corpora, st.sampled_from(["word", "char"]), st.integers(2, 4), st.integers(0, 2))
def test_runs_need_not_start_at_one(texts, analyzer, least, further):
    sizes = least, least + further
    expected = reference(texts, analyzer, sizes, min_df=1)
    vectorizer = ml.TextVectorizer(analyzer=analyzer, ngram_range=sizes, min_df=1)
    if not any(expected):
        with pytest.raises(ValueError, match="min_df"):
            vectorizer.fit(texts)
        return
    found = by_name(vectorizer, vectorizer.fit_transform(texts))
    assert found == [pytest.approx(row, rel=1e-5) for row in expected]


@pytest.mark.parametrize("least", [1, 2, 3])
def test_hashed_runs_have_columns_by_their_length_from_the_least_on(least):
    vectorizer = ml.TextVectorizer(ngram_range=(least, least + 1), n_features=1000)
    text = " ".join("abcdef")
    row = vectorizer.transform([text])
    is_longer = row.indices >= 500
    assert is_longer.sum() == sum(runs(text, "word", least + 1, least + 1).values())
    assert (~is_longer).sum() == sum(runs(text, "word", least, least).values())
    assert_array_equal(
        np.unique(row.data[is_longer]) * 2, np.unique(row.data[~is_longer])
    )


@given(odd_corpora)
def test_finds_the_words_of_any_script(texts):
    vectorizer = ml.TextVectorizer(ngram_range=(1, 1), min_df=1)
    expected = {name for text in texts for name in runs(text, "word", 1, 1)}
    if not expected:
        return
    assert set(vectorizer.fit(texts).get_feature_names_out()) == expected


@pytest.mark.parametrize("analyzer", ["word", "char"])
def test_one_pass_is_as_good_as_two(analyzer):
    vectorizer = ml.TextVectorizer(analyzer=analyzer)
    once = vectorizer.fit_transform(iter(TEXTS))
    assert_same(vectorizer.transform(iter(TEXTS)), once)
    assert_same(clone(vectorizer).fit(TEXTS).transform(TEXTS), once)


@pytest.mark.parametrize("n_features", [None, 64])
def test_chunks_do_not_matter(n_features):
    vectorizer = ml.TextVectorizer(n_features=n_features, max_features=4)
    whole = vectorizer.fit_transform(TEXTS)
    other, long = clone(vectorizer), [text + CHUNK * " " for text in TEXTS]
    assert_same(other.fit_transform(long), whole)
    assert_same(other.transform(long), whole)
    assert other.get_state().keys() == vectorizer.get_state().keys()
    for name, value in vectorizer.get_state().items():
        assert_array_equal(other.get_state()[name], value)


class Text(str):
    """A text that can be watched."""


def test_holds_few_texts_at_a_time():
    alive, most = WeakSet(), []

    def watched():
        for i in range(40):
            text = Text(f"red wine {i}" + CHUNK // 4 * " ")
            alive.add(text)
            most.append(len(alive))
            yield text

    vectorizer = ml.TextVectorizer()
    assert vectorizer.fit_transform(watched()).shape[0] == 40
    vectorizer.transform(watched())
    assert max(most) <= 10


def test_the_order_of_texts_does_not_matter():
    forth, back = (
        ml.TextVectorizer(max_features=3).fit(t) for t in (TEXTS, TEXTS[::-1])
    )
    assert_array_equal(forth.get_feature_names_out(), back.get_feature_names_out())
    assert_array_equal(forth.idf_, back.idf_)


def test_keeps_what_is_in_most_texts():
    vectorizer = ml.TextVectorizer(ngram_range=(1, 1), max_features=1).fit(TEXTS)
    assert vectorizer.get_feature_names_out().tolist() == ["red"]


def test_both_spellings_of_an_accent_are_one_word():
    vectorizer = ml.TextVectorizer(ngram_range=(1, 1)).fit(["caf\u00e9", "CAFE\u0301"])
    assert vectorizer.get_feature_names_out().tolist() == ["caf\u00e9"]


def test_vowel_signs_do_not_cut_words():
    hindi = "\u0939\u093f\u0928\u094d\u0926\u0940"
    vectorizer = ml.TextVectorizer(ngram_range=(1, 1), min_df=1).fit([hindi])
    assert vectorizer.get_feature_names_out().tolist() == [hindi]


def test_a_text_without_known_words_is_a_row_of_zeros():
    X = ml.TextVectorizer().fit(TEXTS).transform(["unheard of", ""])
    assert X.shape == (2, 5)
    assert X.nnz == 0


def test_is_a_step_of_a_pipeline():
    Y = np.eye(5, 2)
    pipeline = make_pipeline(ml.TextVectorizer(), ml.OneVsRest()).fit(TEXTS, Y)
    X = ml.TextVectorizer().fit(texts=TEXTS).transform(texts=TEXTS)
    expected = ml.OneVsRest().fit(X, Y).decision_function(X)
    assert_array_equal(pipeline.decision_function(TEXTS), expected)


def test_no_texts_are_no_rows():
    assert ml.TextVectorizer().fit(TEXTS).transform([]).shape == (0, 5)
    assert ml.TextVectorizer(n_features=8).transform([]).shape == (0, 8)


def test_hashed_rows_have_unit_length_and_need_no_fit():
    X = ml.TextVectorizer(n_features=1000).transform(TEXTS)
    assert X.shape == (5, 1000)
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    assert lengths == pytest.approx([1, 1, 1, 0, 1])


def test_pairs_are_hashed_apart_from_words_and_weigh_half():
    X = ml.TextVectorizer(n_features=1000).transform(["red wine"])
    is_pair = X.indices >= 500
    assert is_pair.tolist() == [False, False, True]
    assert X.data == pytest.approx(np.array([1, 1, 0.5]) / 1.5)


@pytest.mark.slow
def test_hashing_is_the_same_in_every_process():
    code = (
        "import manylabel as ml;"
        "print(ml.TextVectorizer(n_features=10**6).transform(['red wine']).indices)"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    here = ml.TextVectorizer(n_features=10**6).transform(["red wine"])
    assert other.stdout.strip() == str(here.indices), other.stderr


def test_a_saved_vectorizer_is_the_same_when_loaded(tmp_path):
    vectorizer = ml.TextVectorizer(min_df=1).fit(TEXTS)
    persistence.save(vectorizer, tmp_path / "model")
    loaded = ml.load(tmp_path / "model", mmap=True)
    assert_same(loaded.transform(TEXTS), vectorizer.transform(TEXTS))
    assert_array_equal(
        loaded.get_feature_names_out(), vectorizer.get_feature_names_out()
    )


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("terms_.idf", np.ones(2, np.float32)),
        ("terms_.offsets", np.zeros(6, np.int64)),
        ("terms_.hashes", np.zeros(5, np.uint64)),
        ("terms_.hashes", np.arange(5, dtype=np.int32)),
    ],
)
def test_a_state_that_does_not_fit_together_is_refused(name, wrong):
    vectorizer = ml.TextVectorizer().fit(TEXTS)
    state = vectorizer.get_state() | {name: wrong}
    with pytest.raises(ValueError, match=name):
        vectorizer.set_state(state)


@pytest.mark.parametrize("kind", ["list", "numpy", "pandas", "polars", "iterator"])
def test_takes_columns_of_any_library(kind):
    makers = {"list": list, "numpy": np.array, "iterator": iter}
    make = makers.get(kind) or pytest.importorskip(kind).Series
    X = ml.TextVectorizer().fit_transform(make(TEXTS))
    assert_same(X, ml.TextVectorizer().fit_transform(TEXTS))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("red wine", "texts must be a list or column of strings. Got 'red wine'."),
        (3, "texts must be a list or column of strings. Got 3."),
        ({"text": ["a"]}, "texts must be a list or column of strings. Got {'text'"),
        (np.array([["a"]]), "texts must be a list or column of strings. Got shape (1"),
        (["a", None], "texts must hold strings. Got None at row 1."),
        (["a", float("nan")], "texts must hold strings. Got nan at row 1."),
        (["a", b"b"], "texts must hold strings. Got b'b' at row 1."),
        (
            ["a", "\ud800"],
            "texts must be valid Unicode. Got half a surrogate pair at r",
        ),
        (["a", "b"], "in at least min_df=2 of them. Found none, in 2"),
    ],
)
def test_refuses_what_is_no_text(texts, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        ml.TextVectorizer().fit(texts)


@pytest.mark.parametrize(
    "parameter",
    [
        {"analyzer": "words"},
        {"ngram_range": (2, 1)},
        {"ngram_range": (0, 1)},
        {"ngram_range": 2},
        {"ngram_range": (1, 1.5)},
        {"min_df": 0},
        {"max_features": 0},
        {"n_features": 2**31},
        {"n_features": 1},
    ],
)
def test_refuses_wrong_parameters(parameter):
    (name,) = parameter
    for verb in ("fit", "fit_transform"):
        with pytest.raises((TypeError, ValueError), match=name):
            getattr(ml.TextVectorizer(**parameter), verb)(TEXTS)


def test_hashed_columns_have_no_names():
    with pytest.raises(ValueError, match="Hashed columns have no names"):
        ml.TextVectorizer(n_features=8).get_feature_names_out()


def test_transform_needs_a_vocabulary():
    with pytest.raises(NotFittedError):
        ml.TextVectorizer().transform(TEXTS)


def assert_same(one, other):
    assert one.shape == other.shape
    for part in ("indptr", "indices", "data"):
        assert_array_equal(getattr(one, part), getattr(other, part))

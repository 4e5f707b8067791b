"""Names as evidence: the definition of likeness, labels without examples, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import manylabel as ml

WORDS = "wine bread cheese apple train hotel ticket river forest music".split()


def corpus(n_rows, seed):
    """Return texts that name some of their tags, and others without tags."""
    rng = np.random.default_rng(seed)
    texts, tags = [], []
    for _ in range(n_rows):
        named = rng.choice(WORDS, rng.integers(1, 3), replace=False)
        noise = rng.choice([f"word{n}" for n in range(40)], 4)
        texts.append(" ".join([*named, *noise]))
        tags.append(named.tolist())
    return texts, tags


def fit_without_music(**options):
    """Return a tagger that has never seen the tag music."""
    texts, tags = corpus(400, 0)
    tags = [[name for name in row if name != "music"] for row in tags]
    vocabulary = ml.Vocabulary(
        {
            name: {"synonyms": {"": ["tunes"]} if name == "music" else {}}
            for name in WORDS
        }
    )
    learner = ml.NameMatch(ml.OneVsRest(), **options)
    return ml.Tagger(learner, vocabulary=vocabulary).fit(texts, tags)


@pytest.fixture(scope="module")
def tagger():
    """Return a tagger that chose what names count."""
    return fit_without_music()


def test_a_label_without_an_example_is_suggested(tagger):
    texts, tags = corpus(200, 1)
    best = tagger.tag_many(texts, k=3)
    found = [
        "music" in [name for name, _ in row]
        for row, names in zip(best, tags, strict=True)
        if "music" in names
    ]
    assert np.mean(found) > 0.9
    plain = ml.Tagger(ml.OneVsRest()).fit(texts, [["a"]] * len(texts))
    assert "music" not in plain.label_names_


def test_a_synonym_is_a_name(tagger):
    assert tagger.tag("some tunes", k=1)[0][0] == "music"


def test_labels_that_were_learnt_rank_as_before(tagger):
    texts, tags = corpus(300, 2)
    tags = [[name for name in row if name != "music"] for row in tags]
    train, names = corpus(400, 0)
    names = [[name for name in row if name != "music"] for row in names]
    plain = ml.Tagger(ml.OneVsRest()).fit(train, names)
    with_names, without = (
        each.evaluate(texts, tags)["P@1"] for each in (tagger, plain)
    )
    assert with_names > without - 0.06


def test_the_more_a_name_counts_the_higher_its_label_ranks(tagger):
    texts, tags = corpus(200, 1)
    texts = [text for text, row in zip(texts, tags, strict=True) if "music" in row]
    places = []
    for weight in (0.0, 0.1, 3.0):
        given = fit_without_music(unseen_weight=weight)
        assert given.learner_.unseen_weight_ == weight
        assert given.learner_.weight_ == tagger.learner_.weight_
        names = [[name for name, _ in row] for row in given.tag_many(texts, k=10)]
        places.append([row.index("music") for row in names])
    assert (np.diff(places, axis=0) <= 0).all()
    assert set(places[0]) == {9}
    assert np.mean(places[-1]) < 1


def test_a_name_is_like_a_text_by_its_definition():
    rng = np.random.default_rng(0)
    X = sp.random_array((30, 8), density=0.5, rng=rng, format="csr", dtype=np.float32)
    names = sp.random_array(
        (6, 8), density=0.4, rng=rng, format="csr", dtype=np.float32
    )
    owners = np.array([0, 1, 2, 3, 0, 2])
    Y = (rng.random((30, 4)) < 0.5).astype(int)
    model = ml.NameMatch(ml.OneVsRest(), names=names, owners=owners).fit(X, Y)
    found = model._match_names().list(sp.csr_array(X)).toarray()
    dense, rows = X.toarray(), names.toarray()
    like = (dense @ rows.T) * ((dense > 0) @ (rows**2).T) ** 2
    expected = np.stack([like[:, owners == n].max(axis=1) for n in range(4)], axis=1)
    assert_allclose(found, np.where(expected >= 0.05, expected, 0), rtol=1e-5)


def test_is_saved_and_read(tagger, tmp_path):
    tagger.save(tmp_path / "model")
    again = ml.load(tmp_path / "model")
    texts, _ = corpus(20, 3)
    assert again.tag_many(texts) == tagger.tag_many(texts)
    assert again.vocabulary.names("music") == ["music", "tunes"]


def test_names_of_rare_words_get_columns():
    vectorizer = ml.TextVectorizer(min_df=2)
    X = vectorizer.fit_transform(["red wine", "red bread"], names=["zither music"])
    assert {"red", "zither", "music", "zither music"} == {
        *vectorizer.get_feature_names_out()
    }
    again = ml.TextVectorizer(min_df=2).fit(
        ["red wine", "red bread"], names=["zither music"]
    )
    assert_array_equal(
        X.toarray(), again.transform(["red wine", "red bread"]).toarray()
    )


def test_without_names_it_ranks_as_its_learner():
    data = ml.make_corpus(n_rows=300, n_labels=10, random_state=0)
    plain = ml.OneVsRest().fit(data.X, data.Y).predict_topk(data.X, 1)
    named = ml.NameMatch(ml.OneVsRest()).fit(data.X, data.Y).predict_topk(data.X, 1)
    assert (plain.indices == named.indices).mean() > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": np.ones((2, 3))}, "names and owners must be given together"),
        ({"names": np.ones((2, 3)), "owners": [0]}, "owners a label for each"),
        ({"names": np.ones((2, 2)), "owners": [0, 1]}, "names must have 3 features"),
        ({"names": np.ones((1, 3)), "owners": [9]}, "owners"),
        ({"unseen_weight": -1}, "unseen_weight == -1, must be >= 0"),
        ({"unseen_weight": np.inf}, "unseen_weight must be finite"),
    ],
)
def test_refuses_names_that_do_not_fit(options, message):
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=message):
        ml.NameMatch(ml.OneVsRest(), **options).fit(
            rng.random((40, 3)), rng.integers(0, 2, (40, 4))
        )


def test_takes_learners_of_this_package_only():
    with pytest.raises(TypeError, match="estimator must be a multi-label learner"):
        ml.NameMatch("tree").fit(np.eye(4), np.eye(4))

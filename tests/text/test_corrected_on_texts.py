"""Corrections on real texts: the same text, like ones, others; useful and useless."""

import numpy as np
import pytest

import manylabel as ml

pytestmark = pytest.mark.slow
N_FITTED, N_STREAM = 3000, 800


@pytest.fixture(scope="module")
def data(data_folder):
    return ml.read(data_folder / "text" / "reuters90" / "train.jsonl.gz")


@pytest.fixture(scope="module")
def tagger(data):
    return ml.Tagger(quality="fast").fit(data[:N_FITTED])


@pytest.fixture(scope="module")
def stream(data):
    rows = data[N_FITTED : N_FITTED + N_STREAM]
    return list(rows.texts), rows.labels.decode(rows.Y)


def wrongly_ranked(tagger, stream, n):
    """Yield texts whose first label is wrong, with the right labels and that one."""
    texts, tags = stream
    for text, right, shown in zip(texts, tags, tagger.tag_many(texts, 1), strict=True):
        if shown[0][0] not in right and n:
            n -= 1
            yield text, right, shown[0][0]


def test_the_same_text_has_what_was_said_of_it(tagger, stream):
    for text, right, wrong in wrongly_ranked(tagger, stream, 30):
        model = ml.Corrected(tagger).correct([text], [right], [[wrong]])
        assert {name for name, _ in model.tag(text, len(right))} == set(right)
        assert wrong not in model.predict([text])[0]


def log_odds(model, text):
    (tagged,) = model.tag_many([text], 90, proba=True)
    return {name: np.log(p / (1 - p)) for name, p in tagged}


def test_a_like_text_changes_visibly(tagger, stream):
    """Every third word is left out."""
    raised, lowered = [], []
    for text, right, wrong in wrongly_ranked(tagger, stream, 30):
        like = " ".join(word for n, word in enumerate(text.split()) if n % 3)
        before = log_odds(ml.Corrected(tagger), like)
        model = ml.Corrected(tagger).correct([text], [right], [[wrong]])
        after = log_odds(model, like)
        raised += [after[name] - before[name] for name in right]
        lowered.append(after[wrong] - before[wrong])
    assert min(raised) > 0
    assert np.median(raised) > 1.5
    assert np.median(lowered) < -0.3


def test_other_texts_hardly_change(tagger, stream):
    texts, _ = stream
    before = tagger.tag_many(texts, 5)
    for text, right, wrong in wrongly_ranked(tagger, stream, 10):
        after = ml.Corrected(tagger).correct([text], [right], [[wrong]])
        tagged = after.tag_many(texts, 5)
        first = [b[0][0] == a[0][0] for b, a in zip(before, tagged, strict=True)]
        assert np.mean(first) > 0.97
        moved = [
            abs(score - dict(b).get(name, score))
            for b, a in zip(before, tagged, strict=True)
            for name, score in a
        ]
        assert np.median(moved) < 0.01


def progress(tagger, texts, tags, said):
    """Return P@1 of each text before its correction, by the tagger and corrected."""
    model, hits = ml.Corrected(tagger), []
    alone = tagger.tag_many(texts, 1)
    for at in range(0, len(texts), 20):
        part = slice(at, at + 20)
        hits += [shown[0][0] for shown in model.tag_many(texts[part], 1)]
        model.correct(texts[part], said[part], complete=[True] * len(texts[part]))
    return model, *(
        np.mean([name in right for name, right in zip(names, tags, strict=True)])
        for names in ([shown[0][0] for shown in alone], hits)
    )


def test_useful_corrections_count_and_help(tagger, stream):
    model, alone, corrected = progress(tagger, *stream, stream[1])
    assert model.weight_ == 1.0
    assert corrected >= alone


def test_useless_corrections_lose_their_weight(tagger, stream):
    """What is said of a text is true of another: P@1 may fall by 2 in 100."""
    texts, tags = stream
    said = [tags[row] for row in np.random.default_rng(0).permutation(len(tags))]
    model, alone, corrected = progress(tagger, texts, tags, said)
    assert model.weight_ < 1.0
    assert corrected > alone - 0.02

"""Words and runs of words and characters, beside what regular expressions find."""

import re

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from manylabel._kernels._jit import kernel
from manylabel._kernels.text import words
from manylabel.text._grams import find_grams

texts = st.lists(st.text("ab_1 \x00-é日", max_size=12), max_size=4)
sizes = st.tuples(st.integers(1, 3), st.integers(0, 2)).map(lambda s: (s[0], sum(s)))


@kernel
def spell(text, begin, end, out):
    return words.spell(text, begin, end, out, 0)


def word_runs(text, least, most):
    found = re.findall(r"\w+", text)
    starts = range(len(found))
    lengths = range(least, most + 1)
    return [
        " ".join(found[i : i + n])
        for i in starts
        for n in lengths
        if i + n <= len(found)
    ]


def character_runs(text, least, most):
    found = []
    for word in (f" {w} " for w in re.findall(r"\w+", text)):
        lengths = range(min(least, len(word)), min(most, len(word)) + 1)
        starts = range(len(word))
        found += [
            word[i : i + n] for i in starts for n in lengths if i + n <= len(word)
        ]
    return found


REFERENCE = {"word": word_runs, "char": character_runs}


def spelt(grams):
    """Return the runs of each row as the kernel spells them."""
    out = np.empty(len(grams.text), np.uint8)
    names = [
        out[: spell(grams.text, begin, end, out)].tobytes().decode()
        for begin, end in grams.places
    ]
    bounds = zip(grams.indptr, grams.indptr[1:], strict=False)
    return [names[begin:end] for begin, end in bounds]


@given(texts, sizes, st.sampled_from(["word", "char"]))
def test_finds_the_runs_that_regular_expressions_find(rows, sizes, analyzer):
    grams = find_grams([row.encode() for row in rows], analyzer, sizes)
    assert spelt(grams) == [REFERENCE[analyzer](row, *sizes) for row in rows]


@given(texts, sizes, st.sampled_from(["word", "char"]))
@example(["a b a", "a a", "b b"], (1, 3), "word")
def test_equal_runs_and_no_others_have_equal_hashes(rows, sizes, analyzer):
    grams = find_grams([row.encode() for row in rows], analyzer, sizes)
    names = [name for row in spelt(grams) for name in row]
    pairs = set(zip(names, grams.hashes.tolist(), strict=True))
    assert len(pairs) == len(set(names)) == len(set(grams.hashes.tolist()))


def test_hashes_are_the_same_in_every_process():
    grams = find_grams([b"red wine"], "word", (1, 2))
    found = [f"{h:x}" for h in grams.hashes.tolist()]
    # The top bits of the pair tell that it is one word longer.
    assert found == ["177a5040930095af", "3826436338727a90", "1205db851e2b3c50"]


def test_the_top_bits_tell_by_how_many_words_a_run_is_longer_than_the_least():
    grams = find_grams([b"a red wine"], "word", (2, 3))
    assert spelt(grams) == [["a red", "a red wine", "red wine"]]
    assert (grams.hashes >> words.REST).tolist() == [0, 1, 0]


def test_very_long_words_are_words():
    grams = find_grams([b"a" * 100_000, b"b"], "word", (1, 2))
    assert np.diff(grams.places, axis=1).ravel().tolist() == [100_000, 1]

"""What a text is made of in its language: words, stems, pieces of unspaced scripts."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from threading import Lock
from typing import Any, NamedTuple

from manylabel import _validation
from manylabel.exceptions import MissingExtra
from manylabel.text._grams import plain
from manylabel.text._stop_words import STOP_WORDS

AUTO = "auto"
STEMMERS = {
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "tr": "turkish",
}
# Letters of scripts without blanks between words, and how many make a piece: two of
# ideographs, kana and syllables, as in Lucene's CJK analyzer; four of alphabets.
HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
HAN += "\U00020000-\U0003ffff"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\uac00-\ud7a3"
THAI = "\u0e01-\u0e4e"
UNSPACED = {
    f"{HAN}{KANA}": 2,
    HANGUL: 2,
    f"{THAI}\u0e81-\u0ecd\u1000-\u103f\u1780-\u17d3": 4,  # with Lao, Burmese, Khmer
}
RUN = re.compile("|".join(f"([{letters}]+)" for letters in UNSPACED))
LENGTHS = tuple(UNSPACED.values())
WORD = re.compile(r"[0-9a-z_\x80-\U0010ffff]+")  # of a plain text
SCRIPTS = {"ja": KANA, "ko": HANGUL, "th": THAI, "zh": HAN}  # the first that is found
LANGUAGES = (AUTO, *sorted({*STEMMERS, *SCRIPTS}))
N_TOLD_BY = 1000  # texts
# The share of letters that tells a script, that of words that a language's stop words
# are, and how many times as many they must be as those of any other.
LEAST_LETTERS, LEAST_WORDS, MARGIN = 0.1, 0.15, 1.1
REMEMBERED = 1 << 18  # words with their stems

_stemming = Lock()  # stemmers keep the word that they work on


class Language(NamedTuple):
    """How texts are cut into words; ``code`` is empty where it could not be told."""

    code: str
    stem: bool
    stop_words: bool

    def split(self, text: str) -> list[str]:
        """Return the words of a text as it spells them, without stop words.

        Scripts without blanks give overlapping pieces, so that a piece is its own.
        """
        spelt = plain(unicodedata.normalize("NFKC", text))
        if not spelt.isascii():
            spelt = RUN.sub(_cut, spelt)
        words = WORD.findall(spelt)
        if not self.stop_words:
            return words
        left_out = _stop_words(self.code)
        return [word for word in words if word not in left_out]

    def prepare(self, text: str) -> str:
        """Return the words of a text, in their stems, one blank apart."""
        words = self.split(text)
        if self.stem and self.code in STEMMERS:
            words = [_stem(word, self.code) for word in words]
        return " ".join(words)


def tell_language(texts: Iterable[str]) -> str:
    """Return the language that texts are in; empty if it is hard to tell.

    A script with a language of its own tells it; else the stop words that are most of
    all words do, if they are many and clearly more than those of any other.

    Examples
    --------
    >>> tell_language(["Koira on talossa, mutta se ei ole se koira, joka oli täällä."])
    'fi'
    >>> tell_language(["東京タワーに登りました。"])
    'ja'
    >>> tell_language(["foo bar"])
    ''
    """
    words = Counter(
        word
        for text in texts
        if isinstance(text, str)
        for word in WORD.findall(plain(text))
    )
    letters = "".join(words)
    for code, script in SCRIPTS.items():
        if len(re.findall(f"[{script}]", letters)) > LEAST_LETTERS * len(letters):
            return code
    n_words = words.total()
    shares = sorted(
        (sum(words[each] for each in _stop_words(code)) / max(1, n_words), code)
        for code in STEMMERS
    )
    (second, _), (first, code) = shares[-2:]
    is_told = first >= LEAST_WORDS and first >= MARGIN * second
    return code if is_told else ""


def check_language(language: Any) -> None:
    """Raise ValueError for a language that nothing is known of."""
    if language is not None:
        _validation.choice(language, "language", LANGUAGES)


def _cut(match: re.Match[str]) -> str:
    """Return a run of letters as overlapping pieces."""
    run, size = match[0], LENGTHS[(match.lastindex or 1) - 1]
    pieces = [run[at : at + size] for at in range(max(1, len(run) - size + 1))]
    return f" {' '.join(pieces)} "


@cache
def _stop_words(code: str) -> frozenset[str]:
    return frozenset(STOP_WORDS.get(code, "").split())


@lru_cache(REMEMBERED)
def _stem(word: str, code: str) -> str:
    with _stemming:
        stem: str = _stemmer(code).stemWord(word)
    return stem


@cache
def _stemmer(code: str) -> Any:
    try:
        import snowballstemmer
    except ImportError:
        raise MissingExtra("Stemming", "snowballstemmer", "languages") from None
    return snowballstemmer.stemmer(STEMMERS[code])

"""Texts as the kernels read them: lower case, in UTF-8, many in one buffer."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels.text import words
from manylabel._typing import Array, Ints

CHUNK = 1 << 20  # bytes of text that are held at a time, unless one text has more
NOT_A_WORD = re.compile(r"[^\w\x00-\x7f]")
GRAMS = {"word": words.word_grams, "char": words.character_grams}


class Grams(NamedTuple):
    """The runs of words or characters of some texts: one hash and place for each."""

    text: Array
    indptr: Ints
    hashes: Array
    places: Ints


class Chunk(NamedTuple):
    """Some texts in one buffer, with a blank before, between and behind them."""

    text: Array
    starts: Ints

    @classmethod
    def of(cls, texts: list[bytes]) -> "Chunk":
        """Join texts."""
        buffer = np.frombuffer(b" ".join([b"", *texts, b""]), np.uint8)
        starts = np.cumsum([1, *(len(text) + 1 for text in texts)], dtype=np.int64)
        return cls(buffer, starts)

    def grams(self, analyzer: str, sizes: tuple[int, int]) -> Grams:
        """Return the runs of so many words or characters."""
        n_bytes, n_rows = len(self.text), len(self.starts) - 1
        begins, ends = np.empty((2, n_bytes // 2 + 1), np.int64)
        w_indptr, g_indptr = np.empty((2, n_rows + 1), np.int64)
        n_words = words.find_words(self.text, self.starts, w_indptr, begins, ends)
        n_starts = n_words if analyzer == "word" else n_bytes + n_words
        most = n_starts * (sizes[1] - sizes[0] + 1)
        hashes, places = np.empty(most, np.uint64), np.empty((most, 2), np.int64)
        write: Any = GRAMS[analyzer]
        parts = self.text, w_indptr, begins, ends
        n = write(*parts, sizes, g_indptr, hashes, places)
        return Grams(self.text, g_indptr, hashes[:n], places[:n])


def chunks(texts: Iterable[Any]) -> Iterator[Chunk]:
    """Cut texts into chunks, the last of which may be empty; refuse what is no text."""
    _check_column(texts)
    held: list[bytes] = []
    size = 0
    for row, text in enumerate(texts):
        held.append(_encoded(text, row))
        size += len(held[-1])
        if size >= CHUNK:
            yield Chunk.of(held)
            held, size = [], 0
    yield Chunk.of(held)


def plain(text: str) -> str:
    """Return a text in lower case, each character spelt one way.

    Where it is not ASCII, only the characters of words are left.

    Examples
    --------
    >>> plain("« L'été »")
    "  l'été  "
    """
    lower = text.lower()
    if lower.isascii():
        return lower
    return NOT_A_WORD.sub(_blank, unicodedata.normalize("NFC", lower))


def _check_column(texts: Any) -> None:
    found = f"{texts!r:.40}"
    if getattr(texts, "ndim", 1) != 1:
        found = f"shape {texts.shape}"
    elif isinstance(texts, Iterable) and not isinstance(texts, (str, bytes, Mapping)):
        return
    raise TypeError(f"texts must be a list or column of strings. Got {found}.")


def _encoded(text: Any, row: int) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"texts must hold strings. Got {text!r:.40} at row {row}.")
    try:
        return plain(text).encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"texts must be valid Unicode. Got half a surrogate pair at row {row}."
        ) from None


def _blank(match: re.Match[str]) -> str:
    """Keep accents and vowel signs, parts of words, and surrogates, to be refused."""
    kind = unicodedata.category(match[0])
    return match[0] if kind[0] == "M" or kind == "Cs" else " "

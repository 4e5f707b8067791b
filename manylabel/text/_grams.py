"""Texts as runs of words or characters, and the vocabulary of a corpus.

Kernels read texts in lower case, in UTF-8, many in one buffer.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from manylabel._kernels.text import vocabulary as kernels
from manylabel._kernels.text import words
from manylabel._typing import CSR, Array, Ints, Singles
from manylabel.persistence.records import Ascending, Field, Finite, Offsets

LEAST_SLOTS = 1 << 10
CHUNK = 1 << 20  # bytes of text that are held at a time, unless one text has more
NOT_A_WORD = re.compile(r"[^\w\x00-\x7f]")
GRAMS = {"word": words.word_grams, "char": words.character_grams}


class Grams(NamedTuple):
    """The runs of words or characters of some texts: one hash and place for each."""

    text: Array
    indptr: Ints
    hashes: Array
    places: Ints


def iter_grams(
    texts: Iterable[Any],
    analyzer: str,
    sizes: tuple[int, int],
    prepare: Callable[[str], str],
) -> Iterator[Grams]:
    """Yield the runs of so many words or characters, of some texts at a time.

    The last texts may be none. What is no text is refused. ``prepare`` makes a text
    plain.
    """
    if getattr(texts, "ndim", 1) != 1:
        found = f"shape {getattr(texts, 'shape', ())}"
        raise TypeError(f"texts must be a list or column of strings. Got {found}.")
    if not isinstance(texts, Iterable) or isinstance(texts, (str, bytes, Mapping)):
        raise TypeError(
            f"texts must be a list or column of strings. Got {texts!r:.40}."
        )
    held: list[bytes] = []
    size = 0
    for row, text in enumerate(texts):
        held.append(_encode(text, row, prepare))
        size += len(held[-1])
        if size >= CHUNK:
            yield find_grams(held, analyzer, sizes)
            held, size = [], 0
    yield find_grams(held, analyzer, sizes)


def find_grams(texts: list[bytes], analyzer: str, sizes: tuple[int, int]) -> Grams:
    """Return the runs of so many words or characters of texts in UTF-8."""
    # One buffer, with a blank before, between and behind the texts.
    text = np.frombuffer(b" ".join([b"", *texts, b""]), np.uint8)
    starts = np.cumsum([1, *(len(each) + 1 for each in texts)], dtype=np.int64)
    begins, ends = np.empty((2, len(text) // 2 + 1), np.int64)
    w_indptr, g_indptr = np.empty((2, len(starts)), np.int64)
    n_words = words.find_words(text, starts, w_indptr, begins, ends)
    n_starts = n_words if analyzer == "word" else len(text) + n_words
    most = n_starts * (sizes[1] - sizes[0] + 1)
    hashes, places = np.empty(most, np.uint64), np.empty((most, 2), np.int64)
    write: Any = GRAMS[analyzer]
    n = write(text, w_indptr, begins, ends, sizes, g_indptr, hashes, places)
    return Grams(text, g_indptr, hashes[:n], places[:n])


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


def check_text(text: Any, row: int) -> None:
    """Refuse what is not a string."""
    if not isinstance(text, str):
        raise TypeError(f"texts must hold strings. Got {text!r:.40} at row {row}.")


def _encode(text: Any, row: int, prepare: Callable[[str], str]) -> bytes:
    check_text(text, row)
    try:
        return prepare(text).encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"texts must be valid Unicode. Got half a surrogate pair at row {row}."
        ) from None


def _blank(match: re.Match[str]) -> str:
    """Keep accents and vowel signs, parts of words, and surrogates, to be refused."""
    kind = unicodedata.category(match[0])
    return match[0] if kind[0] == "M" or kind == "Cs" else " "


class Table(NamedTuple):
    """Hashes with a number each, and the slots where their numbers are found."""

    keys: Array
    slots: Array

    @classmethod
    def of(cls, keys: Array, n_known: int, room: int) -> "Table":
        """Return a table of the first hashes of ``keys``, with room for so many."""
        n_slots = max(LEAST_SLOTS, 1 << (2 * room - 1).bit_length())
        wider = np.empty(n_slots // 2, np.uint64)
        wider[:n_known] = keys[:n_known]
        slots, numbers = np.full(n_slots, -1, np.int32), np.empty(n_known, np.int32)
        kernels.number(wider[:n_known], slots, wider, 0, numbers)
        return cls(wider, slots)

    def look_up(self, hashes: Array) -> Array:
        """Return the number of each hash, -1 if it is not known."""
        numbers = np.empty(len(hashes), np.int32)
        kernels.look_up(hashes, self.slots, self.keys, numbers)
        return numbers


class Terms(NamedTuple):
    """The columns of a vectorizer, in the order of their hashes.

    Attributes
    ----------
    hashes : ndarray of shape (n_terms,)
        64-bit hashes of the runs of words or characters.
    idf : ndarray of shape (n_terms,)
        What a count of 1 becomes, before rows get unit length.
    names : ndarray of shape (n_bytes,)
        The runs in UTF-8, joined.
    offsets : ndarray of shape (n_terms + 1,)
        Where the name of each begins, and the last ends.
    """

    hashes: Annotated[Array, Field("uint64", "n_terms", Ascending())]
    idf: Annotated[Singles, Field("float32", "n_terms", Finite())]
    names: Annotated[Array, Field("uint8", "n_bytes")]
    offsets: Annotated[Ints, Field("int64", "n_terms + 1", Offsets("names"))]


class Counted(NamedTuple):
    """How many of some rows grams are in, in the order of their hashes."""

    n_rows: int
    hashes: Array
    in_rows: Ints
    names: Array
    offsets: Ints

    def frequent(self, min_df: int, max_features: int | None) -> Ints:
        """Return the places of grams in ``min_df`` rows, or of those in most."""
        kept = np.flatnonzero(self.in_rows >= min_df)
        order = np.lexsort((self.hashes[kept], -self.in_rows[kept]))
        return np.sort(kept[order[:max_features]])

    def terms(self, kept: Ints) -> Terms:
        """Return the columns that some grams become."""
        rarity = np.log((1 + self.n_rows) / (1 + self.in_rows[kept])) + 1
        spelt = take_names(self.names, np.diff(self.offsets), kept)
        return Terms(self.hashes[kept], rarity.astype(np.float32), *spelt)

    def plus(self, other: "Counted") -> "Counted":
        """Return the counts in the rows of both."""
        both = np.concatenate([self.hashes, other.hashes])
        hashes, first, place = np.unique(both, return_index=True, return_inverse=True)
        in_rows = np.zeros(len(hashes), np.int64)
        np.add.at(in_rows, place, np.concatenate([self.in_rows, other.in_rows]))
        names = np.concatenate([self.names, other.names])
        lengths = np.concatenate([np.diff(self.offsets), np.diff(other.offsets)])
        spelt = take_names(names, lengths, first)
        return Counted(self.n_rows + other.n_rows, hashes, in_rows, *spelt)


def take_names(names: Array, lengths: Ints, kept: Array) -> tuple[Array, Ints]:
    """Return some names in UTF-8, joined, and where each begins, and the end."""
    starts = np.cumsum(lengths) - lengths
    offsets = np.concatenate([[0], np.cumsum(lengths[kept])])
    moved = np.repeat(starts[kept] - offsets[:-1], lengths[kept])
    return names[np.arange(offsets[-1]) + moved], offsets


class Growing:
    """The grams seen so far: how many rows each is in, and how it is spelt.

    A gram is spelt when it is found in its row number ``min_df``, since the text is
    at hand then: the many that stay rare need no room for letters.
    """

    def __init__(self, min_df: int) -> None:
        self.min_df = min_df
        self.n_rows, self.n_known = 0, 0
        self._table = Table.of(np.empty(0, np.uint64), 0, 0)
        self._in_rows = np.zeros(len(self._table.keys), np.int64)
        self._name = np.full(len(self._table.keys), -1, np.int32)
        self._names: list[Array] = []
        self._lengths: list[Ints] = []

    def add(self, grams: Grams) -> CSR:
        """Take some rows; return the counts of their grams, numbered as they came."""
        numbers = self._number(grams)
        rows = count(grams.indptr, numbers, self.n_known)
        self.n_rows += rows.shape[0]
        kernels.add_rows(rows.indices, self._in_rows)
        self._spell(grams, numbers)
        return rows

    def keep(self, grams: Grams) -> None:
        """Take grams that are no rows: each counts as if it were in enough of them."""
        numbers = self._number(grams)
        self._in_rows[numbers] = np.maximum(self._in_rows[numbers], self.min_df)
        self._spell(grams, numbers)

    def _number(self, grams: Grams) -> Array:
        self._make_room(len(grams.hashes))
        numbers = np.empty(len(grams.hashes), np.int32)
        self.n_known = kernels.number(
            grams.hashes, self._table.slots, self._table.keys, self.n_known, numbers
        )
        return numbers

    def settle(self, max_features: int | None) -> tuple[Terms, Array]:
        """Return the grams to keep, and the column of each number, -1 if it has none.

        The order of rows and the cut into chunks do not change what is kept, nor its
        order, that of the hashes.
        """
        counts = self.counts()
        kept = counts.frequent(self.min_df, max_features)
        column = np.full(self.n_known, -1, np.int32)
        column[self._named()[kept]] = np.arange(len(kept))
        return counts.terms(kept), column

    def counts(self) -> "Counted":
        """Return how many rows each gram is in that has been in ``min_df``."""
        named = self._named()
        names, lengths = np.concatenate(self._names), np.concatenate(self._lengths)
        spelt = take_names(names, lengths, self._name[named])
        keys, in_rows = self._table.keys[named], self._in_rows[named]
        return Counted(self.n_rows, keys, in_rows, *spelt)

    def _named(self) -> Ints:
        """Return the numbers of the grams that have a name, by their hashes."""
        named = np.flatnonzero(self._name[: self.n_known] >= 0)
        return named[np.argsort(self._table.keys[named])]

    def _make_room(self, n_new: int) -> None:
        room = self.n_known + n_new
        if room <= len(self._table.keys):
            return
        # Twice as much as needed, so that it is seldom needed.
        self._table = Table.of(self._table.keys, self.n_known, 2 * room)
        more = len(self._table.keys) - len(self._name)
        self._in_rows = np.concatenate([self._in_rows, np.zeros(more, np.int64)])
        self._name = np.concatenate([self._name, np.full(more, -1, np.int32)])

    def _spell(self, grams: Grams, numbers: Array) -> None:
        most = int(np.diff(grams.places, axis=1).sum())
        names, ends = np.empty(most, np.uint8), np.empty(len(numbers), np.int64)
        n_named = sum(map(len, self._lengths))
        n = kernels.spell_new(
            *(grams.text, grams.places, numbers, self._in_rows, self.min_df),
            *(self._name, names, ends, n_named),
        )
        self._lengths.append(np.diff(ends[:n], prepend=0))
        self._names.append(names[: ends[n - 1] if n else 0].copy())


def count(indptr: Ints, numbers: Array, n_columns: int) -> CSR:
    """Return how often each number is in each row; those below 0 are left out."""
    counts = count_parts(indptr, numbers)
    return sp.csr_array(counts, shape=(len(indptr) - 1, n_columns))


def count_parts(indptr: Ints, numbers: Array) -> tuple[Singles, Array, Array]:
    """Return data, indices and indptr of ``count``."""
    x_indptr = np.empty(len(indptr), np.int64)
    x_indices = np.empty(len(numbers), np.int32)
    x_data = np.empty(len(numbers), np.float32)
    n = kernels.count(indptr, numbers, x_indptr, x_indices, x_data)
    if n <= np.iinfo(np.int32).max:  # SciPy takes the wider type for both
        x_indptr = x_indptr.astype(np.int32)
    # Copies, since the rest of the arrays is not needed.
    return x_data[:n].copy(), x_indices[:n].copy(), x_indptr


def renumber(rows: CSR, column: Array, n_columns: int) -> CSR:
    """Return counts by other columns, sorted; those below 0 are left out."""
    columns = column[rows.indices]
    stays = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(stays)])[rows.indptr]
    parts = rows.data[stays], columns[stays], indptr
    moved = sp.csr_array(parts, shape=(rows.shape[0], n_columns))
    moved.sort_indices()
    return moved

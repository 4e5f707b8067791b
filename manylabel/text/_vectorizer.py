"""Texts to rows of numbers."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, pairwise
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from manylabel import _validation
from manylabel._kernels.text import vocabulary as kernels
from manylabel._kernels.text import words
from manylabel._typing import CSR, Array, Singles
from manylabel.persistence.saved import Saved
from manylabel.text._counts import TextCounts
from manylabel.text._grams import (
    Grams,
    Growing,
    Table,
    Terms,
    count,
    iter_grams,
    plain,
    renumber,
)
from manylabel.text._language import (
    AUTO,
    N_TOLD_BY,
    WORD,
    Language,
    check_language,
    tell_language,
)

SIZES = {"word": (1, 2), "char": (3, 5)}
# Each further word of a run halves its weight. On held-out training rows, pairs of full
# weight help where tags are subtle (P@1 on debtags 84.4 without, 86.0 with) and hurt
# where single words decide (reuters90: 95.1, 94.2); of half weight: 86.0 and 95.0.
DISCOUNT = np.float32(0.5) ** np.arange(words.MOST_FURTHER + 1, dtype=np.float32)


class TextVectorizer(  # type: ignore[call-arg]
    Saved,
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    auto_wrap_output_keys=None,  # they know an X only
):
    """TF-IDF of the words of texts, and of pairs of neighbouring words.

    A count c of a word that is in r of n texts becomes
    ``(1 + ln c) * (1 + ln((1 + n) / (1 + r)))``, half of it for a pair; rows have unit
    length. Words are runs of letters, digits and underscores of any script, in lower
    case, single letters too. Texts are read one chunk at a time.

    Parameters
    ----------
    analyzer : {"word", "char"}, default="word"
        Count runs of words, or runs of characters within words, the blanks around a
        word included: for short texts, misspellings, and scripts without blanks.
    ngram_range : tuple of (int, int) or None, default=None
        The least and the greatest length of a run; None is (1, 2) words or (3, 5)
        characters.
    min_df : int, default=2
        Runs in fewer texts are left out.
    max_features : int or None, default=None
        Keep the runs in most texts only.
    n_features : int or None, default=None
        Hash the runs to so many columns, for streams: nothing is learnt from texts, so
        rare words weigh as much as others, columns have no names, and there is no
        need to call ``fit``; ``min_df`` and ``max_features`` do not apply.
    language : str or None, default=None
        "da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ro", "ru",
        "sv" or "tr": words count by their stems (extra ``languages``). "ja", "ko", "th"
        or "zh". "auto" tells it by the first 1,000 texts of ``fit``: see ``language_``.
        With any, scripts without blanks are cut into pieces: two ideographs, kana or
        Hangul syllables, four letters of Thai, Lao, Burmese or Khmer, which overlap.
        None takes words as they are.
    stem : bool, default=True
        Whether words count by their stems, where there is a ``language``; runs of
        characters never do.
    stop_words : bool, default=False
        Leave out the words that are frequent in any text of the ``language``: "the",
        "und". The languages that have stems have a short list.

    Attributes
    ----------
    language_ : str
        The language by which texts are read; empty if there is none, or if "auto" could
        not tell.
    terms_ : Terms
        Hashes, weights and names of the columns, which stand in the order of the
        hashes.
    idf_ : ndarray of shape (n_features,)
        What a count of 1 becomes, before rows get unit length.

    Notes
    -----
    Runs are known by their hash alone. Of a million, two share one with a probability
    of 1 in 4 million; they then count as one. Stems are those of the snowballstemmer
    that is installed: another major version may cut a few words elsewhere.

    Examples
    --------
    >>> texts = ["red wine", "red wine, white wine", "white bread"]
    >>> vectorizer = TextVectorizer().fit(texts)
    >>> sorted(vectorizer.get_feature_names_out())
    ['red', 'red wine', 'white', 'wine']
    >>> vectorizer.transform(["White bread!"]).data
    array([1.], dtype=float32)
    >>> TextVectorizer(n_features=2**20).transform(texts).shape
    (3, 1048576)
    >>> zh = TextVectorizer(language="zh", ngram_range=(1, 1)).fit(["中国人", "中国"])
    >>> zh.get_feature_names_out().tolist()
    ['中国']
    """

    terms_: Terms
    language_: str = ""
    _table: Table | None = None  # made of the hashes when it is needed

    def __init__(
        self,
        *,
        analyzer: str = "word",
        ngram_range: tuple[int, int] | None = None,
        min_df: int = 2,
        max_features: int | None = None,
        n_features: int | None = None,
        language: str | None = None,
        stem: bool = True,
        stop_words: bool = False,
    ) -> None:
        self.analyzer = analyzer
        self.ngram_range = ngram_range
        self.min_df = min_df
        self.max_features = max_features
        self.n_features = n_features
        self.language = language
        self.stem = stem
        self.stop_words = stop_words

    @property
    def idf_(self) -> Singles:
        """What a count of 1 becomes, before rows get unit length."""
        return self.terms_.idf

    @property
    def n_features_out_(self) -> int:
        """How many columns a row has."""
        if self.n_features is not None:
            return int(self.n_features)
        if not hasattr(self, "terms_"):  # the check alone takes 20 us
            check_is_fitted(self)
        return len(self.terms_.idf)

    def fit(
        self, texts: Iterable[str], y: Any = None, names: Iterable[str] = ()
    ) -> Self:
        """Learn the vocabulary of texts.

        Parameters
        ----------
        texts : iterable of str
            Texts; they are read once.
        y : ignored
            Accepted for scikit-learn.
        names : iterable of str, default=()
            Names whose words get columns too, however rare they are in texts.

        Returns
        -------
        TextVectorizer
            Itself.
        """
        self._check_parameters()
        if self.n_features is None:
            vocabulary = Growing(self.min_df)
            for grams in self.iter_grams(self._tell(texts)):
                vocabulary.add(grams)
            self._settle(vocabulary, names)
        return self

    def fit_transform(
        self, texts: Iterable[str], y: Any = None, names: Iterable[str] = ()
    ) -> CSR:
        """Learn the vocabulary of texts and return their rows, reading them once.

        Parameters
        ----------
        texts : iterable of str
            Texts.
        y : ignored
            Accepted for scikit-learn.
        names : iterable of str, default=()
            Names whose words get columns too, however rare they are in texts.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
            What ``fit`` and ``transform`` return, float32.
        """
        self._check_parameters()
        if self.n_features is not None:
            return self.transform(texts)
        vocabulary = Growing(self.min_df)
        parts = [vocabulary.add(grams) for grams in self.iter_grams(self._tell(texts))]
        column = self._settle(vocabulary, names)
        parts = [renumber(part, column, self.n_features_out_) for part in parts]
        return self._weigh(parts)

    def count(self, texts: Iterable[str]) -> TextCounts:
        """Count the runs of a shard of texts; nothing is learnt.

        Parameters
        ----------
        texts : iterable of str
            Texts; they are read once.

        Returns
        -------
        TextCounts
            Counts that add with ``+``, for :meth:`fit_counts`.
        """
        settings, shard = self._counting(), Growing(1)
        for grams in self.iter_grams(self._tell(texts)):
            shard.add(grams)
        return TextCounts(settings, shard.counts())

    def fit_counts(self, counts: TextCounts) -> Self:
        """Learn the vocabulary of texts that were counted in shards.

        Parameters
        ----------
        counts : TextCounts
            The sum of what :meth:`count` returned for each shard.

        Returns
        -------
        TextVectorizer
            Itself, with the bits that ``fit`` of all texts at once would have.
        """
        counts.check_like(self._counting())
        self._tell([])
        kept = counts.counted.frequent(self.min_df, self.max_features)
        self._learn(counts.counted.terms(kept), counts.n_texts)
        return self

    def transform(self, texts: Iterable[str]) -> CSR:
        """Return the rows of texts.

        Parameters
        ----------
        texts : iterable of str
            Texts.

        Returns
        -------
        csr_array of shape (n_texts, n_features)
            TF-IDF, float32; a text without a known word is a row of zeros.
        """
        self._check_parameters()
        n_columns = self.n_features_out_
        parts = [self._count(grams, n_columns) for grams in self.iter_grams(texts)]
        return self._weigh(parts)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the run of words or characters of each column.

        Parameters
        ----------
        input_features : ignored
            Accepted for scikit-learn.

        Returns
        -------
        ndarray of str
            Of dtype object.
        """
        if self.n_features is not None:
            raise ValueError("Hashed columns have no names: n_features must be None.")
        check_is_fitted(self)
        joined = self.terms_.names.tobytes()
        bounds = pairwise(self.terms_.offsets.tolist())
        return np.array([joined[a:b].decode() for a, b in bounds], dtype=object)

    def iter_grams(self, texts: Iterable[str]) -> Iterator[Grams]:
        """Yield the runs of words or characters of some texts at a time."""
        language = self._language()
        prepare: Callable[[str], str] = plain if language is None else language.prepare
        return iter_grams(texts, self.analyzer, self._sizes(), prepare)

    def split(self, text: str) -> list[str]:
        """Return the words of a text, or its pieces, in lower case, not in their stems.

        Joined by blanks, they make the same row as the text.
        """
        language = self._language()
        return WORD.findall(plain(text)) if language is None else language.split(text)

    def set_state(self, state: dict[str, Any]) -> Self:
        """Take over what another vectorizer learnt, if it fits together."""
        self._table = None
        return super().set_state(state)

    def __sklearn_is_fitted__(self) -> bool:
        return self.n_features is not None or hasattr(self, "terms_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.n_features is None
        return tags

    def _tell(self, texts: Iterable[str]) -> Iterable[str]:
        """Note the language of texts, which are returned."""
        if self.language is not None:
            self.language_ = self.language
        if self.language != AUTO or isinstance(texts, str):  # which is refused
            return texts
        rest = iter(texts)
        first = list(islice(rest, N_TOLD_BY))
        self.language_ = tell_language(first)
        return chain(first, rest)

    def _language(self) -> Language | None:
        if self.language is None:
            return None
        code = self.language if self.n_features else self.language_
        return Language(code, self.stem and self.analyzer == "word", self.stop_words)

    def _count(self, grams: Grams, n_columns: int) -> CSR:
        if self.n_features is not None:
            return count(grams.indptr, self._hash(grams.hashes), n_columns)
        return count(grams.indptr, self._look_up(grams.hashes), n_columns)

    def _look_up(self, hashes: Array) -> Array:
        """Return the columns of runs, -1 of those that are not known."""
        if self._table is None:
            n_columns = len(self.terms_.hashes)
            self._table = Table.of(self.terms_.hashes, n_columns, n_columns)
        return self._table.look_up(hashes)

    def _hash(self, hashes: Array) -> Array:
        """Return columns: runs of each length have a stretch of their own."""
        further = (hashes >> words.REST).astype(np.int64)
        rest = hashes & np.uint64((1 << int(words.REST)) - 1)
        stretch = self._stretch()
        return (further * stretch + rest % np.uint64(stretch)).astype(np.int32)

    def _stretch(self) -> int:
        """Return how many hashed columns there are for each length of runs."""
        least, most = self._sizes()
        n_lengths = min(most - least, words.MOST_FURTHER) + 1
        n_kinds = n_lengths if self.analyzer == "word" else 1
        return int(self.n_features or 0) // n_kinds

    def _settle(self, vocabulary: Growing, names: Iterable[str]) -> Array:
        """Keep what is frequent enough or in names; return each number's column."""
        for grams in self.iter_grams(names):
            vocabulary.keep(grams)
        terms, column = vocabulary.settle(self.max_features)
        self._learn(terms, vocabulary.n_rows)
        return column

    def _learn(self, terms: Terms, n_rows: int) -> None:
        """Take terms for columns, discounted by their length."""
        if not len(terms.hashes):
            raise ValueError(
                f"texts must have words that are in at least min_df={self.min_df} "
                f"of them. Found none, in {n_rows:,}."
            )
        discount = DISCOUNT[terms.hashes >> words.REST]
        self.terms_, self._table = terms._replace(idf=terms.idf * discount), None

    def _weigh(self, parts: list[CSR]) -> CSR:
        """Return counts, one part below another, as rows of unit length."""
        rows = parts[0] if len(parts) == 1 else sp.vstack(parts, format="csr")
        if self.n_features is None:
            weights = self.terms_.idf[rows.indices]
        else:
            weights = DISCOUNT[rows.indices // self._stretch()]
        data = np.empty(rows.nnz, np.float32)
        kernels.weigh(rows.indptr, rows.data, weights, data)
        return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)

    def _sizes(self) -> tuple[int, int]:
        given = self.ngram_range
        least, most = SIZES[self.analyzer] if given is None else given
        return int(least), int(most)

    def _counting(self) -> dict[str, Any]:
        """Return what tells which runs are counted, or refuse to count shards."""
        self._check_parameters()
        if self.n_features is not None:
            raise ValueError(
                "n_features must be None to count words: hashed columns learn nothing. "
                f"Got {self.n_features}."
            )
        if self.language == AUTO:
            raise ValueError(
                "language must be named to count words in shards. Got 'auto'."
            )
        names = ("analyzer", "language", "stem", "stop_words")
        return {n: getattr(self, n) for n in names} | {"ngram_range": self._sizes()}

    def _check_parameters(self) -> None:
        _validation.choice(self.analyzer, "analyzer", SIZES)
        check_language(self.language)
        if self.language == AUTO and self.n_features is not None:
            raise ValueError(
                "language must be named where n_features is given: nothing is learnt "
                "from texts."
            )
        check_scalar(self.min_df, "min_df", Integral, min_val=1)
        for name in ("max_features", "n_features"):
            if (value := getattr(self, name)) is not None:
                most = np.iinfo(np.int32).max
                check_scalar(value, name, Integral, min_val=1, max_val=most)
        match SIZES[self.analyzer] if self.ngram_range is None else self.ngram_range:
            case [int(least), int(most)] if 1 <= least <= most:
                pass
            case _:
                raise ValueError(
                    "ngram_range must be two whole numbers, the least and the greatest "
                    f"length, such as (1, 2). Got {self.ngram_range!r}."
                )
        if self.n_features is not None and not self._stretch():
            raise ValueError(
                "n_features must have a column for each length of runs. "
                f"Got {self.n_features}."
            )

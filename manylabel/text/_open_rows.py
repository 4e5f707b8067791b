"""Rows of items to learn corrections by: words that a model never saw count too."""

from typing import Any, NamedTuple

import numpy as np

from manylabel._kernels.corrections.candidates import Rows
from manylabel._kernels.text import vocabulary, words
from manylabel._typing import CSR, Array, Ints, Singles
from manylabel.data import Dataset
from manylabel.lists import Lists
from manylabel.text._grams import count_parts
from manylabel.text._items import vectorize
from manylabel.text._vectorizer import TextVectorizer

N_SPARE = 1 << 24  # columns of words that the vectorizer does not know


class Items(NamedTuple):
    """Items as a learner takes them, and as corrections are learnt by."""

    X: CSR
    rows: Rows


def weigh_unknown(vectorizer: Any) -> float:
    """Return the weight of a word that a vectorizer does not know: of the rarest."""
    is_open = isinstance(vectorizer, TextVectorizer) and vectorizer.n_features is None
    return float(vectorizer.idf_.max()) if is_open else 0.0


def read_items(vectorizer: Any, items: Any, unknown: float) -> Items:
    """Return the features of items, and beside them those of unknown words.

    A vectorizer that has a vocabulary gives its columns and weights; a single word that
    is not in it has a column by its hash, and the weight ``unknown``.
    """
    if not isinstance(vectorizer, TextVectorizer) or vectorizer.n_features is not None:
        X = vectorize(vectorizer, items, "transform")
        return Items(X, _rows(X.data, X.indices, X.indptr))
    texts = items.texts if isinstance(items, Dataset) else items
    counts, columns, indptr = _count(vectorizer, texts)
    idf, n_known = vectorizer.idf_, vectorizer.n_features_out_
    is_known = columns < n_known
    known = columns[is_known]
    weights = np.full(len(columns), unknown, np.float32)
    weights[is_known] = idf[known]
    starts = np.concatenate([[0], np.cumsum(is_known)])[indptr]
    values = _weigh(starts, counts[is_known], weights[is_known])
    X = Lists(starts.astype(columns.dtype, copy=False), known, values).csr(n_known)
    return Items(X, _rows(_weigh(indptr, counts, weights), columns, indptr))


def _count(vectorizer: TextVectorizer, texts: Any) -> tuple[Singles, Array, Ints]:
    """Return how often each known run and each other word is in each text, as CSR."""
    if texts is None:
        raise ValueError(
            "items must have texts, not features, as the model was fitted on."
        )
    n_known, parts = vectorizer.n_features_out_, []
    for grams in vectorizer.iter_grams(texts):
        columns = vectorizer._look_up(grams.hashes)
        is_new = (columns < 0) & (grams.hashes >> words.REST == 0)
        columns[is_new] = n_known + grams.hashes[is_new] % np.uint64(N_SPARE)
        parts.append(count_parts(grams.indptr, columns))
    if len(parts) == 1:
        return parts[0]
    counts, found, starts = zip(*parts, strict=True)
    n_before = np.cumsum([0, *map(len, counts)])
    moved = [each[1:] + n for each, n in zip(starts, n_before[:-1], strict=True)]
    indptr = np.concatenate([[0], *moved])
    return np.concatenate(counts), np.concatenate(found), indptr


def _weigh(indptr: Array, counts: Singles, weights: Singles) -> Singles:
    out = np.empty(len(counts), np.float32)
    vocabulary.weigh(indptr.astype(np.int32), counts, weights, out)
    return out


def _rows(data: Array, indices: Array, indptr: Array) -> Rows:
    values = np.ascontiguousarray(data, np.float32)
    starts, columns = indptr.astype(np.int64), indices.astype(np.int32, copy=False)
    return Rows(starts, columns, values, values.view(np.uint32))
